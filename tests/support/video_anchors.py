"""Source videos for anchors, and the similarity of two videos."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from beholder.stimuli.ffmpeg import file_argument, run_ffmpeg
from beholder.stimuli.probe import measure

H264 = ("-c:v", "libx264", "-preset", "ultrafast", "-crf", "6", "-pix_fmt", "yuv420p")


Pictures = NDArray[np.float64]


def film(
    path: Path, *options: str, size: str = "192x108", rate: str = "25", seconds: float = 1, tone: bool = True
) -> Path:
    """Write a clip of a moving pattern with identifying metadata."""
    path.parent.mkdir(parents=True, exist_ok=True)
    sound = ["-f", "lavfi", "-i", f"sine=frequency=440:sample_rate=48000:duration={seconds}"] if tone else []
    picture = ["-f", "lavfi", "-i", f"testsrc2=size={size}:rate={rate}:duration={seconds}"]
    marks = ["-metadata", "title=MARKTITLE", "-metadata:s:v:0", "handler_name=MARKNAME"]
    ran = run_ffmpeg(["-v", "error", "-y", *picture, *sound, *marks, *(options or H264), file_argument(path)])
    assert ran.code == 0, ran.log
    return path


def greys(path: Path) -> Pictures:
    """Return every frame of a video: frames x lines x columns."""
    probe = measure(path, path.name).probe
    ran = run_ffmpeg(["-i", file_argument(path), "-f", "rawvideo", "-pix_fmt", "gray", "pipe:1"])
    return np.frombuffer(ran.out, dtype=np.uint8).reshape(-1, probe.height, probe.width).astype(float)


def psnr(one: Pictures, other: Pictures) -> float:
    return float(10 * np.log10(255**2 / max(float(((one - other) ** 2).mean()), 1e-6)))


NAMES = (
    "bitrate-30k", "bitrate-200k", "resolution-24", "resolution-90", "fps-5", "fps-10", "blur-40", "blur-8",
)  # fmt: skip
"""Anchors of each kind, the worse one first."""
