"""Orders in a real browser: places by pressing, dragging, buttons and keys; two marks that are never the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from playwright.async_api import Locator, Page

from beholder.testing.browser import complete_study
from support.browser import MARKS, Site, StudyServers, Visit, barriers, overhang, play
from support.variants import variant

pytestmark = MARKS

FOUR = ["a", "b", "c", "d"]
SIZES = [(360, 740), (768, 1024), (1366, 768)]
PHONE: dict[str, Any] = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "is_mobile": True}


async def serve(servers: StudyServers, method: str, **keys: Any) -> Site:
    """Serve pages of four plain pictures, which need only a glance."""
    folder = servers.folder / f"study{len(servers.sites)}" / "image"
    for place, condition in enumerate(FOUR):
        for number, content in enumerate(("one", "two")):
            (folder / condition).mkdir(parents=True, exist_ok=True)
            Image.new("RGB", (160, 90), (60 * place, 90, 120 * number)).save(folder / condition / f"{content}.png")
    return await servers.serve(
        method=method, stimuli=Path(folder).name, conditions=FOUR, questions=[{"id": "best", "text": "Which is best?"}],
        design={"participants": 4, "trials": 2, "seed": 3}, playback={"look_seconds": 0.2}, **keys,
    )  # fmt: skip


async def see_all(visit: Visit) -> Page:
    await visit.go("trial")
    await visit.page.wait_for_selector("main button.play")
    await play(visit.page, "s1", "s2", "s3", "s4")
    return visit.page


async def listed(page: Page) -> list[str]:
    slots: list[str] = await page.locator(".rank-handle").evaluate_all("nodes => nodes.map((one) => one.dataset.slot)")
    return slots


async def middle(node: Locator) -> tuple[float, float]:
    box = await node.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def handle(page: Page, slot: str) -> Locator:
    return page.locator(f'.rank-handle[data-slot="{slot}"]')


async def stored(site: Site) -> dict[str, Any]:
    answer: dict[str, Any] = (await site.answers())["trial:1"]["answer"]
    return answer


async def test_an_order_is_made_by_pressing_dragging_buttons_and_keys_alike(servers: StudyServers) -> None:
    site = await serve(servers, "rank", options={"ties": True})
    visit = await site.visit()
    await visit.go("trial")
    page = visit.page
    await page.wait_for_selector("main button.play")
    await page.locator(".rank-add").first.click(force=True)  # before everything was seen
    assert await listed(page) == []
    assert await page.locator("#reason").inner_text() == "Still to look at: A, B, C, D"
    await see_all(visit)
    for slot in ("s2", "s1", "s4"):
        await page.click(f'.rank-add[data-slot="{slot}"]')
    assert await listed(page) == ["s2", "s1", "s4"]
    assert await page.locator("#reason").inner_text() == "1 has no place yet"
    await page.mouse.move(*await middle(page.locator('.rank-add[data-slot="s3"]')))  # into the middle, from above
    await page.mouse.down()
    x, y = await middle(handle(page, "s1"))
    await page.mouse.move(x, y - 5, steps=4)
    await page.mouse.up()
    assert await listed(page) == ["s2", "s3", "s1", "s4"]
    await handle(page, "s4").focus()
    await page.keyboard.press("ArrowUp")
    await page.keyboard.press("ArrowUp")  # the focus stays on what moves
    assert await listed(page) == ["s2", "s4", "s3", "s1"]
    await page.get_by_role("button", name="Move C down").click()
    assert await listed(page) == ["s2", "s4", "s1", "s3"]
    await page.locator('.rank-tie[data-slot="s1"]').click()
    places = await page.locator(".rank-handle").evaluate_all("nodes => nodes.map((one) => one.dataset.place)")
    assert places == ["1", "2", "2", "4"]
    assert await barriers(page, "rank") == []
    assert await overhang(page, "rank", SIZES) == []
    await page.reload()
    await page.wait_for_selector(".rank-handle")
    assert await listed(page) == ["s2", "s4", "s1", "s3"]
    await page.click("#next")
    await visit.step("trial:2")
    assert await stored(site) == {"choices": {"q1": {"order": [["s2"], ["s1", "s4"], ["s3"]]}}}


async def test_a_finger_puts_them_in_order_on_a_phone(servers: StudyServers) -> None:
    site = await serve(servers, "rank", options={"partial": True})
    visit = await site.visit(**PHONE)
    page = await see_all(visit)
    for slot in ("s2", "s1"):
        await page.tap(f'.rank-add[data-slot="{slot}"]')
    await handle(page, "s1").evaluate("node => node.scrollIntoView({ block: 'center' })")
    (x, y), (_, top) = await middle(handle(page, "s1")), await middle(handle(page, "s2"))
    touch = await visit.context.new_cdp_session(page)
    for kind, at in (("Start", y), ("Move", y - 12), ("Move", (y + top) / 2), ("Move", top - 8)):
        await touch.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": [{"x": x, "y": at}]})
    await touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    assert await listed(page) == ["s1", "s2"]
    await page.click("#next")  # Chromium takes a tap right after a drag as its end
    await visit.step("trial:2")
    assert await stored(site) == {"choices": {"q1": {"order": [["s1"], ["s2"]]}}}


async def test_the_best_is_never_the_worst(servers: StudyServers) -> None:
    site = await serve(servers, "best-worst")
    visit = await site.visit()
    page = await see_all(visit)
    best, worst = (page.get_by_role("radiogroup", name=name) for name in ("Best", "Worst"))
    await best.get_by_text("C").click()
    await worst.get_by_text("C").click()
    assert await best.locator("input:checked").count() == 0
    assert await page.locator("#reason").inner_text() == "Still to mark: Best"
    assert await barriers(page, "best-worst") == []
    assert await overhang(page, "best-worst", SIZES) == []
    await page.keyboard.press("ArrowRight")  # on from the one that was the best, which it is again
    assert await best.locator("input:checked").get_attribute("value") == "s3"
    assert await worst.locator("input:checked").get_attribute("value") == "s4"
    await worst.get_by_text("C").click()
    await best.get_by_text("A").click()
    await page.click("#next")
    await visit.step("trial:2")
    assert await stored(site) == {"choices": {"q1": {"best": "s1", "worst": "s3"}}}


@pytest.mark.parametrize("method", [variant("rank"), variant("best-worst")])
@pytest.mark.parametrize("by", ["keyboard", "touch"])
async def test_a_study_is_completed_by_keyboard_alone_and_by_touch(servers: StudyServers, method: str, by: str) -> None:
    site = await serve(servers, method)
    visit = await site.visit(**(PHONE if by == "touch" else {}))
    link = f"{site.link}?participant=bob"
    assert await complete_study(visit.page, link, keyboard_only=by == "keyboard")
