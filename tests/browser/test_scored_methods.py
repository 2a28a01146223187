"""Methods of fixed questions, of two scales or of a hidden reference: a person completes each with any device."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from playwright.async_api import Page

from beholder.testing.browser import Rater, walk
from support.browser import MARKS, Site, StudyServers, barriers, overhang, play_button, slider, values_on
from support.rating_states import write_stimuli
from support.variants import variant

pytestmark = MARKS

SIZES = [(360, 740), (1366, 768)]
DESIGN = {"participants": 2, "trials": 1, "seed": 3}
REFERENCED = [{"name": "source", "role": "reference"}, "clear"]
ASKED = {"conditions": REFERENCED, "questions": [{"id": "quality", "text": "How good is each?"}]}
STILL = {"playback": {"look_seconds": 0.2, "fullscreen": False}}
QUIET = {"playback": {"volume": False, "fullscreen": False}}
TWICE = {"method": "dscqs", "options": {"gap": 0.1}, **ASKED}
OPEN = {"method": "samviq", **ASKED}
GRADED = {"method": "bs1116", **ASKED}
SEEN = {"questions": [], "conditions": ["lifelike", "muffled"], **QUIET}
PAGES: dict[str, tuple[str, dict[str, Any]]] = {
    "p835": ("audio", {"method": "p835", "questions": [], **QUIET}),
    "av": ("sounding", {"method": "av", **SEEN}),
    "av in passes": ("sounding", {"method": "av", "options": {"layout": "passes"}, **SEEN}),
    "dscqs": ("image", {**TWICE, **STILL}),
    "dscqs of sounds": ("audio", {**TWICE, **QUIET}),
    "dscqs of videos": ("video", {**TWICE, **QUIET}),
    "samviq": ("image", {**OPEN, **STILL}),
    "samviq of sounds": ("audio", {**OPEN, **QUIET}),
    "samviq of videos": ("video", {**OPEN, **QUIET}),
    "bs1116": ("audio", {**GRADED, **QUIET}),
    "bs1116 of videos": ("video", {**GRADED, **QUIET}),
}
ASPECTS = {"q1": {"s1": 2}, "q2": {"s1": 3}, "q3": {"s1": 4}}
SCORES: dict[str, dict[str, Any]] = {
    "p835": ASPECTS,
    "av": ASPECTS,
    "dscqs": {"q1": {"s1": 81, "s2": 36}},
    "samviq": {"q1": {"s2": 94, "s3": 21}},
    "bs1116": {"q1": {"s2": 5, "s3": 3.4}},
}
"""What is answered, by method."""


def scores_of(name: str) -> dict[str, Any]:
    return SCORES[PAGES[name][1]["method"]]


async def serve(servers: StudyServers, name: str) -> Site:
    medium, keys = PAGES[name]
    keys = {"conditions": ["clear", "dull"], "design": DESIGN, **keys}
    folder = servers.folder / f"study{len(servers.sites)}" / medium
    if medium == "sounding":
        from beholder.stimuli.samples import make_samples

        make_samples(folder, contents=2, conditions=keys["conditions"], seconds=0.6, size=(160, 90))
    else:
        write_stimuli(folder, medium, keys["conditions"])
    return await servers.serve(stimuli={"folder": medium, "accept": ["loudness", "file_size"]}, **keys)


def rater_of(name: str) -> Rater:
    """Return what sets the controls to the answer of this page."""

    async def rate(key: str) -> Any:
        return {
            (asked, slot): (f"{score:g}",) for asked, slots in scores_of(name).items() for slot, score in slots.items()
        }

    return rate


def only(*names: str) -> list[Any]:
    """Return all pages, those that are not named as variants."""
    return [name if name in names else variant(name) for name in PAGES]


@pytest.mark.parametrize("name", only("av in passes"))
async def test_it_is_completed_by_keyboard_alone_without_a_barrier(servers: StudyServers, name: str) -> None:
    site = await serve(servers, name)
    visit = await site.visit(reduced_motion="reduce")
    troubles: list[str] = []

    async def look(page: Page, key: str, moment: str) -> None:
        if key.startswith("trial:"):
            theme: Literal["light", "dark"] = "dark" if moment == "shown" else "light"
            troubles.extend(await overhang(page, moment, SIZES) + await barriers(page, moment, [theme]))

    await walk(visit.page, keyboard_only=True, on_step=look, rater=rater_of(name))
    assert await site.scores("trial:1") == scores_of(name)
    assert (await site.answers())["trial:1"]["input"] == "keyboard"
    assert troubles == []


@pytest.mark.parametrize("name", only("samviq"))
async def test_it_is_completed_on_a_phone_by_touch(servers: StudyServers, name: str) -> None:
    site = await serve(servers, name)
    visit = await site.visit(viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    await walk(visit.page, rater=rater_of(name))
    assert await site.scores("trial:1") == scores_of(name)
    assert (await site.answers())["trial:1"]["input"] == "touch"


@pytest.mark.parametrize("name", only())
async def test_it_is_completed_with_a_mouse(servers: StudyServers, name: str) -> None:
    site = await serve(servers, name)
    visit = await site.visit()
    await walk(visit.page, rater=rater_of(name))
    assert await site.scores("trial:1") == scores_of(name)
    assert (await site.answers())["trial:1"]["input"] == "mouse"


BUSY_FROM_THE_THIRD_PLAY = """(() => {
  const play = HTMLMediaElement.prototype.play;
  let plays = 0;
  HTMLMediaElement.prototype.play = async function () {
    await play.call(this);
    const until = (plays += 1) === 3 ? performance.now() + 550 : 0;
    while (performance.now() < until);
  };
})();"""
"""The second time the first of two comes, a busy browser tells so late of its start that most of it proves nothing."""


async def test_what_a_busy_browser_lost_of_the_second_turn_is_shown_again_and_never_refused(
    servers: StudyServers,
) -> None:
    site = await serve(servers, "dscqs of videos")
    visit = await site.visit(script=BUSY_FROM_THE_THIRD_PLAY)
    page = visit.page
    await visit.go("trial")
    await page.click("#play")
    stopped = page.locator("main h1", has_text="stopped")
    await stopped.wait_for()
    await page.click("#play")
    await stopped.wait_for(state="hidden")
    await walk(page, rater=rater_of("dscqs of videos"))
    assert await site.scores("trial:1") == scores_of("dscqs of videos")
    played = (await site.answers())["trial:1"]["playback"]
    assert [played[slot]["plays"] for slot in ("s1", "s2")] == [4, 3]


async def test_only_what_was_played_last_is_scored_its_last_score_is_kept_and_plays_are_counted(
    servers: StudyServers,
) -> None:
    site = await serve(servers, "samviq")
    visit = await site.visit()
    page = visit.page
    await visit.go("trial")
    await page.wait_for_selector("main button.play")
    for slot in ("s1", "s2", "s3"):
        await play_button(page, slot).click()
        await page.wait_for_selector(f'main .is-played[data-slot="{slot}"]')
        if slot != "s1":
            await slider(page, slot).fill("50")
    assert await slider(page, "s2").get_attribute("aria-disabled") == "true"  # s3 was played last
    assert await slider(page, "s3").get_attribute("aria-disabled") != "true"
    await slider(page, "s2").press("End")
    assert await values_on(page) == {"q1": {"s2": 50, "s3": 50}}
    await play_button(page, "s2").click()
    await page.wait_for_selector('main [data-slot="s2"] input:not([aria-disabled=true])')
    await slider(page, "s2").fill("70")
    await slider(page, "s2").fill("90")
    await page.click("#next")
    await visit.step("end")
    assert await site.scores("trial:1") == {"q1": {"s2": 90, "s3": 50}}
    played = (await site.answers())["trial:1"]["playback"]
    assert [played[slot]["plays"] for slot in ("s1", "s2", "s3")] == [1, 2, 1]


@pytest.mark.variant
async def test_the_recording_plays_before_every_question_and_once_more_after_a_reload(servers: StudyServers) -> None:
    site = await serve(servers, "p835")
    visit = await site.visit(reduced_motion="reduce")
    page = visit.page
    await visit.go("trial")
    titles = []
    for turn in range(3):
        await page.wait_for_selector("main #play:visible")
        titles.append(await page.locator("main h1").inner_text())
        await page.click("#play")
        await page.wait_for_selector("main .choice:visible")
        if turn == 1:
            await page.reload()  # what was heard and answered stays
            await page.wait_for_selector("main .choice:visible")
        await page.locator("main .choice").nth(turn).click()
        await page.click("#next")
    await visit.step("end")
    assert titles == [
        "1 of 3: Listen to the voice alone, not to the background",
        "2 of 3: Listen to the background alone, not to the voice",
        "3 of 3: Listen to the voice and the background as a whole",
    ]
    stored = (await site.answers())["trial:1"]
    assert stored["answer"] == {"scores": {"q1": {"s1": 5}, "q2": {"s1": 4}, "q3": {"s1": 3}}}
    assert stored["playback"]["s1"]["plays"] == 3


@pytest.mark.variant
async def test_the_page_goes_on_when_one_of_two_has_the_highest_grade_and_says_so_kindly(servers: StudyServers) -> None:
    site = await serve(servers, "bs1116")
    visit = await site.visit(viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    page = visit.page
    await visit.go("trial")
    for slot in ("s1", "s2", "s3"):
        await page.tap(f'main button.play[data-slot="{slot}"]')
        await page.wait_for_selector(f'main .is-played[data-slot="{slot}"]')
    sliders = page.locator("main .fader-input")
    for place, grade in enumerate((4.9, 3.4)):
        await sliders.nth(place).fill(str(grade))
    await page.tap("#next", force=True)  # it says that it cannot go on, and why
    reason = page.locator("main .reason")
    assert await reason.inner_text() == "One of the two is the reference itself: one of them gets 5.0."
    assert await page.evaluate("document.activeElement.dataset.slot") == "s2"
    assert "trial:1" not in await site.answers()
    await sliders.nth(0).press("End")
    assert await page.locator("main .fader-value").all_inner_texts() == ["5.0", "3.4"]
    assert await sliders.nth(1).get_attribute("aria-valuetext") == "3.4, Slightly annoying"
    await page.tap("#next")
    await visit.step("end")
    assert await site.scores("trial:1") == scores_of("bs1116")
