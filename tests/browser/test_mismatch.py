"""mismatch in a real browser: completed by mouse, touch and keys, with videos, sounds and texts, without a barrier."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import CDPSession, Page

from beholder.testing.browser import walk
from support.browser import MARKS, Site, StudyServers, barriers, overhang
from support.rating_states import write_stimuli
from support.small_media import write_stimulus
from support.variants import variant

pytestmark = MARKS

SIZES = [(360, 740), (1366, 768)]
TEXTS = {"one": "The small boat reached the harbour before the storm. " * 4, "two": "She cut the bread. " * 11}
PAGES: dict[str, dict[str, Any]] = {
    "video": {"questions": [{"id": "fit", "text": "In which do the movements fit the speech better?"}]},
    "audio": {
        "questions": [{"id": "fit", "text": "Which text is spoken?", "scale": "pref3"}],
        "options": {"texts": "texts", "tolerance": 1, "reason": "optional"},
    },
    "text": {
        "questions": [{"id": "fit", "text": "Which answer fits its question?", "scale": "pref2"}],
        "options": {"texts": "texts", "tolerance": 1, "swap": "stimulus"}, "playback": {"words_per_second": 1000},
    },
}  # fmt: skip


async def serve(servers: StudyServers, medium: str, *, sentences: int = 1) -> Site:
    folder = servers.folder / f"study{len(servers.sites)}"
    if medium == "video":
        for place, content in enumerate(("one", "two")):
            write_stimulus(folder / "clips" / "good" / f"{content}.mp4", 1 + place, has_sound=True)
            write_stimulus(folder / "clips" / "poor" / f"{content}.mp4", 3 + place, has_sound=True)
    else:
        write_stimuli(folder / "clips", medium, ["good", "poor"])
        (folder / "texts").mkdir()
        for content, text in TEXTS.items():
            (folder / "texts" / f"{content}.txt").write_text(text, "utf-8")
            for condition in ("good", "poor") if medium == "text" else ():
                # One sentence is short enough that both are in view on a phone, where `walk` does not scroll.
                answer = f"A {condition} answer to {content}. " * sentences
                (folder / "clips" / condition / f"{content}.txt").write_text(answer, "utf-8")
    return await servers.serve(
        method="mismatch", conditions=["good", "poor"], design={"participants": 2, "trials": 2, "seed": 3},
        stimuli={"folder": "clips", "accept": ["loudness", "file_size"]},
        **{"playback": {"volume": False}, **PAGES[medium]},
    )  # fmt: skip


def chosen(stored: dict[str, dict[str, Any]]) -> list[Any]:
    return [stored[f"trial:{number}"]["answer"]["choices"]["q1"]["better"] for number in (1, 2)]


@pytest.mark.parametrize("medium", ["audio", variant("video"), variant("text")])
async def test_it_is_completed_by_keyboard_alone_without_a_barrier(servers: StudyServers, medium: str) -> None:
    site = await serve(servers, medium)
    visit = await site.visit(reduced_motion="reduce")
    troubles: list[str] = []

    async def look(page: Page, key: str, moment: str) -> None:
        if key == "trial:1":
            troubles.extend(await overhang(page, moment, SIZES) + await barriers(page, moment, ["light"]))
            if medium != "video" and moment == "shown":
                texts = await page.locator("main .companion").all_inner_texts()
                found = {text.strip() for text in texts}
                assert len(texts) == 2
                assert found <= {text.strip() for text in TEXTS.values()}
                assert len(found) == (1 if medium == "text" else 2)

    await walk(visit.page, keyboard_only=True, on_step=look)
    stored = await site.answers()
    assert set(chosen(stored)) <= {"s1", "s2", "tie"}
    assert stored["trial:1"]["input"] == "keyboard"
    assert troubles == []


@pytest.mark.variant
@pytest.mark.parametrize("medium", ["video", variant("audio"), variant("text")])
async def test_it_is_completed_on_a_phone_by_touch(servers: StudyServers, medium: str) -> None:
    site = await serve(servers, medium)
    visit = await site.visit(viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    await walk(visit.page)
    stored = await site.answers()
    assert set(chosen(stored)) <= {"s1", "s2", "tie"}
    assert stored["trial:1"]["input"] == "touch"


@pytest.mark.parametrize("medium", [variant("video"), variant("audio"), variant("text")])
async def test_it_is_completed_with_a_mouse(servers: StudyServers, medium: str) -> None:
    site = await serve(servers, medium)
    visit = await site.visit()
    await walk(visit.page)
    stored = await site.answers()
    assert set(chosen(stored)) <= {"s1", "s2", "tie"}
    assert stored["trial:1"]["input"] == "mouse"


async def swipe(finger: CDPSession, *, up: bool) -> None:
    """Move a finger over the screen, in steps of 50 pixels; the page goes on moving for a while."""
    ways = range(600, 299, -50) if up else range(300, 601, 50)
    for place, y in enumerate(ways):
        kind = "touchMove" if place else "touchStart"
        await finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": 180, "y": y}]})
    await finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


WHERE = """node => new Promise((resolve) => requestAnimationFrame(() => {
  const { top, bottom } = node.getBoundingClientRect();
  const isRead = node.hasAttribute("data-watched");
  resolve(isRead ? "read" : top > 0 ? "below" : bottom < innerHeight ? "above" : "here");
}))"""
"""Whether a text is read, or where it is while it does not fill the window."""


async def test_two_long_texts_are_read_on_a_phone_by_scrolling_with_a_finger(servers: StudyServers) -> None:
    site = await serve(servers, "text", sentences=120)
    visit = await site.visit(viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    page = visit.page
    finger = await visit.context.new_cdp_session(page)
    await visit.go("trial")
    for number in (1, 2):
        await page.wait_for_selector(f'body[data-step="trial:{number}"][data-state=ready] main .spread-side')
        for text in await page.locator("main .clip-text").all():
            looks = 0
            while (where := await text.evaluate(WHERE)) != "read":
                looks += 1
                assert looks < 900, f"nothing counts as read of what is {where}"
                if where != "here":
                    await swipe(finger, up=where == "below")
        await page.locator("main .choice").first.tap()
        await page.locator("main #next").tap()
    await visit.step("end")
    assert len(chosen(await site.answers())) == 2
    assert (await site.answers())["trial:1"]["input"] == "touch"


async def test_a_long_text_counts_wherever_slow_scrolling_stops_while_it_fills_the_window(
    servers: StudyServers,
) -> None:
    site = await serve(servers, "text", sentences=120)
    visit = await site.visit(viewport={"width": 360, "height": 740})
    await visit.go("trial")
    text = visit.page.locator("main .clip-text").first
    await text.wait_for()
    await text.evaluate(
        """async (node) => {
          while (node.getBoundingClientRect().top > -20) {
            scrollBy(0, 10);
            await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
          }
        }"""
    )
    await visit.page.wait_for_selector('main .clip-text[data-state="ended"]')
