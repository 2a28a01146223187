"""Arriving from a panel and returning to it: ids, codes, the return link, and the next session with its reward."""

from __future__ import annotations

import pytest

from beholder.server.tokens import panel_key
from support.browser import MARKS, StudyServers, barriers

pytestmark = MARKS

DESIGN = {"participants": 6, "trials": 1, "per_trial": 2, "sessions_per_participant": 2, "seed": 3}
BONUS = {"bonus": {"quantity": {"sessions": 2, "each": "0.20 EUR"}}}


async def test_a_panel_sends_people_and_gets_them_back_with_a_code(servers: StudyServers) -> None:
    recruit = {
        "mode": "panel", "id_parameter": "pid", "reward": "1.50 EUR", "codes": {"completed": "C7"},
        "return_to": {"completed": "https://panel.example/done?c={code}&who={id}"},
    }  # fmt: skip
    site = await servers.serve(design=DESIGN, recruit=recruit, clean=BONUS)
    query = f"?key={panel_key(site.server.store.secret)}&pid=ada-1"
    visit = await site.visit(query)
    page = visit.page
    assert "ada-1" not in page.url
    await visit.go("end")
    assert await page.inner_text("#code") == "C7"
    assert await page.get_attribute("#return", "href") == "https://panel.example/done?c=C7&who=ada-1"
    assert await page.inner_text("#again-which") == "It would be session 2 of 2, and earns €1.50."
    assert await page.inner_text("#again-bonus") == "From 2 accepted sessions on, each of them earns €0.20 more."
    assert await barriers(page, "the end of a panel's session") == []
    await page.click("#again")
    await page.wait_for_selector('body[data-step="consent"] main > :not(:has(.first))')
    await visit.go("end")
    assert await page.locator("#again").count() == 0
    other = await visit.new_tab(site.link + query)
    assert await other.inner_text("#code") == "C7"
    assert [link.platform_id for link in await site.server.store.platform_identities()] == ["ada-1"]
    await other.click("#forget")  # the receipt is in the address, after the #
    await other.wait_for_selector("#erase")
    assert await barriers(other, "the page of receipts") == []
    await other.click("#erase")
    await other.wait_for_selector("main h1:has-text('Your answers are erased')")
    assert not await site.server.store.platform_identities()
    stranger = await site.visit("", expects_trouble=True)
    assert "open to those who were invited" in await stranger.page.inner_text("main")


async def test_whoever_comes_in_vain_is_told_when_and_shown_the_way_back(servers: StudyServers) -> None:
    recruit = {"mode": "prolific", "reward": "2.00 GBP", "minutes": 10, "opens": "2126-01-31 09:00Z"}
    site = await servers.serve(design=DESIGN, recruit=recruit)
    visit = await site.visit("?PROLIFIC_PID=a&STUDY_ID=b&SESSION_ID=c", expects_trouble=True, timezone_id="UTC")
    page = visit.page
    assert "not put up on the platform yet" in await page.inner_text("main")
    assert await page.get_attribute("#return", "href") == "https://app.prolific.com/"
    site = await servers.serve(design=DESIGN, recruit={"mode": "link", "opens": recruit["opens"]})
    visit = await site.visit(expects_trouble=True, timezone_id="UTC")
    assert await visit.page.inner_text("main h1") == "This study is not open yet"
    text = await visit.page.inner_text("main p")
    assert text == "It opens on 31 January 2126 at 09:00. Please come back then with the same link."
    visit = await site.visit("?resume=cut-off", expects_trouble=True)
    assert await visit.page.inner_text("main h1") == "This link does not work"
    assert "open the link that you were given once more" in await visit.page.inner_text("main p")
    assert await visit.page.inner_text(".foot") == "Questions about this study: tiny@example.org"
    await visit.page.goto(f"{site.link}x")
    assert await visit.page.inner_text("main h1") == "This address leads nowhere"
    assert await barriers(visit.page, "a wrong address") == []
    await visit.page.click("main a")
    assert await visit.page.inner_text("main h1") == "This study is not open yet"


@pytest.mark.variant
async def test_where_returning_ends_the_visit_the_next_session_is_offered_first(servers: StudyServers) -> None:
    recruit = {"mode": "prolific", "reward": "2.00 GBP", "minutes": 10}
    site = await servers.serve(design=DESIGN, recruit=recruit)
    visit = await site.visit(f"?{site.server.service.preview.link.partition('?')[2]}")
    page = visit.page
    await page.select_option("select", "end:completed")
    await page.wait_for_selector("#again")
    order = await page.locator("#again, #return").evaluate_all("nodes => nodes.map((node) => node.id)")
    assert order == ["again", "return"]
    assert "returning ends your visit" in await page.inner_text("#again-before")
