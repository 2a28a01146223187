"""Researchers' files, and the command that prepares them for browsers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from beholder.cli import cli
from beholder.errors import UserError
from beholder.stimuli.ffmpeg import file_argument, run_ffmpeg
from beholder.stimuli.pcm import write_wav

MARKS = ("-metadata", "title=MARKTITLE", "-metadata", "artist=MARKARTIST", "-metadata:s:v:0", "handler_name=MARKNAME")


X264 = ("-c:v", "libx264", "-preset", "ultrafast", "-crf", "6")


RAW: Mapping[str, tuple[str, ...]] = {
    "a/old.mov": ("-c:v", "mpeg4", "-q:v", "2", "-c:a", "mp3"),
    "a/older.avi": ("-c:v", "mpeg4", "-q:v", "2", "-c:a", "pcm_s16le"),
    "a/full.mkv": (*X264, "-pix_fmt", "yuv444p", "-c:a", "flac"),
    "a/deep.mp4": (*X264, "-pix_fmt", "yuv420p10le", "-an"),
    "b/odd.mp4": (*X264, "-vf", "scale=97:55,setsar=1,format=yuv444p", "-an"),
    "b/fields.mp4": (
        *X264, "-vf", "interlace", "-flags", "+ildct+ilme", "-x264-params", "tff=1", "-pix_fmt", "yuv420p", "-an",
    ),
    "b/below/uneven.mp4": (
        *X264, "-vf", "select='not(eq(mod(n,6),4))'", "-fps_mode", "vfr", "-pix_fmt", "yuv420p", "-an",
    ),
}  # fmt: skip


def film(path: Path, *options: str, rate: int = 25, seconds: float = 1) -> Path:
    """Write a small clip with a tone and identifying metadata."""
    path.parent.mkdir(parents=True, exist_ok=True)
    picture = ["-f", "lavfi", "-i", f"testsrc2=size=128x72:rate={rate}:duration={seconds}"]
    sound = ["-f", "lavfi", "-i", f"sine=frequency=440:sample_rate=48000:duration={seconds}"]
    ran = run_ffmpeg(["-v", "error", "-y", *picture, *sound, *MARKS, *options, file_argument(path)])
    assert ran.code == 0, ran.log
    return path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(cli, ["media", *(str(argument) for argument in arguments)])


def refused(*arguments: object) -> list[str]:
    """Return the lines of the error that a command of `beholder media` ends with."""
    with pytest.raises(UserError) as caught:
        cli(["media", *(str(argument) for argument in arguments)], standalone_mode=False)
    return str(caught.value).splitlines()


def noise(path: Path, gain: float, *, seconds: float = 1.0, bits: int = 16) -> Path:
    samples = np.random.default_rng(1).normal(0, 0.1, (round(48_000 * seconds), 2)).clip(-0.4, 0.4)
    write_wav(path, gain * samples, 48_000, bits)
    return path
