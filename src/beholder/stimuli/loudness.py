"""How loud a sound is, and how near to full scale (ITU-R BS.1770): a file by ffmpeg, samples by pyloudnorm."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from beholder.stimuli.ffmpeg import file_argument, run_ffmpeg
from beholder.stimuli.probe import READ
from beholder.stimuli.sound import READ_SOUND
from beholder.types import Medium

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_LOUDNESS = re.compile(r"^\s*I:\s+(-?[0-9.]+) LUFS", re.MULTILINE)
_PEAK = re.compile(r"True peak:\s+Peak:\s+(-?(?:[0-9.]+|inf)) dBFS")
_NOTHING = -70.0
"""What ffmpeg says of silence, and of sounds shorter than the 0.4 s that loudness is measured over."""
_BLOCK_S, _MOST_CHANNELS = 0.4, 5


class Heard(NamedTuple):
    """What a sound measures."""

    lufs: float | None
    """Integrated loudness; None of silence and of sounds shorter than 0.4 s."""
    peak_db: float
    """The highest true peak, 0 at full scale."""


def hear(path: Path, medium: Medium) -> Heard:
    """Return the loudness of the first sound track of a file that has one."""
    read = READ_SOUND if medium == "audio" else READ
    measured = ["-map", "0:a:0", "-af", "ebur128=peak=true:framelog=quiet", "-f", "null", "-"]
    log = run_ffmpeg([*read, "-i", file_argument(path), *measured]).log
    loudness, peak = _LOUDNESS.search(log), _PEAK.search(log)
    lufs = float(loudness[1]) if loudness else _NOTHING
    return Heard(lufs if lufs > _NOTHING else None, float(peak[1]) if peak else 0.0)


def loudness(samples: NDArray[np.float64], rate: int) -> float:
    """Return the integrated loudness of samples in LUFS, a column for each channel; minus infinity of silence.

    What is shorter than a block of the standard (0.4 s) is one block by itself. Needs the extra `voice`.
    """
    import numpy as np
    import pyloudnorm

    block = min(_BLOCK_S, len(samples) / rate)
    meter = pyloudnorm.Meter(rate, block_size=block)
    with np.errstate(divide="ignore"):
        return float(meter.integrated_loudness(samples[:, :_MOST_CHANNELS]))
