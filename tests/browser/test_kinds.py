"""Padded sounds, pictures and texts in a real browser: samples, pixels and words are unchanged."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from PIL import Image

from beholder.stimuli.blinding import blind
from beholder.stimuli.copies import write_copy
from beholder.stimuli.ffmpeg import run_ffmpeg
from beholder.stimuli.media_formats import medium_of
from beholder.stimuli.probe import measure
from support.browser import MARKS
from support.variants import variant

if TYPE_CHECKING:
    from playwright.async_api import Browser, Route

pytestmark = MARKS

SIZE = (24, 16)
SHOW = """async () => {
    const bytes = await (await fetch("/x.wav")).arrayBuffer();
    const sound = await new OfflineAudioContext(2, 1, 44100).decodeAudioData(bytes);
    const picture = new Image();
    picture.src = "/x.webp";
    await picture.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [picture.naturalWidth, picture.naturalHeight];
    const context = canvas.getContext("2d");
    context.drawImage(picture, 0, 0);
    const pixels = [...context.getImageData(0, 0, canvas.width, canvas.height).data];
    const text = await (await fetch("/x.txt")).text();
    const read = new DOMParser().parseFromString(text, "text/html").body;
    return {
        samples: [0, 1].map((channel) => [...sound.getChannelData(channel)]),
        size: [canvas.width, canvas.height], pixels, nodes: read.childElementCount, words: read.innerText.trim(),
    };
}"""


def copies(folder: Path, depth: str) -> dict[str, bytes]:
    """Return the served files of a sound, a picture and a text, by path."""
    noise = np.random.default_rng(5).integers(0, 256, (SIZE[1], SIZE[0], 3), dtype=np.uint8)
    Image.fromarray(noise).save(folder / "x.png")
    (folder / "x.md").write_text("# Größe\n\nSome *words*.\n", encoding="utf-8")
    tone = ("-f", "lavfi", "-i", "aevalsrc=0.5*sin(2000*t)|0.3*cos(3000*t):d=0.25:s=44100", "-c:a", depth)
    assert run_ffmpeg([*tone, str(folder / "x.wav")]).code == 0
    files = {}
    for name, suffix in (("x.wav", ".wav"), ("x.png", ".webp"), ("x.md", ".txt")):
        medium = medium_of(name)
        assert medium is not None
        copy = folder / f"copy{suffix}"
        write_copy(folder / name, copy, measure(folder / name, name), name, medium)
        files[f"/x{suffix}"] = b"".join(blind(copy, b"a slot of a session", 150_000).read())
    return files


@pytest.mark.parametrize("depth", [variant("pcm_s16le"), "pcm_s24le"])
async def test_chromium_reads_filled_copies_as_if_nothing_were_behind_them(
    chromium: Browser, tmp_path: Path, depth: str
) -> None:
    served = copies(tmp_path, depth)
    types = {".wav": "audio/wav", ".webp": "image/webp", ".txt": "text/plain; charset=utf-8"}

    async def answer(route: Route) -> None:
        path = "/" + route.request.url.rpartition("/")[2]
        kind = types.get(Path(path).suffix, "text/html")
        await route.fulfill(body=served.get(path, b"<!doctype html>"), content_type=kind)

    page = await chromium.new_page()
    try:
        await page.route("**/*", answer)
        await page.goto("http://localhost/")
        contents: dict[str, Any] = await page.evaluate(SHOW)
    finally:
        await page.close()
    raw = run_ffmpeg(["-v", "error", "-i", str(tmp_path / "x.wav"), "-f", "f32le", "pipe:1"]).out
    expected = np.frombuffer(raw, dtype="<f4").reshape(-1, 2).T
    samples = np.array(contents["samples"])
    assert samples.shape == expected.shape == (2, 11025)
    assert np.abs(samples - expected).max() < 2**-15
    with Image.open(tmp_path / "x.png") as picture:
        assert contents["pixels"] == list(picture.convert("RGBA").tobytes())
    assert (contents["size"], contents["nodes"]) == ([*SIZE], 2)
    assert contents["words"].split() == ["Größe", "Some", "words."]
