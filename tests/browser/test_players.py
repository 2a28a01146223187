"""Players of every medium in a real browser: playback, coverage, and the log."""

from __future__ import annotations

import asyncio
import io
import wave
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from playwright.async_api import Page

from beholder.testing import write_study
from support.browser import MARKS, SHORT, Site, StudyServers, Visit, barriers, play, play_button
from support.variants import variant

pytestmark = MARKS

RATE, TOOTH = 48_000, 4_800
VOTE: dict[str, Any] = {
    "method": "acr",
    "questions": [{"id": "quality", "text": "How good is it?", "scale": "acr5"}],
    "design": {"participants": 6, "trials": 2, "seed": 3},
}
QUICK = {"look_seconds": 0.3, "words_per_second": 1000, "fullscreen": False}
PAIR: dict[str, Any] = {
    "conditions": [{"name": "natural", "role": "reference"}, "smooth", "jerky", "frozen"],
    "questions": [{"id": "quality", "text": "How does it compare?"}],
    "design": {"participants": 6, "trials": 2, "seed": 3},
}
RECORDER = """
const connect = AudioNode.prototype.connect;
const tapes = new Map();
const waiting = [];
window.nextBlock = () => new Promise((resolve) => waiting.push(resolve));
AudioNode.prototype.connect = function (target, ...rest) {
  const { context } = this;
  if (target === context.destination && !tapes.has(context)) {
    const tape = context.createScriptProcessor(16384, 1, 1);
    tape.onaudioprocess = ({ inputBuffer }) => {
      const samples = [...inputBuffer.getChannelData(0)];
      for (const resolve of waiting.splice(0)) resolve(samples);
    };
    tapes.set(context, tape);
    connect.call(tape, context.destination);
  }
  if (target === context.destination) connect.call(this, tapes.get(context));
  return connect.call(this, target, ...rest);
};
const { start } = AudioBufferSourceNode.prototype;
let started = 0;
AudioBufferSourceNode.prototype.start = function (...when) {
  const until = performance.now() + (started === 1 ? 100 : 0);
  while (performance.now() < until);
  started += 1;
  return start.call(this, ...when);
};
"""
"""Records the output in blocks of a third of a second, on a machine that is late with the second sound."""
SWITCH = """async () => {
  const isInside = (samples) => {
    const signs = samples.map(Math.sign);
    const place = signs.findIndex((sign, at) => at > 0 && sign * signs[at - 1] < 0);
    const room = samples.slice(place - 1000, place + 1000);
    return place > 1000 && room.length === 2000 && room.filter((sample) => sample === 0).length < 2;
  };
  for (const slot of ["s2", "s1", "s2", "s1", "s2", "s1"]) {
    await nextBlock();
    for (let frame = 0; frame < 5; frame += 1) await new Promise(requestAnimationFrame);
    document.querySelector(`main button.play[data-slot=${slot}]`).click();
    for (const samples of [await nextBlock(), await nextBlock()]) if (isInside(samples)) return samples;
  }
  return null;
}"""
"""Switches to the other sound until a switch lies well inside a block, and returns that block."""

STALL = """async () => {
  const until = async (seconds) => {
    const video = () => document.querySelector("video[data-slot=s1]");
    while (!(video()?.currentTime > seconds)) await new Promise(requestAnimationFrame);
    return video();
  };
  (await until(0.05)).dispatchEvent(new Event("waiting"));
  (await until(0.15)).dispatchEvent(new Event("playing"));
}"""
"""A browser that reports late that the first video resumed after a stall."""
PACE = """async (ahead) => {
  const isPace = ({ name }) => name.endsWith("/pace.js");
  const { follow } = await import(performance.getEntriesByType("resource").find(isPace).name);
  const drawn = [];
  const videos = [0, 1].map((place) => ({
    playbackRate: 1,
    dataset: {},
    requestVideoFrameCallback: (call) => { drawn[place] = call; },
  }));
  const following = follow(videos);
  const rates = [];
  for (const [frame, ms] of ahead.entries()) {
    while (videos.some(({ playbackRate }) => playbackRate === 0)) await new Promise(requestAnimationFrame);
    const due = 40 * frame;
    drawn[0](due, { mediaTime: due / 1000, expectedDisplayTime: due });
    drawn[1](due, { mediaTime: (due + ms) / 1000, expectedDisplayTime: due });
    rates.push(videos.map(({ playbackRate }) => playbackRate));
  }
  return [...rates, following.stop()];
}"""
"""Draws frames of two videos on its own clock, the second ahead by an offset; returns their speeds after each frame and
their largest distance."""


def write_sound(path: Path, samples: NDArray[np.float64]) -> None:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes((samples * 32767).astype("<i2").tobytes())


def write_medium(folder: Path, medium: str, seconds: float) -> None:
    """Write two contents under two conditions; a sound is a ramp of its position, negative under `down`."""
    for sign, condition in ((1, "up"), (-1, "down")):
        place = folder / "stimuli" / condition
        place.mkdir(parents=True)
        for number, content in enumerate(("a", "b")):
            if medium == "audio":
                length = round((seconds + 0.1 * number) * RATE)
                write_sound(place / f"{content}.wav", sign * (0.1 + 0.8 * (np.arange(length) % TOOTH) / TOOTH))
            elif medium == "image":
                shades = np.tile(np.arange(320) * sign + number, (240, 1)) % 256
                Image.fromarray(shades.astype(np.uint8)).save(place / f"{content}.png")
            else:
                (place / f"{content}.txt").write_text(f"A text of {number}, {condition}.\n" * 9, "utf-8")


async def serve(servers: StudyServers, tmp_path: Path, medium: str, seconds: float = 1.0, **keys: Any) -> Site:
    folder = tmp_path / medium
    write_medium(folder, medium, seconds)
    (folder / "media").mkdir()
    path = write_study(tmp_path / f"study-{medium}", folder, **{"conditions": ["up", "down"], "design": SHORT, **keys})
    site = Site(path, servers.browser)
    servers.sites.append(site)
    await site.start()
    return site


async def events_of(site: Site, key: str = "trial:1") -> list[Any]:
    return [event for batch in await site.rows("events") if batch["key"] == key for event in batch["events"]]


async def to_trial(visit: Visit) -> Page:
    """Go to the first trial, past the volume page if there is one."""
    page = visit.page
    await page.click("#agree")
    await visit.step("text:instructions")
    await page.click("#next")
    await page.wait_for_selector("body[data-kind=volume] #play-sound, body[data-kind=trial] main h1")
    if await page.locator("#play-sound").count():
        await page.click("#play-sound")
        await page.click("#next")
    await visit.step("trial:1")
    await page.wait_for_selector("body[data-state=ready] main h1")
    return page


async def gap(page: Page) -> None:
    """Wait for the grey interval after the first of two clips."""
    await page.wait_for_selector(".cinema-figure:has([data-slot=s1][data-state=ended])", state="attached")
    await page.wait_for_selector(".cinema-show:not(:has(.is-shown))")


@pytest.mark.parametrize("medium", ["audio", variant("image"), variant("text")])
async def test_any_medium_is_shown_by_itself_then_rated(servers: StudyServers, tmp_path: Path, medium: str) -> None:
    site = await serve(servers, tmp_path, medium, **VOTE, playback=QUICK)
    visit = await site.visit()
    page = await to_trial(visit)
    name = {"audio": "recording", "image": "image", "text": "text"}[medium]
    assert await page.locator("main h1").inner_text() == f"The {name} is ready"
    await page.click("#play")
    if medium != "audio":
        await page.click(".cinema #next")
    await page.wait_for_selector("main input[type=radio]")
    await page.keyboard.press("4")
    await page.keyboard.press("Enter")
    await visit.step("trial:2")
    row = (await site.answers())["trial:1"]
    playback = row["playback"]["s1"]
    assert row["answer"]["scores"] == {"q1": {"s1": 4}}
    assert (playback["plays"], playback["coverage"], playback["frames"], playback["errors"]) == (1, 1.0, None, 0)
    kinds = [event[1] for event in await events_of(site) if event[2] == "s1"]
    assert kinds[:5] == ["load", "play", "measure", "ended", "frames"]


@pytest.mark.parametrize("medium", [variant("audio"), "image", variant("text")])
async def test_any_medium_is_rated_beside_others(servers: StudyServers, tmp_path: Path, medium: str) -> None:
    site = await serve(servers, tmp_path, medium, playback=QUICK)
    visit = await site.visit()
    page = await to_trial(visit)
    await play(page, "s1", "s2")
    for slot, value in (("s1", 30), ("s2", 70)):
        await page.locator(f"main input[type=range][data-slot={slot}]").fill(str(value))
    await page.click("#next")
    await visit.step("trial:2")
    assert await site.scores("trial:1") == {"q1": {"s1": 30, "s2": 70}}


async def test_a_change_of_sound_keeps_the_sample(servers: StudyServers, tmp_path: Path) -> None:
    site = await serve(servers, tmp_path, "audio", 8.0, playback={"switching": "keep", "volume": False})
    visit = await site.visit(expects_trouble=True)  # the browser warns that the recorder is deprecated
    page = visit.page
    await page.add_init_script(RECORDER)
    await page.reload()
    await to_trial(visit)
    await play_button(page, "s1").click()
    await page.wait_for_selector('main .column.is-playing[data-slot="s1"]')
    samples = await page.evaluate(SWITCH)
    assert samples is not None
    tape = np.array(samples)
    switch = int(np.flatnonzero(np.diff(np.sign(tape)))[0])
    fade = round(0.005 * RATE)
    saw = (np.abs(tape) - 0.1) / 0.8 * TOOTH
    lag = (saw - np.arange(len(tape)) - saw[switch - fade] + (switch - fade) + TOOTH / 2) % TOOTH - TOOTH / 2
    around = [
        np.median(part) for part in (lag[switch - 3 * fade : switch - fade], lag[switch + fade : switch + 3 * fade])
    ]
    assert abs(around[1] - around[0]) < 0.5, "both sounds are at the same sample"
    steps = np.sort(np.abs(np.diff(tape[switch - fade // 3 : switch + fade // 3])))
    assert steps[-2] < 0.05, "no click but that of the saw: one fades out while the other fades in"


@pytest.mark.variant
async def test_help_stops_a_sound_and_that_play_does_not_count(servers: StudyServers, tmp_path: Path) -> None:
    site = await serve(servers, tmp_path, "audio", 4.0, **VOTE)  # long enough to be stopped by a slow machine
    visit = await site.visit()
    page = await to_trial(visit)
    await page.click("#play")
    await page.wait_for_selector(".clip[data-state=playing]")
    await page.keyboard.press("?")
    await page.wait_for_selector("main h1 >> text=The recording stopped before its end")
    await page.click("#help-close")
    await page.click("#play")
    await page.wait_for_selector("main input[type=radio]")


@pytest.mark.variant
async def test_images_are_looked_at_closer_all_at_the_same_place(servers: StudyServers, tmp_path: Path) -> None:
    site = await serve(servers, tmp_path, "image", playback=QUICK)
    visit = await site.visit()
    page = await to_trial(visit)
    await play(page, "s1", "s2")
    shown = """() => {
      const { x, y, width } = document.querySelector(".clip.is-shown").getBoundingClientRect();
      return [x, y, width];
    }"""
    small = await page.evaluate(shown)
    await page.keyboard.press("+")
    await page.get_by_role("button", name="Larger").click()
    large = await page.evaluate(shown)
    assert large[2] == pytest.approx(2 * small[2], abs=2)
    await play_button(page, "s1").click()
    await page.wait_for_selector('.clip.is-shown[data-slot="s1"]')
    assert await page.evaluate(shown) == large
    await page.keyboard.press("0")
    assert await page.evaluate(shown) == small
    for slot in ("s1", "s2"):
        await page.locator(f"main input[type=range][data-slot={slot}]").fill("50")
    await page.click("#next")
    await visit.step("trial:2")
    zooms = [event[1:] for event in await events_of(site) if event[1] in ("key", "click") and "factor" in event[3]]
    assert zooms == [
        ["key", "s2", {"what": "zoom", "factor": 1.5}],
        ["click", "s2", {"what": "zoom", "factor": 2}],
        ["key", "s1", {"what": "zoom", "factor": 1}],
    ]


@pytest.mark.variant
async def test_two_videos_side_by_side_start_at_once_and_the_one_ahead_waits(servers: StudyServers) -> None:
    site = await servers.serve(**{**PAIR, "method": "ccr", "options": {"presentation": "side-by-side"}})
    visit = await site.visit()
    page = await to_trial(visit)
    await asyncio.gather(page.evaluate(STALL), page.click("#play"))
    await page.wait_for_selector("main input[type=radio]")
    await page.locator("main input[type=radio]").first.check(force=True)
    await page.click("#next")
    await visit.step("trial:2")
    playback = (await site.answers())["trial:1"]["playback"]
    assert min(playback[slot]["coverage"] for slot in ("s1", "s2")) >= 0.97
    assert playback["page"]["skew_ms"] is not None
    starts = [event for event in await events_of(site) if event[1] == "play"]
    assert [event[2:] for event in starts[:2]] == [
        ["s1", {"at": 0, "together": True}], ["s2", {"at": 0, "together": True}]
    ]  # fmt: skip
    ahead = [0, 40, 0, 40, 40, 40, 0]
    assert await page.evaluate(PACE, ahead) == [[1, 1]] * 5 + [[1, 0], [1, 1], 40]


@pytest.mark.variant
async def test_two_videos_in_turn_have_plain_grey_between_them(servers: StudyServers) -> None:
    site = await servers.serve(**{**PAIR, "method": "dcr", "options": {"gap": 6}})
    visit = await site.visit()
    page = await to_trial(visit)
    await page.click("#play")
    await gap(page)
    picture = Image.open(io.BytesIO(await page.screenshot())).convert("RGB")
    assert picture.getcolors() == [(picture.width * picture.height, (128, 128, 128))]
    await page.wait_for_selector("main input[type=radio]")
    await page.locator("main input[type=radio]").first.check(force=True)
    await page.click("#next")
    await visit.step("trial:2")
    log = await events_of(site)
    ended = next(event[0] for event in log if event[1:3] == ["ended", "s1"])
    begun = next(event[0] for event in log if event[1:3] == ["play", "s2"])
    assert begun - ended >= 5990


@pytest.mark.variant
async def test_leaving_in_the_gap_starts_the_pair_again(servers: StudyServers) -> None:
    site = await servers.serve(**{**PAIR, "method": "dcr", "options": {"gap": 10}})
    visit = await site.visit()
    page = await to_trial(visit)
    await page.click("#play")
    await gap(page)
    await page.evaluate("() => document.exitFullscreen()")
    await page.wait_for_selector("main h1 >> text=The videos stopped before their end")
    # Waiting begins before the press: the clip is very short.
    await asyncio.gather(page.wait_for_selector(".cinema-figure.is-shown >> text=Reference"), page.click("#play"))


@pytest.mark.variant
async def test_without_sound_the_page_says_so(servers: StudyServers) -> None:
    site = await servers.serve(playback={"sound": "off"})
    visit = await site.visit()
    page = await to_trial(visit)
    await page.wait_for_selector(".screen >> text=Without sound")
    await play_button(page, "s1").click()
    await page.wait_for_selector("video.is-shown")
    assert await page.locator("video.is-shown").evaluate("video => video.muted")


@pytest.mark.variant
async def test_a_loop_plays_on_after_the_first_time_and_counts_once(servers: StudyServers) -> None:
    site = await servers.serve(playback={"loop": "after-first"})
    visit = await site.visit()
    page = await to_trial(visit)
    await play(page, "s1")
    ended = "video => new Promise((done) => video.addEventListener('ended', () => done(), { once: true }))"
    await page.locator("video[data-slot=s1]").evaluate(ended)
    await play(page, "s2")
    for slot in ("s1", "s2"):
        await page.locator(f"main input[type=range][data-slot={slot}]").fill("50")
    await page.click("#next")
    await visit.step("trial:2")
    assert (await site.answers())["trial:1"]["playback"]["s1"]["plays"] == 1
    rounds = [event for event in await events_of(site) if event[1] == "play" and event[3].get("loop") is True]
    assert {event[2] for event in rounds} >= {"s1"}


@pytest.mark.variant
async def test_the_volume_is_set_before_anybody_goes_on(servers: StudyServers, tmp_path: Path) -> None:
    site = await serve(servers, tmp_path, "audio", **VOTE)
    visit = await site.visit()
    page = visit.page
    await page.click("#agree")
    await visit.step("text:instructions")
    await page.click("#next")
    await visit.step("volume")
    assert await barriers(page, "volume") == []
    await page.click("#next", force=True)
    assert await page.locator("#reason").inner_text() == "Play the sound first"
    await page.click("#play-sound")
    await page.wait_for_selector("#play-sound >> text=Stop the sound")
    await page.click("#next")
    await visit.step("trial:1")
