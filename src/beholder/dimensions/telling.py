"""How much of all questions some of them tell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from beholder.dimensions.levels import Rows
from beholder.stats.clustered import Floats

Sets: TypeAlias = list[tuple[int, ...]]
_RIDGE = 1e-9
"""Keeps questions that are alike to the last digit apart."""


def told_shares(rows: Rows, sets: Sets) -> Floats:
    """Return for each set, all of one size, the share of the variance of all questions that follows from it.

    It is the mean of the squared multiple correlations, adjusted for the size of the set, which has to be below the
    number of rows minus one unless it is all questions.
    """
    places = np.array(sets)
    size, free = places.shape[1], rows.worth - 1 - places.shape[1]
    if size == rows.value.shape[1]:
        return np.ones(len(sets))
    matrix = rows.correlation
    inner = matrix[places[:, :, None], places[:, None, :]] + _RIDGE * np.eye(size)
    across = matrix[places]
    squared = np.einsum("skp,skp->sp", across, np.linalg.solve(inner, across)).clip(0.0, 1.0)
    adjusted = 1 - (1 - squared) * (rows.worth - 1) / free
    np.put_along_axis(adjusted, places, 1.0, axis=1)
    return np.asarray(adjusted.mean(axis=1), np.float64)


def fresh_share(one: Floats, other: Floats, chosen: Sequence[int]) -> float:
    """Return how well means of some questions by one half of the people tell all questions of the other half.

    1 is as well as asking each question itself. Weights are those of the first half, which has no means left in it.
    """
    picked = one[:, list(chosen)]
    weights = np.linalg.lstsq(picked, one, rcond=_RIDGE)[0]
    by_itself = _squares(one, other).sum()
    return float(_squares(picked @ weights, other).sum() / by_itself) if by_itself > 0 else float("nan")


def _squares(one: Floats, other: Floats) -> Floats:
    """Return the squared correlation of each column with the same of the other; 0 where one does not vary."""
    one, other = one - one.mean(axis=0), other - other.mean(axis=0)
    spread = np.square(one).sum(axis=0) * np.square(other).sum(axis=0)
    return np.asarray(np.square((one * other).sum(axis=0)) / np.where(spread > 0, spread, np.inf), np.float64)
