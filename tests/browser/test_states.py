"""Rating pages in every state: nothing that is looked at or pressed moves, words do not touch, nothing is a barrier."""

from __future__ import annotations

from typing import Any

import pytest

from support.browser import MARKS, StudyServers, barriers
from support.rating_states import PAGES, rating_states, serve_page

pytestmark = MARKS

SIZES = [(360, 740), (1366, 768)]
USUAL = ("mushra",)
"""The pages that `make test` looks at; `make prove` looks at all."""
BOXES = """() => {
  const parts = ".screen, .frame, .transport-box, .timeline, .spread-side, .survey-frame, .showcase-bar, button," +
    " .choice, input[type=range], input[type=radio], .bands, textarea, h1";
  const boxes = {};
  for (const node of document.querySelectorAll(`main :is(${parts})`)) {
    if (!node.checkVisibility()) continue;
    const { left, top, width, height } = node.getBoundingClientRect();
    const name = `${node.tagName.toLowerCase()}.${node.className} ${node.id} ${node.dataset.slot ?? ""}`.replace(
      / is-\\w+/g, "");
    let key = name;
    for (let place = 2; key in boxes; place += 1) key = `${name} ${place}`;
    boxes[key] = [left + scrollX, top + scrollY, width, height].map(Math.round);
  }
  return boxes;
}"""
"""Where stimuli and controls are on the page, in pixels."""
TOUCHING = """() => {
  const found = [];
  for (const list of document.querySelectorAll("main :is(.bands, .grid-head)")) {
    const inner = [...list.querySelectorAll("span, th, li > *")];
    const words = inner.filter((node) => node.textContent && !node.firstElementChild);
    const boxes = words.map((node) => {
      const text = document.createRange();
      text.selectNodeContents(node);
      return [node.textContent, text.getBoundingClientRect()];
    });
    boxes.forEach(([word, a], place) => {
      for (const [other, b] of boxes.slice(place + 1)) {
        const isBeside = a.right + 2 <= b.left || b.right + 2 <= a.left;
        const isApart = isBeside || a.bottom + 2 <= b.top || b.bottom + 2 <= a.top;
        if (a.width && b.width && !isApart) found.push(`${word} touches ${other}`);
      }
    });
  }
  return found;
}"""
"""Words of a scale that are closer than two pixels."""
MOST_TOLD = 25
PAINTED = "() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    metafunc.parametrize("name", PAGES if metafunc.config.getoption("--whole") else USUAL)


@pytest.mark.long
async def test_nothing_moves_touches_or_bars_the_way_on_a_rating_page(
    servers: StudyServers, name: str, whole: bool
) -> None:
    site = await serve_page(servers, name)
    visit = await site.visit(expects_trouble=True, reduced_motion="reduce")
    page = visit.page
    first: dict[tuple[int, int], dict[str, list[int]]] = {}
    problems: list[str] = []
    states = []
    async for state in rating_states(visit):
        states.append(state)
        for width, height in SIZES:
            await page.set_viewport_size({"width": width, "height": height})
            await page.evaluate(PAINTED)
            boxes: dict[str, list[int]] = await page.evaluate(BOXES)
            known = first.setdefault((width, height), boxes)
            problems += [f"{state} at {width}: {part} {known[part]} -> {box}" for part, box in shifts(known, boxes)]
            problems += [f"{state} at {width}: {words}" for words in await page.evaluate(TOUCHING)]
            over: int = await page.evaluate("() => document.documentElement.scrollWidth - innerWidth")
            problems += [f"{state} at {width}: {over} px too wide"] if over > 0 else []
        if whole and state not in ("playing", "saving"):
            problems += await barriers(page, state)
    assert len(states) >= 9
    assert all(first.values()), "there is something to measure"
    assert problems == [], "\n".join(problems[:MOST_TOLD])


def shifts(known: dict[str, list[int]], boxes: dict[str, list[int]]) -> list[tuple[str, Any]]:
    """Return what is elsewhere, or of another size, than it was at first."""
    return [
        (part, box)
        for part, box in boxes.items()
        if part in known and any(abs(a - b) > 1 for a, b in zip(box, known[part], strict=True))
    ]
