"""Checks in a real browser under interruptions: an error of ours, another device, the researcher's preview."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import pytest

from beholder.checks.brightness import Brightness
from support.browser import MARKS, SHORT, StudyServers

pytestmark = MARKS

ROOM = {"brightness": {"second": False}}


@pytest.mark.variant
async def test_a_picture_that_cannot_be_drawn_stops_nobody(
    servers: StudyServers, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> Any:
        raise ZeroDivisionError("a bug of ours")

    monkeypatch.setattr(Brightness, "draw", broken)
    site = await servers.serve(qualification=ROOM, design=SHORT)
    visit = await site.visit(expects_trouble=True)
    await visit.go("text:instructions")
    await visit.page.locator("main #next").click()
    await visit.step("trial:1")
    verdicts = [(row["key"], row["verdict"], row["reason"]) for row in await site.rows("told")]
    assert verdicts == [("check:brightness:1", "unknown", "our_fault")]


@pytest.mark.variant
async def test_another_screen_makes_the_room_be_looked_at_again(servers: StudyServers) -> None:
    site = await servers.serve(qualification=ROOM, design=SHORT)
    one = await site.visit(screen={"width": 1280, "height": 800})
    await one.go("check")
    first = await one.page.locator(".check-picture").get_attribute("src")
    await one.page.reload()
    await one.step("check:brightness:1")
    assert await one.page.locator(".check-picture").get_attribute("src") == first
    link = f"?{urlsplit(one.page.url).query}"  # of their own
    other = await site.visit(link, screen={"width": 1920, "height": 1080})
    await other.step("check:brightness:2")
    assert await other.page.locator(".check-told").count() == 0
    assert "device:1" in [row["key"] for row in await site.rows("told")]
    await one.page.fill("#circles", "1")
    await one.page.fill("#triangles", "1")
    one.expects_trouble = True  # the browser logs the refusal on its console
    await one.page.keyboard.press("Enter")
    await one.step("check:brightness:2")


async def test_the_researcher_goes_from_check_to_check_and_sees_each(servers: StudyServers) -> None:
    asked = {"colour": True, "acuity": True, "brightness": True}
    site = await servers.serve(qualification=asked, design=SHORT, texts={"instructions": ["Look.", "Rate."]})
    visit = await site.visit("?" + site.server.service.preview.link.partition("?")[2])
    names = await visit.page.locator("#preview-step option").all_text_contents()
    assert {"Count the faint shapes", "Instructions", "Instructions, page 2"} <= set(names)
    for key in ("check:colour:1", "check:acuity:1", "check:brightness:1"):
        await visit.page.select_option("#preview-step", key)
        await visit.step(key)
        label = await visit.page.locator("#preview-step option:checked").text_content()
        assert await visit.page.locator("main h1").text_content() == label
    assert await site.rows("sessions") == []
