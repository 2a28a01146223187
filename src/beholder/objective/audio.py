"""STOI, extended STOI and SI-SDR: sounds beside their references."""

from __future__ import annotations

import math
import warnings
from importlib.util import find_spec

from beholder.objective.contract import ComparedPair, Medium, Need, PairMetric
from beholder.objective.decoding import Samples

RATE = 16_000
"""Samples a second of both: STOI looks no higher than 5 kHz, and speech is rarely judged above 8."""
_SOUNDS: frozenset[Medium] = frozenset({"audio"})


class SignalToDistortion(PairMetric):
    """The scale-invariant ratio of signal to distortion."""

    name, title, looks_at = "si-sdr", "SI-SDR", "sound"
    citation = "Le Roux, Wisdom, Erdogan and Hershey (2019), ICASSP"
    usual_for, order = _SOUNDS, 13

    def version(self) -> str:
        return "beholder 1"

    def measure(self, pair: ComparedPair) -> float:
        sounds = pair.sounds(RATE)
        return si_sdr(sounds.reference, sounds.own)


class Intelligibility(PairMetric):
    """STOI, or its extended form."""

    looks_at = "sound"

    def __init__(self, name: str, title: str, citation: str, order: int, *, is_extended: bool) -> None:
        self.name, self.title, self.citation, self.order, self.is_extended = name, title, citation, order, is_extended
        self.usual_for = frozenset() if is_extended else _SOUNDS

    def need(self) -> Need | None:
        if _is_installed("pystoi"):
            return None
        return Need("which needs pystoi", "Install it with `pip install 'beholder[audio]'`.")

    def version(self) -> str:
        from importlib.metadata import version

        return f"pystoi {version('pystoi')}"

    def measure(self, pair: ComparedPair) -> float:
        sounds = pair.sounds(RATE)
        return _stoi(sounds.reference, sounds.own, is_extended=self.is_extended)


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ValueError:  # a module that was taken out of use
        return False


SI_SDR = SignalToDistortion()
STOI = Intelligibility(
    "stoi", "STOI", "Taal, Hendriks, Heusdens and Jensen (2011), IEEE Transactions on Audio 19", 11, is_extended=False
)
ESTOI = Intelligibility(
    "estoi", "ESTOI", "Jensen and Taal (2016), IEEE/ACM Transactions on Audio 24", 12, is_extended=True
)


def si_sdr(reference: Samples, processed: Samples) -> float:
    """Return the scale-invariant signal-to-distortion ratio in dB (Le Roux et al. 2019); NaN where one is silent."""
    wanted, given = reference - reference.mean(), processed - processed.mean()
    power = float(wanted @ wanted)
    if power == 0 or not given.any():
        return math.nan
    signal = wanted * (float(wanted @ given) / power)
    rest = given - signal
    noise, kept = float(rest @ rest), float(signal @ signal)
    # Below what the rounding of samples leaves, differences mean nothing.
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
