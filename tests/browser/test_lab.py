"""Laboratory mode in a browser: two stations and an operator, full screen, a power cut, and no other host."""

from __future__ import annotations

import pytest
from playwright.async_api import Page, expect

from beholder.testing.browser import walk
from support.browser import MARKS, Site, StudyServers, Visit, barriers

pytestmark = MARKS
LAB = {"mode": "lab", "stations": 2}


async def open_station(site: Site, place: str) -> Page:
    """Open the address of a station, or of the operator, in a new browser context."""
    context = await site.browser.new_context(viewport={"width": 1280, "height": 800})
    visit = Visit(
        site, context, await context.new_page(), expects_trouble=True
    )  # the server is disconnected on the way
    site.visits.append(visit)
    page = visit.watch(visit.page)
    await page.goto(site.server.lab[place])
    await page.wait_for_selector("main h1")
    return page


async def test_a_day_in_the_laboratory(servers: StudyServers) -> None:
    site = await servers.serve(recruit=LAB)
    operator, first, second = [await open_station(site, place) for place in ("Operator", "Station 1", "Station 2")]
    await expect(first.locator("main h1")).to_have_text("Please wait for the experimenter.")
    assert await barriers(operator, "operator") + await barriers(first, "station") == []
    for number in (1, 2):
        await operator.click(f"#station-{number} [data-act=next]")
    await expect(first.locator("main h1")).to_have_text("Participant 1")
    await first.click("#begin")
    await first.wait_for_selector('body[data-step="consent"] main h1')
    assert await first.evaluate("document.fullscreenElement !== null")
    await expect(first.locator(".topbar-study")).to_have_text("A tiny study · Participant 1")
    await second.click("#begin")
    await walk(first, until="trial:2")
    await expect(operator.locator("#station-1 .station-where")).to_have_text("Trial 2 of 2")

    await site.stop()  # a power cut: the server and one station start again
    await site.start()
    await first.reload()
    await expect(first.locator("main h1")).to_have_text("Participant 1")
    await expect(first.locator("#begin")).to_have_text("Continue")
    await first.click("#begin")
    await first.wait_for_selector('body[data-step="trial:2"] main > :not(:has(.first))')
    await walk(first, until="end")
    await expect(first.locator("main .lead p")).to_contain_text("Please call the experimenter.")
    assert await first.locator("#code").count() == 0
    assert await first.locator("#receipt").count() == 1
    await expect(operator.locator("#station-1 .station-where")).to_have_text("Finished")

    await first.click("#next-participant")  # too short to count
    held = await first.locator("#next-participant").bounding_box()
    assert held is not None
    await first.mouse.move(held["x"] + 10, held["y"] + 10)
    await first.mouse.down()
    await expect(first.locator("main h1")).to_have_text("Participant 3")
    await first.mouse.up()

    await operator.click("#station-2 [data-act=next]")  # unfinished sessions need a confirmation
    await expect(operator.locator("#station-2 .station-sure")).to_have_text("Participant 2 has not finished.")
    await operator.click("#station-2 [data-act=yes]")
    await expect(second.locator("main h1")).to_have_text("Participant 4")
    await operator.click("#station-2 [data-act=back]")
    await expect(second.locator("main h1")).to_have_text("Participant 2")

    sessions = await site.rows("sessions")
    assert [session["mode"] for session in sessions] == ["lab", "lab"]
    raters = {answer["session"] for answer in await site.rows("answers") if answer["key"].startswith("trial")}
    assert raters == {sessions[0]["session"]}
    assert not [trouble for visit in site.visits for trouble in visit.troubles if trouble.startswith("page error")]


@pytest.mark.variant
async def test_whoever_has_no_key_is_told_where_to_ask(servers: StudyServers) -> None:
    site = await servers.serve(recruit=LAB)
    visit = await site.visit("", expects_trouble=True)
    await expect(visit.page.locator("main")).to_contain_text("Please ask the experimenter for a station.")
    for place in ("/lab", "/lab/1"):
        page = await visit.new_tab(site.server.address + place)
        await expect(page.locator("main")).to_contain_text("This page needs the address with its key.")
    assert await site.rows("sessions") == []
