"""The size of an effect of paired differences, with its interval."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from beholder.stats.interval import LEVEL

CITATION = "Cumming and Finch (2001), Educational and Psychological Measurement 61"
# Differences of means: what is equal on paper may differ in the last bits.
_DECIMALS = 9
# Beyond, the noncentral distribution takes minutes, and two approximations put together are exact to a thousandth.
_FAR = 200.0


class Effect(NamedTuple):
    """The size of an effect with its interval; what cannot be known is NaN."""

    size: float
    low: float
    high: float


def dz(differences: ArrayLike, level: float = LEVEL) -> Effect:
    """Return the mean of independent differences in their standard deviations, with its exact noncentral t interval.

    There is none for fewer than two differences, nor where all are the same (Cumming and Finch 2001, 61, 532-574).
    """
    d = np.asarray(differences, dtype=float)
    n = len(d)
    sd = float(np.round(d.std(ddof=1), _DECIMALS)) if n > 1 else 0.0
    if sd == 0:
        return Effect(math.nan, math.nan, math.nan)
    size = float(d.mean()) / sd
    low, high = (centre / math.sqrt(n) for centre in _noncentralities(size * math.sqrt(n), n - 1, level))
    return Effect(size, low, high)


def _noncentralities(t: float, df: int, level: float) -> tuple[float, float]:
    """Return between which values the noncentrality of this t lies."""
    tail = (1 - level) / 2
    if t < 0:
        low, high = _noncentralities(-t, df, level)
        return -high, -low
    if t <= _FAR:
        return float(special.nctdtrinc(df, 1 - tail, t)), float(special.nctdtrinc(df, tail, t))
    normal = float(special.ndtri(1 - tail))
    slack = [t * math.sqrt(special.chdtri(df, one) / df) - t for one in (1 - tail, tail)]
    return t - math.hypot(slack[0], normal), t + math.hypot(slack[1], normal)
