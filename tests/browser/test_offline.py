"""Without a connection: the page says so, keeps the answer, and sends it once when the server is back."""

from __future__ import annotations

import pytest
from playwright.async_api import Page, Route

from beholder.clock import utc_now
from support.browser import MARKS, Site, StudyServers, Visit, play, rate

pytestmark = MARKS

STEPS_UNTIL_TRIAL_2 = ["consent", "text:instructions", "trial:1"]


async def ready_to_send(site: Site) -> Visit:
    """Return a visit whose first page is complete except for Next."""
    visit = await site.visit(expects_trouble=True)
    await visit.go("trial")
    await play(visit.page, "s1", "s2")
    await rate(visit.page, s1=33, s2=44)
    return visit


async def banner(page: Page, kind: str) -> str:
    """Wait for the banner of this kind and return its words."""
    return " ".join((await page.locator(f'.banner[data-kind="{kind}"]:visible').inner_text()).split())


async def assert_sent_once(site: Site) -> None:
    assert list(await site.answers()) == STEPS_UNTIL_TRIAL_2
    assert await site.scores("trial:1") == {"q1": {"s1": 33, "s2": 44}}


async def test_who_goes_offline_in_the_middle_of_a_trial_goes_on_and_the_answer_waits(servers: StudyServers) -> None:
    site = await servers.serve()
    visit = await site.visit(expects_trouble=True)
    page = visit.page
    await visit.go("trial")
    await play(page, "s1")
    await visit.context.set_offline(True)
    assert (await banner(page, "offline")).startswith("You are offline. You can continue with this page.")
    await rate(page, s1=33)
    await play(page, "s2")
    await rate(page, s2=44)
    await page.click("#next")
    await page.wait_for_selector("main h1 >> text=Waiting for the connection")
    assert (await banner(page, "offline")).startswith("You are offline. 1 answer waiting to be sent. It is saved")
    assert await page.locator(".saved").inner_text() == "1 waiting"
    assert list(await site.answers()) == ["consent", "text:instructions"]
    await visit.context.set_offline(False)
    await visit.step("trial:2")
    await page.locator(".banner").wait_for(state="hidden")
    assert await page.locator(".saved").inner_text() == "Answers saved"
    await assert_sent_once(site)
    await visit.go("end")


@pytest.mark.variant
async def test_a_server_that_is_down_at_next_gets_the_answer_when_it_is_back(servers: StudyServers) -> None:
    site = await servers.serve()
    visit = await ready_to_send(site)
    page = visit.page
    await site.stop()
    await page.click("#next")
    words = await banner(page, "unreachable")
    assert words.startswith("We cannot reach the study at the moment. 1 answer waiting to be sent.")
    await page.wait_for_selector("main h1 >> text=Waiting for the connection")
    await site.start()
    await visit.step("trial:2")  # by itself
    await assert_sent_once(site)
    await visit.go("end")


@pytest.mark.variant
async def test_an_answer_whose_tab_was_closed_is_sent_by_the_next_one(servers: StudyServers) -> None:
    site = await servers.serve()
    visit = await ready_to_send(site)
    link = visit.page.url
    await site.stop()
    await visit.page.click("#next")
    await banner(visit.page, "unreachable")
    await visit.page.close()
    await site.start()
    visit.page = await visit.new_tab(link)
    await visit.step("trial:2")
    await assert_sent_once(site)


async def test_an_answer_that_was_stored_but_not_acknowledged_is_stored_once(servers: StudyServers) -> None:
    site = await servers.serve()
    visit = await ready_to_send(site)
    page = visit.page
    lost = []

    async def lose(route: Route) -> None:
        lost.append(await route.fetch())
        await route.abort()

    await page.route("**/api/answers/*", lose, times=1)
    await page.click("#next")
    await page.click("#try-now")
    await visit.step("trial:2")
    assert [response.status for response in lost] == [200]
    await assert_sent_once(site)


@pytest.mark.variant
async def test_a_study_that_cannot_be_reached_on_arrival_opens_when_it_can(servers: StudyServers) -> None:
    site = await servers.serve()
    visit = await site.visit(expects_trouble=True)
    await visit.step("consent")
    await visit.page.route("**/api/**", lambda route: route.abort())
    await visit.page.reload()
    assert (await banner(visit.page, "unreachable")).startswith("We cannot reach the study at the moment.")
    assert "The study is loading." in await visit.page.inner_text("main")
    await visit.page.unroute("**/api/**")
    await visit.page.click("#try-now")
    await visit.step("consent")


@pytest.mark.variant
async def test_the_last_page_opens_and_is_of_use_where_the_server_has_stopped(servers: StudyServers) -> None:
    site = await servers.serve(contact="lab@example.org", design={"participants": 6, "trials": 1, "per_trial": 2})
    visit = await ready_to_send(site)
    page = visit.page
    assert site.server.service.context.presence.open_pages(utc_now()) == 1, "the server waits for this page"
    await page.route("**/web/**", lambda route: route.abort())
    await page.click("#next")
    await visit.step("end")
    code, receipt = await page.inner_text("#code"), await page.inner_text("#receipt")
    assert code
    assert receipt
    await site.stop()
    await page.click("#forget")
    await page.wait_for_selector("#erase-away p")
    assert " ".join((await page.inner_text("#erase-away")).split()) == (
        "The study cannot be reached at the moment. Please try again later, or write to the researchers and give the "
        "number above. Questions about this study: lab@example.org"
    )
    assert (await page.inner_text("#code"), await page.inner_text("#receipt")) == (code, receipt)
    await site.start()
    await page.unroute("**/web/**")
    await page.click("#forget")
    await page.wait_for_url("**/forget**")
    await page.click("#erase")
    await page.wait_for_selector("main h1 >> text=erased")
