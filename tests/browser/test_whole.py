"""Complete studies in a real browser: the store holds what was on the screen."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import Page

from beholder.testing.browser import complete_study, fitting_answers
from support.browser import MARKS, StudyServers, values_on
from support.variants import variant

pytestmark = MARKS

PARALLEL = {"design": {"participants": 6, "trials": 2, "seed": 3}}
ACR = {
    "method": "acr",
    "questions": [{"id": "quality", "text": "How good is it?", "scale": "acr5"}],
    "design": {"participants": 6, "trials": 3, "breaks": 1, "seed": 3},
}


@pytest.mark.parametrize("by", [variant("mouse"), "keyboard"])
@pytest.mark.parametrize("keys", [variant(PARALLEL), ACR], ids=["parallel", "acr"])
async def test_a_whole_study_stores_what_was_on_the_screen(
    servers: StudyServers, keys: dict[str, Any], by: str
) -> None:
    site = await servers.serve(**keys)
    visit = await site.visit()
    shown = {}

    async def look(page: Page, key: str, moment: str) -> None:
        if key.startswith("trial:") and moment == "answered":
            shown[key] = await values_on(page)

    code = await complete_study(
        visit.page, site.link, answers=fitting_answers(site.study), keyboard_only=by == "keyboard", on_step=look
    )
    stored = {key: row for key, row in (await site.answers()).items() if key.startswith("trial:")}
    assert list(stored) == list(shown) == [f"trial:{n}" for n in range(1, keys["design"]["trials"] + 1)]
    assert {key: row["answer"]["scores"] for key, row in stored.items()} == shown
    assert {row["input"] for row in stored.values()} == {by}
    for row in stored.values():
        for watched in (playback for slot, playback in row["playback"].items() if slot != "page"):
            assert watched["frames"] > 0
            assert watched["coverage"] >= 0.97
            assert watched["plays"] == 1
    (end,) = await site.rows("ends")
    assert (end["outcome"], end["code"]) == ("completed", code)
    assert await visit.page.locator("#receipt").inner_text() == end["receipt"]


async def test_a_study_that_ends_early_says_so(servers: StudyServers) -> None:
    item = {"id": "field", "text": "Which?", "type": "single", "options": ["yes", "no"], "correct": ["yes"]}
    site = await servers.serve(before=[item])
    visit = await site.visit("?participant=eve")
    with pytest.raises(AssertionError, match="the study ended before trial: Thank you for your interest"):
        await visit.go("trial", answers={"field": "no"})
    assert fitting_answers(site.study) == {"field": "yes"}
