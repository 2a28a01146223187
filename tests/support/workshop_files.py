"""Videos and sounds for the workshop, and the problems that it reports."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from beholder.cli import cli
from beholder.errors import UserError
from beholder.stimuli.ffmpeg import feed_ffmpeg, file_argument
from beholder.stimuli.pcm import write_wav

H264 = ("-c:v", "libx264", "-preset", "ultrafast", "-crf", "10")


def film(
    path: Path,
    levels: Sequence[int],
    *,
    size: tuple[int, int] = (64, 48),
    rate: str = "25",
    tone: float = 0,
    codec: Sequence[str] = H264,
) -> Path:
    """Write a video of uniform grey frames, with an optional tone."""
    path.parent.mkdir(parents=True, exist_ok=True)
    sound = [] if not tone else ["-f", "lavfi", "-i", f"sine=frequency={tone}:sample_rate=48000", "-shortest"]
    ran = feed_ffmpeg(
        [
            "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "gray", "-s", f"{size[0]}x{size[1]}", "-r", rate,
            "-i", "pipe:0", *sound, *codec, "-pix_fmt", "yuv420p", file_argument(path),
        ],
        (bytes([level]) * (size[0] * size[1]) for level in levels),
    )  # fmt: skip
    assert ran.code == 0, ran.log
    return path


def counter(frames: int) -> list[int]:
    """Return a different grey for neighbouring frames."""
    return [40 + 37 * number % 170 for number in range(frames)]


def refused(*arguments: object) -> list[str]:
    """Return the lines of the error that a command of `beholder media` ends with."""
    with pytest.raises(UserError) as caught:
        cli(["media", *(str(argument) for argument in arguments)], standalone_mode=False)
    return str(caught.value).splitlines()


def tones(folder: Path, *names: str) -> list[Path]:
    """Write sounds of a low and a high tone."""
    time = np.arange(9600) / 48_000
    for name in names:
        write_wav(folder / name, 0.3 * np.sin(2 * np.pi * 500 * time) + 0.3 * np.sin(2 * np.pi * 9000 * time), 48_000)
    return [folder / name for name in names]
