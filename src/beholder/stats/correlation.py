"""Correlation, error and mapping between two sets of scores, with intervals and tests (reference: statistics 6)."""

from __future__ import annotations

import math
from typing import NamedTuple, TypeAlias

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray
from scipy import special

from beholder.stats.intervals import LEVEL

SEED = 1
DRAWS = 1000
# Rows of the matrix of signs that are in memory at a time.
_ROWS = 512


# Agreement of two sets of scores


CITATION = (
    "Fisher (1921), Metron 1; Bonett and Wright (2000), Psychometrika 65; Fieller, Hartley and Pearson (1957), "
    "Biometrika 44"
)
"""Of the intervals: Pearson's, Spearman's, and Kendall's formula for samples too large for a bootstrap."""
INTERVALS = (
    "95 % intervals: of Pearson's r by Fisher's z; of Spearman's by Fisher's z with Bonett and Wright's variance "
    "(1 + r²/2) / (n - 3); of Kendall's tau-b by a bootstrap over what is rated (percentiles of 1,000 draws)"
)
"""How they are made, for notes."""
_MAX_BOOTSTRAP_N = 2000
"""With more things than these a bootstrap of tau-b would take long, and the formula is as good."""
_MIN_BOOTSTRAP_N = 5
_NO_SPREAD = 1e-12
Floats: TypeAlias = NDArray[np.float64]
# On Fisher's scale a perfect correlation is infinite; so close to it, values are numerically equal.
_PERFECT = 1 - 1e-12


class LinearMapping(NamedTuple):
    """The straight line that maps one set of scores to another, and how far it is off."""

    slope: float
    intercept: float
    rmse: float
    """Root mean square error over n, as papers give it."""
    rmse_unbiased: float
    """The same over n - 2 (ITU-T P.1401)."""


class ScoreAgreement(NamedTuple):
    """Correlations and errors between two sets of scores; NaN for fewer than three, or without spread."""

    n: int
    pearson: float
    spearman: float
    tau_b: float
    rmse: float
    rmse_mapped: float
    """After the straight line that maps the first to the second."""


class Correlation(NamedTuple):
    """A correlation with its 95 % interval and its two-sided p-value against none; NaN where it cannot be known."""

    value: float
    low: float
    high: float
    p: float


class Correlations(NamedTuple):
    """The three correlations of two sets of scores."""

    n: int
    pearson: Correlation
    spearman: Correlation
    tau_b: Correlation


class CorrelationTest(NamedTuple):
    """A test between two correlations."""

    z: float
    p: float
    p_one_sided: float


def agreement(scores: ArrayLike, others: ArrayLike) -> ScoreAgreement:
    """Return how far scores agree with others of the same things."""
    x, y = np.asarray(scores, dtype=float), np.asarray(others, dtype=float)
    if not len(x):
        return ScoreAgreement(0, *(math.nan,) * 5)
    rmse = float(np.sqrt(np.mean((x - y) ** 2)))
    # Two things always lie on a line.
    if len(x) < 3 or not varies(x) or not varies(y):
        return ScoreAgreement(len(x), *(math.nan,) * 3, rmse, math.nan)
    return ScoreAgreement(
        len(x),
        float(np.corrcoef(x, y)[0, 1]),
        float(np.corrcoef(scipy.stats.rankdata(x), scipy.stats.rankdata(y))[0, 1]),
        float(scipy.stats.kendalltau(x, y).statistic),
        rmse,
        linear_mapping(x, y).rmse,
    )


def correlations(scores: ArrayLike, others: ArrayLike, *, seed: int = SEED, level: float = LEVEL) -> Correlations:
    """Return Pearson's r, Spearman's and Kendall's tau-b with intervals; NaN below three things, or without spread."""
    x, y = np.asarray(scores, dtype=float), np.asarray(others, dtype=float)
    n = len(x)
    if n < 3 or not varies(x) or not varies(y):
        none = Correlation(*(math.nan,) * 4)
        return Correlations(n, none, none, none)
    scores_agreement = agreement(x, y)
    tau = scipy.stats.kendalltau(x, y)
    return Correlations(
        n,
        Correlation(
            scores_agreement.pearson,
            *pearson_interval(scores_agreement.pearson, n, level),
            _p_value(scores_agreement.pearson, n),
        ),
        Correlation(
            scores_agreement.spearman,
            *_spearman_interval(scores_agreement.spearman, n, level),
            _p_value(scores_agreement.spearman, n),
        ),
        Correlation(
            scores_agreement.tau_b, *_tau_interval(scores_agreement.tau_b, x, y, seed, level), float(tau.pvalue)
        ),
    )


def varies(scores: Floats) -> bool:
    """Return whether scores differ, and not only in the last bits: means are sums of fractions."""
    return bool(np.ptp(scores) > _NO_SPREAD * max(1.0, float(np.abs(scores).max())))


def pearson_interval(r: float, n: int, level: float = LEVEL) -> tuple[float, float]:
    """Return the interval of Pearson's r by Fisher's z; none below four things."""
    return _on_fishers_scale(r, 1 / (n - 3), level) if n > 3 else (math.nan, math.nan)


def _spearman_interval(r: float, n: int, level: float = LEVEL) -> tuple[float, float]:
    """Return the interval of Spearman's r by Fisher's z with the variance of Bonett and Wright (2000).

    NaN below four items, and for a perfect correlation: a few items often have the same order by chance.
    """
    if n < 4 or abs(r) >= _PERFECT:
        return math.nan, math.nan
    return _on_fishers_scale(r, (1 + r**2 / 2) / (n - 3), level)


def mean_correlation(correlations: ArrayLike) -> float:
    """Return the mean of correlations on Fisher's z scale, on which they are symmetric; NaN for an empty list.

    It is the plain mean where one is perfect, which on that scale would outweigh all others.
    """
    values = np.asarray(correlations, dtype=float)
    values = values[~np.isnan(values)]
    if not len(values):
        return math.nan
    is_perfect = bool((np.abs(values) >= _PERFECT).any())
    return float(np.mean(values) if is_perfect else np.tanh(np.mean(np.arctanh(values))))


def _on_fishers_scale(r: float, variance: float, level: float) -> tuple[float, float]:
    if abs(r) >= _PERFECT:
        return r, r
    half = float(scipy.stats.norm.ppf((1 + level) / 2)) * math.sqrt(variance)
    return math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half)


def _tau_interval(tau: float, x: Floats, y: Floats, seed: int, level: float) -> tuple[float, float]:
    """Return percentiles of a bootstrap; with many things, those of Fieller, Hartley and Pearson's formula (1957)."""
    n = len(x)
    if n < _MIN_BOOTSTRAP_N:
        return math.nan, math.nan
    if n > _MAX_BOOTSTRAP_N:
        return _on_fishers_scale(tau, 0.437 / (n - 4), level)
    low, high = np.nanquantile(bootstrap_tau_b(x, y, seed), [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _p_value(r: float, n: int) -> float:
    """Return the two-sided p of a correlation by Student's t, n - 2 degrees of freedom."""
    if abs(r) >= _PERFECT:
        return 0.0
    return float(2 * special.stdtr(n - 2, -abs(r) * math.sqrt((n - 2) / (1 - r**2))))


def linear_mapping(scores: ArrayLike, others: ArrayLike) -> LinearMapping:
    """Return the first-order mapping of scores to others by least squares; the scores have to differ."""
    x, y = np.asarray(scores, dtype=float), np.asarray(others, dtype=float)
    slope = float(np.cov(x, y, ddof=0)[0, 1] / np.var(x))
    intercept = float(y.mean() - slope * x.mean())
    squares = float(np.sum((y - intercept - slope * x) ** 2))
    unbiased = math.sqrt(squares / (len(x) - 2)) if len(x) > 2 else math.nan
    return LinearMapping(slope, intercept, math.sqrt(squares / len(x)), unbiased)


def compare_correlations(one: float, other: float, n: int, other_n: int) -> CorrelationTest:
    """Return Fisher's z between two correlations of independent samples, two-sided and one-sided."""
    return _compared(one, other, 1 / (n - 3) + 1 / (other_n - 3))


def compare_dependent(one: float, other: float, between: float, n: int) -> CorrelationTest:
    """Return the z of Meng, Rosenthal and Rubin (1992) between the correlations of two sets with the same third.

    `between` is the correlation of the two sets; all three are over the same n things.
    """
    squares = (min(abs(one), _PERFECT) ** 2 + min(abs(other), _PERFECT) ** 2) / 2
    share = min(1.0, (1 - between) / (2 * (1 - squares)))
    factor = (1 - share * squares) / (1 - squares)
    return _compared(one, other, 2 * (1 - between) * factor / (n - 3))


def _compared(one: float, other: float, variance: float) -> CorrelationTest:
    apart = math.atanh(max(-_PERFECT, min(_PERFECT, one))) - math.atanh(max(-_PERFECT, min(_PERFECT, other)))
    z = apart / math.sqrt(variance) if variance > 0 else 0.0
    tail = float(scipy.stats.norm.sf(abs(z)))
    return CorrelationTest(z, 2 * tail, tail)


# Bootstrap of correlations


def bootstrap_counts(n: int, seed: int = SEED, draws: int = DRAWS) -> Floats:
    """Return how often each of n things is in each sample: one row for each sample of n."""
    return np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=draws).astype(float)


def bootstrap_pearson(x: Floats, y: Floats, counts: Floats) -> Floats:
    """Return Pearson's r of every sample; NaN where nothing varies."""
    x, y = x - x.mean(), y - y.mean()
    n = counts.sum(axis=1)
    sum_x, sum_y = counts @ x, counts @ y
    spread_x, spread_y = counts @ x**2 - sum_x**2 / n, counts @ y**2 - sum_y**2 / n
    varies = (spread_x > _NO_SPREAD * (x @ x)) & (spread_y > _NO_SPREAD * (y @ y))
    below = np.sqrt(np.where(varies, spread_x * spread_y, 1.0))
    return np.where(varies, np.clip((counts @ (x * y) - sum_x * sum_y / n) / below, -1.0, 1.0), np.nan)


def bootstrap_tau_b(x: Floats, y: Floats, seed: int = SEED, draws: int = DRAWS) -> Floats:
    """Return Kendall's tau-b of every sample; NaN where nothing varies.

    A thing that is drawn twice is tied with itself in both, which tau-b leaves out of account.
    """
    counts = bootstrap_counts(len(x), seed, draws)
    agree, apart_x, apart_y = np.zeros(draws), np.zeros(draws), np.zeros(draws)
    for start in range(0, len(x), _ROWS):
        rows = slice(start, start + _ROWS)
        sign_x, sign_y = (np.sign(one[rows, None] - one[None, :]) for one in (x, y))
        mine = counts[:, rows]
        agree += np.einsum("dn,dn->d", mine @ (sign_x * sign_y), counts)
        apart_x += np.einsum("dn,dn->d", mine @ np.abs(sign_x), counts)
        apart_y += np.einsum("dn,dn->d", mine @ np.abs(sign_y), counts)
    varies = (apart_x > 0) & (apart_y > 0)
    return np.where(varies, agree / np.sqrt(np.where(varies, apart_x * apart_y, 1.0)), np.nan)
