"""When the frames of a video are shown: at which rate, from when on, and whether they are all equally long."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from statistics import median

from beholder.stimuli.ffmpeg import file_argument, run_ffmpeg
from beholder.stimuli.probe import READ
from beholder.stimuli.workshop.frames import exact_rate

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
    """Return the cadence of a video whose header speaks of `rate`."""
    listed = run_ffmpeg([*READ, "-i", file_argument(path), "-map", "0:V:0", "-c", "copy", "-f", "framecrc", "pipe:1"])
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
    """Return the usual rate next to this one, or itself where none is near."""
    near = min(_USUAL, key=lambda usual: abs(usual - rate))
    return near if abs(near - rate) <= _NEAR * rate else exact_rate(round(float(rate), 3))
