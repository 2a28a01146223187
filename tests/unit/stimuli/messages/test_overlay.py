"""Messages to be read: the middle asks for an answer, and everything else stays as it was."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from beholder.stimuli.ffmpeg import file_argument, run_ffmpeg
from beholder.stimuli.messages.card import draw_card
from beholder.stimuli.messages.message import insert_message, message_suffix
from beholder.stimuli.messages.overlay import message_frames
from beholder.stimuli.probe import measure
from beholder.stimuli.streams import encoders_in
from beholder.stimuli.text import words_in
from support.message_clips import ASK, CODECS, FRAMES, HEIGHT, RATE, WIDTH, WORDS, film
from support.variants import variant

Planes = NDArray[np.float64]


def planes(path: Path, pixels: str = "yuv420p") -> Planes:
    """Return every frame of a video as it is stored, luma above chroma: frames x lines x columns."""
    listing = run_ffmpeg(
        ["-i", file_argument(path), "-fps_mode", "passthrough", "-f", "framecrc", "pipe:1"]
    ).out.decode()
    size = re.search(r"#dimensions 0: (\d+)x(\d+)", listing)
    assert size is not None
    ran = run_ffmpeg(
        ["-i", file_argument(path), "-fps_mode", "passthrough", "-f", "rawvideo", "-pix_fmt", pixels, "pipe:1"]
    )
    return np.frombuffer(ran.out, dtype=np.uint8).reshape(-1, int(size[2]) * 3 // 2, int(size[1])).astype(float)


def psnr(error: Planes) -> float:
    return float(10 * np.log10(255**2 / max(1e-6, (error**2).mean())))


def during(frames: int = FRAMES) -> range:
    return message_frames([Fraction(place, RATE) for place in range(frames + 1)], words_in(WORDS))


def test_outside_the_message_every_frame_is_what_it_was(pair: tuple[Path, Path]) -> None:
    before, after = (planes(path) for path in pair)
    assert before.shape == after.shape == (FRAMES, HEIGHT * 3 // 2, WIDTH)
    card = draw_card(WORDS, WIDTH, HEIGHT, "")
    outside = np.ones((HEIGHT * 3 // 2, WIDTH), dtype=bool)
    outside[card.top : card.top + card.height, card.left : card.left + card.width] = False
    outside[HEIGHT:] = False  # the chroma planes lie folded below
    error = after - before
    for place in range(FRAMES):
        apart = error[place][outside] if place in during() else error[place]
        assert psnr(apart) > 40, f"frame {place}"
    box = np.abs(error[during().start : during().stop, card.top : card.top + card.height, card.left : card.left + 200])
    assert (box.mean(axis=(1, 2)) > 15).all(), "each of these frames shows the card"


def test_the_card_can_be_read_in_every_frame_that_shows_it(pair: tuple[Path, Path]) -> None:
    card = draw_card(WORDS, WIDTH, HEIGHT, "")
    wanted = 16 + np.asarray(card.image.convert("L"), dtype=float) * 219 / 255
    solid = np.asarray(card.image.getchannel("A")) == 255
    luma = planes(pair[1])[:, card.top : card.top + card.height, card.left : card.left + card.width]
    for place in during():
        assert np.abs(luma[place] - wanted)[solid].mean() < 4, f"frame {place}"


def test_size_rate_codec_and_length_stay(pair: tuple[Path, Path]) -> None:
    before, after = (measure(path, "") for path in pair)
    for name in ("container", "width", "height", "fps", "codec", "audio_codec", "channels", "duration_ms"):
        assert getattr(before.probe, name) == getattr(after.probe, name), name
    assert (before.frames, before.pixels) == (after.frames, after.pixels) == (FRAMES, "yuv420p")
    assert after.probe.bytes < 2 * before.probe.bytes


def test_the_sound_is_copied(pair: tuple[Path, Path]) -> None:
    sounds = [
        run_ffmpeg(["-i", file_argument(path), "-map", "0:a:0", "-c", "copy", "-f", "md5", "pipe:1"]).out
        for path in pair
    ]
    assert sounds[0] == sounds[1] != b""


def test_nothing_tells_who_made_it(pair: tuple[Path, Path]) -> None:
    clip, made = pair
    assert b"Ada of the lab" in clip.read_bytes()
    assert b"Ada of the lab" not in made.read_bytes()
    assert "x264" not in " ".join(encoders_in(made))
    assert [path.name for path in made.parent.iterdir() if path.name.startswith(".")] == []


def test_colour_tags_stay(tmp_path: Path) -> None:
    clip = film(tmp_path / "a.mp4", *CODECS["h264"][1:], frames=10)
    insert_message(clip, tmp_path / "b.mp4", "video", ASK)
    logs = [run_ffmpeg(["-i", file_argument(tmp_path / name)]).log for name in ("a.mp4", "b.mp4")]
    assert all("yuv420p(tv, bt709, progressive)" in log for log in logs)


@pytest.mark.parametrize(
    ("name", "size", "arguments"),
    [
        variant("full.mp4", "96x54", ("-c:v", "libx264", "-pix_fmt", "yuvj420p", "-color_range", "pc")),
        variant("wide.mov", "48x54", ("-c:v", "libx264", "-vf", "setsar=2")),
        ("deep.webm", "96x54", ("-c:v", "libvpx-vp9", "-b:v", "0", "-crf", "30", "-pix_fmt", "yuv420p10le")),
        ("uneven.mkv", "96x54", ("-c:v", "libx264", "-vf", "select='not(eq(mod(n,5),2))'", "-fps_mode", "vfr")),
    ],
)
def test_unusual_videos_stay_as_unusual(tmp_path: Path, name: str, size: str, arguments: tuple[str, ...]) -> None:
    clip = film(tmp_path / name, *arguments, size=size, frames=20, tone=False)
    made = tmp_path / f"made{message_suffix(clip)}"
    insert_message(clip, made, "video", ASK)
    before, after = (measure(path, "") for path in (clip, made))
    assert (before.pixels, before.frames, before.probe.width) == (after.pixels, after.frames, after.probe.width)
    pixels = "yuvj420p" if name == "full.mp4" else "yuv420p"
    error = planes(made, pixels) - planes(clip, pixels)
    quarter = before.frames // 4
    assert psnr(error[:quarter]) > 40
    assert psnr(error[-quarter:]) > 40
    assert np.abs(error[before.frames // 2]).mean() > 10
    assert shown_at(clip) == pytest.approx(shown_at(made), abs=0.0011)


def shown_at(path: Path) -> list[float]:
    """Return when each frame of a video is shown."""
    listing = run_ffmpeg(
        ["-i", file_argument(path), "-fps_mode", "passthrough", "-enc_time_base", "demux", "-f", "framecrc", "pipe:1"]
    ).out.decode()
    base = re.search(r"#tb 0: (\d+/\d+)", listing)
    assert base is not None
    times = [int(line.split(",")[2]) * Fraction(base[1]) for line in listing.splitlines() if line[0] != "#"]
    return [float(time - times[0]) for time in times]


@pytest.mark.parametrize("rate", [Fraction(10), Fraction(30000, 1001), Fraction(60)])
@pytest.mark.parametrize("seconds", [0.4, 1, 3, 4, 8, 60])
@pytest.mark.parametrize("words", [3, 9, 40])
def test_a_clip_begins_and_ends_with_its_own_material(seconds: float, rate: Fraction, words: int) -> None:
    frames = round(seconds * rate)
    shown = message_frames([place / rate for place in range(frames + 1)], words)
    assert shown.start >= frames / 4 - 0.5
    assert frames - shown.stop >= frames / 4 - 0.5
    assert abs(shown.start - (frames - shown.stop)) <= 1, "in the middle"
    assert len(shown) / rate >= min(2, seconds / 2) - 1 / rate
    assert len(shown) / rate >= min(words / 4, seconds / 2) - 1 / rate, "long enough to read it"
