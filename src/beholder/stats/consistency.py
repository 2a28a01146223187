"""Whether questions measure one thing: Cronbach's alpha and McDonald's omega, from a covariance matrix.

Alpha with Feldt's interval (Feldt 1965, Psychometrika 30, 357-370); omega from one common factor (McDonald 1999, Test
Theory), fitted to the correlations by iterated principal axes.
"""

from __future__ import annotations

import math
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from beholder.stats.interval import LEVEL

Floats: TypeAlias = NDArray[np.float64]
CITATION = (
    "Cronbach (1951), Psychometrika 16 (alpha); Feldt (1965), Psychometrika 30 (its interval); McDonald (1999), Test "
    "Theory (omega)"
)
_FEWEST = 3
"""Questions that a common factor takes to be known."""
_TURNS = 2000
_STILL = 1e-10


class Alpha(NamedTuple):
    """Cronbach's alpha and its interval; NaN where there are too few questions or rows, or nothing varies."""

    value: float
    low: float
    high: float


def alpha(covariance: Floats, rows: float, level: float = LEVEL) -> Alpha:
    """Return alpha of the sum of all questions, from their covariance over this many independent rows."""
    k, value = len(covariance), _value(covariance)
    if math.isnan(value) or rows < 2:
        return Alpha(math.nan, math.nan, math.nan)
    free, other = rows - 1, (rows - 1) * (k - 1)
    low, high = (1 - (1 - value) * float(stats.f.ppf(end, free, other)) for end in ((1 + level) / 2, (1 - level) / 2))
    return Alpha(value, low, high)


def alpha_without(covariance: Floats) -> Floats:
    """Return alpha without each of the questions."""
    left = [np.delete(np.delete(covariance, place, 0), place, 1) for place in range(len(covariance))]
    return np.array([_value(one) for one in left])


def omega(covariance: Floats) -> float:
    """Return the share of the variance of the sum that one common factor makes; NaN for fewer than three questions."""
    sd = np.sqrt(np.diagonal(covariance))
    if len(sd) < _FEWEST or not (sd > 0).all():
        return math.nan
    loadings = sd * one_factor(covariance / np.outer(sd, sd))
    shared = float(loadings.sum()) ** 2
    own = float(np.clip(np.square(sd) - np.square(loadings), 0.0, None).sum())
    return shared / (shared + own) if shared + own > 0 else math.nan


def _value(covariance: Floats) -> float:
    k, total = len(covariance), float(covariance.sum())
    return k / (k - 1) * (1 - float(np.trace(covariance)) / total) if k > 1 and total > 0 else math.nan


def one_factor(correlation: Floats) -> Floats:
    """Return the loading of every question on one common factor: least squares off the diagonal."""
    own = correlation - np.eye(len(correlation))
    communality = np.abs(own).max(axis=0)
    loadings = np.zeros(len(correlation))
    for _ in range(_TURNS):
        values, vectors = np.linalg.eigh(own + np.diag(communality))
        loadings = vectors[:, -1] * math.sqrt(max(0.0, float(values[-1])))
        # A loading above one explains more than there is (Heywood): it stops at one.
        now = np.minimum(np.square(loadings), 1.0)
        if np.abs(now - communality).max() < _STILL:
            break
        communality = now
    loadings = np.clip(loadings, -1.0, 1.0)
    return np.asarray(-loadings if loadings.sum() < 0 else loadings, np.float64)
