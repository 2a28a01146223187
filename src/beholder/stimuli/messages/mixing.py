"""Speech mixed into the middle of a sound: intelligible, the whole as loud as before, other samples unchanged."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from beholder.errors import Problem, StimuliError
from beholder.stimuli.loudness import integrated_loudness

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from beholder.stimuli.messages.speech import Speech

LARGEST_SHARE = 0.7
"""Of a sound, that may be spoken over: its beginning and its end stay its own."""
TOLERANCE_DB = 0.5
"""How much the loudness of the whole may change."""
FAINT_LUFS, _SPEECH_LUFS = -50.0, -23.0
"""A sound softer than the first is as good as silence: speech as soft as that would not be heard. It gets the second,
the level of EBU R 128."""

_SPEECH_ABOVE_DB = 12.0
"""Level of the speech above the attenuated sound: 10 dB are needed, and codecs lose a little."""
_FIRST_DUCK_DB, _DEEPEST_DUCK_DB = 15.0, 90.0
_RAMP_S = 0.05
_MIX_TOLERANCE_DB = 0.45
"""Accepted of a mix before it is rounded or encoded."""
_LOUDEST_DB, _SOFTEST_DB, _STEP_DB = 24.0, -16.0, 4.0
"""Range and step in which the level of the speech is searched, relative to the sound."""
_FULL = 1 - 2**-15


@dataclass(frozen=True, eq=False)
class SpeechMix:
    """A sound with speech in it. Before `start` and from `end` on, every sample is what it was."""

    samples: NDArray[np.float64]
    start: int
    end: int


def mix_speech(samples: NDArray[np.float64], rate: int, speech: Speech, where: str) -> SpeechMix:
    """Return a sound of the same length with speech in its middle, or raise StimuliError where it cannot be.

    The sound is ducked under the speech. How loud the speech is follows from the loudness of the whole, which stays;
    how deep the sound is ducked follows from that.
    """
    bed = _Bed.of(samples, rate, speech)
    target = integrated_loudness(samples, rate)
    if target < FAINT_LUFS:
        target = _SPEECH_LUFS
    duck = _FIRST_DUCK_DB
    while True:
        gain, error = _matching_gain(bed, target, duck)
        missing = _SPEECH_ABOVE_DB - bed.clearness(duck, gain)
        if missing <= 0 or duck >= _DEEPEST_DUCK_DB:
            break
        duck = min(_DEEPEST_DUCK_DB, duck + missing + 1)
    if error > _MIX_TOLERANCE_DB:
        raise StimuliError(
            Problem(
                where,
                f"cannot be given a voice: with any that is clear, the whole would be {error:.1f} dB louder or softer",
                f"less than {TOLERANCE_DB:g} dB",
                "Choose another clip, or make it less loud (beholder media prepare --loudness -23).",
            )
        )
    return SpeechMix(bed.mix(duck, gain), bed.start, bed.end)


@dataclass(frozen=True, eq=False)
class _Bed:
    """A sound and the speech that comes into it, at the rate and in the channels of the sound."""

    samples: NDArray[np.float64]
    rate: int
    voice: NDArray[np.float64]
    start: int
    end: int

    @classmethod
    def of(cls, samples: NDArray[np.float64], rate: int, speech: Speech) -> _Bed:
        import numpy as np
        from scipy import signal

        common = math.gcd(rate, speech.rate)
        spoken = signal.resample_poly(speech.samples, rate // common, speech.rate // common)
        ramp = round(_RAMP_S * rate)
        span = len(spoken) + 2 * ramp
        if span > len(samples):
            raise ValueError("the speech is longer than the sound")
        voice = np.zeros((span, samples.shape[1]))
        # The two channels in front; a third one and more are behind, below, or between them.
        voice[ramp : ramp + len(spoken), :2] = spoken[:, None]
        start = (len(samples) - span) // 2
        return cls(samples, rate, voice, start, start + span)

    def ducked(self, duck: float) -> NDArray[np.float64]:
        """Return the middle of the sound, attenuated by `duck` decibels, with a ramp at each end."""
        import numpy as np

        ramp = round(_RAMP_S * self.rate)
        floor = 10 ** (-duck / 20)
        curve = np.full(self.end - self.start, floor)
        fall = floor + (1 - floor) * (1 + np.cos(np.pi * (np.arange(ramp) + 0.5) / ramp)) / 2
        curve[:ramp], curve[-ramp:] = fall, fall[::-1]
        return np.asarray(self.samples[self.start : self.end] * curve[:, None])

    def spoken(self, duck: float, gain: float) -> NDArray[np.float64]:
        """Return the speech, bent where it would go beyond the room that the sound leaves below full scale."""
        import numpy as np

        room = np.maximum(_FULL - np.abs(self.ducked(duck)), 1e-6)
        return np.asarray(room * np.tanh(gain * self.voice / room))

    def mix(self, duck: float, gain: float) -> NDArray[np.float64]:
        """Return the whole sound with the speech in it."""
        mixed = self.samples.copy()
        mixed[self.start : self.end] = self.ducked(duck) + self.spoken(duck, gain)
        return mixed

    def clearness(self, duck: float, gain: float) -> float:
        """Return by how many decibels the speech stands above the sound that is left under it."""
        ramp = round(_RAMP_S * self.rate)
        speech, rest = (float((part[ramp:-ramp] ** 2).mean()) for part in (self.spoken(duck, gain), self.ducked(duck)))
        return 10 * math.log10(speech / rest) if rest > 0 else math.inf


def _matching_gain(bed: _Bed, target: float, duck: float) -> tuple[float, float]:
    """Return the gain of the speech with which the whole is as loud as wanted, and by how much it is not.

    Of several gains the largest: loudness is gated, so that very soft speech may count for nothing.
    """
    unit = integrated_loudness(bed.voice, bed.rate)

    def gain_at(level: float) -> float:
        return float(10 ** ((target + level - unit) / 20))

    def excess(level: float) -> float:
        return integrated_loudness(bed.mix(duck, gain_at(level)), bed.rate) - target

    level = _largest_root(excess)
    return gain_at(level), abs(excess(level))


def _largest_root(excess: Callable[[float], float]) -> float:
    """Return the highest level at which nothing is in excess, or the one that comes nearest."""
    tried = {_LOUDEST_DB: excess(_LOUDEST_DB)}
    high = low = _LOUDEST_DB
    while tried[low] > 0 and low > _SOFTEST_DB:
        high, low = low, low - _STEP_DB
        tried[low] = excess(low)
    while high - low > 0.05 and tried[low] <= 0:
        middle = (high + low) / 2
        tried[middle] = excess(middle)
        high, low = (middle, low) if tried[middle] > 0 else (high, middle)
    return min(tried, key=lambda level: abs(tried[level]))
