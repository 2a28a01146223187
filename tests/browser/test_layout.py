"""Layout and accessibility of every kind of page: window sizes, touch and screen readers."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import Page

from beholder.testing.browser import complete_study, walk
from support.browser import MARKS, StudyServers, barriers, overhang
from support.variants import variant

pytestmark = MARKS

SIZES = [(360, 740), (768, 1024), (1280, 800), (3840, 2160)]
QUESTIONS = [
    {"id": "uses", "text": "What for?", "type": "multiple", "options": ["work", "films", "games"]},
    {"id": "ease", "text": "It was easy to see the difference.", "type": "likert"},
    {"id": "age", "text": "Your age", "type": "number"},
    {"id": "remarks", "text": "Remarks", "type": "text"},
]
PARALLEL: dict[str, Any] = {"design": {"participants": 6, "trials": 1, "seed": 3}, "after": QUESTIONS}
ROWS: dict[str, Any] = {
    "questions": [{"id": "natural", "text": "How natural is it?"}, {"id": "fit", "text": "How well does it fit?"}],
    "options": {"layout": "rows"},
    "design": {"participants": 6, "trials": 1, "per_trial": 3, "seed": 3},
}
ACR: dict[str, Any] = {
    "method": "acr",
    "questions": [
        {"id": "quality", "text": "How good is it?", "scale": "acr11"},
        {"id": "speed", "text": "How fast is it?", "scale": "cont100"},
    ],
    "design": {"participants": 6, "trials": 2, "breaks": 1, "seed": 3},
}
METHODS = pytest.mark.parametrize("keys", [PARALLEL, variant(ROWS), variant(ACR)], ids=["parallel", "rows", "acr"])


@METHODS
async def test_no_page_is_wider_than_its_window_or_has_a_serious_barrier(
    servers: StudyServers, keys: dict[str, Any]
) -> None:
    site = await servers.serve(**keys)
    visit = await site.visit(reduced_motion="reduce")  # contrast is not measured during a transition
    problems = []

    async def scan(page: Page, key: str, moment: str) -> None:
        problems.extend(await barriers(page, f"{key} {moment}"))

    async def scan_and_measure(page: Page, key: str, moment: str) -> None:
        await scan(page, key, moment)
        problems.extend(await overhang(page, f"{key} {moment}", SIZES))

    await visit.go("text:instructions", on_step=scan_and_measure)
    await visit.page.keyboard.press("?")
    await scan(visit.page, "help", "shown")
    await visit.page.click("#withdraw")
    await scan(visit.page, "withdraw", "shown")
    await visit.page.keyboard.press("Escape")
    await visit.go("end", on_step=scan_and_measure)
    assert problems == []


@pytest.mark.parametrize("keys", [variant(PARALLEL), ACR], ids=["parallel", "acr"])
async def test_a_phone_completes_a_study_by_touch(servers: StudyServers, keys: dict[str, Any]) -> None:
    site = await servers.serve(**keys)
    visit = await site.visit(viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    await walk(visit.page)
    inputs = {row["input"] for key, row in (await site.answers()).items() if key.startswith("trial:")}
    assert inputs == {"touch"}
    assert [row["outcome"] for row in await site.rows("ends")] == ["completed"]


@pytest.mark.variant
async def test_a_study_without_motion_and_in_the_dark_can_be_completed(servers: StudyServers) -> None:
    site = await servers.serve()
    visit = await site.visit("", color_scheme="dark", reduced_motion="reduce", forced_colors="active")
    assert len(await complete_study(visit.page, site.link)) == 9
