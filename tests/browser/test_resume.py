"""Resuming a session after a reload, in another tab or on another device, from the state of the server."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from playwright.async_api import Page, Route

from support.browser import MARKS, StudyServers, play, rate, slider, values_on

pytestmark = MARKS


HIDE = """() => {
  Object.defineProperty(document, "visibilityState", { value: "hidden", configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
  delete document.visibilityState;
}"""
"""Puts the page away for a moment, as a phone does."""


async def reload(page: Page) -> dict[str, Any]:
    """Reload a page and return the step that the server sends."""
    async with page.expect_response("**/api/arrive") as arriving:
        await page.reload()
    step: dict[str, Any] = (await (await arriving.value).json())["step"]
    return step


async def slot_states(page: Page) -> list[Any]:
    """Return the slots in page order, with their colours and whether they were played."""
    await page.wait_for_selector("main .column")
    columns: list[Any] = await page.locator("main .column").evaluate_all(
        """nodes => nodes.map((node) => [
          node.dataset.slot, getComputedStyle(node).getPropertyValue("--slot"), node.classList.contains("is-played"),
        ])"""
    )
    return columns


async def test_a_reload_in_the_middle_of_a_trial_changes_nothing(servers: StudyServers) -> None:
    site = await servers.serve(design={"participants": 6, "trials": 2, "per_trial": 3, "seed": 3})
    visit = await site.visit()
    page = visit.page
    await visit.go("text:instructions")
    async with page.expect_response("**/api/answers/*") as answering:
        await page.click("#next")
    handed_out = (await (await answering.value).json())["step"]
    await visit.step("trial:1")
    await play(page, "s2", "s3")
    await rate(page, s2=64)
    before = await slot_states(page)
    assert await reload(page) == handed_out
    assert await slot_states(page) == before
    assert [played for _, _, played in before] == [False, True, True]
    assert len({colour for _, colour, _ in before}) == 3
    assert await values_on(page) == {"q1": {"s2": 64}}
    assert await slider(page, "s1").get_attribute("aria-disabled") == "true"
    await rate(page, s3=65)
    await play(page, "s1")
    await rate(page, s1=66)
    await page.click("#next")
    await visit.step("trial:2")
    row = (await site.answers())["trial:1"]
    assert row["answer"]["scores"] == {"q1": {"s1": 66, "s2": 64, "s3": 65}}
    playback = [row["playback"][slot] for slot in ("s1", "s2", "s3")]
    assert all(watched["frames"] > 0 and watched["coverage"] >= 0.97 for watched in playback)


@pytest.mark.variant
async def test_a_reload_after_the_clip_leads_back_to_the_vote(servers: StudyServers) -> None:
    site = await servers.serve(
        method="acr",
        questions=[{"id": "quality", "text": "How good is it?", "scale": "acr5"}],
        design={"participants": 6, "trials": 2},
    )
    visit = await site.visit()
    page = visit.page
    await visit.go("trial")
    await page.click("#play")
    await page.wait_for_selector("main input[type=radio]")
    await page.keyboard.press("4")
    assert (await reload(page))["key"] == "trial:1"
    await page.wait_for_selector("main input[type=radio]")
    assert await values_on(page) == {"q1": {"s1": 4}}
    await page.click("#next")
    await visit.step("trial:2")
    assert await site.scores("trial:1") == {"q1": {"s1": 4}}


@pytest.mark.variant
async def test_the_answers_of_a_questionnaire_survive_a_reload(servers: StudyServers) -> None:
    site = await servers.serve(before=[{"id": "age", "text": "Your age", "type": "number"}])
    visit = await site.visit()
    await visit.go("questions")
    await visit.page.fill("[name=age]", "41")
    await reload(visit.page)
    await visit.step("questions:before")
    assert await visit.page.input_value("[name=age]") == "41"


@pytest.mark.variant
async def test_the_back_button_of_the_browser_leads_nowhere_else(servers: StudyServers) -> None:
    site = await servers.serve()
    visit = await site.visit()
    page = visit.page
    await visit.go("trial")
    await page.goto("about:blank")
    await page.go_back()
    await visit.step("trial:1")
    await page.wait_for_selector("main .column")


async def test_a_closed_tab_and_another_device_lead_to_the_same_step(servers: StudyServers) -> None:
    site = await servers.serve()
    visit = await site.visit()
    await visit.go("trial")
    step = await reload(visit.page)
    own_link = visit.page.url
    assert "resume=" in own_link
    assert "ada" not in own_link
    await visit.page.close()
    again = await visit.new_tab(f"{site.link}?participant=ada")
    assert await reload(again) == step
    phone = await site.visit("?" + own_link.partition("?")[2], viewport={"width": 360, "height": 740})
    assert await reload(phone.page) == step
    assert len(await site.rows("sessions")) == 1
    await phone.go("trial:2")
    assert list(await site.answers()) == ["consent", "text:instructions", "trial:1"]


@pytest.mark.variant
async def test_a_half_filled_page_goes_on_on_another_device(servers: StudyServers) -> None:
    site = await servers.serve(
        before=[{"id": "why", "text": "Why?", "type": "text"}],
        design={"participants": 6, "trials": 2, "per_trial": 3, "seed": 3},
    )
    visit, comes = await site.visit(), asyncio.Event()

    async def hold(route: Route) -> None:
        await comes.wait()
        await route.continue_()

    await visit.page.route("**/steps/questions.js", hold)
    going = asyncio.create_task(visit.go("questions"))
    await visit.page.wait_for_selector("main >> text=The next page is loading.")
    comes.set()
    await going
    await visit.page.fill("[name=why]", "Half a sen")
    async with visit.page.expect_response("**/api/events") as sending:
        await visit.page.evaluate(HIDE)
    assert (await sending.value).status == 204
    link = "?" + visit.page.url.partition("?")[2]
    phone = await site.visit(link, viewport={"width": 360, "height": 740})
    await phone.step("questions:before")
    assert await phone.page.input_value("[name=why]") == "Half a sen"
    await phone.page.fill("[name=why]", "A whole sentence.")
    await phone.go("trial")
    await play(phone.page, "s2", "s3")
    await rate(phone.page, s2=64)
    async with phone.page.expect_response("**/api/events"):
        pass  # by itself, a few seconds after the last change
    third = await site.visit(link)
    await third.step("trial:1")
    assert [played for _, _, played in await slot_states(third.page)] == [False, True, True]
    assert await values_on(third.page) == {"q1": {"s2": 64}}
    await rate(third.page, s3=65)
    await play(third.page, "s1")
    await rate(third.page, s1=66)
    await third.page.click("#next")
    await third.step("trial:2")
    row = (await site.answers())["trial:1"]
    assert row["answer"]["scores"] == {"q1": {"s1": 66, "s2": 64, "s3": 65}}
    assert all(row["playback"][slot]["coverage"] >= 0.97 for slot in ("s1", "s2", "s3"))


@pytest.mark.variant
async def test_an_anonymous_person_who_opens_the_link_again_goes_on(servers: StudyServers) -> None:
    site = await servers.serve()
    visit = await site.visit("")
    await visit.go("trial")
    step = await reload(visit.page)
    await visit.page.close()
    again = await visit.new_tab(site.link)
    assert await reload(again) == step
    stranger = await site.visit("")
    await stranger.step("consent")
    assert len(await site.rows("sessions")) == 2


async def test_two_tabs_do_not_corrupt_each_other(servers: StudyServers) -> None:
    site = await servers.serve()
    visit = await site.visit()
    one = visit.page
    await visit.go("trial")
    two = await visit.new_tab(one.url)
    await two.wait_for_selector("main .column")
    await two.wait_for_selector(".banner:visible >> text=open in another tab")
    await play(two, "s1", "s2")
    await rate(two, s1=1, s2=2)
    await one.bring_to_front()
    await play(one, "s1", "s2")
    await rate(one, s1=91, s2=92)
    await one.click("#next")
    await visit.step("trial:2")
    assert await site.scores("trial:1") == {"q1": {"s1": 91, "s2": 92}}
    await two.bring_to_front()
    await two.click("#next")
    await two.wait_for_selector('body[data-step="trial:2"]')
    await play(two, "s1", "s2")
    await rate(two, s1=51, s2=52)
    await two.click("#next")
    await two.wait_for_selector('body[data-step="end"]')
    await one.bring_to_front()
    await play(one, "s1", "s2")
    await rate(one, s1=61, s2=62)
    await one.click("#next")
    await visit.step("end")
    assert await site.scores("trial:1") == {"q1": {"s1": 91, "s2": 92}}
    assert await site.scores("trial:2") == {"q1": {"s1": 51, "s2": 52}}
    tabs = {row["tab"] for row in (await site.answers()).values()}
    assert len(tabs) == 2
    visit.expects_trouble = True  # the browser logs every refused request on its console
    assert all("409" in trouble for trouble in visit.troubles)


@pytest.mark.variant
async def test_the_last_page_leads_to_another_session_by_keyboard(servers: StudyServers) -> None:
    site = await servers.serve(
        method="acr",
        questions=[{"id": "quality", "text": "How good is it?", "scale": "acr5"}],
        before=[{"id": "age", "text": "Your age", "type": "number", "min": 18, "max": 120}],
        design={"participants": 1, "trials": 2, "sessions_per_participant": 2},
    )
    visit = await site.visit("")
    page = visit.page
    await visit.go("end")
    again = page.locator("#again")
    assert await again.inner_text() == "Take another session (about 1 minute)"
    assert await reload(page)
    await again.focus()
    await page.keyboard.press("Enter")
    await visit.step("consent")
    assert "resume=" in page.url
    await page.click("#agree")
    await visit.step("trial:1")
    await visit.go("end")
    assert await again.count() == 0
    sessions = await site.rows("sessions")
    assert [row["visit"] for row in sessions] == [1, 2]
    assert len({row["participant"] for row in sessions}) == 1
    assert [row["list"] for row in await site.rows("claims")] == [1, 2]


@pytest.mark.variant
async def test_a_page_that_was_open_until_its_session_was_removed_begins_anew(servers: StudyServers) -> None:
    site = await servers.serve()
    visit = await site.visit(expects_trouble=True)  # the answer to what is gone is refused
    await visit.step("consent")
    store, now = site.server.store, site.server.service.now()
    (before,) = await site.rows("sessions")
    assert await store.remove_unanswered([before["participant"]], now + timedelta(days=1), now) == 1
    async with visit.page.expect_navigation():
        await visit.page.click("#agree")
    await visit.step("consent")
    await visit.go("trial:1")
    (after,) = await site.rows("sessions")
    assert after["session"] != before["session"]
    assert after["participant"] == before["participant"], "by the address of the first time"
