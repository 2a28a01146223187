"""Contents for trials whose conditions are fixed already, as in a square: each with each equally often."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from beholder.errors import PlanError, Problem
from beholder.planning.contents import ListShape
from beholder.planning.even_rounding import Ints, Partition, families, pick

_STEPS, _SHARE_ATTEMPTS, _CANDIDATES = 2_000, 200, 3
"""Steps of one search for an order without equal neighbours, how often it begins anew, and of how many one is taken."""
_SWEEPS, _FEW = 6, 400
"""How often few lists are gone through once more; of very many, differences as small matter less."""


def allocate_square_contents(order: Ints, shape: ListShape, contents: int, *, apart: bool, rng: Generator) -> Ints:
    """Return the content of every trial, where `order` holds the items by list and position.

    Even within one: contents overall, with each item, and within each list; no item comes twice with a content in a
    list, or in a chain of lists. Where lists have more trials than there are contents, and equal ones have to stand
    apart, lists that break this rule are dealt anew as evenly as can be.
    """
    lists, trials = order.shape
    item, of_list = order.ravel(), np.repeat(np.arange(lists), trials)
    items, position = int(item.max()) + 1, np.tile(np.arange(trials), lists)
    hand = of_list // shape.chain * items + item
    is_alone = len(np.unique(hand)) == len(hand)
    left = [Partition(item * trials + position, items * trials) if is_alone else Partition(hand, int(hand.max()) + 1)]
    left.append(Partition(item, items))
    # Of so many trials that follow one another, each content gets one.
    stretch = -(-trials // contents)
    right = [Partition(of_list * stretch + position // contents, lists * stretch), *families(of_list, lists)]
    dealt = np.empty(item.size, dtype=np.int64)
    _split(dealt, np.arange(item.size), rng.permutation(contents), (left, right), rng)
    shared = dealt.reshape(lists, trials)
    if apart and contents < trials:
        _separate(order, shared, shape.chain, contents, rng)
    return shared


def _split(
    dealt: Ints, trials: Ints, contents: Ints, groups: tuple[Sequence[Partition], Sequence[Partition]], rng: Generator
) -> None:
    """Give one half of the contents to its share of the trials, and so on with either half.

    Whole numbers between two others stay between them when they are halved, so that all that `pick` keeps holds.
    """
    if len(contents) == 1 or not len(trials):
        dealt[trials] = contents[0]
        return
    half = len(contents) // 2
    left, right = ([_only(one, trials) for one in side] for side in groups)
    mask = pick(np.full(len(trials), half / len(contents)), left, right, rng)
    _split(dealt, trials[mask], contents[:half], groups, rng)
    _split(dealt, trials[~mask], contents[half:], groups, rng)


def _only(groups: Partition, items: Ints) -> Partition:
    names, of = np.unique(groups.of[items], return_inverse=True)
    return Partition(of, len(names))


def _separate(order: Ints, shared: Ints, chain: int, contents: int, rng: Generator) -> None:
    """Deal chains anew in which equal contents are neighbours, keeping contents as even with items as can be."""
    met = np.zeros((int(order.max()) + 1, contents), dtype=np.int64)
    np.add.at(met, (order.ravel(), shared.ravel()), 1)
    crowded = (shared[:, 1:] == shared[:, :-1]).any(axis=1)
    for first in range(0, len(order), chain):
        if crowded[first : first + chain].any():
            _reallocate(order[first : first + chain], shared[first : first + chain], met, rng, must=True)
    for _ in range(_SWEEPS if len(order) <= _FEW else 0):
        if met.max() - met.min() <= 1:
            return
        for first in rng.permutation(np.arange(0, len(order), chain)).tolist():
            _reallocate(order[first : first + chain], shared[first : first + chain], met, rng, must=False)


def _reallocate(order: Ints, shared: Ints, met: Ints, rng: Generator, *, must: bool) -> None:
    """Deal one chain anew, where it must be or where that evens out what items have met."""
    before = met.copy()
    np.subtract.at(met, (order, shared), 1)
    found = _Search(order, met, rng).find()
    np.add.at(met, (order, found), 1)
    if must or np.square(met).sum() < np.square(before).sum():
        shared[:] = found
    else:
        met[:] = before


class _Place(NamedTuple):
    """One trial of a chain: its list, whether one stands before it there, and its item."""

    list: int
    is_first: bool
    item: int


class _Search:
    """Looks for the contents of one chain of lists, rather those that an item has met least."""

    def __init__(self, order: Ints, met: Ints, rng: Generator) -> None:
        self._shape, self._met, self._rng = order.shape, met, rng
        self._places = [
            _Place(row, position == 0, item)
            for row, items in enumerate(order.tolist())
            for position, item in enumerate(items)
        ]
        self._contents = met.shape[1]
        self._most = -(-order.shape[1] // self._contents)

    def find(self) -> Ints:
        """Return contents in which no neighbours are equal and no item meets one twice, or raise PlanError."""
        found: list[list[int]] = []
        for turn in range(_SHARE_ATTEMPTS):
            walked = self._walk(is_free=turn % 2 == 1)
            found += [walked] if walked else []
            if len(found) == _CANDIDATES:
                break
        if found:
            best = min(found, key=self._cost)
            return np.array(best, dtype=np.int64).reshape(self._shape)
        trials = self._shape[1]
        what = f"is apart, and no way was found to keep {self._contents} contents apart in {trials} trials of a square"
        raise PlanError(Problem("design.contents", what, "free", "Add contents, or make design.trials smaller."))

    def _cost(self, chosen: Sequence[int]) -> int:
        """Return how often items have met their contents already."""
        return sum(int(self._met[place.item, content]) for place, content in zip(self._places, chosen, strict=True))

    def _walk(self, *, is_free: bool) -> list[int] | None:
        lots = self._rng.random((len(self._places), self._contents))
        chosen: list[int] = []
        open_: list[list[int]] = []
        for _ in range(_STEPS):
            if len(open_) == len(chosen):
                if len(chosen) == len(self._places):
                    return chosen
                open_.append(self._fitting(chosen, lots[len(chosen)], is_free=is_free))
            if open_[-1]:
                chosen.append(open_[-1].pop())
            elif not chosen:
                return None
            else:
                open_.pop()
                chosen.pop()
        return None

    def _fitting(self, chosen: Sequence[int], lots: Ints, *, is_free: bool) -> list[int]:
        """Return what may come next, the best last."""
        place = self._places[len(chosen)]
        in_list = [content for content, one in zip(chosen, self._places, strict=False) if one.list == place.list]
        taken = {content for content, one in zip(chosen, self._places, strict=False) if one.item == place.item}
        fits = [
            content
            for content in range(self._contents)
            if content not in taken and in_list[-1:] != [content] and in_list.count(content) < self._most
        ]
        met = lots if is_free else self._met[place.item] + lots
        return sorted(fits, key=lambda content: -met[content])


# --- What each content has in each block, as rows to deal ---
