"""Loudness and true peak (ITU-R BS.1770) of files and samples, and the gain that brings a file to a loudness."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from beholder.stimuli.audio import READ_AUDIO
from beholder.stimuli.ffmpeg import file_argument, run_ffmpeg
from beholder.stimuli.streams import LOUDNESS, SILENCE_LUFS
from beholder.stimuli.video import READ_VIDEO
from beholder.types import Medium

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_PEAK = re.compile(r"True peak:\s+Peak:\s+(-?(?:[0-9.]+|inf)) dBFS")
_BLOCK_S, _MAX_CHANNELS = 0.4, 5


class LoudnessMeasurement(NamedTuple):
    """Loudness and peak of a sound."""

    lufs: float | None
    """Integrated loudness; None for silence and for sounds shorter than 0.4 s."""
    peak_db: float
    """The highest true peak, 0 at full scale."""


def measure_loudness(path: Path, medium: Medium, filters: Sequence[str] = ()) -> LoudnessMeasurement:
    """Return the loudness of the first sound track of a file that has one, after these filters of ffmpeg."""
    read = READ_AUDIO if medium == "audio" else READ_VIDEO
    graph = ",".join([*filters, "ebur128=peak=true:framelog=quiet"])
    measured = ["-map", "0:a:0", "-af", graph, "-f", "null", "-"]
    log = run_ffmpeg([*read, "-i", file_argument(path), *measured]).log
    loudness, peak = LOUDNESS.search(log), _PEAK.search(log)
    lufs = float(loudness[1]) if loudness else SILENCE_LUFS
    return LoudnessMeasurement(lufs if lufs > SILENCE_LUFS else None, float(peak[1]) if peak else 0.0)


def integrated_loudness(samples: NDArray[np.float64], rate: int) -> float:
    """Return the integrated loudness of samples in LUFS, a column for each channel; minus infinity of silence.

    What is shorter than a block of the standard (0.4 s) is one block by itself. Needs the extra `voice`.
    """
    import numpy as np
    import pyloudnorm

    block = min(_BLOCK_S, len(samples) / rate)
    meter = pyloudnorm.Meter(rate, block_size=block)
    with np.errstate(divide="ignore"):
        return float(meter.integrated_loudness(samples[:, :_MAX_CHANNELS]))


# Gain

_CEILING_DB = -1.0
"""The highest true peak that is made (EBU R 128): a lossy codec may decode to a little more than it was given."""
_NEGLIGIBLE_DB = 0.05


@dataclass(frozen=True)
class LoudnessGain:
    """A gain as filters of ffmpeg, and notes about it."""

    filters: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def gain_to_loudness(path: Path, medium: Medium, lufs: float, filters: Sequence[str] = ()) -> LoudnessGain:
    """Return the gain that brings a file to `lufs` after these filters, or as near as full scale allows."""
    measured = measure_loudness(path, medium, filters)
    if measured.lufs is None:
        return LoudnessGain(notes=("silent or shorter than 0.4 s, so its loudness stays as it is.",))
    needed = lufs - measured.lufs
    # What is louder than the ceiling already may be made softer, not louder still.
    gain = min(needed, max(_CEILING_DB - measured.peak_db, min(0.0, needed)))
    notes: tuple[str, ...] = ()
    if needed - gain > _NEGLIGIBLE_DB:
        notes = (f"{measured.lufs + gain:.1f} LUFS instead of {lufs:g}, for louder would go beyond full scale.",)
    return LoudnessGain((f"volume={gain:.2f}dB",) if abs(gain) >= _NEGLIGIBLE_DB else (), notes)
