"""The mean of independent values with Student's t interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

LEVEL = 0.95


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
