"""The sign test: how often one of two is above the other, ties ignored."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from beholder.stats.interval import LEVEL

# Differences of means: what is equal on paper may differ in the last bits.
_DECIMALS = 9


class Share(NamedTuple):
    """A share with Clopper and Pearson's exact interval, and its two-sided p-value against one half."""

    share: float
    low: float
    high: float
    p: float


class Signs(NamedTuple):
    """How many differences are above zero, below zero and zero, and the share of those above among the first two."""

    above: int
    below: int
    ties: int
    found: Share


def clopper_pearson(k: int, n: int, level: float = LEVEL) -> Share:
    """Return the share of k in n with its exact interval, and the exact binomial test of one half; NaN for none."""
    if n == 0:
        return Share(math.nan, math.nan, math.nan, math.nan)
    tail = (1 - level) / 2
    low = float(special.betaincinv(k, n - k + 1, tail)) if k else 0.0
    high = float(special.betaincinv(k + 1, n - k, 1 - tail)) if k < n else 1.0
    return Share(k / n, low, high, min(1.0, float(2 * special.bdtr(min(k, n - k), n, 0.5))))


def sign_test(differences: ArrayLike, level: float = LEVEL) -> Signs:
    """Return how often differences are above zero, ties ignored, with the exact interval and test."""
    d = np.round(np.asarray(differences, dtype=float), _DECIMALS)
    above, below = int((d > 0).sum()), int((d < 0).sum())
    return Signs(above, below, len(d) - above - below, clopper_pearson(above, above + below, level))
