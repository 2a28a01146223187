"""Sound that one can see, in a real browser: whose waveform is drawn, the loop over it, and numbers on scales."""

from __future__ import annotations

import wave
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.async_api import Page

from beholder.methods.contract import Trial
from support.browser import (
    MARKS,
    Site,
    StudyServers,
    Visit,
    barriers,
    events_of_step,
    overhang,
    play_button,
    rate,
    slider,
    values_on,
)

pytestmark = MARKS

SIZES = [(390, 844), (360, 740), (1280, 800)]
RATE, SECONDS = 11_025, 1.5
REFERENCE = {"name": "original", "role": "reference"}
PARTS = {"original": (0.0, 0.3), "clear": (0.4, 0.6), "dull": (0.7, 1.0)}
"""Which part of it each condition has loud: no two are alike to the eye."""
NEAR = 0.04
"""How far a drawing may be from its sound, as a share of its height: each column is a pixel more or less."""
HEIGHTS = """() => {
  const canvas = document.querySelector(".timeline-wave");
  const { width, height } = canvas;
  const pen = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
  pen.drawImage(canvas, 0, 0);
  const { data } = pen.getImageData(0, 0, width, height);
  const filled = (x) => Array.from({ length: height }, (_, y) => data[4 * (y * width + x) + 3]).filter(Boolean).length;
  return Array.from({ length: width }, (_, x) => filled(x) / height);
}"""
"""How much of each column of pixels is drawn."""
RECORDER = """
const { connect } = AudioNode.prototype;
const tapes = new Map();
window.blocks = [];
AudioNode.prototype.connect = function (target, ...rest) {
  const { context } = this;
  if (target === context.destination && !tapes.has(context)) {
    const tape = context.createScriptProcessor(16384, 1, 1);
    tape.onaudioprocess = ({ inputBuffer }) => window.blocks.push([...inputBuffer.getChannelData(0)]);
    tapes.set(context, tape);
    connect.call(tape, context.destination);
  }
  if (target === context.destination) connect.call(this, tapes.get(context));
  return connect.call(this, target, ...rest);
};
"""
"""Keeps what is heard, in blocks of one and a half seconds."""


def loud_part(condition: str, content: str) -> NDArray[np.float64]:
    """Return a sound that is loud in one part, which is mirrored for the second content."""
    samples = np.random.default_rng(3).uniform(-1, 1, round(SECONDS * RATE)) * 0.02
    begin, end = (round(share * len(samples)) for share in PARTS[condition])
    samples[begin:end] *= 30
    return samples if content == "one" else samples[::-1]


def write_sounds(folder: Path, sounds: dict[str, dict[str, NDArray[np.float64]]]) -> None:
    """Write a sound for each content under each condition."""
    for condition, contents in sounds.items():
        (folder / condition).mkdir(parents=True)
        for content, samples in contents.items():
            with wave.open(str(folder / condition / f"{content}.wav"), "wb") as file:
                file.setnchannels(1)
                file.setsampwidth(2)
                file.setframerate(RATE)
                file.writeframes((samples * 32767).astype("<i2").tobytes())


async def serve(
    servers: StudyServers, method: str, conditions: Sequence[Any] = (REFERENCE, "clear", "dull"), **keys: Any
) -> Site:
    """Serve a study on sounds that the eye can tell apart, two pages for each person."""
    names = [one if isinstance(one, str) else one["name"] for one in conditions]
    sounds = {name: {content: loud_part(name, content) for content in ("one", "two")} for name in names}
    write_sounds(servers.folder / f"study{len(servers.sites)}" / "sounds", sounds)
    playback = {"volume": False, "watch": "none", **keys.pop("playback", {})}
    return await servers.serve(**{
        "method": method, "stimuli": "sounds", "conditions": list(conditions), "playback": playback,
        "questions": [{"id": "quality", "text": "How good is it?"}],
        "design": {"participants": 6, "trials": 2, "seed": 3}, **keys,
    })  # fmt: skip


async def begin(site: Site, who: str = "ada", **device: Any) -> Visit:
    visit = await site.visit(f"?participant={who}", **device)
    await visit.go("trial")
    return visit


async def drawing(page: Page) -> NDArray[np.float64]:
    """Return how high the waveform is at each pixel of the line, once it has been drawn."""
    await page.wait_for_selector(".timeline-wave[data-state=drawn]")
    return np.array(await page.evaluate(HEIGHTS))


def expected(width: int, *sounds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how high the waveform of sounds that are laid over each other is at each of so many pixels."""
    least, most = (np.stack(sounds).min(axis=0), np.stack(sounds).max(axis=0))
    columns = np.linspace(0, len(most), width + 1).astype(int)
    spans = [most[a:b].max() - least[a:b].min() for a, b in pairwise(columns)]
    shares: NDArray[np.float64] = np.array(spans) / (2 * max(most.max(), -least.min()))
    return shares


def trial_of(site: Site, number: int) -> Trial:
    """Return the first trial of a list, which the visitor of that number has got."""
    entry = site.server.service.served.lists[number - 1][0]
    assert isinstance(entry, Trial)
    return entry


def order(trial: Trial) -> list[str]:
    return [slot.stimulus for slot in trial.slots]


async def drawings_of_two(site: Site) -> list[tuple[Trial, NDArray[np.float64]]]:
    """Return the first trials of two people on the same content in different orders, with what each of them saw."""
    seen: dict[str, tuple[Trial, NDArray[np.float64]]] = {}
    for number in range(1, len(site.server.service.served.lists) + 1):
        trial = trial_of(site, number)
        other = seen.get(trial.content)
        if other is not None and order(other[0]) == order(trial):
            continue
        visit = await begin(site, f"person{number}")
        seen_now = (trial, await drawing(visit.page))
        if other is not None:
            return [other, seen_now]
        seen[trial.content] = seen_now
    raise AssertionError("no content comes in two orders")


async def test_the_waveform_is_that_of_the_reference_whoever_stands_where(servers: StudyServers) -> None:
    site = await serve(servers, "mushra")
    (trial, first), (_, second) = await drawings_of_two(site)
    assert np.array_equal(first, second), "it is the same in every order of the versions"
    far = {name: np.abs(first - expected(len(first), loud_part(name, trial.content))).mean() for name in PARTS}
    assert far["original"] < NEAR
    assert min(far["clear"], far["dull"]) > 0.2
    page = site.visits[-1].page
    assert await page.get_by_role("img", name="Waveform: Reference").count() == 1
    for slot in ("s2", "s3", "s4"):
        await play_button(page, slot).click()
        await page.wait_for_selector(f"main .column.is-playing[data-slot={slot}]")
        assert np.array_equal(await drawing(page), first), "and whatever plays"


@pytest.mark.variant
async def test_without_a_reference_all_are_drawn_as_one_whichever_x_is(servers: StudyServers) -> None:
    site = await serve(
        servers, "abx", ("clear", "dull"), options={"mode": "identify"}, playback={"waveform": True, "loop": "region"}
    )
    (trial, first), (_, second) = await drawings_of_two(site)
    assert np.array_equal(first, second)
    both = [loud_part(name, trial.content) for name in ("clear", "dull")]
    assert np.abs(first - expected(len(first), *both)).mean() < NEAR


async def test_without_a_reference_nothing_is_drawn_unless_the_study_says_so(servers: StudyServers) -> None:
    site = await serve(servers, "abx", ("clear", "dull"), options={"mode": "identify"}, playback={"loop": "region"})
    page = (await begin(site)).page
    assert await page.locator(".timeline").count() == 1
    assert await page.locator(".timeline-wave").count() == 0
    await page.click("#loop")
    assert await barriers(page, "abx") + await overhang(page, "abx", SIZES) == []


async def part(page: Page) -> list[float]:
    values: list[str] = await page.locator(".timeline [role=slider]").evaluate_all(
        "nodes => nodes.map((node) => node.ariaValueNow)"
    )
    return [float(value) for value in values]


async def test_a_part_is_set_by_finger_and_keys_and_stays_over_a_reload_and_without_a_connection(
    servers: StudyServers,
) -> None:
    site = await serve(servers, "bs1116", playback={"watch": "whole"})
    visit = await begin(site, viewport={"width": 360, "height": 740}, has_touch=True, expects_trouble=True)
    page = visit.page
    await page.locator("#loop").tap()
    rail = await page.locator(".timeline-rail").bounding_box()
    grip = await page.locator(".timeline-from").bounding_box()
    assert rail is not None
    assert grip is not None
    y = grip["y"] + grip["height"] / 2
    touches = await visit.context.new_cdp_session(page)
    for kind, x in (
        ("touchStart", grip["x"] + grip["width"] - 7), ("touchMove", rail["x"] + rail["width"] / 2),
        ("touchMove", rail["x"] + rail["width"] / 5), ("touchEnd", None),
    ):  # fmt: skip
        points = [] if x is None else [{"x": x, "y": y}]
        await touches.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    assert await part(page) == [0.3, SECONDS]
    end = page.locator(".timeline-to")
    await end.press("PageDown")
    await end.press("Shift+ArrowRight")
    assert await part(page) == [0.3, 0.81]
    assert await end.get_attribute("aria-valuetext") == "0.81 seconds"
    assert await page.locator(".timeline-times").inner_text() == "0:00.3 – 0:00.81"

    for slot in ("s1", "s2", "s3"):  # each is heard whole before a part of it can be
        await play_button(page, slot).click()
        await page.wait_for_selector(f'main .is-played[data-slot="{slot}"]')
    await page.reload()
    await page.wait_for_selector("main .deck")
    assert await part(page) == [0.3, 0.81]
    await visit.context.set_offline(True)
    await page.keyboard.press("a")
    await page.wait_for_selector("main .column.is-playing[data-slot=s2]")
    await page.keyboard.press("b")  # in the middle of the part
    await page.wait_for_selector("main .column.is-playing[data-slot=s3]")
    await page.keyboard.press(".")
    assert (await part(page))[1] - (await part(page))[0] >= 0.5
    moved = tuple(round(1000 * value) for value in await part(page))
    await page.keyboard.press("w")
    assert await page.locator("#loop").get_attribute("aria-pressed") == "false"
    assert await part(page) == [0, SECONDS]
    await page.keyboard.press("o")
    assert await page.locator("#loop").get_attribute("aria-pressed") == "true"
    await rate(page, s2=5, s3=3.5)
    await page.click("#next")
    await page.wait_for_selector("main h1 >> text=Waiting for the connection")
    await visit.context.set_offline(False)
    await visit.step("trial:2")
    row = (await site.answers())["trial:1"]
    loops = [tuple(one) for one in row["playback"]["page"]["loops"]]
    assert loops == list(dict.fromkeys([(300, 810), moved]))
    heard = [row["playback"][slot] for slot in ("s1", "s2", "s3")]
    assert [one["plays"] for one in heard] == [1, 1, 1], "rounds are no plays"
    assert min(one["coverage"] for one in heard) >= 0.97, "each was heard whole, though a part was to loop"
    log = [(slot, data.get("part")) for _, kind, slot, data in await events_of_step(site, "trial:1") if kind == "play"]
    assert ("s2", [300, 810]) in log
    assert ("s3", [300, 810]) in log, "the part stays on another version"
    assert log[0] == ("s1", None), "what was not heard whole is not looped"


async def test_a_looped_part_keeps_its_samples_and_does_not_click(servers: StudyServers) -> None:
    ramp = 0.2 + 0.6 * np.arange(round(SECONDS * RATE)) / round(SECONDS * RATE)
    sounds = {name: dict.fromkeys(("one", "two"), sign * ramp) for name, sign in (("up", 1), ("down", -1))}
    write_sounds(servers.folder / "study0" / "ramps", sounds)
    site = await servers.serve(
        method="parallel", stimuli="ramps", conditions=["up", "down"],
        playback={"volume": False, "watch": "none", "switching": "keep", "loop": "region"},
        design={"participants": 2, "trials": 2, "seed": 3},
    )  # fmt: skip
    visit = await begin(
        site, script=RECORDER, expects_trouble=True
    )  # the browser warns that the recorder is deprecated
    page = visit.page
    await page.click("#loop")
    begins, ends = (page.locator(f".timeline-{end}") for end in ("from", "to"))
    for key in ("ArrowRight", "ArrowRight", "Shift+ArrowRight"):
        await begins.press(key)
    for key in (*["ArrowLeft"] * 7, *["Shift+ArrowLeft"] * 7):
        await ends.press(key)
    assert await part(page) == [0.21, 0.73], "ends that lie between two samples"
    first, last = round(0.21 * RATE), round(0.73 * RATE)
    heard = []
    for slot in ("s1", "s2"):
        await play_button(page, slot).click()
        await page.wait_for_selector(f"main .column.is-playing[data-slot={slot}]")
        known = await page.evaluate("() => blocks.length")
        await page.wait_for_function("known => blocks.length >= known + 2", arg=known)
        heard.append(np.array(await page.evaluate("() => blocks.at(-1)")))
    assert np.sign(np.median(heard[0])) == -np.sign(np.median(heard[1])), "the other one is heard"
    for tape in heard:
        size = np.abs(tape)
        quiet = np.flatnonzero(size < 0.01)
        seams = quiet[np.insert(np.diff(quiet) > 100, 0, True)]
        seams = seams[seams > 0]  # what begins before the block does not tell where
        assert len(seams) >= 2
        assert set(np.diff(seams)) == {last - first}, "each round has as many samples"
        assert np.abs(np.diff(tape)).max() < 0.05, "no click where it begins anew"
        assert size.max() <= ramp[last - 1] + 1e-3
        middle = size[seams[0] + (last - first) // 2]
        assert middle == pytest.approx(ramp[(first + last) // 2], abs=0.005), "it stays in its place"


async def test_numbers_stand_at_the_handle_and_along_the_scale_and_move_nothing(servers: StudyServers) -> None:
    questions = [
        {"id": "quality", "text": "How good is it?", "scale": {"name": "cont100", "numbers": "both"}},
        {"id": "noise", "text": "How noisy is it?", "scale": {"name": "cont100", "numbers": "none"}},
    ]
    site = await serve(servers, "parallel", ("clear", "dull"), questions=questions, options={"layout": "rows"})
    page = (await begin(site)).page
    first, second = page.locator(".board").nth(0), page.locator(".board").nth(1)
    assert await first.locator(".band-number").all_inner_texts() == ["0", "20", "40", "60", "80", "100"]
    assert await second.locator(".band-number").count() == 0
    places = "nodes => nodes.map((node) => node.getBoundingClientRect().toJSON())"
    before = await page.locator("main input, main button, main h1, main h2").evaluate_all(places)
    for value in (0, 100, 37):
        await rate(page, s1=value)
        assert await first.locator(".fader-number").first.inner_text() == str(value)
    await slider(page, "s1", "q2").fill("62")
    await page.evaluate("() => document.activeElement.blur()")
    assert await page.locator("main input, main button, main h1, main h2").evaluate_all(places) == before
    handle = await first.locator(".fader-number").first.bounding_box()
    scale = await first.locator(".band-field").bounding_box()
    assert handle is not None
    assert scale is not None
    at = (scale["y"] + scale["height"] - handle["y"] - handle["height"] / 2) / scale["height"]
    assert at == pytest.approx(0.37, abs=0.01)
    spoken = [await slider(page, "s1", question).get_attribute("aria-valuetext") for question in ("q1", "q2")]
    assert spoken == ["37, Poor", "62, Good"]
    assert "62" not in await second.inner_text()
    assert await barriers(page, "numbers") + await overhang(page, "numbers", SIZES) == []


@pytest.mark.variant
async def test_numbers_stand_before_the_words_of_categories(servers: StudyServers) -> None:
    scale = {"name": "acr5", "numbers": "ticks"}
    site = await servers.serve(
        method="acr", questions=[{"id": "quality", "text": "How good is it?", "scale": scale}],
        playback={"watch": "none", "fullscreen": False}, design={"participants": 2, "trials": 2, "seed": 3},
    )  # fmt: skip
    page = (await begin(site)).page
    await page.wait_for_selector("#play, main input[type=radio]")
    if await page.locator("#play").count():
        await page.click("#play")
    await page.wait_for_selector("main input[type=radio]")
    words = [text.split("\n")[0] for text in await page.locator("main .choice").all_inner_texts()]
    assert words == ["5 Excellent", "4 Good", "3 Fair", "2 Poor", "1 Bad"]
    assert await values_on(page) == {}


@pytest.mark.variant
@pytest.mark.parametrize(
    ("method", "conditions", "options"),
    [
        ("abx", (REFERENCE, "clear", "dull"), {"mode": "closest"}), ("ab", ("clear", "dull"), {}),
        ("rank", (*PARTS,), {}), ("best-worst", (*PARTS,), {}), ("parallel", (*PARTS,), {}),
    ],
)  # fmt: skip
async def test_every_page_with_buttons_loops_a_part_by_mouse_and_goes_to_its_end(
    servers: StudyServers, method: str, conditions: Sequence[Any], options: dict[str, Any]
) -> None:
    site = await serve(
        servers, method, conditions, options=options, playback={"loop": "region", "switching": "keep", "watch": "whole"}
    )
    visit = await begin(site)
    page = visit.page
    assert await page.locator(".timeline-wave").count() == (method == "abx"), "where X is the reference it is drawn"
    await page.click("#loop")
    rail, grip = (
        await page.locator(".timeline-rail").bounding_box(),
        await page.locator(".timeline-from").bounding_box(),
    )
    assert rail is not None
    assert grip is not None
    await page.mouse.move(grip["x"] + grip["width"] - 7, grip["y"] + grip["height"] / 2)
    await page.mouse.down()
    await page.mouse.move(rail["x"] + 0.4 * rail["width"], rail["y"], steps=4)
    await page.mouse.up()
    assert await part(page) == [0.6, SECONDS]
    slots = await page.locator("main button.play").evaluate_all("nodes => nodes.map((node) => node.dataset.slot)")
    for slot in slots:
        await play_button(page, slot).click()
        await page.wait_for_selector(f'main .is-played[data-slot="{slot}"]')
    head = "parseFloat(document.querySelector('.timeline').style.getPropertyValue('--at'))"
    await page.wait_for_function(f"() => {head} > 39")
    assert await barriers(page, method) + await overhang(page, method, SIZES) == []
    await page.click("#pause")
    stopped = await page.evaluate(f"() => {head}")
    await page.click("#pause")
    await page.wait_for_function(f"stopped => {head} !== stopped", arg=stopped)
    await visit.go("trial:2")
    playback = (await site.answers())["trial:1"]["playback"]
    assert playback["page"]["loops"] == [[600, 1500]]
    assert {playback[slot]["plays"] for slot in slots} == {1}
    await visit.go("end")
