"""How far two sets of scores of the same things agree (reference: statistics 6)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats


class Mapped(NamedTuple):
    """The straight line that maps one set of scores to another, and how far it is off."""

    slope: float
    intercept: float
    rmse: float
    """Root mean square error over n, as papers give it."""
    rmse_unbiased: float
    """The same over n - 2 (ITU-T P.1401)."""


class Agreement(NamedTuple):
    """Correlations and errors between two sets of scores; NaN where there are too few, or no spread."""

    n: int
    pearson: float
    spearman: float
    tau_b: float
    rmse: float
    rmse_mapped: float
    """After the straight line that maps the first to the second."""


class Compared(NamedTuple):
    """Fisher's test between two correlations of independent samples."""

    z: float
    p: float
    p_one_sided: float


def agreement(scores: ArrayLike, others: ArrayLike) -> Agreement:
    """Return how far scores agree with others of the same things."""
    x, y = np.asarray(scores, dtype=float), np.asarray(others, dtype=float)
    if not len(x):
        return Agreement(0, *(math.nan,) * 5)
    rmse = float(np.sqrt(np.mean((x - y) ** 2)))
    # Two things always lie on a line.
    if len(x) < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return Agreement(len(x), *(math.nan,) * 3, rmse, math.nan)
    return Agreement(
        len(x),
        float(np.corrcoef(x, y)[0, 1]),
        float(np.corrcoef(stats.rankdata(x), stats.rankdata(y))[0, 1]),
        float(stats.kendalltau(x, y).statistic),
        rmse,
        mapped(x, y).rmse,
    )


def mapped(scores: ArrayLike, others: ArrayLike) -> Mapped:
    """Return the first-order mapping of scores to others by least squares; the scores have to differ."""
    x, y = np.asarray(scores, dtype=float), np.asarray(others, dtype=float)
    slope = float(np.cov(x, y, ddof=0)[0, 1] / np.var(x))
    intercept = float(y.mean() - slope * x.mean())
    squares = float(np.sum((y - intercept - slope * x) ** 2))
    unbiased = math.sqrt(squares / (len(x) - 2)) if len(x) > 2 else math.nan
    return Mapped(slope, intercept, math.sqrt(squares / len(x)), unbiased)


def compare_correlations(one: float, other: float, n: int, other_n: int) -> Compared:
    """Return Fisher's z between two correlations of independent samples, two-sided and one-sided."""
    z = (math.atanh(one) - math.atanh(other)) / math.sqrt(1 / (n - 3) + 1 / (other_n - 3))
    tail = float(stats.norm.sf(abs(z)))
    return Compared(z, 2 * tail, tail)
