"""Principal components of a correlation matrix: how many stand out of chance, and what each is made of.

Parallel analysis keeps a component while its eigenvalue is above the 95th percentile of those of as many columns of
noise (Horn 1965, Psychometrika 30, 179-185). Loadings are turned by varimax, as they are and not brought to the same
length first (Kaiser 1958, Psychometrika 23, 187-200).
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
CITATION = "Horn (1965), Psychometrika 30 (parallel analysis); Kaiser (1958), Psychometrika 23 (varimax)"
DRAWS = 1000
QUANTILE = 0.95
_SWEEPS = 200
_STILL = 1e-10
_NOTHING = 1e-10
"""Eigenvalues below this are zero but for the arithmetic."""


class Principal(NamedTuple):
    """Eigenvalues from the largest, and the loading of every column (a row here) on every component."""

    eigenvalues: Floats
    loadings: Floats


def principal(correlation: Floats) -> Principal:
    """Return the principal components of a correlation matrix, each pointing to where most of its loadings do."""
    values, vectors = np.linalg.eigh(correlation)
    values, vectors = np.where(values > _NOTHING, values, 0.0)[::-1], vectors[:, ::-1]
    return Principal(values, _upright(vectors * np.sqrt(values)))


def parallel(rows: int, columns: int, rng: np.random.Generator, *, draws: int = DRAWS) -> Floats:
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
    limits = np.quantile(values, QUANTILE, axis=0)[::-1]
    return np.asarray(np.where(limits > _NOTHING, limits, 0.0), np.float64)


def kept(eigenvalues: Floats, limits: Floats) -> int:
    """Return how many components stand above noise before the first that does not."""
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
