"""Intervals of a mean of independent values: Student's t for scores, Korn and Graubard's for shares."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special, stats

LEVEL = 0.95
STUDENT = "Student (1908), Biometrika 6"
SHARES = "Clopper and Pearson (1934), Biometrika 26; Korn and Graubard (1998), Survey Methodology 24"
SPANS = {"pick": (0.0, 1.0), "correct": (0.0, 1.0), "choice": (-1.0, 1.0)}
"""Kinds of rating whose mean is a share, with the values that stand for never and always."""
# Shares are sums of fractions: what is equal on paper may differ in the last bits.
_NO_VARIANCE = 1e-18
Floats: TypeAlias = NDArray[np.float64]


class Interval(NamedTuple):
    """A mean and its interval; sd, low and high are NaN for a single value, everything for none."""

    n: int
    mean: float
    sd: float
    low: float
    high: float


class Bounds(NamedTuple):
    """The ends of many intervals; NaN where there is none."""

    low: Floats
    high: Floats


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
    found = t_bounds(mean, sd / math.sqrt(n), n - 1, level)
    return Interval(n, mean, sd, float(found.low[0]), float(found.high[0]))


def t_bounds(mean: ArrayLike, se: ArrayLike, df: ArrayLike, level: float = LEVEL) -> Bounds:
    """Return mean ± t(df) se of every mean; none without an error or without a degree of freedom."""
    means, errors, free = (np.atleast_1d(np.asarray(one, dtype=float)) for one in (mean, se, df))
    half = np.where(free >= 1, special.stdtrit(np.maximum(free, 1), (1 + level) / 2) * errors, np.nan)
    return Bounds(means - half, means + half)


def is_share(kind: str) -> bool:
    """Return whether the mean of this kind of rating is a share, or a preference: a share told from -1 to 1."""
    return kind in SPANS


def interval_for(kind: str, own_means: ArrayLike | Sequence[float], ratings: int, level: float = LEVEL) -> Interval:
    """Return the interval of this kind of rating over each participant's own mean; `ratings` is how many there are."""
    if kind not in SPANS:
        return t_interval(own_means, level)
    low, high = SPANS[kind]
    span = high - low
    found = share_interval((np.asarray(own_means, dtype=float) - low) / span, ratings, level)
    return Interval(
        found.n, *(low + span * found.mean, span * found.sd, low + span * found.low, low + span * found.high)
    )


def share_interval(shares: ArrayLike | Sequence[float], ratings: int, level: float = LEVEL) -> Interval:
    """Return the mean share and Korn and Graubard's interval; `shares` are each participant's own, from 0 to 1."""
    plain = t_interval(shares, level)
    people = plain.n
    if people < 2:
        return plain
    share = min(1.0, max(0.0, plain.mean))
    found = share_bounds(share, plain.sd / math.sqrt(people), people - 1, people, max(ratings, people), level=level)
    return Interval(people, share, plain.sd, float(found.low[0]), float(found.high[0]))


def share_bounds(
    share: ArrayLike, se: ArrayLike, df: ArrayLike, units: ArrayLike, ratings: ArrayLike, *, level: float = LEVEL
) -> Bounds:
    """Return Korn and Graubard's interval of every share (1998, Survey Methodology 24, 193-201).

    That is Clopper and Pearson's exact interval with the number of ratings divided by the design effect: by how much
    the variance of the share is above that of as many independent ratings; then times the square of t(ratings - 1) /
    t(df), and never above the number of ratings. With one rating of each participant it is Clopper and Pearson's.
    Where the variance is zero it says nothing, and each of the `units`, such as participants, counts as one rating;
    where all said the same, each of the df + 1 clusters does, as in the sign test of such ratings. A tie is a half.
    There is none without an error or without a degree of freedom.
    """
    shares, errors, free, unit, size = (
        np.atleast_1d(np.asarray(one, dtype=float)) for one in (share, se, df, units, ratings)
    )
    is_known = (free >= 1) & ~np.isnan(errors) & (size > 1)
    free, size = np.where(is_known, free, 1.0), np.where(is_known, size, 2.0)
    unit, variance = np.where(is_known, unit, 2.0), np.where(is_known, errors**2, 0.0)
    upper, lower = (1 + level) / 2, (1 - level) / 2
    is_still = variance < _NO_VARIANCE
    worth = size / (size - 1) * shares * (1 - shares) / np.where(is_still, 1.0, variance)
    worth = np.where(is_still, unit, worth)
    shrunk = (stats.t.ppf(upper, np.where(is_still, unit, size) - 1) / stats.t.ppf(upper, free)) ** 2
    worth = np.where(is_still & np.isin(shares, (0.0, 1.0)), free + 1, worth * shrunk)
    worth = np.minimum(size, worth)
    yes, no = worth * shares, worth * (1 - shares)
    low = np.where(yes > 0, stats.beta.ppf(lower, np.maximum(yes, 1e-12), no + 1), 0.0)
    high = np.where(no > 0, stats.beta.ppf(upper, yes + 1, np.maximum(no, 1e-12)), 1.0)
    return Bounds(
        np.where(is_known, np.minimum(low, shares), np.nan), np.where(is_known, np.maximum(high, shares), np.nan)
    )


def bounds_for(
    kind: str, mean: ArrayLike, se: ArrayLike, df: ArrayLike, *, units: ArrayLike, ratings: ArrayLike
) -> Bounds:
    """Return the interval of every mean of this kind of rating, from its error and degrees of freedom."""
    if kind not in SPANS:
        return t_bounds(mean, se, df)
    low, high = SPANS[kind]
    span = high - low
    shares = np.clip((np.asarray(mean, dtype=float) - low) / span, 0.0, 1.0)
    found = share_bounds(shares, np.asarray(se, dtype=float) / span, df, units, ratings)
    return Bounds(low + span * found.low, low + span * found.high)


def unanimous_bounds(value: ArrayLike, n: ArrayLike, lowest: float, highest: float, level: float = LEVEL) -> Bounds:
    """Return how far the mean may be from what all n said alike, on a scale with these ends.

    The share of those who would have said something else is below 1 - ((1 - level) / 2)^(1 / n), Clopper and Pearson's
    bound for none in n (about 3.7 / n); at worst they would all have said an end of the scale.
    """
    values, sizes = np.asarray(value, dtype=float), np.asarray(n, dtype=float)
    others = 1 - ((1 - level) / 2) ** (1 / sizes)
    return Bounds(values - others * (values - lowest), values + others * (highest - values))
