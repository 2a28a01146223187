"""Rules that act during a session, in a browser: a repeated page, and an early end of the study."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from support.browser import MARKS, Site, StudyServers, Visit, barriers, overhang, play, rate
from support.message_studies import scores, targets

if TYPE_CHECKING:
    from playwright.async_api import Page

pytestmark = MARKS
SIZES = ((1280, 800), (320, 568))
BOARD = {"participants": 2, "trials": 3, "per_trial": 2, "seed": 3}


async def answer(page: Page, **values: float) -> None:
    """Play both clips of a page and rate them."""
    await play(page, *values)
    await rate(page, **values)
    await page.locator("main #next").click()


async def disobey(site: Site, visit: Visit, key: str) -> str:
    """Rate a page against its message; return the requested answers."""
    (claim,) = await site.rows("claims")
    asked = targets(site.server.service.served, claim["list"], key)
    values: dict[str, Any] = scores({"trial": {"slots": [{"id": "s1"}, {"id": "s2"}]}}, asked, obeys=False)
    await visit.step(key)
    await answer(visit.page, **values["scores"]["q1"])
    return next((f"{target.value:g}" for target in asked.values()), "")


async def test_who_overlooks_two_that_ask_reads_where_they_were_and_has_a_code(servers: StudyServers) -> None:
    site = await servers.serve(design=BOARD, checks={"attention": {"clips": 4, "per_session": 2}})
    visit = await site.visit()
    page = visit.page
    await visit.go("trial:1")
    asked = []
    for number in (1, 2, 3):
        asked.append(await disobey(site, visit, f"trial:{number}"))
        if len([value for value in asked if value]) == 2:
            break
        await visit.step(f"trial:{number + 1}")  # no message at the first time
    await visit.step("end")
    assert await page.locator("main h1").inner_text() == "The study ends here"
    lines = await page.locator("main li").all_inner_texts()
    pages = [2 + number for number, value in enumerate(asked, 1) if value]
    assert [line.partition(",")[0] for line in lines] == [f"Page {number}" for number in pages]
    assert [line.rpartition(" ")[2] for line in lines] == [f"{value}." for value in asked if value]
    assert await page.locator("main .prose a").get_attribute("href") == "mailto:tiny@example.org"
    (end,) = await site.rows("ends")
    assert (end["outcome"], end["reason"]) == ("failed_checks", "attention:wrong")
    assert await page.locator("#code").inner_text() == end["code"]
    problems = await barriers(page, "end") + await overhang(page, "end", SIZES)
    assert problems == []
    await page.reload()
    await visit.step("end")
    assert await page.locator("#code").inner_text() == end["code"]


@pytest.mark.variant
async def test_a_page_comes_again_with_a_word_and_has_to_be_played_again(servers: StudyServers) -> None:
    site = await servers.serve(checks={"speed": {"action": "retry", "slider_s": 60}})
    visit = await site.visit()
    page = visit.page
    await visit.go("trial:1")
    await answer(page, s1=40, s2=60)
    await visit.step("trial:1:2")
    await page.locator("main #try-again").wait_for()
    assert await page.locator("main h1").inner_text() == "Please do this page again"
    words = await page.locator("main .notice").inner_text()
    assert "That was very quick." in words
    assert "This is the last try." in words
    problems = await barriers(page, "again") + await overhang(page, "again", SIZES)
    await page.set_viewport_size({"width": 1280, "height": 800})
    assert problems == []
    await page.reload()
    await page.locator("main #try-again").click()
    assert await page.locator("main .is-played").count() == 0, "nothing of it has been played"
    assert await page.locator("main .fader[data-state=set]").count() == 0
    await answer(page, s1=45, s2=65)
    last = page.locator("main .notice")
    assert "That was very quick." in await last.inner_text()
    await last.locator("#next").click()
    await visit.step("trial:2")
    assert await site.scores("trial:1:2") == {"q1": {"s1": 45, "s2": 65}}
    assert [row["key"] for row in await site.rows("told")] == ["trial:1", "trial:1:2"]
