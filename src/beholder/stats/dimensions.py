"""Principal components of a correlation matrix, and the internal consistency of questions.

Parallel analysis keeps a component while its eigenvalue is above the 95th percentile of those of as many columns of
noise (Horn 1965, Psychometrika 30, 179-185). Loadings are turned by varimax, as they are and not brought to the same
length first (Kaiser 1958, Psychometrika 23, 187-200).
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import NamedTuple, TypeAlias

import numpy as np
import scipy
from numpy.typing import NDArray

from beholder.stats.intervals import LEVEL

Floats: TypeAlias = NDArray[np.float64]
COMPONENT_CITATION = "Horn (1965), Psychometrika 30 (parallel analysis); Kaiser (1958), Psychometrika 23 (varimax)"
DRAWS = 1000
_QUANTILE = 0.95
_SWEEPS = 200
_STILL = 1e-10
_NOTHING = 1e-10
"""Eigenvalues below this are zero but for the arithmetic."""


class PrincipalComponents(NamedTuple):
    """Eigenvalues from the largest, and the loading of every column (a row here) on every component."""

    eigenvalues: Floats
    loadings: Floats


def principal_components(correlation: Floats) -> PrincipalComponents:
    """Return the principal components of a correlation matrix, each pointing to where most of its loadings do."""
    values, vectors = np.linalg.eigh(correlation)
    values, vectors = np.where(values > _NOTHING, values, 0.0)[::-1], vectors[:, ::-1]
    return PrincipalComponents(values, _upright(vectors * np.sqrt(values)))


def parallel_analysis(rows: int, columns: int, rng: np.random.Generator, *, draws: int = DRAWS) -> Floats:
    """Return the 95th percentile of each eigenvalue of the correlations of this many rows of independent noise."""
    free = rows - 1
    if free >= columns:
        # Bartlett's decomposition: scatter matrices of noise without drawing its rows, of which there may be a million.
        root = np.tril(rng.standard_normal((draws, columns, columns)), -1)
        place = np.arange(columns)
        root[:, place, place] = np.sqrt(rng.chisquare(free - place, (draws, columns)))
        scatter = root @ root.transpose(0, 2, 1)
    else:
        noise = rng.standard_normal((draws, rows, columns))
        noise -= noise.mean(axis=1, keepdims=True)
        scatter = noise.transpose(0, 2, 1) @ noise
    spread = np.sqrt(np.diagonal(scatter, axis1=1, axis2=2))
    values = np.linalg.eigvalsh(scatter / spread[:, :, None] / spread[:, None, :])
    limits = np.quantile(values, _QUANTILE, axis=0)[::-1]
    return np.asarray(np.where(limits > _NOTHING, limits, 0.0), np.float64)


def retained_components(eigenvalues: Floats, limits: Floats) -> int:
    """Return the number of leading components whose eigenvalues exceed those of noise."""
    is_above = eigenvalues > limits
    return int(len(is_above) if is_above.all() else np.argmin(is_above))


def varimax(loadings: Floats) -> Floats:
    """Return loadings turned until each component has few large ones; communalities stay as they are."""
    components = loadings.shape[1]
    if components < 2:
        return _upright(loadings)
    turned = loadings.copy()
    for _ in range(_SWEEPS):
        angles = [_turn(turned, *pair) for pair in combinations(range(components), 2)]
        if max(angles) < _STILL:
            break
    order = np.argsort(-np.square(turned).sum(axis=0), kind="stable")
    return _upright(turned[:, order])


def _turn(loadings: Floats, one: int, other: int) -> float:
    """Turn two components against each other, in place, to where varimax is highest, and return by how much."""
    x, y = loadings[:, one].copy(), loadings[:, other].copy()
    u, v = x**2 - y**2, 2 * x * y
    across = 2 * float((u * v).sum() - u.sum() * v.sum() / len(x))
    along = float((u**2 - v**2).sum() - (u.sum() ** 2 - v.sum() ** 2) / len(x))
    angle = math.atan2(across, along) / 4
    loadings[:, one] = x * math.cos(angle) + y * math.sin(angle)
    loadings[:, other] = y * math.cos(angle) - x * math.sin(angle)
    return abs(angle)


def _upright(loadings: Floats) -> Floats:
    """Return the loadings with every component turned so that its loadings add up to something above zero."""
    return np.asarray(np.where(loadings.sum(axis=0) < 0, -loadings, loadings), np.float64)


# Internal consistency: Cronbach's alpha and McDonald's omega, from a covariance matrix
#
# Alpha with Feldt's interval (Feldt 1965, Psychometrika 30, 357-370); omega from one common factor (McDonald 1999, Test
# Theory), fitted to the correlations by iterated principal axes.


CONSISTENCY_CITATION = (
    "Cronbach (1951), Psychometrika 16 (alpha); Feldt (1965), Psychometrika 30 (its interval); McDonald (1999), Test "
    "Theory (omega)"
)
_MIN_QUESTIONS = 3
"""Questions that a common factor takes to be known."""
_TURNS = 2000


class CronbachAlpha(NamedTuple):
    """Cronbach's alpha and its interval; NaN with too few questions or rows, or without variance."""

    value: float
    low: float
    high: float


def cronbach_alpha(covariance: Floats, rows: float, level: float = LEVEL) -> CronbachAlpha:
    """Return alpha of the sum of all questions, from their covariance over this many independent rows."""
    k, value = len(covariance), _value(covariance)
    if math.isnan(value) or rows < 2:
        return CronbachAlpha(math.nan, math.nan, math.nan)
    free, other = rows - 1, (rows - 1) * (k - 1)
    low, high = (
        1 - (1 - value) * float(scipy.stats.f.ppf(end, free, other)) for end in ((1 + level) / 2, (1 - level) / 2)
    )
    return CronbachAlpha(value, low, high)


def alpha_without_each(covariance: Floats) -> Floats:
    """Return alpha without each of the questions."""
    left = [np.delete(np.delete(covariance, place, 0), place, 1) for place in range(len(covariance))]
    return np.array([_value(one) for one in left])


def mcdonald_omega(covariance: Floats) -> float:
    """Return the share of the variance of the sum that one common factor makes; NaN for fewer than three questions."""
    sd = np.sqrt(np.diagonal(covariance))
    if len(sd) < _MIN_QUESTIONS or not (sd > 0).all():
        return math.nan
    loadings = sd * one_factor_loadings(covariance / np.outer(sd, sd))
    shared = float(loadings.sum()) ** 2
    own = float(np.clip(np.square(sd) - np.square(loadings), 0.0, None).sum())
    return shared / (shared + own) if shared + own > 0 else math.nan


def _value(covariance: Floats) -> float:
    k, total = len(covariance), float(covariance.sum())
    return k / (k - 1) * (1 - float(np.trace(covariance)) / total) if k > 1 and total > 0 else math.nan


def one_factor_loadings(correlation: Floats) -> Floats:
    """Return the loading of every question on one common factor: least squares off the diagonal."""
    own = correlation - np.eye(len(correlation))
    communality = np.abs(own).max(axis=0)
    loadings = np.zeros(len(correlation))
    for _ in range(_TURNS):
        values, vectors = np.linalg.eigh(own + np.diag(communality))
        loadings = vectors[:, -1] * math.sqrt(max(0.0, float(values[-1])))
        # A loading above one (Heywood case) is cut at one.
        now = np.minimum(np.square(loadings), 1.0)
        if np.abs(now - communality).max() < _STILL:
            break
        communality = now
    loadings = np.clip(loadings, -1.0, 1.0)
    return np.asarray(-loadings if loadings.sum() < 0 else loadings, np.float64)
