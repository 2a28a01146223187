"""Time marks in a real browser: by mouse, touch and keyboard, over a reload and offline, and in three methods."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page

from beholder.methods import load_study
from beholder.stimuli.ingestion import load_catalogue
from beholder.stimuli.samples import make_samples
from beholder.testing import write_study
from support.browser import MARKS, Site, StudyServers, Visit, barriers, overhang, rate, values_on
from support.variants import variant

pytestmark = MARKS

SIZES = [(360, 740), (1280, 800)]
QUALITY = [{"id": "quality", "text": "How good is it?", "scale": "acr5"}]
LABELS = {"labels": ["stutter", "blur"]}
MARK_WHEN = """([selector, at]) => {
  const mark = ({ target }) => {
    if (target.currentTime < at) return;
    document.querySelector(selector)?.click();
    if (document.querySelector(".marks-count").textContent) document.removeEventListener("timeupdate", mark, true);
  };
  document.addEventListener("timeupdate", mark, true);
}"""
"""Presses a button as soon as a video plays beyond a time: a clip by itself plays once, however busy the machine is."""

TOO_SMALL = """(nodes) => nodes
  .map((node) => node.getBoundingClientRect())
  .filter(({ width, height }) => Math.min(width, height) < 44).length"""


@pytest.fixture(scope="session")
def clips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with stimuli that play long enough to be marked."""
    folder = tmp_path_factory.mktemp("clips")
    make_samples(folder / "stimuli", contents=2, conditions=("natural", "frozen"), seconds=2, size=(96, 54))
    (folder / "media").mkdir()
    load_catalogue(load_study(write_study(folder / "study", folder, conditions=["natural", "frozen"])))
    return folder / "study"


@pytest_asyncio.fixture(loop_scope="session")
async def longer(tmp_path: Path, clips: Path, chromium: Browser) -> Any:
    servers = StudyServers(tmp_path, clips, chromium)
    yield servers
    await servers.close()


async def serve(servers: StudyServers, method: str = "acr", marks: Any = LABELS, **keys: Any) -> Site:
    usual: dict[str, Any] = {
        "method": method, "conditions": ["natural", "frozen"], "questions": QUALITY, "options": {"marks": marks},
        "playback": {"fullscreen": False}, "design": {"participants": 4, "trials": 2, "seed": 3},
    }  # fmt: skip
    return await servers.serve(**{**usual, **keys})


async def board(servers: StudyServers, **keys: Any) -> Site:
    """Serve two clips on a page that play again and again, so that there is time to mark them."""
    return await serve(
        servers, "parallel", questions=[{"id": "quality", "text": "How good is it?"}], playback={"loop": "after-first"},
        **keys,
    )  # fmt: skip


async def watched(page: Page) -> Page:
    """Play the clip by itself and mark it once while it plays; wait for the question after it."""
    await page.evaluate(MARK_WHEN, [".cinema .mark-set", 0.4])
    await page.click("#play")
    await page.wait_for_selector("main .vote-marked .mark")
    return page


async def stored(site: Site, key: str = "trial:1") -> list[Any]:
    marks: list[Any] = (await site.answers())[key]["answer"]["marks"]
    return marks


async def told(page: Page, words: str) -> None:
    """Wait until who cannot see it is told so."""
    await page.locator("[role=status]", has_text=words).first.wait_for(state="attached")


def row(page: Page, place: int = 0) -> Any:
    return page.locator(".mark").nth(place)


async def times(page: Page) -> list[str]:
    return [text.strip() for text in await page.locator(".mark-time").all_inner_texts()]


async def test_a_clip_by_itself_is_marked_while_it_plays_and_the_mark_is_changed_beside_the_question(
    longer: StudyServers,
) -> None:
    site = await serve(longer)
    visit = await site.visit()
    await visit.go("trial")
    assert await visit.page.locator(".marks-guide").inner_text() == (
        "While it plays, mark every place where something is wrong.\n\nstutter\nM\nblur\nN"
    ), "who has not seen the buttons yet knows what they are for"
    page = await watched(visit.page)
    assert await page.locator(".mark-set").all_inner_texts() == ["stutter\nM", "blur\nN"]
    assert await page.locator(".mark-set").first.get_attribute("aria-disabled") == "true"
    before = await times(page)
    assert len(before) == 1
    assert await page.locator(".marks-line .marks-pin").count() == 1
    await row(page).get_by_role("button", name="Move mark 1 earlier").click()
    assert await times(page) != before
    await told(page, f"Moved to {(await times(page))[0]}")
    await page.select_option(".mark-kind", "blur")
    await page.evaluate(MARK_WHEN.replace(".textContent", ".textContent.startsWith('2')"), [".mark-set", 0.1])
    await row(page).get_by_role("button", name="Play from a second before mark 1").click()
    await row(page, 1).wait_for()  # it plays, and can be marked again
    await page.get_by_text("Good", exact=True).click()
    await page.click("#next")
    await visit.step("trial:2")
    marks = await stored(site)
    assert sorted((one["slot"], one["label"]) for one in marks) == [("s1", "blur"), ("s1", "stutter")]
    assert all(0 <= one["ms"] <= 2000 for one in marks)


async def test_by_keyboard_alone_marks_are_set_moved_removed_and_undone_in_the_slot_that_plays(
    longer: StudyServers,
) -> None:
    site = await board(longer)
    visit = await site.visit()
    await visit.go("trial")
    page = visit.page
    await page.keyboard.press("m")  # nothing plays
    assert await page.locator(".mark").count() == 0
    for digit, key in (("1", "n"), ("2", "m")):
        await page.keyboard.press(digit)
        slot = f"s{digit}"
        await page.wait_for_selector(f'main .column.is-played[data-slot="{slot}"]')
        await page.keyboard.press(key)
        await page.wait_for_selector(f'.mark[data-slot="{slot}"]')
    await page.keyboard.press(" ")  # pauses
    assert await page.locator(".mark .letter").all_inner_texts() == ["A", "B"]
    handle = page.get_by_role("slider", name="Mark 2 of B: time")
    await handle.focus()
    await page.keyboard.press("Home")
    assert (await times(page))[1] == "0:00.0"
    await page.keyboard.press("ArrowRight")
    assert await handle.get_attribute("aria-valuetext") == "0:00.1, stutter"
    assert await page.evaluate("() => document.activeElement.dataset.part") == "time"
    await page.keyboard.press("Delete")
    assert await page.locator(".mark").count() == 1
    await told(page, "Removed the mark at 0:00.1")
    await page.keyboard.press("z")
    assert await page.locator(".mark").count() == 2
    await rate(page, s1=20, s2=80)
    await page.click("#next")
    await visit.step("trial:2")
    marks = await stored(site)
    assert [(one["slot"], one["label"]) for one in marks] == [("s1", "blur"), ("s2", "stutter")]
    assert marks[1]["ms"] == 100


async def test_on_a_phone_by_touch_over_a_reload_and_offline_nothing_is_lost(longer: StudyServers) -> None:
    site = await board(longer, options={"marks": {"at_least": 1, "ask": "Tap when it is *odd*."}})
    visit = await site.visit(
        viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True, expects_trouble=True
    )
    await visit.go("trial")
    page = visit.page
    assert await page.locator(".marks-ask").inner_text() == "Tap when it is *odd*."
    for slot in ("s1", "s2"):
        await page.tap(f'main button.play[data-slot="{slot}"]')
        await page.wait_for_selector(f'main .column.is-played[data-slot="{slot}"]')
    await rate(page, s1=20, s2=80)
    await page.tap("#next", force=True)
    assert await page.locator("#reason").inner_text() == "Set 1 more mark while it plays."
    await page.tap(".mark-set")
    await page.wait_for_selector('.mark[data-slot="s2"]')
    before = await times(page)
    await page.reload()
    await page.wait_for_selector(".mark")
    assert await times(page) == before
    assert await values_on(page) == {"q1": {"s1": 20, "s2": 80}}
    await visit.context.set_offline(True)
    await row(page).get_by_role("button", name="Move mark 1 earlier").tap()
    moved = await times(page)
    await page.tap("#next")
    await page.wait_for_selector("main[inert]")
    await visit.context.set_offline(False)
    await visit.step("trial:2")
    (mark,) = await stored(site)
    assert (mark["slot"], mark["label"]) == ("s2", "mark")
    assert f"0:{mark['ms'] / 1000:04.1f}" == moved[0]


async def test_under_statements_marks_stand_beside_them(longer: StudyServers) -> None:
    site = await serve(longer, "likert", questions=[{"id": "real", "text": "It looks real.", "scale": "agree5"}])
    visit = await site.visit()
    await visit.go("trial")
    page = visit.page
    await page.click("#play")
    await page.wait_for_selector("main .survey .marks")
    await page.wait_for_selector('.mark-set[aria-disabled="false"]')  # it goes on beside the statements
    await page.keyboard.press("n")
    await page.wait_for_selector(".mark")
    await page.get_by_role("radio", name="Agree", exact=True).check(force=True)
    await page.click("#next")
    await visit.step("trial:2")
    assert [(one["slot"], one["label"]) for one in await stored(site)] == [("s1", "blur")]


@pytest.mark.parametrize("method", ["acr", variant("parallel"), variant("likert")])
async def test_the_pages_are_for_everybody_and_fit_a_phone(longer: StudyServers, method: str) -> None:
    site = await (board(longer) if method == "parallel" else serve(longer, method))
    visit: Visit = await site.visit()
    await visit.go("trial")
    page = visit.page
    if method == "acr":
        await watched(page)
    elif method == "likert":
        await page.click("#play")
        await page.wait_for_selector('main .survey .mark-set[aria-disabled="false"]')
        await page.keyboard.press("m")
    else:
        await page.keyboard.press("1")
        await page.wait_for_selector('main .column.is-played[data-slot="s1"]')
        await page.keyboard.press("m")
    await page.wait_for_selector(".mark")
    assert await barriers(page, method) == []
    assert await overhang(page, method, SIZES) == []
    assert await page.locator(".marks :is(button, select, .mark-time):visible").evaluate_all(TOO_SMALL) == 0
