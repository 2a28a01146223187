"""Intervals of a mean of independent values: Student's t for scores, Korn and Graubard's for shares."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

LEVEL = 0.95
STUDENT = "Student (1908), Biometrika 6"
SHARES = "Clopper and Pearson (1934), Biometrika 26; Korn and Graubard (1998), Survey Methodology 24"
_SPANS = {"pick": (0.0, 1.0), "correct": (0.0, 1.0), "choice": (-1.0, 1.0)}
"""Kinds of rating whose mean is a share, with the values that stand for never and always."""
# Shares are sums of fractions: what is equal on paper may differ in the last bits.
_NO_VARIANCE = 1e-18


class Interval(NamedTuple):
    """A mean and its interval; sd, low and high are NaN for a single value, everything for none."""

    n: int
    mean: float
    sd: float
    low: float
    high: float


def t_interval(values: ArrayLike | Sequence[float], level: float = LEVEL) -> Interval:
    """Return mean, sd (n - 1) and mean ± t(n - 1) sd / √n. The values have to be independent units, such as people."""
    data = np.asarray(values, dtype=float)
    n = len(data)
    if n == 0:
        return Interval(0, math.nan, math.nan, math.nan, math.nan)
    mean = float(data.mean())
    if n == 1:
        return Interval(1, mean, math.nan, math.nan, math.nan)
    sd = float(data.std(ddof=1))
    half = float(stats.t.ppf((1 + level) / 2, n - 1)) * sd / math.sqrt(n)
    return Interval(n, mean, sd, mean - half, mean + half)


def is_share(kind: str) -> bool:
    """Return whether the mean of this kind of rating is a share, or a preference: a share told from -1 to 1."""
    return kind in _SPANS


def interval_for(kind: str, own_means: ArrayLike | Sequence[float], ratings: int, level: float = LEVEL) -> Interval:
    """Return the interval of this kind of rating over each participant's own mean; `ratings` is how many there are."""
    if kind not in _SPANS:
        return t_interval(own_means, level)
    low, high = _SPANS[kind]
    span = high - low
    found = share_interval((np.asarray(own_means, dtype=float) - low) / span, ratings, level)
    return Interval(
        found.n, *(low + span * found.mean, span * found.sd, low + span * found.low, low + span * found.high)
    )


def share_interval(shares: ArrayLike | Sequence[float], ratings: int, level: float = LEVEL) -> Interval:
    """Return the mean share and Korn and Graubard's interval (1998, Survey Methodology 24, 193-201).

    That is Clopper and Pearson's exact interval with the number of ratings divided by the design effect: by how much
    the variance of the participants' mean is above that of as many independent ratings; then times the square of
    t(ratings - 1) / t(participants - 1), and never above the number of ratings. With one rating of each participant it
    is Clopper and Pearson's. Where all participants have the same share their variance says nothing, and each counts
    as one rating. `shares` are each participant's own, from 0 to 1, a tie being a half.
    """
    data = np.asarray(shares, dtype=float)
    people = len(data)
    ratings = max(ratings, people)
    plain = t_interval(data, level)
    if people < 2:
        return plain
    share = min(1.0, max(0.0, plain.mean))
    variance = plain.sd**2 / people
    if variance < _NO_VARIANCE:
        size = float(people)
    else:
        tail = (1 + level) / 2
        shrunk = float(stats.t.ppf(tail, ratings - 1) / stats.t.ppf(tail, people - 1)) ** 2
        size = min(float(ratings), ratings / (ratings - 1) * share * (1 - share) / variance * shrunk)
    yes, no, tail = size * share, size * (1 - share), (1 - level) / 2
    low = float(stats.beta.ppf(tail, yes, no + 1)) if yes > 0 else 0.0
    high = float(stats.beta.ppf(1 - tail, yes + 1, no)) if no > 0 else 1.0
    return Interval(people, share, plain.sd, min(low, share), max(high, share))
