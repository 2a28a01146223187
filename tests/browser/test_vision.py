"""Colour plates, card and rings in a real browser: by mouse, keyboard and touch, in exact pixels."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from PIL import Image
from playwright.async_api import Page

from beholder.checks.acuity import ring
from support.browser import MARKS, Site, StudyServers, Visit, barriers, overhang
from support.variants import variant

pytestmark = MARKS

PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 844}, "screen": {"width": 390, "height": 844}, "is_mobile": True,
    "has_touch": True, "device_scale_factor": 3,
}  # fmt: skip
ARROWS = [
    ("ArrowRight",), ("ArrowRight", "ArrowUp"), ("ArrowUp",), ("ArrowUp", "ArrowLeft"), ("ArrowLeft",),
    ("ArrowLeft", "ArrowDown"), ("ArrowDown",), ("ArrowDown", "ArrowRight"),
]  # fmt: skip


async def private(site: Site, key: str) -> Any:
    """Return the private part of an attempt, in a study with one visitor."""
    return next(row["private"] for row in await site.rows("posed") if row["key"] == key)


async def verdict_of(site: Site, key: str) -> tuple[str, str, Any]:
    row = next(row for row in await site.rows("told") if row["key"] == key)
    return row["verdict"], row["reason"], row["evidence"]["evidence"]


async def shown(page: Page, selector: str, text: str) -> None:
    """Wait until an element of the page has this text."""
    await page.locator(selector).filter(has_text=text).wait_for()


async def begin(site: Site, key: str, **device: Any) -> Visit:
    visit = await site.visit(**device)
    await visit.page.click("#agree")
    await visit.step(key)
    await visit.page.wait_for_selector("main .sheet-check")
    return visit


async def read_plates(site: Site, page: Page, attempt: int, *, is_seen: bool = True) -> None:
    plates = (await private(site, f"check:colour:{attempt}"))["plates"]
    for place, plate in enumerate(plates, 1):
        await shown(page, ".plate-fields p", f"Pattern {place} of 3")
        await page.wait_for_selector(".check-picture")
        if is_seen or plate["kind"] == "control":
            await page.fill("#number", plate["number"])
            await page.press("#number", "Enter")
        else:
            await page.click("#none")


async def set_card(page: Page, *widths: float) -> None:
    for width in widths:
        await page.wait_for_selector("#next[aria-disabled=true]")
        await page.fill("#width", str(width))
        await page.click("#next")


async def test_plates_are_read_again_after_a_miss(servers: StudyServers) -> None:
    site = await servers.serve(qualification={"colour": True})
    page = (await begin(site, "check:colour:1")).page
    await page.click("#next", force=True)
    assert await page.locator("#reason").inner_text() == "Write the number, or say that you see none"
    problems = await barriers(page, "colour")
    await read_plates(site, page, 1, is_seen=False)
    await page.wait_for_selector('body[data-step="check:colour:2"] .check-told')
    assert "night light" in await page.locator(".check-told").inner_text()
    problems += await barriers(page, "colour again", ["dark"])
    await read_plates(site, page, 2)
    await page.wait_for_selector('body:not([data-kind="check"])')
    assert [(await verdict_of(site, f"check:colour:{n}"))[:2] for n in (1, 2)] == [("fail", "plates"), ("pass", "")]
    assert problems == []


@pytest.mark.parametrize("ratio", [variant(1), 1.25, variant(2)])
async def test_a_ring_is_on_the_screen_pixel_by_pixel_as_it_was_drawn(servers: StudyServers, ratio: float) -> None:
    site = await servers.serve(qualification={"acuity": True})
    page = (await begin(site, "check:card:1", device_scale_factor=ratio)).page
    await set_card(page, 480, 481)
    await page.wait_for_selector(".acuity-list")
    await page.click("#next")
    await page.wait_for_selector(".acuity-patch img")
    attempt = await private(site, "check:acuity:1")
    drawn = ring(attempt["gap_px"], attempt["directions"][0])
    with Image.open(io.BytesIO(await page.screenshot())) as image:
        screen = np.asarray(image.convert("L"))
    side = len(drawn)
    box = await page.locator(".acuity-patch img").bounding_box()
    assert box is not None
    # With an emulated pixel ratio the browser may be off by one pixel, never between two pixels.
    near = [(round(box["x"] * ratio) + dx, round(box["y"] * ratio) + dy) for dx in range(-1, 2) for dy in range(-1, 2)]
    assert any(np.array_equal(screen[top : top + side, left : left + side], drawn) for left, top in near)


async def test_rings_are_answered_by_buttons_digits_and_arrows(servers: StudyServers) -> None:
    site = await servers.serve(qualification={"acuity": {"distance_mm": 1000}})
    page = (await begin(site, "check:card:1")).page
    problems = await barriers(page, "card")
    await page.locator("#width").focus()
    await page.keyboard.press("ArrowRight")
    await page.click("#larger")
    first = float(await page.input_value("#width"))
    await page.click("#next")
    await set_card(page, first + 200, 500)  # the two measurements differ: a third one
    await page.wait_for_selector(".acuity-list")
    problems += await barriers(page, "before the rings")
    await page.click("#next")
    directions = (await private(site, "check:acuity:1"))["directions"]
    for place, direction in enumerate(directions):
        await shown(page, "#reason", f"Ring {place + 1} of 5")
        await page.wait_for_selector(".acuity-patch img")
        if place == 0:
            problems += await barriers(page, "rings")
            await page.click(f'[data-direction="{direction}"]')
        elif place == 1:
            await page.keyboard.press("69874123"[direction])
        else:
            for key in ARROWS[direction]:
                await page.keyboard.down(key)
            for key in ARROWS[direction]:
                await page.keyboard.up(key)
    await page.wait_for_selector('body:not([data-kind="check"])')
    verdict, _, evidence = await verdict_of(site, "check:card:1")
    assert (verdict, len(evidence["widths"])) == ("pass", 3)
    verdict, _, evidence = await verdict_of(site, "check:acuity:1")
    assert (verdict, evidence["snellen"]) == ("pass", "20/30")
    assert problems == []


@pytest.mark.variant
async def test_without_a_card_nobody_sees_a_ring(servers: StudyServers) -> None:
    site = await servers.serve(qualification={"acuity": True})
    page = (await begin(site, "check:card:1")).page
    await page.click("#none")
    await page.wait_for_selector('body:not([data-kind="check"])')
    assert [(await verdict_of(site, f"check:{name}:1"))[:2] for name in ("card", "acuity")] == [
        ("unknown", "no_card")
    ] * 2


@pytest.mark.variant
async def test_a_phone_shows_plates_a_card_and_rings(servers: StudyServers) -> None:
    site = await servers.serve(qualification={"colour": True, "acuity": True})
    page = (await begin(site, "check:colour:1", **PHONE)).page
    sizes = [(390, 844)]
    problems = await overhang(page, "colour", sizes)
    await read_plates(site, page, 1)
    await page.wait_for_selector(".card-outline.is-upright")
    await set_card(page, 520, 521)
    await page.wait_for_selector(".acuity-list")
    await page.tap("#next")
    await page.wait_for_selector(".acuity-patch img")
    problems += await overhang(page, "rings", sizes)
    boxes = [await button.bounding_box() for button in await page.locator("main button.acuity-way").all()]
    assert all(box is not None and min(box["width"], box["height"]) >= 44 for box in boxes)
    directions = (await private(site, "check:acuity:1"))["directions"]
    for place, direction in enumerate(directions):
        await shown(page, "#reason", f"Ring {place + 1} of 5")
        await page.wait_for_selector(".acuity-patch img")
        await page.tap(f'[data-direction="{direction}"]')
    await page.wait_for_selector('body:not([data-kind="check"])')
    assert (await verdict_of(site, "check:acuity:1"))[0] == "pass"
    assert problems == []
