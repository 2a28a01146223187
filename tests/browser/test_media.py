"""Clips that fail to load or to play: retried, explained and reported, without ending the session."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import Route

from support.browser import MARKS, Site, StudyServers, Visit, play, play_button, rate, slider

pytestmark = MARKS

ACR: dict[str, Any] = {
    "method": "acr",
    "questions": [{"id": "quality", "text": "How good is it?", "scale": "acr5"}],
    "design": {"participants": 6, "trials": 2, "seed": 3},
}
IMPATIENT = """
const wait = globalThis.setTimeout;
globalThis.setTimeout = (run, ms, ...more) => wait(run, ms < 5000 ? ms / 10 : ms, ...more);
"""
"""A tenth of each pause between retries; the timeout of the decoder is unchanged."""


async def arrive_at(site: Site, slot: str, broken: Any) -> Visit:
    """Return a visit at the instructions; `broken` handles the clip of this slot in the first trial."""
    visit = await site.visit(expects_trouble=True, script=IMPATIENT)
    page = visit.page
    async with page.expect_response("**/api/answers/consent") as answering:
        await page.click("#agree")
    step = (await (await answering.value).json())["step"]
    url = step["prefetch"][int(slot[1:]) - 1]["url"]
    await page.route(f"**{url}", broken)
    await page.reload()  # discard the cached file
    return visit


@pytest.mark.variant
async def test_a_clip_that_never_comes_is_reported_and_the_session_goes_on(servers: StudyServers) -> None:
    site = await servers.serve()
    tries: list[str] = []

    async def lose(route: Route) -> None:
        tries.append(route.request.url)
        await route.abort()

    visit = await arrive_at(site, "s2", lose)
    page = visit.page
    await visit.step("text:instructions")
    await page.click("#next")
    await page.wait_for_selector("#try-again:visible")
    silent = len(tries)
    assert silent >= 4
    assert "you can continue without it" in await page.locator("main").inner_text()
    await page.click("#try-again")
    await page.wait_for_selector("#next:visible >> text=Report it and continue")
    assert len(tries) > silent
    await page.click("#next")
    await page.wait_for_selector("main .column.is-failed[data-slot=s2]")
    label = "B could not be shown. It does not count against you."
    assert await play_button(page, "s2").get_attribute("aria-label") == label
    assert await page.locator(".column-word:visible").all_inner_texts() == ["Does not play"]
    assert await page.locator(".tally p").all_inner_texts() == ["Played\n1 of 2", "Rated\n1 of 2"]
    await play_button(page, "s2").click(force=True)
    assert await page.locator("#reason").inner_text() == label
    await play(page, "s1")
    await rate(page, s1=70)
    assert await page.locator(".tally p").all_inner_texts() == ["Played\n2 of 2", "Rated\n2 of 2"]
    assert await slider(page, "s2").get_attribute("aria-disabled") == "true"
    await page.click("#next")
    await visit.step("trial:2")
    assert (await site.answers())["trial:1"]["answer"] == {
        "scores": {"q1": {"s1": 70}},
        "missing": {"s2": "media_error"},
    }
    await visit.go("end")
    assert [row["outcome"] for row in await site.rows("ends")] == ["completed"]


@pytest.mark.variant
async def test_a_clip_that_comes_when_tried_again_is_rated_like_any_other(servers: StudyServers) -> None:
    site = await servers.serve(**ACR)
    is_away = [True]

    async def lose(route: Route) -> None:
        await (route.abort() if is_away[0] else route.continue_())

    visit = await arrive_at(site, "s1", lose)
    page = visit.page
    await visit.step("text:instructions")
    await page.click("#next")
    await page.wait_for_selector("#try-again:visible")
    is_away[0] = False
    await page.click("#try-again")
    await page.wait_for_selector("#play:visible")
    await visit.go("trial:2")
    answer = (await site.answers())["trial:1"]["answer"]
    assert list(answer) == ["scores"]


@pytest.mark.variant
async def test_a_clip_that_came_broken_is_fetched_once_more_before_anybody_is_told(servers: StudyServers) -> None:
    site = await servers.serve(**ACR)
    tries: list[str] = []

    async def spoil_first(route: Route) -> None:
        tries.append(route.request.url)
        response = await route.fetch()
        body = await response.body()
        await route.fulfill(response=response, body=b"\0" * len(body) if len(tries) == 1 else body)

    visit = await arrive_at(site, "s1", spoil_first)
    await visit.step("text:instructions")
    await visit.go("trial:2")
    assert len(tries) == 2
    row = (await site.answers())["trial:1"]
    assert list(row["answer"]) == ["scores"]
    events = [event for batch in await site.rows("events") if batch["key"] == "trial:1" for event in batch["events"]]
    assert [event for event in events if event[1] == "error"] == []


@pytest.mark.variant
async def test_a_study_that_needs_every_clip_keeps_the_place_until_it_comes(servers: StudyServers) -> None:
    site = await servers.serve(**ACR, playback={"skip": False})
    is_away = [True]

    async def lose(route: Route) -> None:
        await (route.abort() if is_away[0] else route.continue_())

    visit = await arrive_at(site, "s1", lose)
    page = visit.page
    await visit.step("text:instructions")
    await page.click("#next")
    for _ in range(2):
        await page.wait_for_selector("#try-again:visible")
        words = await page.locator("main").inner_text()
        assert "Your place is saved: try again now, or come back later with the same link." in words
        assert "Questions about this study: tiny@example.org" in words
        assert not await page.is_visible("#next")
        is_away[0] = await page.locator("#try-again").get_attribute("data-pressed") is None
        await page.locator("#try-again").evaluate("node => { node.dataset.pressed = ''; node.click(); }")
    await visit.go("trial:2")
    row = (await site.answers())["trial:1"]
    assert list(row["answer"]) == ["scores"]
    assert row["playback"]["s1"]["errors"] == 2


async def test_a_clip_that_cannot_be_decoded_is_reported_and_the_session_goes_on(servers: StudyServers) -> None:
    site = await servers.serve(**ACR)
    tries: list[str] = []

    async def spoil(route: Route) -> None:
        tries.append(route.request.url)
        response = await route.fetch()
        await route.fulfill(response=response, body=b"\0" * len(await response.body()))

    visit = await arrive_at(site, "s1", spoil)
    page = visit.page
    await visit.step("text:instructions")
    await page.click("#next")
    await page.wait_for_selector("#try-again:visible")
    assert len(tries) == 2
    await page.click("#try-again")
    await page.click("#next:visible >> text=Report it and continue")
    assert len(tries) == 3
    await page.wait_for_selector("main h1 >> text=This video could not be shown")
    assert (
        await page.locator("#reason").inner_text()
        == "That does not count against you. Please continue with the next one."
    )
    await page.click("#next")
    await visit.step("trial:2")
    assert (await site.answers())["trial:1"]["answer"]["missing"] == {"s1": "media_error"}
    await visit.go("end")
