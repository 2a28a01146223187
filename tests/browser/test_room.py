"""The checks of screen and room in a real browser: display, matrix and pairs, by keyboard and by touch."""

from __future__ import annotations

import io
from typing import Any
from urllib.parse import urljoin

import pytest
from PIL import Image, ImageChops
from playwright.async_api import Page

from beholder.testing.browser import open_browser, walk
from support.browser import MARKS, Site, StudyServers, Visit, barriers, overhang

pytestmark = MARKS

ROOM = {"display": True, "brightness": True, "distance": True}
PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 844}, "screen": {"width": 390, "height": 844},
    "is_mobile": True, "has_touch": True, "device_scale_factor": 3,
}  # fmt: skip


async def posed(site: Site, key: str) -> dict[str, Any]:
    """Return the private part of an attempt from the store."""
    rows = await site.rows("posed")
    private: dict[str, Any] = next(row["private"] for row in reversed(rows) if row["key"] == key)
    return private


async def is_in_one_view(visit: Visit) -> bool:
    is_whole: bool = await visit.page.evaluate("() => document.documentElement.scrollHeight <= innerHeight")
    return is_whole


async def is_shown_as_it_is(page: Page) -> bool:
    """Return whether every picture of a check is shown at one image pixel per device pixel."""
    await page.wait_for_selector(".check-picture")
    await page.wait_for_function("() => !document.querySelector('.check-coming')")
    ratio = await page.evaluate("() => devicePixelRatio")
    screen = Image.open(io.BytesIO(await page.screenshot(scale="device"))).convert("RGB")
    pictures = await page.locator(".check-picture").all()
    for picture in pictures:
        address = urljoin(page.url, await picture.get_attribute("src") or "")
        drawn = Image.open(io.BytesIO(await (await page.request.get(address)).body())).convert("RGB")
        edges = await picture.evaluate(
            "picture => { const { left, top } = picture.getBoundingClientRect(); return [left, top] }"
        )
        left, top = (round(edge * ratio) for edge in edges)
        shown = screen.crop((left, top, left + drawn.width, top + drawn.height))
        if ImageChops.difference(shown, drawn).getbbox() is not None:
            return False
    return bool(pictures)


async def count(visit: Visit, circles: int, triangles: int) -> None:
    await visit.page.wait_for_selector(".check-picture")
    await visit.page.fill("#circles", str(circles))
    await visit.page.fill("#triangles", str(triangles))
    await visit.page.keyboard.press("Enter")


async def test_a_person_sets_up_screen_room_and_seat_by_keyboard(servers: StudyServers) -> None:
    site = await servers.serve(qualification=ROOM)
    visit = await site.visit()
    page = visit.page
    await visit.go("check")
    await visit.step("check:display:1")
    assert await is_in_one_view(visit)
    assert await page.locator(".display-help li").count() == 5
    problems = await barriers(page, "display")
    for box in ("#display-screen", "#display-steady"):
        await page.focus(box)
        await page.keyboard.press("Space")
    await page.focus("#next")
    await page.keyboard.press("Enter")

    await visit.step("check:brightness:1")
    assert await is_in_one_view(visit)
    assert await is_shown_as_it_is(page)
    problems += await barriers(page, "matrix")
    right = (await posed(site, "check:brightness:1"))["counts"]
    await page.click("#next", force=True)
    assert await page.evaluate("() => document.activeElement.id") == "circles"
    await count(visit, right["circles"] + 1, right["triangles"])
    await visit.step("check:brightness:2")
    assert (await page.locator(".check-told").inner_text()).startswith("This was not the right count.")
    assert "3 tries left." in await page.locator(".check-told").inner_text()
    problems += await barriers(page, "told")
    await count(visit, **(await posed(site, "check:brightness:2"))["counts"])
    await visit.step("check:brightness_second:1")
    assert await page.locator("main h1").inner_text() == "One more time"
    await count(visit, 0, 0)

    await visit.step("check:distance:1")
    assert await is_in_one_view(visit)
    assert await is_shown_as_it_is(page)
    problems += await barriers(page, "pair")
    keys = {"a": "ArrowRight", "b": "ArrowLeft"}
    for number, pair in enumerate((await posed(site, "check:distance:1"))["pairs"], 1):
        await page.wait_for_selector(f"text=Pair {number} of 3")
        await page.wait_for_function("() => !document.querySelector('.check-coming')")
        await page.keyboard.press("ArrowDown" if pair["strength"] == "weak" else keys[pair["blurred"]])
        await page.keyboard.press("Enter")
    await visit.step("trial:1")
    assert problems == []
    verdicts = {row["key"]: (row["verdict"], row["reason"]) for row in await site.rows("told")}
    assert verdicts == {
        "check:display:1": ("pass", ""), "check:brightness:1": ("fail", "count"), "check:brightness:2": ("pass", ""),
        "check:brightness_second:1": ("fail", "count"), "check:distance:1": ("pass", ""),
    }  # fmt: skip
    for key, row in (await site.answers()).items():
        if key.startswith(("check:brightness", "check:distance")):
            assert row["answer"]["scale"] == 1


@pytest.mark.variant
async def test_on_a_phone_the_pictures_fit_and_keep_their_pixels(servers: StudyServers) -> None:
    site = await servers.serve(qualification=ROOM)
    visit = await site.visit(**PHONE)
    page = visit.page
    await visit.go("check")
    await visit.step("check:display:1")
    over = await overhang(page, "display", [(390, 844)])
    await page.tap("#next", force=True)
    assert (
        await page.locator("#reason").inner_text() == "Tick what you have done. Press Next twice to continue without."
    )
    await page.tap("#next")  # the check does not block
    await visit.step("check:brightness:1")
    over += await overhang(page, "matrix", [(390, 844)])
    for field in ("#circles", "#next", "#cannot"):
        box = await page.locator(field).bounding_box()
        assert box is not None
        assert box["height"] >= 44
    await count(visit, **(await posed(site, "check:brightness:1"))["counts"])
    await visit.step("check:brightness_second:1")
    await count(visit, 0, 0)
    assert (await site.answers())["check:brightness:1"]["answer"]["scale"] == 1
    await visit.step("check:distance:1")
    over += await overhang(page, "pair", [(390, 844)])
    assert over == []


@pytest.mark.variant
async def test_a_screen_of_broken_scale_shows_every_pixel_as_it_was_drawn(servers: StudyServers) -> None:
    site = await servers.serve(qualification={"brightness": True})
    # Only a browser started with this option lays pages out in device pixels, as on a real screen.
    async with open_browser("--force-device-scale-factor=1.25", "--window-size=1300,900") as browser:
        page = await (await browser.new_context(no_viewport=True)).new_page()
        await page.goto(f"{site.link}?participant=ada")
        await walk(page, until="check")
        await page.wait_for_selector(".check-picture")
        assert await page.evaluate("() => devicePixelRatio") == 1.25
        assert await is_shown_as_it_is(page)


async def test_who_cannot_see_the_shapes_says_so_and_is_let_go(servers: StudyServers) -> None:
    site = await servers.serve(qualification={"brightness": True})
    visit = await site.visit()
    page = visit.page
    await visit.go("check")
    await visit.step("check:brightness:1")
    await page.click("#cannot")
    assert await page.evaluate("() => document.activeElement.id") == "cannot-sure"
    await page.click("#cannot")
    assert await page.locator("#cannot-sure").is_hidden()
    await page.click("#cannot")
    await page.click("#cannot-sure")
    await visit.step("end")
    assert [(row["outcome"], row["reason"]) for row in await site.rows("ends")] == [
        ("screened_out", "brightness:cannot")
    ]
