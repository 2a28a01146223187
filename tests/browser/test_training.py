"""Practice trials in a browser: introduction, feedback on an answer, another attempt, and the first rating."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from support.browser import MARKS, StudyServers, barriers, overhang

if TYPE_CHECKING:
    from playwright.async_api import Page

pytestmark = MARKS
SIZES = ((1280, 800), (390, 844), (320, 568))
ITEMS = [
    {"file": "stimuli/natural/greeting.mp4", "content": "best", "expected": 5, "anchor": "Excellent: it is whole"},
    {"file": "stimuli/frozen/greeting.mp4", "content": "worst", "expected": 1, "message": "It stands still."},
]
STUDY = {
    "method": "acr",
    "playback": {"fullscreen": False},
    "design": {"participants": 4, "trials": 2, "seed": 3},
    "training": {"corrections": 1, "items": ITEMS},
}


async def answer(page: Page, value: int) -> None:
    """Play the current clip, and give this answer by keyboard."""
    await page.locator("main #play").press("Enter")
    choice = page.locator(f'main input[type=radio][value="{value}"]')
    await choice.wait_for()
    await choice.press("Space")
    await page.locator("main #next").press("Enter")


async def test_practice_explains_an_answer_and_leads_to_the_first_trial(servers: StudyServers) -> None:
    site = await servers.serve(**STUDY)
    visit = await site.visit()
    page, fetched = visit.page, Counter[str]()
    page.on("request", lambda request: fetched.update([urlsplit(request.url).path]))
    await visit.go("training:1:1")
    strip = page.locator(".practice")
    assert await strip.inner_text() == "Practice 1 of 2\nOn the scale, this stands for: Excellent: it is whole"
    assert await page.locator(".progress").inner_text() == "Page 3 of 6"
    problems = await barriers(page, "practice") + await overhang(page, "practice", SIZES)

    await answer(page, 2)
    await visit.step("training:1:2")
    await page.locator("main #try-again").wait_for()
    assert await page.locator("main h1").inner_text() == "About your answer"
    assert await page.evaluate("() => document.activeElement.tagName") == "H1"
    assert "This is the last try." in await page.locator("main").inner_text()
    assert await strip.count() == 1
    problems += await barriers(page, "a word") + await overhang(page, "a word", SIZES)
    await page.reload()
    await page.locator("main #try-again").press("Enter")
    await answer(page, 4)

    await visit.step("training:2:1")
    assert await strip.inner_text() == ("Practice 2 of 2\nThis is practice. Your answer does not count.")
    await answer(page, 5)
    await page.locator("main #try-again").press("Enter")
    await answer(page, 5)
    last = page.locator("main .notice")
    assert "It stands still." in await last.inner_text()
    await last.locator("#next").press("Enter")

    await visit.step("trial:1")
    await page.locator("main #play").wait_for()
    assert await strip.count() == 0
    assert problems == []
    media = {path: times for path, times in fetched.items() if path.startswith("/media/")}
    assert max(media.values()) <= 2  # once, and once more after the reload
    verdicts = [(row["key"], row["verdict"]) for row in await site.rows("told") if row["check"] == "training"]
    assert verdicts == [
        ("training:1:1", "fail"), ("training:1:2", "pass"), ("training:2:1", "fail"), ("training:2:2", "fail"),
    ]  # fmt: skip
