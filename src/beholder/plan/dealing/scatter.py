"""Units that come several times in a list, each time with other questions: where."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from beholder.plan.dealing.flow import Ints


def scatter(dealt: Ints, times: int, rng: Generator) -> Ints:
    """Return by list and place a number below `trials * times`: the unit is that number // times, the visit % times.

    Neighbours are of different contents where that can be; where it cannot, they are of different units.
    """
    lists, trials = dealt.shape
    content = np.repeat(dealt, times, axis=1)
    contents = _sequence(_counts(content), rng)
    is_crowded = (contents[:, 1:] == contents[:, :-1]).any(axis=1)
    if is_crowded.any():
        unit = np.repeat(np.broadcast_to(np.arange(trials), (int(is_crowded.sum()), trials)), times, axis=1)
        content[is_crowded], contents[is_crowded] = unit, _sequence(_counts(unit), rng)
    # Both sorted by content, the visits of one content in any order: so each place of it gets one.
    visits = np.argsort(content + rng.random(content.shape), axis=1)
    places = np.argsort(contents, axis=1, kind="stable")
    scattered = np.empty((lists, trials * times), dtype=np.int64)
    np.put_along_axis(scattered, places, visits, axis=1)
    return scattered


def _counts(values: Ints) -> Ints:
    counts = np.zeros((len(values), int(values.max()) + 1), dtype=np.int64)
    np.add.at(counts, (np.arange(len(values))[:, None], values), 1)
    return counts


def _sequence(counts: Ints, rng: Generator) -> Ints:
    """Return rows that hold each value as often as `counts` says, equal ones never neighbours where that can be.

    Lots in proportion to what is left; a value of which more than half is left has to come now.
    """
    left = counts.copy()
    rows, length = np.arange(len(left)), int(left[0].sum())
    sequence = np.empty((len(left), length), dtype=np.int64)
    for place in range(length):
        open_ = left.copy()
        if place:
            open_[rows, sequence[:, place - 1]] = 0
            is_stuck = ~open_.any(axis=1)
            open_[is_stuck] = left[is_stuck]
        drawn = (np.cumsum(open_, axis=1) > (rng.random(len(left)) * open_.sum(axis=1))[:, None]).argmax(axis=1)
        most = open_.argmax(axis=1)
        is_due = open_[rows, most] > (length - place) // 2
        sequence[:, place] = np.where(is_due, most, drawn)
        left[rows, sequence[:, place]] -= 1
    return sequence
