"""Clips of every codec, and messages to show in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder.errors import StimuliError
from beholder.stimuli.ffmpeg import file_argument, run_ffmpeg
from beholder.stimuli.messages.message import Message, insert_message

WORDS = "Attention check: please set this slider to 37."


ASK = Message(WORDS)


def refused(source: Path, medium: object, message: Message) -> str:
    target = source.with_name(f"made{source.suffix}")
    with pytest.raises(StimuliError) as error:
        insert_message(source, target, medium, message, "clip")  # type: ignore[arg-type]
    assert not [path for path in source.parent.iterdir() if path != source], "whole or not at all"
    return str(error.value)


WIDTH, HEIGHT, RATE, FRAMES = 192, 108, 25, 40


CODECS = {
    "h264": (
        "clip.mp4", "-c:v", "libx264", "-crf", "23", "-pix_fmt", "yuv420p", "-colorspace", "bt709", "-color_primaries",
        "bt709", "-color_trc", "bt709", "-color_range", "tv", "-c:a", "aac",
    ),
    "vp9": ("clip.webm", "-c:v", "libvpx-vp9", "-crf", "34", "-b:v", "0", "-cpu-used", "8", "-c:a", "libopus"),
    "vp8": ("old.webm", "-c:v", "libvpx", "-b:v", "400k", "-cpu-used", "8", "-c:a", "libvorbis"),
    "av1": ("new.mp4", "-c:v", "libaom-av1", "-crf", "36", "-usage", "realtime", "-cpu-used", "8", "-c:a", "aac"),
}  # fmt: skip


def film(path: Path, *arguments: str, size: str = f"{WIDTH}x{HEIGHT}", frames: int = FRAMES, tone: bool = True) -> Path:
    """Write a clip of ffmpeg's moving test picture, with a tone and an identifying title."""
    sound = ["-f", "lavfi", "-i", f"sine=frequency=440:sample_rate=48000:duration={frames / RATE}"] if tone else []
    ran = run_ffmpeg(
        [
            "-v", "error", "-y", "-f", "lavfi", "-i", f"testsrc2=s={size}:r={RATE}", *sound, "-frames:v", str(frames),
            *(("-pix_fmt", "yuv420p") if "-pix_fmt" not in arguments else ()), *arguments,
            "-metadata", "title=Ada of the lab", file_argument(path),
        ]
    )  # fmt: skip
    assert ran.code == 0, ran.log
    return path
