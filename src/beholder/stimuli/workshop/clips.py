"""Videos as they are measured before they are encoded again: size, frame rate, colours, and when frames are shown."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from statistics import median

from beholder.errors import Problem, StimuliError
from beholder.stimuli.ffmpeg import NO_METADATA, file_argument, run_ffmpeg
from beholder.stimuli.probe import measure
from beholder.stimuli.video import READ_VIDEO

_COLOURS = re.compile(r": Video: .*?, yuv\w*\(([^)]*)\)")
_MATRICES = {"bt709": "bt709", "smpte170m": "smpte170m", "bt470bg": "smpte170m"}
_HDR = ("smpte2084", "arib-std-b67")


@dataclass(frozen=True)
class Clip:
    """A video, as measured."""

    path: Path
    width: int
    height: int
    rate: Fraction
    seconds: float
    has_sound: bool
    matrix: str
    full_range: bool


def read_clip(path: Path, done: str = "stacked", where: str = "") -> Clip:
    """Return the measured video, or raise StimuliError; `done` says what cannot be done to HDR video."""
    where = where or str(path)
    measured = measure(path, where, "video")
    probe = measured.probe
    log = run_ffmpeg([*READ_VIDEO, "-i", file_argument(path)]).log
    match = _COLOURS.search(log)
    colours = re.split(r"[,/] ?", match[1]) if match else []
    if any(word in _HDR for word in colours):
        fix = "Convert it to BT.709 first."
        raise StimuliError(Problem(where, f"is HDR video, which cannot be {done}", "standard dynamic range", fix))
    # Where nothing is written, players take BT.709 from 720 lines on and BT.601 below.
    guess = "bt709" if probe.height >= 720 else "smpte170m"
    rate = exact_rate(probe.fps)
    return Clip(
        path=path,
        width=probe.width,
        height=probe.height,
        rate=rate,
        seconds=float(measured.frames / rate),
        has_sound=probe.audio_codec != "",
        matrix=next((_MATRICES[word] for word in colours if word in _MATRICES), guess),
        full_range="pc" in colours or measured.pixels.startswith("yuvj"),
    )


def still(path: Path, seconds: float, width: int) -> bytes | None:
    """Return the frame that is shown at this time as a JPEG of up to this width; None where there is none."""
    for at in (seconds, max(0.0, seconds - 0.1)):  # of the last moment, the frame that is still on the screen
        run = run_ffmpeg(
            [
                *READ_VIDEO, "-ss", f"{at:.3f}", "-i", file_argument(path), "-map", "0:V:0", "-frames:v", "1",
                "-vf", f"scale='min({width},iw)':-2", "-c:v", "mjpeg", "-q:v", "5", *NO_METADATA,
                "-f", "image2pipe", "pipe:1",
            ]
        )  # fmt: skip
        if run.code == 0 and run.out:
            return run.out
    return None


def exact_rate(fps: float) -> Fraction:
    """Return the exact frame rate of a rounded one: 30000/1001 for 29.97."""
    whole = round(fps)
    for rate in (Fraction(whole), Fraction(whole * 1000, 1001)):
        if whole and abs(float(rate) - fps) < 0.006:
            return rate
    return Fraction(fps).limit_denominator(1001)


_USUAL = (*(Fraction(whole * 1000, 1001) for whole in (24, 30, 60, 120)), *map(Fraction, (24, 25, 30, 50, 60, 120)))
_UNEVEN = 0.3
"""How far apart two frames may be from the usual, as a share of it: WebM counts in whole milliseconds."""
_NEAR = 0.02


@dataclass(frozen=True)
class Cadence:
    """How the frames of a video follow each other."""

    rate: Fraction
    """Of a video whose frames are not equally long: the one it is meant to have."""
    start: Fraction
    """When the first frame is shown, in seconds."""
    end: Fraction
    is_constant: bool


def cadence(path: Path, rate: Fraction) -> Cadence:
    """Return the cadence of a video whose header has this rate."""
    listed = run_ffmpeg(
        [*READ_VIDEO, "-i", file_argument(path), "-map", "0:V:0", "-c", "copy", "-f", "framecrc", "pipe:1"]
    )
    base, times = Fraction(1), []
    for line in listed.out.decode("ascii", "replace").splitlines():
        if line.startswith("#tb 0: "):
            base = Fraction(line[7:])
        elif line and not line.startswith("#"):
            times.append(int(line.split(",")[2]) * base)
    times.sort()
    steps = [later - earlier for earlier, later in pairwise(times)]
    if not steps:
        return Cadence(rate, times[0], times[0] + 1 / rate, True)
    usual = 1 / rate
    is_constant = all(abs(step - usual) <= _UNEVEN * usual for step in steps)
    if not is_constant:
        rate = _meant(1 / median(steps))
    return Cadence(rate, times[0], times[-1] + 1 / rate, is_constant)


def _meant(rate: Fraction) -> Fraction:
    """Return the standard rate nearest to this one, or itself where none is near."""
    near = min(_USUAL, key=lambda usual: abs(usual - rate))
    return near if abs(near - rate) <= _NEAR * rate else exact_rate(round(float(rate), 3))
