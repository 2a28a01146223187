"""Intervals of means and shares, the effect size of paired differences, and Welch's t."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray
from scipy import special

LEVEL = 0.95
STUDENT_CITATION = "Student (1908), Biometrika 6"
SHARE_CITATION = "Clopper and Pearson (1934), Biometrika 26; Korn and Graubard (1998), Survey Methodology 24"
SHARE_RANGES = {"pick": (0.0, 1.0), "correct": (0.0, 1.0), "choice": (-1.0, 1.0)}
"""Kinds of rating whose mean is a share, with the values for never and always."""
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


class IntervalBounds(NamedTuple):
    """The ends of many intervals; NaN where an interval is undefined."""

    low: Floats
    high: Floats


def t_interval(values: ArrayLike | Sequence[float], level: float = LEVEL) -> Interval:
    """Return mean, sd (n - 1) and mean ± t(n - 1) sd / √n. The values must be independent units, such as people."""
    data = np.asarray(values, dtype=float)
    n = len(data)
    if n == 0:
        return Interval(0, math.nan, math.nan, math.nan, math.nan)
    mean = float(data.mean())
    if n == 1:
        return Interval(1, mean, math.nan, math.nan, math.nan)
    sd = float(data.std(ddof=1))
    bounds = t_bounds(mean, sd / math.sqrt(n), n - 1, level)
    return Interval(n, mean, sd, float(bounds.low[0]), float(bounds.high[0]))


def t_bounds(mean: ArrayLike, se: ArrayLike, df: ArrayLike, level: float = LEVEL) -> IntervalBounds:
    """Return mean ± t(df) se of every mean; none without an error or without a degree of freedom."""
    means, errors, free = (np.atleast_1d(np.asarray(one, dtype=float)) for one in (mean, se, df))
    half = np.where(free >= 1, special.stdtrit(np.maximum(free, 1), (1 + level) / 2) * errors, np.nan)
    return IntervalBounds(means - half, means + half)


def is_share(kind: str) -> bool:
    """Return whether the mean of this kind of rating is a share, or a preference: a share scaled to -1 to 1."""
    return kind in SHARE_RANGES


def interval_for(kind: str, own_means: ArrayLike | Sequence[float], ratings: int, level: float = LEVEL) -> Interval:
    """Return the interval of this kind of rating over participants' own means; `ratings` is the number of ratings."""
    if kind not in SHARE_RANGES:
        return t_interval(own_means, level)
    low, high = SHARE_RANGES[kind]
    span = high - low
    share = share_interval((np.asarray(own_means, dtype=float) - low) / span, ratings, level)
    return Interval(
        share.n, *(low + span * share.mean, span * share.sd, low + span * share.low, low + span * share.high)
    )


def share_interval(shares: ArrayLike | Sequence[float], ratings: int, level: float = LEVEL) -> Interval:
    """Return the mean share and Korn and Graubard's interval; `shares` are each participant's own, from 0 to 1."""
    plain = t_interval(shares, level)
    people = plain.n
    if people < 2:
        return plain
    share = min(1.0, max(0.0, plain.mean))
    bounds = share_bounds(share, plain.sd / math.sqrt(people), people - 1, max(ratings, people), level=level)
    return Interval(people, share, plain.sd, float(bounds.low[0]), float(bounds.high[0]))


def share_bounds(
    share: ArrayLike, se: ArrayLike, df: ArrayLike, ratings: ArrayLike, *, level: float = LEVEL
) -> IntervalBounds:
    """Return Korn and Graubard's interval of every share (1998, Survey Methodology 24, 193-201).

    That is Clopper and Pearson's exact interval with the number of ratings divided by the design effect: by how much
    the variance of the share is above that of as many independent ratings; then times the square of t(ratings - 1) /
    t(df), and never above the number of ratings. With one rating of each participant it is Clopper and Pearson's.
    Where the variance is zero, as where all said the same, ratings count as independent ones, so that a unanimous
    answer is no weaker than one with a dissenter, and each of the df + 1 clusters as one at least. A tie is a half.
    NaN without a standard error or a degree of freedom.
    """
    shares, errors, dfs, size = (np.atleast_1d(np.asarray(one, dtype=float)) for one in (share, se, df, ratings))
    is_known = (dfs >= 1) & ~np.isnan(errors) & (size > 1)
    dfs, size = np.where(is_known, dfs, 1.0), np.where(is_known, size, 2.0)
    variance = np.where(is_known, errors**2, 0.0)
    upper, lower = (1 + level) / 2, (1 - level) / 2
    has_no_variance = variance < _NO_VARIANCE
    effective_n = size / (size - 1) * shares * (1 - shares) / np.where(has_no_variance, 1.0, variance)
    t_ratio = (scipy.stats.t.ppf(upper, size - 1) / scipy.stats.t.ppf(upper, dfs)) ** 2
    effective_n = np.where(has_no_variance, np.maximum(dfs + 1, size * t_ratio), effective_n * t_ratio)
    effective_n = np.minimum(size, effective_n)
    yes, no = effective_n * shares, effective_n * (1 - shares)
    low = np.where(yes > 0, scipy.stats.beta.ppf(lower, np.maximum(yes, 1e-12), no + 1), 0.0)
    high = np.where(no > 0, scipy.stats.beta.ppf(upper, yes + 1, np.maximum(no, 1e-12)), 1.0)
    return IntervalBounds(
        np.where(is_known, np.minimum(low, shares), np.nan), np.where(is_known, np.maximum(high, shares), np.nan)
    )


def bounds_for(
    kind: str,
    mean: ArrayLike,
    se: ArrayLike,
    df: ArrayLike,
    *,
    ratings: ArrayLike,
    level: float = LEVEL,
) -> IntervalBounds:
    """Return the interval of every mean of this kind of rating, from its error and degrees of freedom."""
    if kind not in SHARE_RANGES:
        return t_bounds(mean, se, df, level)
    low, high = SHARE_RANGES[kind]
    span = high - low
    shares = np.clip((np.asarray(mean, dtype=float) - low) / span, 0.0, 1.0)
    bounds = share_bounds(shares, np.asarray(se, dtype=float) / span, df, ratings, level=level)
    return IntervalBounds(low + span * bounds.low, low + span * bounds.high)


def unanimous_bounds(
    value: ArrayLike, n: ArrayLike, lowest: float, highest: float, level: float = LEVEL
) -> IntervalBounds:
    """Return how far the mean may be from what all n said alike, on a scale with these ends.

    The share of those who would have said something else is below 1 - ((1 - level) / 2)^(1 / n), Clopper and Pearson's
    bound for none in n (about 3.7 / n); at worst they would all have said an end of the scale.
    """
    values, sizes = np.asarray(value, dtype=float), np.asarray(n, dtype=float)
    others = 1 - ((1 - level) / 2) ** (1 / sizes)
    return IntervalBounds(values - others * (values - lowest), values + others * (highest - values))


# Effect size of paired differences


EFFECT_CITATION = "Cumming and Finch (2001), Educational and Psychological Measurement 61"
# Differences of means: what is equal on paper may differ in the last bits.
_DECIMALS = 9
# Beyond, the noncentral distribution takes minutes; two combined approximations are exact to a thousandth.
_MAX_EXACT_T = 200.0


class Effect(NamedTuple):
    """The size of an effect with its interval; what cannot be known is NaN."""

    size: float
    low: float
    high: float


def dz(differences: ArrayLike, level: float = LEVEL) -> Effect:
    """Return the mean of independent differences in their standard deviations, with its exact noncentral t interval.

    NaN for fewer than two differences, and where all are equal (Cumming and Finch 2001, 61, 532-574).
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
    """Return the limits of the noncentrality parameter of this t."""
    tail = (1 - level) / 2
    if t < 0:
        low, high = _noncentralities(-t, df, level)
        return -high, -low
    if t <= _MAX_EXACT_T:
        return float(special.nctdtrinc(df, 1 - tail, t)), float(special.nctdtrinc(df, tail, t))
    normal = float(special.ndtri(1 - tail))
    slack = [t * math.sqrt(special.chdtri(df, one) / df) - t for one in (1 - tail, tail)]
    return t - math.hypot(slack[0], normal), t + math.hypot(slack[1], normal)


# Welch's t


WELCH_CITATION = "Welch (1947), Biometrika 34"


class Welch(NamedTuple):
    """Differences with their errors; NaN where one of the two has none, or neither varies."""

    difference: Floats
    se: Floats
    df: Floats
    low: Floats
    high: Floats
    statistic: Floats
    p: Floats
    """Two-sided."""


def welch(
    mean: ArrayLike, se: ArrayLike, df: ArrayLike, other_mean: ArrayLike, other_se: ArrayLike, other_df: ArrayLike,
    *, level: float = LEVEL,
) -> Welch:  # fmt: skip
    """Return how far means are above others; the degrees of freedom are Satterthwaite's."""
    arrays = [np.atleast_1d(np.asarray(one, dtype=float)) for one in (mean, se, df, other_mean, other_se, other_df)]
    difference, one, other = arrays[0] - arrays[3], arrays[1] ** 2, arrays[4] ** 2
    is_known = one + other > 0
    variance = np.where(is_known, one + other, 1.0)
    below = np.where(is_known, one**2 / arrays[2] + other**2 / arrays[5], 1.0)
    error = np.where(is_known, np.sqrt(variance), np.nan)
    # A standard error from an interval of unknown sample size has infinite degrees of freedom.
    free = np.where(is_known, variance**2 / np.where(below > 0, below, np.nan), np.nan)
    free = np.where(is_known & (below == 0), 1e9, np.minimum(free, 1e9))
    statistic = difference / error
    ends = t_bounds(difference, error, free, level)
    p = np.where(is_known, 2 * special.stdtr(np.where(is_known, free, 1.0), -np.abs(statistic)), np.nan)
    return Welch(difference, error, free, ends.low, ends.high, statistic, p)
