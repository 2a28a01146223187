"""Decoded sound: samples read from a file, low-pass filtered without a delay (ITU-R BS.1534), and written as WAV."""

from __future__ import annotations

import uuid
import wave
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from beholder.errors import Problem, StimuliError
from beholder.stimuli.audio import READ_AUDIO
from beholder.stimuli.copies import put_in_place
from beholder.stimuli.ffmpeg import file_argument, run_ffmpeg
from beholder.stimuli.probe import measure
from beholder.study.recipes import KINDS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


_MIN_HERTZ = int(KINDS["lowpass"].lowest)
_MAX_SHARE = 0.45
"""Of the sampling rate: above it no room is left for the filter to fall."""
FILTER = "kaiser-70-8/7"
"""Names this filter in recipes: another design needs another name."""

_STOP_DB = 70.0
_FULL = 1 - 2**-15


def lowpass(source: Path, target: Path, hertz: int, where: str = "") -> None:
    """Write `source` without what lies above `hertz` to `target`: WAV, as long as it was and in step with it.

    Frequencies up to `hertz` pass unchanged (0.01 dB); from 8/7 of it on they are 60 dB down or more, which keeps the
    tolerances of BS.1534 for its anchors. Where the filter would overshoot full scale, the whole is made softer.
    """
    where = where or str(source)
    sound = read_sound(source, where)
    if not _MIN_HERTZ <= hertz <= _MAX_SHARE * sound.rate:
        raise StimuliError(
            Problem(
                where,
                f"has {sound.rate} samples a second, so that no low-pass at {hertz} Hz can be made",
                f"{_MIN_HERTZ} to {int(_MAX_SHARE * sound.rate)} Hz",
            )
        )
    filtered = filter_low(sound.samples, sound.rate, hertz)
    write_wav(target, filtered, sound.rate, sound.bits)


@dataclass(frozen=True, eq=False)
class Sound:
    """Decoded sound: samples between -1 and 1, a column for each channel."""

    samples: NDArray[np.float64]
    rate: int
    bits: int
    """16, or 24 where the file holds more than 16."""


def read_sound(path: Path, where: str) -> Sound:
    """Return a sound as it is decoded, or raise StimuliError naming `where`."""
    import numpy as np

    if not path.is_file():
        raise StimuliError(Problem(where, "does not exist", fix="Look for a slip in the name."))
    measured = measure(path, where, "audio")
    ran = run_ffmpeg([*READ_AUDIO, "-i", file_argument(path), "-map", "0:a:0", "-f", "f64le", "pipe:1"])
    samples = np.frombuffer(ran.out, dtype="<f8").reshape(-1, measured.probe.channels)
    return Sound(samples, measured.probe.sample_rate, 24 if measured.is_deep else 16)


def filter_low(samples: NDArray[np.float64], rate: int, hertz: float) -> NDArray[np.float64]:
    """Return samples without what lies above `hertz`: linear phase, its delay taken out, never above full scale."""
    import numpy as np
    from scipy import signal

    half = rate / 2
    # A fall of hertz/7: for 3.5 kHz the stop band begins at 4 kHz. A floor keeps very low filters short enough.
    width = min(max(hertz / 7, 25.0), half - hertz)
    taps, beta = signal.kaiserord(_STOP_DB, width / half)
    taps += 1 - taps % 2  # odd, so that the delay is a whole number of samples
    kernel = signal.firwin(taps, hertz + width / 2, window=("kaiser", beta), fs=rate)
    full = signal.oaconvolve(samples, kernel[:, None], mode="full", axes=0)
    delay = (taps - 1) // 2
    filtered: NDArray[np.float64] = full[delay : delay + len(samples)]
    peak = float(np.abs(filtered).max(initial=0.0))
    return filtered * (_FULL / peak) if peak > _FULL else filtered


def write_wav(target: Path, samples: NDArray[np.float64], rate: int, bits: int = 16) -> None:
    """Write samples between -1 and 1 as WAV without metadata, whole or not at all."""
    import numpy as np

    top = 2 ** (bits - 1)
    whole = np.clip(np.round(samples * top), -top, top - 1).astype("<i4")
    columns = whole.reshape(len(whole), -1)
    data = columns.astype("<i2").tobytes() if bits == 16 else columns.reshape(-1, 1).view(np.uint8)[:, :3].tobytes()
    part = target.with_name(f".{target.stem}.{uuid.uuid4().hex}.part")
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        with part.open("wb") as raw, wave.open(raw, "wb") as file:
            file.setparams((columns.shape[1], bits // 8, rate, len(columns), "NONE", "not compressed"))
            file.writeframes(data)
        put_in_place(part, target)
    finally:
        part.unlink(missing_ok=True)
