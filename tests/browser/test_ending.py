"""The last page: how the person compares with the others, and the way back that goes by itself or is stayed for."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest
from playwright.async_api import Page, Route

from beholder.server.tokens import panel_key
from support.browser import MARKS, Site, StudyServers, barriers, overhang
from support.variants import variant
from support.visitor import Site as VisitedSite
from support.visitor import Visitor

pytestmark = MARKS

PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
DESIGN = {"participants": 8, "trials": 4, "per_trial": 4, "seed": 3}
PANEL = {
    "mode": "panel", "id_parameter": "pid", "codes": {"completed": "C7"}, "return_after": "2 s",
    "return_to": {"completed": "https://panel.example/done?c={code}"},
}  # fmt: skip


async def at_the_end(page: Page) -> list[str]:
    return [*await barriers(page, "the last page"), *await overhang(page, "the last page", [(390, 844), (320, 640)])]


async def answer_as_others(site: Site, many: int) -> None:
    """Let so many people rate everything, without a browser."""
    server = site.server
    async with httpx.AsyncClient(base_url=server.address, timeout=60) as client:
        for number in range(many):
            one = Visitor(VisitedSite(server.service, server.store, server.address, client), participant=f"p{number}")
            await one.arrive()
            while one.step["kind"] != "end":
                slots = one.step["trial"]["slots"] if one.step["kind"] == "trial" else []
                scores = {"scores": {"q1": {slot["id"]: 10 * place + number for place, slot in enumerate(slots)}}}
                given = scores if slots else {"agree": True} if one.step["kind"] == "consent" else {}
                (await one.answer(given)).raise_for_status()


@pytest.mark.parametrize("device", [{}, variant(PHONE)])
async def test_the_last_page_compares_a_person_with_the_others(servers: StudyServers, device: dict[str, Any]) -> None:
    keys: dict[str, Any] = {"design": DESIGN, "playback": {"watch": "none"}}
    site = await servers.serve(ending={"agreement": True, "crowd": True}, **keys)
    await answer_as_others(site, 5)
    await site.stop()  # what is gathered at most once a minute is gathered anew
    await site.start()
    visit = await site.visit("?participant=last", **device)
    await visit.go("end")
    page = visit.page
    assert re.fullmatch(
        r"In [0-9]+ % of all comparisons you and the others so far agreed on which one is better.",
        await page.inner_text("#agreement"),
    )
    rows = page.locator("#result tbody tr")
    assert await rows.count() == 16
    cells = [await row.locator("td").all_inner_texts() for row in await rows.all()]
    means = [float(others) for _, others in cells]
    assert means == sorted(means, reverse=True)
    assert len({own for own, _ in cells}) > 1
    assert await at_the_end(page) == []
    await page.reload()
    await page.wait_for_selector("#result tbody tr")
    assert await page.locator("#code").count() == 1


async def test_who_has_finished_goes_back_by_themselves_and_who_stays_stays(servers: StudyServers) -> None:
    site = await servers.serve(recruit=PANEL, design={**DESIGN, "trials": 1}, playback={"watch": "none"})
    key = panel_key(site.server.store.secret)
    visit = await site.visit(f"?key={key}&pid=ann", expects_trouble=True)
    page = visit.page
    arrived: list[str] = []

    async def platform(route: Route) -> None:
        arrived.append(route.request.url)
        await route.fulfill(status=200, content_type="text/html", body="<h1>Back</h1>")

    await visit.context.route("https://panel.example/**", platform)
    await visit.go("end")
    await page.wait_for_selector("h1:has-text('Back')")
    assert arrived == ["https://panel.example/done?c=C7"]
    visit.hosts.discard("panel.example")

    stays = await site.visit(f"?key={key}&pid=bea")
    await stays.go("end")
    assert await at_the_end(stays.page) == []
    assert "This page goes back to the platform by itself in" in await stays.page.inner_text(".way-back")
    await stays.page.focus("#stay")
    await stays.page.keyboard.press("Enter")
    assert await stays.page.inner_text(".way-back") == "This page stays here. Press the button to go back."
    assert await stays.page.locator("#stay").count() == 0
    assert await stays.page.evaluate("() => document.activeElement.id") == "return"

    away = await site.visit(f"?key={key}&pid=cyd", expects_trouble=True)
    await away.context.route("https://panel.example/**", platform)
    await away.go("end")
    await away.context.set_offline(True)
    await away.page.wait_for_selector(".way-back:has-text('1 second')")
    assert len(arrived) == 1
    await away.context.set_offline(False)
    await away.page.wait_for_selector("h1:has-text('Back')")
    away.hosts.discard("panel.example")
