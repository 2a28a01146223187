"""Methods of fixed questions, of two scales or of a hidden reference: a person completes each with any device."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from playwright.async_api import Page

from beholder.testing.browser import Rater, walk
from support.browser import MARKS, Site, StudyServers, barriers, overhang
from support.rating_states import write_stimuli
from support.variants import variant

pytestmark = MARKS

SIZES = [(360, 740), (1366, 768)]
DESIGN = {"participants": 2, "trials": 1, "seed": 3}
REFERENCED = [{"name": "source", "role": "reference"}, "clear"]
STILL = {
    "playback": {"look_seconds": 0.2, "fullscreen": False},
    "questions": [{"id": "quality", "text": "How good is each?"}],
}
QUIET = {"playback": {"volume": False}}
PAGES: dict[str, tuple[str, dict[str, Any]]] = {
    "p835": ("audio", {"method": "p835", "questions": [], **QUIET}),
    "av": ("sounding", {"method": "av", "questions": [], "conditions": ["lifelike", "muffled"], **QUIET}),
    "av in passes": (
        "sounding",
        {
            "method": "av", "questions": [], "conditions": ["lifelike", "muffled"], "options": {"layout": "passes"},
            **QUIET,
        },
    ),
    "dscqs": ("image", {"method": "dscqs", "conditions": REFERENCED, "options": {"gap": 0.1}, **STILL}),
    "samviq": ("image", {"method": "samviq", "conditions": REFERENCED, **STILL}),
}  # fmt: skip
SCORES: dict[str, dict[str, Any]] = {
    "p835": {"q1": {"s1": 2}, "q2": {"s1": 3}, "q3": {"s1": 4}},
    "av": {"q1": {"s1": 2}, "q2": {"s1": 3}, "q3": {"s1": 4}},
    "av in passes": {"q1": {"s1": 2}, "q2": {"s1": 3}, "q3": {"s1": 4}},
    "dscqs": {"q1": {"s1": 81, "s2": 36}},
    "samviq": {"q1": {"s2": 94, "s3": 21}},
}
"""What is answered."""


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
            (asked, slot): (f"{score:g}",) for asked, slots in SCORES[name].items() for slot, score in slots.items()
        }

    return rate


@pytest.mark.parametrize("name", [variant("p835"), variant("av"), "av in passes", "dscqs", variant("samviq")])
async def test_it_is_completed_by_keyboard_alone_without_a_barrier(servers: StudyServers, name: str) -> None:
    site = await serve(servers, name)
    visit = await site.visit(reduced_motion="reduce")
    troubles: list[str] = []

    async def look(page: Page, key: str, moment: str) -> None:
        if key.startswith("trial:"):
            theme: Literal["light", "dark"] = "dark" if moment == "shown" else "light"
            troubles.extend(await overhang(page, moment, SIZES) + await barriers(page, moment, [theme]))

    await walk(visit.page, keyboard_only=True, on_step=look, rater=rater_of(name))
    assert await site.scores("trial:1") == SCORES[name]
    assert (await site.answers())["trial:1"]["input"] == "keyboard"
    assert troubles == []


@pytest.mark.parametrize("name", ["p835", variant("av"), variant("dscqs"), "samviq"])
async def test_it_is_completed_on_a_phone_by_touch(servers: StudyServers, name: str) -> None:
    site = await serve(servers, name)
    visit = await site.visit(viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    await walk(visit.page, rater=rater_of(name))
    assert await site.scores("trial:1") == SCORES[name]
    assert (await site.answers())["trial:1"]["input"] == "touch"


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
