"""Pairs in their views in a real browser: what is on the screen to the pixel, what counts as seen, what is stored."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image
from playwright.async_api import Locator, Page

from support.browser import MARKS, Site, StudyServers, Visit, barriers, overhang
from support.variants import variant

pytestmark = MARKS

SIZE = (320, 180)
ALL = ["wipe", "flip", "side-by-side"]
PHONE: dict[str, Any] = {"viewport": {"width": 360, "height": 740}, "has_touch": True, "device_scale_factor": 2}
ONE = [{"id": "quality", "text": "Which one looks better?"}]
Pixels = npt.NDArray[np.uint8]


def write_noise(folder: Path) -> None:
    """Write two contents under two conditions, as pictures of which no two pixels are alike: one red, one green."""
    rng = np.random.default_rng(4)
    for channel, condition in enumerate(("natural", "smooth")):
        (folder / condition).mkdir(parents=True)
        for content in ("one", "two"):
            pixels = rng.integers(0, 100, (SIZE[1], SIZE[0], 3), dtype=np.uint8)
            pixels[..., channel] += 150
            Image.fromarray(pixels).save(folder / condition / f"{content}.png")


async def serve(servers: StudyServers, view: Any, *, still: bool = True, **options: Any) -> Site:
    keys: dict[str, Any] = {"method": "pair", "conditions": ["natural", "smooth"], "questions": ONE}
    if still:
        write_noise(servers.folder / f"study{len(servers.sites)}" / "noise")
        keys |= {"stimuli": "noise", "playback": {"look_seconds": 0.2}}
    design = {"participants": 4, "trials": 2, "seed": 3}
    return await servers.serve(**keys, design=design, options={"view": view, **options})


async def reach(site: Site, **device: Any) -> Visit:
    visit = await site.visit(**device)
    await visit.go("trial")
    await visit.page.wait_for_selector("main .pair")
    return visit


async def seen(page: Page) -> Pixels:
    """Return what is on the screen, in its own pixels."""
    return np.asarray(Image.open(io.BytesIO(await page.screenshot())).convert("RGB"))


async def file_of(page: Page, slot: str) -> Pixels:
    """Return the pixels of the file in a slot."""
    flat: list[int] = await page.evaluate(
        """(slot) => {
          const node = document.querySelector(`main .clip[data-slot="${slot}"]`);
          const canvas = new OffscreenCanvas(node.naturalWidth, node.naturalHeight);
          const context = canvas.getContext("2d");
          context.drawImage(node, 0, 0);
          return [...context.getImageData(0, 0, canvas.width, canvas.height).data];
        }""",
        slot,
    )
    return np.array(flat, np.uint8).reshape(SIZE[1], SIZE[0], 4)[..., :3]


async def is_shown(page: Page, slot: str, box: tuple[float, float, float, float]) -> bool:
    """Return whether a part of the picture's place, in shares of it, shows this slot, by its colour."""
    around = await page.locator('main .pair-side .clip[data-slot="s1"]').bounding_box()
    assert around is not None
    left, top = around["x"] + box[0] * around["width"], around["y"] + box[1] * around["height"]
    right, bottom = around["x"] + box[2] * around["width"], around["y"] + box[3] * around["height"]
    part = (await seen(page))[round(top) : round(bottom), round(left) : round(right)].astype(float)
    strong = int((await file_of(page, slot)).astype(float).mean((0, 1)).argmax())
    return bool((part[..., strong] > part[..., 1 - strong]).all())


def line(page: Page) -> Locator:
    return page.locator("main .wipe-handle")


async def reason(page: Page) -> str:
    return await page.locator("#reason").inner_text()


async def views_of(site: Site, key: str = "trial:1") -> dict[str, Any]:
    views: dict[str, Any] = (await site.answers())[key]["playback"]["page"]["views"]
    return views


async def test_left_of_the_line_is_a_and_right_of_it_is_b_and_all_of_both_has_to_be_seen(servers: StudyServers) -> None:
    site = await serve(servers, ALL, magnifier=True)
    visit = await reach(site)
    page = visit.page
    await page.wait_for_function("() => document.querySelector('#reason').textContent.startsWith('Still to uncover')")
    assert await reason(page) == "Still to uncover, by moving the line to both sides: A, B"
    assert await is_shown(page, "s1", (0.02, 0.05, 0.47, 0.75))
    assert await is_shown(page, "s2", (0.53, 0.05, 0.98, 0.75))

    box = await page.locator("main .wipe").bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 3
    await page.mouse.move(box["x"] + box["width"] / 2, middle)
    await page.mouse.down()
    await page.mouse.move(box["x"] + 0.25 * box["width"], middle, steps=4)
    await page.mouse.up()
    assert await line(page).get_attribute("aria-valuenow") == "25"
    assert await line(page).get_attribute("aria-valuetext") == "A 25 percent, B 75 percent"
    assert await is_shown(page, "s1", (0.02, 0.05, 0.22, 0.75))
    assert await is_shown(page, "s2", (0.28, 0.05, 0.98, 0.75))
    await page.keyboard.press("1")  # an answer is not open yet
    assert await page.locator("main input:checked").count() == 0
    for key, value in (
        ("ArrowRight", "26"),
        ("Shift+ArrowLeft", "16"),
        ("PageUp", "26"),
        ("End", "100"),
        ("Home", "0"),
    ):
        await line(page).press(key)
        assert await line(page).get_attribute("aria-valuenow") == value
    assert await is_shown(page, "s2", (0.05, 0.05, 0.98, 0.95))
    await page.wait_for_selector("main .vote-question:not(.is-locked)")
    assert await barriers(page, "wipe") == []

    # In place of the other, and beside each other.
    await page.keyboard.press("v")
    assert await is_shown(page, "s1", (0.02, 0.05, 0.98, 0.95))
    await page.keyboard.press("f")
    assert await is_shown(page, "s2", (0.02, 0.05, 0.98, 0.95))
    assert await barriers(page, "flip", ["light"]) == []
    await page.keyboard.press("v")
    left = await page.locator('main .clip[data-slot="s1"]').bounding_box()
    right = await page.locator('main .clip[data-slot="s2"]').bounding_box()
    assert left is not None
    assert right is not None
    assert left["x"] + left["width"] < right["x"]
    assert left["y"] == right["y"]
    await page.keyboard.press("1")
    await page.keyboard.press("Enter")
    await visit.step("trial:2")
    views = await views_of(site)
    assert views["view"] == "side-by-side"
    assert set(views["ms"]) == set(ALL)
    assert (views["flips"], views["magnified"]) == (1, 0)
    assert views["moves"] >= 2
    assert views["uncovered"] == {"s1": 1, "s2": 1}


@pytest.mark.parametrize("device", [PHONE, variant({"device_scale_factor": 1}), variant({"device_scale_factor": 3})])
async def test_the_lens_shows_the_pixels_of_the_file_and_nothing_between_them(
    servers: StudyServers, device: dict[str, Any]
) -> None:
    site = await serve(servers, ["wipe", "side-by-side"], magnifier=True)
    visit = await reach(site, **device)
    page, ratio = visit.page, device["device_scale_factor"]
    await page.keyboard.press("m")
    assert await page.locator("#pair-magnifier").get_attribute("aria-pressed") == "true"
    files = {slot: await file_of(page, slot) for slot in ("s1", "s2")}
    for view, lenses in (("wipe", 1), ("side-by-side", 2)):
        shown = page.locator("main .lens:visible canvas")
        assert await shown.count() == lenses
        for place in range(lenses):
            canvas = shown.nth(place)
            times = int((await page.locator(".lens-factor").inner_text()).split()[0])
            side: int = await canvas.evaluate("canvas => canvas.width")
            await canvas.scroll_into_view_if_needed()
            box = await canvas.bounding_box()
            assert box is not None
            x, y = box["x"] * ratio, box["y"] * ratio
            # It stands on the pixels of the screen.
            assert abs(x - round(x)) < 0.02
            assert abs(y - round(y)) < 0.02
            assert abs(box["width"] * ratio - side) < 0.02
            found = (await seen(page))[round(y) : round(y) + side, round(x) : round(x) + side]
            count = side // times
            left, top = (int(0.5 * size - count / 2 + 0.5) for size in SIZE)  # half upwards
            source = files["s1" if view == "wipe" or place == 0 else "s2"][top : top + count, left : left + count]
            if view == "wipe":  # left of the line the one, right of it the other
                half = SIZE[0] // 2 - left
                source = np.concatenate(
                    [source[:, :half], files["s2"][top : top + count, left + half : left + count]], 1
                )
            assert np.array_equal(found, source.repeat(times, 0).repeat(times, 1))
        await page.keyboard.press("v")


async def test_videos_are_seen_one_at_a_time_and_each_has_to_be_seen_to_its_end(servers: StudyServers) -> None:
    site = await serve(servers, "flip", still=False, magnifier=True)
    visit = await reach(site)
    page, pair = visit.page, visit.page.locator("main .pair")
    assert await reason(page) == "Still to play to the end: A, B"
    await page.keyboard.press(" ")
    await page.wait_for_selector("main .pair[data-due='s2'][data-state=paused]")
    assert await reason(page) == "Still to play to the end: B"

    # What was seen is known after a reload, and so is what was on the screen.
    await page.keyboard.press("b")
    assert await pair.get_attribute("data-shown") == "s2"
    await page.wait_for_function("""() => Object.values(localStorage).some((kept) => kept.includes('"shown":"s2"'))""")
    await page.reload()
    await page.wait_for_selector("main .pair[data-shown=s2][data-due=s2]")
    await page.keyboard.press(" ")
    await page.wait_for_selector("main .pair[data-state=playing]")
    await page.keyboard.press(" ")
    await page.wait_for_selector("main .pair[data-state=paused]")
    # Paused, both stand at the same frame.
    await page.wait_for_function(
        """() => {
          const [one, two] = document.querySelectorAll("main .pair video");
          return !one.seeking && !two.seeking && Math.abs(one.currentTime - two.currentTime) < 0.002;
        }"""
    )
    await page.keyboard.press(" ")
    await page.wait_for_selector("main .pair[data-due='']")
    await page.keyboard.press("2")
    await visit.context.set_offline(True)
    visit.expects_trouble = True
    await page.keyboard.press("Enter")
    await page.wait_for_selector("main h1 >> text=Waiting for the connection")
    await visit.context.set_offline(False)
    await visit.step("trial:2")
    stored = (await site.answers())["trial:1"]
    assert stored["answer"] == {"choices": {"q1": {"better": "s2"}}}
    first, second = stored["playback"]["s1"], stored["playback"]["s2"]
    # The first was seen once; while the second was, it played on unseen.
    assert first["coverage"] >= 0.97
    assert first["watched_ms"] < 1.5 * first["duration_ms"]
    assert second["coverage"] >= 0.97
    assert second["dropped"] <= first["duration_ms"]
    assert (stored["playback"]["page"]["views"]["view"], stored["playback"]["page"]["views"]["flips"]) == ("flip", 1)


@pytest.mark.variant
async def test_a_picture_that_is_held_shows_the_other_until_it_is_let_go(servers: StudyServers) -> None:
    site = await serve(servers, "flip")
    visit = await reach(site)
    page, pair = visit.page, visit.page.locator("main .pair")
    box = await pair.bounding_box()
    assert box is not None
    await page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    await page.mouse.down()
    assert await pair.get_attribute("data-shown") == "s2"
    assert await is_shown(page, "s2", (0.02, 0.05, 0.98, 0.95))
    await page.mouse.up()
    assert await pair.get_attribute("data-shown") == "s1"
    assert await is_shown(page, "s1", (0.02, 0.05, 0.98, 0.95))
    await page.locator("#pair-flip").press("Enter")  # the button by keyboard
    assert await pair.get_attribute("data-shown") == "s2"
    await page.wait_for_selector("main .vote-question:not(.is-locked)")


@pytest.mark.variant
async def test_a_finger_drags_the_line_and_the_page_fits_a_phone(servers: StudyServers) -> None:
    site = await serve(servers, ALL, magnifier=True)
    visit = await reach(site, **PHONE)
    page = visit.page
    box = await page.locator("main .wipe").bounding_box()
    assert box is not None
    finger = await visit.context.new_cdp_session(page)
    y = box["y"] + box["height"] / 3
    for kind, part in (("Start", 0.5), ("Move", 0.7), ("Move", 0.8), ("Move", 0.75)):
        at = {"x": box["x"] + part * box["width"], "y": y}
        await finger.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": [at]})
    await finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    assert await line(page).get_attribute("aria-valuenow") == "75"
    for view in ALL:
        await page.tap(f'main [data-view="{view}"].button')
        for element in await page.locator("main button:visible, main .wipe-handle:visible").all():
            size = await element.bounding_box()
            assert size is not None
            assert size["height"] >= 44
            assert size["width"] >= 44
        assert await overhang(page, view, [(360, 740), (768, 1024), (1280, 800)]) == []
        assert await barriers(page, view) == []
    await page.tap("#pair-magnifier")
    await page.wait_for_selector("main .lens:visible")
    assert await overhang(page, "magnifier", [(360, 740)]) == []


@pytest.mark.variant
@pytest.mark.parametrize("view", ["side-by-side", "wipe"])
async def test_a_session_of_videos_by_keyboard_in_each_view(servers: StudyServers, view: str) -> None:
    site = await serve(servers, view, still=False)
    visit = await site.visit()
    await visit.go("end", keyboard_only=True)
    for key in ("trial:1", "trial:2"):
        stored = (await site.answers())[key]["playback"]
        assert stored["page"]["views"]["view"] == view
        assert stored["s1"]["coverage"] >= 0.97
        assert stored["s2"]["coverage"] >= 0.97
        assert stored["page"]["skew_ms"] is None or stored["page"]["skew_ms"] < 100
