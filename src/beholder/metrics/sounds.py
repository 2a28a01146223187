"""Sounds beside their references: how well speech is understood (STOI), and how much is not the signal (SI-SDR)."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from beholder.errors import Problem, StimuliError
from beholder.metrics.kinds import METRICS
from beholder.stimuli.catalogue import Stimulus
from beholder.stimuli.clip import READ
from beholder.stimuli.ffmpeg import file_argument, run_ffmpeg
from beholder.stimuli.sound import READ_SOUND

RATE = 16_000
"""Samples a second of both: STOI looks no higher than 5 kHz, and speech is rarely judged above 8."""
Samples: TypeAlias = NDArray[np.float64]


def heard(stimulus: Stimulus, reference: Stimulus, metrics: Sequence[str]) -> tuple[dict[str, float], tuple[str, ...]]:
    """Return the metrics of a sound beside its reference, and what was done to both, in words."""
    own, other = _samples(stimulus), _samples(reference)
    n, notes = min(len(own), len(other)), []
    if abs(len(own) - len(other)) > RATE // 100:
        notes.append(f"{len(own) / RATE:.2f} s beside {len(other) / RATE:.2f} s of the reference: the shorter counts")
    found = {}
    for metric in metrics:
        if METRICS[metric].tool == "numpy":
            found[metric] = si_sdr(other[:n], own[:n])
        else:
            found[metric] = _stoi(other[:n], own[:n], is_extended=metric == "estoi")
    return found, tuple(notes)


def si_sdr(reference: Samples, processed: Samples) -> float:
    """Return the scale-invariant signal-to-distortion ratio in dB (Le Roux et al. 2019); NaN where one is silent."""
    wanted, given = reference - reference.mean(), processed - processed.mean()
    power = float(wanted @ wanted)
    if power == 0 or not given.any():
        return math.nan
    signal = wanted * (float(wanted @ given) / power)
    rest = given - signal
    noise, kept = float(rest @ rest), float(signal @ signal)
    # Below what the rounding of samples leaves, nothing is told apart.
    if noise <= 1e-14 * kept:
        return math.inf
    return 10 * math.log10(kept / noise) if kept else math.nan


def _stoi(reference: Samples, processed: Samples, *, is_extended: bool) -> float:
    from pystoi import stoi

    with warnings.catch_warnings():
        # It warns and gives a stand-in where there is less than half a second of speech.
        warnings.simplefilter("error")
        try:
            return float(stoi(reference, processed, RATE, extended=is_extended))
        except (RuntimeWarning, ValueError):
            return math.nan


def _samples(stimulus: Stimulus) -> Samples:
    read = READ_SOUND if stimulus.medium == "audio" else READ
    words = ["-v", "error", *read, "-i", file_argument(stimulus.served), "-map", "0:a:0", "-ac", "1", "-ar", str(RATE)]
    ran = run_ffmpeg([*words, "-f", "f32le", "pipe:1"])
    if ran.code != 0:
        raise StimuliError(Problem(stimulus.file, f"cannot be heard: ffmpeg says {ran.last_words()}"))
    return np.frombuffer(ran.out, np.float32).astype(float)
