"""The method mushra in a real browser: an explicit reference, hidden conditions, and a loop."""

from __future__ import annotations

import math
import struct
import wave
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from playwright.async_api import Page

from support.browser import MARKS, Site, StudyServers, Visit, barriers, overhang, play_button, rate, slider, values_on

pytestmark = MARKS

SIZES = [(390, 844), (360, 740), (1280, 800)]
CONDITIONS = [{"name": "original", "role": "reference"}, "clear", "dull"]
SLOTS = ("s1", "s2", "s3", "s4")
"""The named reference, then three unnamed slots, one of them the hidden reference."""
SECONDS = 1.5
CHANGE_AT_A_THIRD = """async () => {
  const head = document.querySelector(".timeline-head").parentElement;
  while (!(parseFloat(head.style.getPropertyValue("--at")) > 30)) await new Promise(requestAnimationFrame);
  document.querySelector("main .reference button.play").click();
}"""
"""Presses keys inside the page: a key from outside may arrive after the end of the sound."""


def write_sounds(folder: Path, seconds: float) -> None:
    """Write two contents under each condition, as short tones."""
    for place, condition in enumerate(("original", "clear", "dull")):
        for number, content in enumerate(("one", "two")):
            path = folder / condition / f"{content}.wav"
            path.parent.mkdir(parents=True, exist_ok=True)
            pitch = 300 + 100 * place + 50 * number
            with wave.open(str(path), "wb") as file:
                file.setnchannels(1)
                file.setsampwidth(2)
                file.setframerate(16000)
                samples = (math.sin(2 * math.pi * pitch * n / 16000) for n in range(int(seconds * 16000)))
                file.writeframes(b"".join(struct.pack("<h", int(6000 * sample)) for sample in samples))


def write_images(folder: Path) -> None:
    """Write two contents under each condition, as plain pictures."""
    for place, condition in enumerate(("original", "clear", "dull")):
        for number, content in enumerate(("one", "two")):
            path = folder / condition / f"{content}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            Image.new("RGB", (160, 100), (60 * place, 90, 120 * number)).save(path)


async def serve(servers: StudyServers, seconds: float = 0.5, **keys: Any) -> Site:
    """Serve a mushra on sounds, two pages of three versions each."""
    write_sounds(servers.folder / f"study{len(servers.sites)}" / "sounds", seconds)
    return await servers.serve(**{
        "method": "mushra", "stimuli": "sounds", "conditions": CONDITIONS,
        "questions": [{"id": "quality", "text": "How good is it, held against the reference?"}],
        "design": {"participants": 4, "trials": 2, "seed": 3},
        "playback": {"volume": False},
        **keys,
    })  # fmt: skip


async def start(site: Site, **device: Any) -> Visit:
    visit = await site.visit(**device)
    await visit.go("trial")
    return visit


async def play_sounds(page: Page, *slots: str) -> None:
    """Play sounds to their ends."""
    for slot in slots:
        await play_button(page, slot).click()
        await page.wait_for_selector(f'main .is-played[data-slot="{slot}"]')


async def events_of(site: Site, key: str = "trial:1") -> list[Any]:
    return [event for batch in await site.rows("events") if batch["key"] == key for event in batch["events"]]


async def test_the_value_on_the_screen_at_next_is_stored_by_click_and_by_key(servers: StudyServers) -> None:
    site = await serve(servers)
    visit = await start(site)
    page = visit.page
    await play_sounds(page, *SLOTS)
    assert await values_on(page) == {}
    await rate(page, s2=50, s3=50, s4=50)
    box = await slider(page, "s2").bounding_box()
    assert box is not None
    handle = 16  # half of it is beyond each end
    await slider(page, "s2").click(position={"x": box["width"] / 2, "y": handle / 2 + 0.05 * (box["height"] - handle)})
    await slider(page, "s3").press("End")
    for _ in range(5):
        await slider(page, "s3").press("ArrowDown")
    await slider(page, "s4").press("PageDown")
    shown = await values_on(page)
    await page.click("#next")
    await visit.step("trial:2")
    assert shown == {"q1": {"s2": 95, "s3": 95, "s4": 40}}
    assert await site.scores("trial:1") == shown


@pytest.mark.variant
async def test_the_reference_has_a_button_no_slider_and_is_to_be_heard_as_well(servers: StudyServers) -> None:
    site = await serve(servers)
    page = (await start(site)).page
    reference = play_button(page, "s1")
    assert await reference.inner_text() == "Reference"
    assert await reference.get_attribute("aria-label") == "Play Reference"
    assert await slider(page, "s1").count() == 0
    assert await page.locator("main .column .letter").all_inner_texts() == ["A", "B", "C"]
    assert await page.locator(".question-hint").inner_text() == (
        "One of A to C is the reference itself: give that one 100."
    )
    reason = page.locator("#reason")
    await page.click("#next", force=True)
    assert await reason.inner_text() == "4 recordings still to play, 3 sliders to set"
    assert await reference.evaluate("node => node === document.activeElement")
    await play_sounds(page, "s2", "s3", "s4")
    await rate(page, s2=1, s3=2, s4=3)
    assert await reason.inner_text() == "1 recording still to play"
    await page.keyboard.press("r")
    await page.wait_for_selector("main .reference.is-played")
    assert await reason.inner_text() == "All set. You can still play and change."


async def test_switching_keeps_the_place(servers: StudyServers) -> None:
    site = await serve(servers, SECONDS)
    visit = await start(site)
    page = visit.page
    await page.keyboard.press("1")
    await page.evaluate(CHANGE_AT_A_THIRD)
    await play_sounds(page, "s3", "s4", "s2", "s1")
    await rate(page, s2=1, s3=2, s4=3)
    await page.click("#next")
    await visit.step("trial:2")
    events = [(kind, slot, data["at"]) for _, kind, slot, data in await events_of(site) if kind in ("play", "pause")]
    left = next(place for place, (kind, slot, _) in enumerate(events) if (kind, slot) == ("pause", "s2"))
    assert events[left + 1][:2] == ("play", "s1")
    assert events[left][2] > 0.3 * 1000 * SECONDS
    assert abs(events[left + 1][2] - events[left][2]) < 300, "and not from the start"


@pytest.mark.variant
async def test_a_part_loops_between_two_grips_that_keys_move_and_that_stay_apart(servers: StudyServers) -> None:
    site = await serve(servers, SECONDS)
    visit = await start(site)
    page = visit.page
    grips = page.locator(".timeline [role=slider]")
    assert await grips.evaluate_all("nodes => nodes.filter((node) => node.checkVisibility()).length") == 0
    await page.click("#loop")

    async def part() -> list[float]:
        values: list[str] = await grips.evaluate_all("nodes => nodes.map((node) => node.ariaValueNow)")
        return [float(value) for value in values]

    assert await part() == [0, SECONDS]
    for key, expected in (
        ("ArrowRight", [0.1, 1.5]), ("PageUp", [1.0, 1.5]), ("ArrowRight", [1.0, 1.5]), ("PageDown", [0, 1.5]),
        ("ArrowUp", [0.1, 1.5]), ("ArrowRight", [0.2, 1.5]), ("Home", [0, 1.5]), ("ArrowRight", [0.1, 1.5]),
    ):  # fmt: skip
        await grips.nth(0).press(key)
        assert await part() == expected, key
    await grips.nth(1).press("PageDown")
    assert await part() == [0.1, 0.6]
    for box in await grips.evaluate_all(
        "nodes => nodes.map((node) => node.getBoundingClientRect()).map(({ width, height }) => [width, height])"
    ):
        assert min(box) >= 44
    rail = await page.locator(".timeline-rail").bounding_box()
    end = await grips.nth(1).bounding_box()
    assert rail is not None
    assert end is not None
    y = end["y"] + end["height"] / 2
    await page.mouse.move(end["x"] + 7, y)
    await page.mouse.down()
    await page.mouse.move(rail["x"] + rail["width"] * 0.5, y, steps=3)
    await page.mouse.move(rail["x"] + rail["width"] * 0.6, y, steps=3)
    await page.mouse.up()
    assert await part() == [0.1, 0.9]
    hint = page.locator(".transport-hint")
    assert (await hint.inner_text()).startswith("Looping 0:00.1 to 0:00.9.")

    await play_button(page, "s2").click()
    assert (await hint.inner_text()).startswith("A plays whole until you have heard all of it.")
    await page.wait_for_selector('main .is-played[data-slot="s2"]')
    assert (await hint.inner_text()).startswith("Looping 0:00.1 to 0:00.9.")
    await play_sounds(page, "s1", "s3", "s4")
    assert await page.locator("#pause").inner_text() == "Pause"
    await page.keyboard.press("4")  # no such slot
    await page.reload()
    await page.wait_for_selector("main .deck")
    assert await part() == [0.1, 0.9]
    assert await page.locator("#loop").get_attribute("aria-pressed") == "true"
    await page.keyboard.press("2")
    await page.wait_for_selector("main .column.is-playing[data-slot=s3]")
    await page.wait_for_function(
        "() => { const at = parseFloat(document.querySelector('.timeline').style.getPropertyValue('--at'));"
        " globalThis.rounds ??= 0; if (at < (globalThis.last ?? 0)) globalThis.rounds += 1; globalThis.last = at;"
        " return globalThis.rounds >= 2; }"
    )
    assert await page.evaluate("() => document.querySelector('.timeline').style.getPropertyValue('--at') <= 61")
    await rate(page, s2=1, s3=2, s4=3)
    await page.click("#next")
    await visit.step("trial:2")
    changes = [data["loop"] for _, kind, slot, data in await events_of(site) if kind == "change" and slot is None]
    assert changes[0] == [0, 1500]
    assert changes[-1] == [100, 900]
    looped = [data["at"] for _, kind, _, data in await events_of(site) if kind == "play" and data.get("loop")]
    assert 100 in looped


@pytest.mark.variant
async def test_only_what_plays_can_be_rated_where_the_study_says_so(servers: StudyServers) -> None:
    site = await serve(servers, options={"rate_only_playing": True})
    visit = await start(site)
    page = visit.page
    await play_sounds(page, "s1", "s2")
    await rate(page, s2=70)
    await play_sounds(page, "s3")
    await slider(page, "s3").press("End")
    first = slider(page, "s2")
    assert await first.get_attribute("aria-disabled") == "true"
    await first.press("ArrowUp")
    await first.click(position={"x": 20, "y": 120}, force=True)
    assert await page.locator("#reason").inner_text() == ("Play A to move its slider. Only what you play can be rated.")
    assert await values_on(page) == {"q1": {"s2": 70, "s3": 100}}
    await page.keyboard.press("1")
    await page.wait_for_selector("main .column.is-current[data-slot=s2]")
    await page.keyboard.press("ArrowUp")
    await play_sounds(page, "s4")
    await rate(page, s4=5)
    await page.click("#next")
    await visit.step("trial:2")
    assert await site.scores("trial:1") == {"q1": {"s2": 71, "s3": 100, "s4": 5}}


async def test_a_page_can_be_completed_with_keys_alone(servers: StudyServers) -> None:
    site = await serve(servers)
    visit = await site.visit()
    page = visit.page
    await visit.go("trial", keyboard_only=True)
    await page.keyboard.press("0")
    await page.wait_for_selector("main .reference.is-played")
    for key, slot, move in (("1", "s2", "End"), ("b", "s3", "Home"), ("3", "s4", "ArrowUp")):
        await page.keyboard.press(key)
        await page.wait_for_selector(f'main .column.is-played[data-slot="{slot}"]')
        await page.keyboard.press(move)
    await page.keyboard.press(" ")
    assert await page.locator("main .is-playing").count() == 0
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await visit.step("trial:2")
    assert await site.scores("trial:1") == {"q1": {"s2": 100, "s3": 0, "s4": 50}}


@pytest.mark.variant
async def test_images_flip_in_place_and_need_no_transport(servers: StudyServers) -> None:
    write_images(servers.folder / "study0" / "pictures")
    site = await serve(servers, stimuli="pictures", playback={"look_seconds": 1})
    visit = await start(site)
    page = visit.page
    assert await page.locator(".transport").count() == 0
    await page.keyboard.press("r")
    await page.wait_for_selector("main .reference.is-played")
    for slot in ("s2", "s3", "s4"):
        await play_button(page, slot).click()
        await page.wait_for_selector(f'main .is-played[data-slot="{slot}"]')
        assert await page.locator("main .clip.is-shown").get_attribute("data-slot") == slot
    await rate(page, s2=1, s3=2, s4=3)
    await page.click("#next")
    await visit.step("trial:2")
    assert await site.scores("trial:1") == {"q1": {"s2": 1, "s3": 2, "s4": 3}}


@pytest.mark.variant
async def test_parallel_shows_a_reference_as_its_first_button(servers: StudyServers) -> None:
    site = await serve(servers, method="parallel", options={"reference": "shown"})
    visit = await start(site)
    page = visit.page
    slots = await page.locator("main button.play").evaluate_all("nodes => nodes.map((node) => node.dataset.slot)")
    assert await play_button(page, slots[0]).inner_text() == "Reference"
    await play_sounds(page, *slots)
    await rate(page, **dict.fromkeys(slots[1:], 30))
    await page.click("#next")
    await visit.step("trial:2")
    assert await site.scores("trial:1") == {"q1": dict.fromkeys(slots[1:], 30)}


async def test_no_state_of_the_page_has_a_serious_barrier_or_is_wider_than_a_phone(servers: StudyServers) -> None:
    site = await serve(servers)
    page = (await start(site, reduced_motion="reduce")).page
    assert await barriers(page, "fresh") + await overhang(page, "fresh", SIZES) == []
    await play_sounds(page, "s1", "s2")
    await rate(page, s2=80)
    await page.click("#loop")
    await page.click("#next", force=True)
    assert await barriers(page, "half") + await overhang(page, "half", SIZES) == []
