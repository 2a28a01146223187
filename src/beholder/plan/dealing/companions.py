"""Lists in which every content brings a companion: its reference, somewhere, but not beside its tests."""

from __future__ import annotations

from itertools import pairwise
from math import lcm
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from beholder.plan.dealing.contents import Shape, deal_evenly
from beholder.plan.dealing.flow import Ints, Mask

_FEWEST, _RUNS = 8, 64  # lists that go round their contents in the same way, and ways that there are


class Visits(NamedTuple):
    """Contents by list and position, and where a content's companion stands."""

    contents: Ints
    is_companion: Mask


def deal_with_companions(shape: Shape, visited: int, contents: int, apart: int, rng: Generator) -> Visits:
    """Return lists that visit `visited` of the contents, each as often as the others within one, its companion once.

    Contents are visited, and stand in each position, equally often over all lists, within one. A list goes round its
    contents again and again, so that no content comes twice in a row. No two lists of a chain share a content.
    """
    runs: list[Visits] = []
    # A run of lists that is a multiple of the contents is even in itself, whatever the way round.
    whole = lcm(contents, shape.chain)
    size = whole * -(-max(_FEWEST, -(-shape.lists // _RUNS)) // whole)
    for first in range(0, shape.lists, size):
        part = Shape(min(size, shape.lists - first), visited, shape.chain)
        chosen = deal_evenly(part, contents, apart=False, rng=rng)
        rounds = _rounds(visited, shape.trials, apart, rng)
        way = np.concatenate(rounds)
        # The companion comes in any of the rounds of its content with the same chance.
        times = np.bincount(way, minlength=visited)
        turn = np.floor(rng.random(chosen.shape) * times).astype(np.int64)
        number = np.repeat(np.arange(len(rounds)), [len(order) for order in rounds])
        runs.append(Visits(chosen[:, way], turn[:, way] == number))
    return Visits(np.concatenate([run.contents for run in runs]), np.concatenate([run.is_companion for run in runs]))


def _rounds(visited: int, trials: int, apart: int, rng: Generator) -> list[Ints]:
    """Return orders of the places of a round: whole ones, and a part of one to fill the list.

    None begins with what the one before ended with; where things have to be further apart than that, all are the same.
    """
    times, over = divmod(trials, visited)
    rounds = [rng.permutation(visited) for _ in range(times + 1)]
    if apart > 2:
        rounds = [rounds[0]] * (times + 1)
    rounds[-1] = rounds[-1][:over]
    # From the end, because the last round may be too short to give way.
    for before, after in reversed(list(pairwise(rounds))):
        if len(after) and before[-1] == after[0]:
            place = int(rng.integers(visited - 1))
            before[[place, -1]] = before[[-1, place]]
    return rounds
