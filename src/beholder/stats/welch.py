"""Welch's t between two means of independent samples, many at once, from their errors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from beholder.stats.interval import LEVEL, Floats, t_bounds

CITATION = "Welch (1947), Biometrika 34"


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
    found = [np.atleast_1d(np.asarray(one, dtype=float)) for one in (mean, se, df, other_mean, other_se, other_df)]
    difference, one, other = found[0] - found[3], found[1] ** 2, found[4] ** 2
    is_known = one + other > 0
    variance = np.where(is_known, one + other, 1.0)
    below = np.where(is_known, one**2 / found[2] + other**2 / found[5], 1.0)
    error = np.where(is_known, np.sqrt(variance), np.nan)
    # Errors of intervals whose people nobody counts have no end of degrees of freedom.
    free = np.where(is_known, variance**2 / np.where(below > 0, below, np.nan), np.nan)
    free = np.where(is_known & (below == 0), 1e9, np.minimum(free, 1e9))
    statistic = difference / error
    ends = t_bounds(difference, error, free, level)
    p = np.where(is_known, 2 * special.stdtr(np.where(is_known, free, 1.0), -np.abs(statistic)), np.nan)
    return Welch(difference, error, free, ends.low, ends.high, statistic, p)
