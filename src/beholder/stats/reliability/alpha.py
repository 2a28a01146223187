"""Krippendorff's alpha with missing votes: one minus the disagreement that is found over that expected by chance.

In place of the matrix of coincidences: within a thing the squared differences of all pairs are twice the number of
votes times their sum of squares, and the ordinal distance of two values is the difference of their middle ranks.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from beholder.stats.rater_models.votes import Floats, Votes


class Table:
    """How often each thing got each value; only things with two votes or more."""

    def __init__(self, votes: Votes) -> None:
        counts = np.bincount(votes.stimulus, minlength=votes.stimuli)
        is_paired = (counts > 1)[votes.stimulus]
        self.values, value = np.unique(votes.value[is_paired], return_inverse=True)
        _, thing = np.unique(votes.stimulus[is_paired], return_inverse=True)
        shape = (int(thing.max(initial=-1)) + 1, len(self.values))
        self.counts = sparse.coo_array((np.ones(len(thing)), (thing, value)), shape=shape).tocsr()
        self.votes = np.asarray(self.counts.sum(axis=1), float)

    @property
    def things(self) -> int:
        """How many things have two votes or more."""
        return len(self.votes)


def alpha(table: Table, drawn: Floats | None = None, *, is_ordinal: bool) -> Floats:
    """Return alpha for each row of `drawn`, which says how often each thing counts; NaN where no vote differs.

    Without `drawn` each counts once.
    """
    times = np.ones((1, table.things)) if drawn is None else drawn
    given = times @ table.counts
    places = _middle_ranks(given) if is_ordinal else np.broadcast_to(table.values - _middle(table), given.shape)
    share = table.votes / (table.votes - 1)
    squares = (((times * share) @ table.counts) * places**2).sum(axis=1)
    sums = table.counts @ places.T
    whole = np.maximum(given.sum(axis=1), 2)
    found = 2 * (squares - ((sums**2).T * (times / (table.votes - 1))).sum(axis=1)) / whole
    spread = (given * places**2).sum(axis=1) - (given * places).sum(axis=1) ** 2 / whole
    varies = (np.count_nonzero(given, axis=1) > 1) & (spread > 0)
    expected = np.where(varies, 2 * spread / (whole - 1), 1.0)
    return np.where(varies, 1 - found / expected, np.nan)


def _middle(table: Table) -> float:
    """Return the mean of all votes: squares of numbers near zero lose no digits."""
    whole = table.votes.sum()
    return float((table.counts @ table.values).sum() / whole) if whole else 0.0


def _middle_ranks(given: Floats) -> Floats:
    """Return the middle rank of each value, less half of all, so that they are near zero."""
    upto = np.cumsum(given, axis=1)
    return np.asarray(upto - given / 2 - upto[:, -1:] / 2)
