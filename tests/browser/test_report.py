"""Pages of reports: nothing overlaps at any width, on paper no page is half empty, and everything can be reached."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from beholder.study.model import Study
from support.browser import MARKS, barriers
from support.report_pages import Page as ReadPage

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page

pytestmark = MARKS

WIDTHS = (360, 768, 1366, 2560)
PAPER = {"width": 680, "height": 1009}
"""A sheet of A4 within margins of 15 mm, in pixels."""
COLLISIONS = """() => {
  const found = [];
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) found.push(`the page is ${root.scrollWidth - root.clientWidth} px too wide`);
  const clipped = (element, { left, top, right, bottom }) => {
    const box = { left, top, right, bottom };
    for (let up = element; up && up !== document.body; up = up.parentElement) {
      if (up instanceof SVGElement || getComputedStyle(up).overflowX === "visible") continue;
      const edge = up.getBoundingClientRect();
      box.left = Math.max(box.left, edge.left);
      box.right = Math.min(box.right, edge.right);
      box.top = Math.max(box.top, edge.top);
      box.bottom = Math.min(box.bottom, edge.bottom);
    }
    return box;
  };
  const texts = [];
  const add = (element, text, rectangle) => {
    const box = clipped(element, rectangle);
    if (box.right - box.left > 1 && box.bottom - box.top > 1) texts.push({ ...box, text, element });
  };
  const isShown = (element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    const text = node.textContent.trim();
    if (!text || element.closest("script, style, title, desc, .unseen, .topbar, .tip") || !isShown(element)) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const rectangle of range.getClientRects()) add(element, text, rectangle);
    const panel = element.closest(".panel");
    if (!panel) continue;
    const [own, whole] = [clipped(element, element.getBoundingClientRect()), panel.getBoundingClientRect()];
    if (own.left < whole.left || own.right > whole.right) found.push(`"${text}" leaves its panel`);
  }
  texts.sort((one, other) => one.top - other.top);
  texts.forEach((one, place) => {
    for (let next = place + 1; next < texts.length && texts[next].top < one.bottom; next += 1) {
      const other = texts[next];
      // The same text twice is a name with its edge in the colour of the paper.
      if (one.element === other.element || one.text === other.text) continue;
      const across = Math.min(one.right, other.right) - Math.max(one.left, other.left);
      const down = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
      const least = Math.min(one.bottom - one.top, other.bottom - other.top);
      if (across > 1 && down > 0.3 * least) found.push(`"${one.text}" lies on "${other.text}"`);
    }
  });
  return [texts.length, found];
}"""
"""The number of texts that are shown, and those that lie on another one, or reach out of their panel or the page."""
FOLD = "isOpen => document.querySelectorAll('details').forEach((one) => { one.open = isOpen; })"
UNBROKEN = """() => [...document.querySelectorAll("main *")]
  .filter((one) => getComputedStyle(one).breakInside === "avoid")
  .map((one) => [one.getBoundingClientRect().height, `${one.tagName}.${one.getAttribute("class")}`])"""
FORCED = """() => [...document.querySelectorAll("main *")].filter((one) => {
  const style = getComputedStyle(one);
  return [style.breakBefore, style.breakAfter].some((how) => !["auto", "avoid"].includes(how));
}).length"""


async def shown(browser: Browser, study: Study, **device: Any) -> Page:
    page = await browser.new_page(**device)
    await page.goto((study.folder / "report" / "index.html").as_uri())
    return page


async def collisions(page: Page, *, is_open: bool) -> list[str]:
    await page.evaluate(FOLD, is_open)
    texts, found = await page.evaluate(COLLISIONS)
    assert texts > 200
    return [str(one) for one in found]


async def test_nothing_overlaps_at_any_width_folded_or_open(chromium: Browser, crowded: tuple[Study, ReadPage]) -> None:
    page = await shown(chromium, crowded[0])
    for width in WIDTHS:
        await page.set_viewport_size({"width": width, "height": 900})
        for is_open in (False, True):
            assert await collisions(page, is_open=is_open) == [], (width, is_open)
    await page.close()


@pytest.mark.variant
async def test_the_measure_of_overlaps_finds_them(chromium: Browser, people: tuple[Study, ReadPage]) -> None:
    page = await shown(chromium, people[0], viewport={"width": 360, "height": 900})
    assert await collisions(page, is_open=True) == []
    await page.add_style_tag(content=".facts li + li { margin-inline-start: -60px } .table { min-width: 900px }")
    await page.add_style_tag(content=".scroll { overflow: visible }")
    found = await collisions(page, is_open=True)
    assert any(one.startswith("the page is") for one in found)
    assert any("lies on" in one for one in found)
    await page.close()


ALONE = """[
  ...[...document.querySelectorAll("h2, h3, summary")].filter((one) => getComputedStyle(one).breakAfter !== "avoid"),
  ...[...document.querySelectorAll(".findings")].filter((one) => getComputedStyle(one).display !== "block"),
].map((one) => one.id || one.textContent)"""
"""Headings that may be parted from what follows: those of findings are held by blocks alone, and not by grids."""


@pytest.mark.variant
async def test_paper_has_no_half_empty_page_and_cuts_nothing_off(
    chromium: Browser, crowded: tuple[Study, ReadPage]
) -> None:
    page = await shown(chromium, crowded[0], viewport=PAPER)
    await page.emulate_media(media="print")
    assert await collisions(page, is_open=False) == []
    unbroken: list[tuple[float, str]] = await page.evaluate(UNBROKEN)
    assert len(unbroken) > 50
    # What is kept together moves to the next page as a whole: it may leave less than half of one empty.
    assert [one for one in unbroken if one[0] > 0.45 * PAPER["height"]] == []
    assert await page.evaluate(FORCED) == 0
    # What is folded on a screen can be read on paper.
    assert await page.locator("#question-4 .findings").evaluate("one => one.getBoundingClientRect().height > 50")
    # No heading stands alone at the foot of a page, with what it heads on the next one.
    assert await page.evaluate(ALONE) == []
    await page.close()


@pytest.mark.variant
async def test_a_wide_table_scrolls_in_its_box_and_keeps_its_names_in_sight(
    chromium: Browser, crowded: tuple[Study, ReadPage]
) -> None:
    page = await shown(chromium, crowded[0], viewport={"width": 360, "height": 900})
    await page.evaluate(FOLD, True)
    box = page.locator("#tables .scroll").nth(1)
    name = box.locator("tbody th").first
    caption = box.locator("caption")
    assert await box.evaluate("one => one.scrollWidth > one.clientWidth")
    await box.evaluate("one => { one.scrollLeft = 400; }")
    for part in (name, caption):
        edges = await part.evaluate(
            "(one) => { const [own, box] = [one, one.closest('.scroll')].map((part) => part.getBoundingClientRect());"
            " return [own.left - box.left, box.right - own.right]; }"
        )
        assert min(edges) > -1
    await page.close()


SMUGGLED = """async () => {
  const script = document.createElement("script");
  script.textContent = "window.smuggled = 1";
  const image = document.createElement("img");
  image.setAttribute("onerror", "window.smuggled = 2");
  image.src = "data:nothing";
  document.body.append(script, image);
  await fetch("http://127.0.0.1:9/").catch(() => {});
}"""
"""What a name might do that got through: a script, a handler, and a word to somebody elsewhere."""


async def test_the_list_of_contents_leads_to_every_section_also_into_folded_ones(
    chromium: Browser, crowded: tuple[Study, ReadPage]
) -> None:
    page = await chromium.new_page(viewport={"width": 1366, "height": 900})
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    await page.goto((crowded[0].folder / "report" / "index.html").as_uri())
    contents = page.get_by_role("navigation", name="Contents")
    await contents.get_by_text("Contents").click()
    links = contents.get_by_role("link")
    listed = await links.evaluate_all("all => all.map((one) => one.getAttribute('href'))")
    sections = await page.locator("main section:not(#key)").evaluate_all("all => all.map((one) => `#${one.id}`)")
    assert listed == sections
    await links.filter(has_text="Is it four?").click()
    assert await page.locator("#question-4").evaluate("one => one.open")
    await page.evaluate(FOLD, True)
    await page.locator(".figure[tabindex]").first.focus()
    # Scrolling there hides a tip, in the frame after it.
    await page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    await page.keyboard.press("ArrowRight")
    await page.locator(".tip").wait_for()
    assert said == [], "the policy of the page blocks nothing of its own"
    await page.evaluate(SMUGGLED)
    assert await page.evaluate("window.smuggled") is None
    assert len([text for text in said if "Content Security Policy" in text]) >= 3
    await page.close()


WORDS_BESIDE_LABEL = """() => {
  const made = document.createElement("dl");
  made.className = "heat";
  made.innerHTML = "<div><dt>Noise 12 dB below the voice</dt><dd>The small boat reached the harbour again</dd></div>";
  document.querySelector("main").append(made);
  const share = made.querySelector("dd").offsetWidth / made.offsetWidth;
  made.remove();
  return share;
}"""
"""How much of its width a transcript with marked words has."""


@pytest.mark.variant
async def test_a_report_of_one_question_overlaps_nowhere_and_has_no_barriers(
    chromium: Browser, people: tuple[Study, ReadPage]
) -> None:
    page = await shown(chromium, people[0], viewport={"width": 360, "height": 900})
    assert await collisions(page, is_open=True) == []
    assert await page.evaluate(WORDS_BESIDE_LABEL) > 0.9, "marked words have the width of a phone"
    await page.set_viewport_size({"width": 1366, "height": 900})
    assert await collisions(page, is_open=True) == []
    await page.evaluate(FOLD, False)
    # Every rule once, on the smaller report: axe takes seconds for a page of thousands of texts.
    assert await barriers(page, "report", ["light"]) == []
    await page.close()
