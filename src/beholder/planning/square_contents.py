"""Contents for trials whose conditions a square has fixed: each condition with each content equally often."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from beholder.errors import PlanError, Problem
from beholder.planning.contents import ListShape
from beholder.planning.even_rounding import Ints, Partition, families, pick

_STEPS, _SHARE_ATTEMPTS, _CANDIDATES = 2_000, 200, 3
"""Steps of one search for an order without equal neighbours, restarts, and candidates to choose from."""
_SWEEPS, _FEW = 6, 400
"""Further sweeps over the lists, and the largest number of lists for which they are made."""


def allocate_square_contents(order: Ints, shape: ListShape, contents: int, *, apart: bool, rng: Generator) -> Ints:
    """Return the content of every trial, where `order` holds the items by list and position.

    Even within one: contents overall, with each item, and within each list; no item comes twice with a content in a
    list, or in a chain of lists. If lists have more trials than there are contents, and equal contents must not be
    neighbours, lists that break this rule are allocated again as evenly as possible.
    """
    lists, trials = order.shape
    item, of_list = order.ravel(), np.repeat(np.arange(lists), trials)
    items, position = int(item.max()) + 1, np.tile(np.arange(trials), lists)
    chain_item = of_list // shape.chain * items + item
    is_alone = len(np.unique(chain_item)) == len(chain_item)
    left = [
        Partition(item * trials + position, items * trials)
        if is_alone
        else Partition(chain_item, int(chain_item.max()) + 1)
    ]
    left.append(Partition(item, items))
    # In each stretch of as many trials as contents, every content comes once.
    stretches = -(-trials // contents)
    right = [Partition(of_list * stretches + position // contents, lists * stretches), *families(of_list, lists)]
    flat = np.empty(item.size, dtype=np.int64)
    _split(flat, np.arange(item.size), rng.permutation(contents), (left, right), rng)
    contents_of = flat.reshape(lists, trials)
    if apart and contents < trials:
        _separate(order, contents_of, shape.chain, contents, rng)
    return contents_of


def _split(
    flat: Ints, trials: Ints, contents: Ints, groups: tuple[Sequence[Partition], Sequence[Partition]], rng: Generator
) -> None:
    """Give one half of the contents its share of the trials, and continue with either half.

    Whole numbers between two others stay between them when they are halved, so all guarantees of `pick` hold.
    """
    if len(contents) == 1 or not len(trials):
        flat[trials] = contents[0]
        return
    half = len(contents) // 2
    left, right = ([_only(one, trials) for one in side] for side in groups)
    mask = pick(np.full(len(trials), half / len(contents)), left, right, rng)
    _split(flat, trials[mask], contents[:half], groups, rng)
    _split(flat, trials[~mask], contents[half:], groups, rng)


def _only(groups: Partition, items: Ints) -> Partition:
    names, of = np.unique(groups.of[items], return_inverse=True)
    return Partition(of, len(names))


def _separate(order: Ints, contents_of: Ints, chain: int, contents: int, rng: Generator) -> None:
    """Allocate chains with equal neighbours again, keeping contents as even with items as possible."""
    met = np.zeros((int(order.max()) + 1, contents), dtype=np.int64)
    np.add.at(met, (order.ravel(), contents_of.ravel()), 1)
    crowded = (contents_of[:, 1:] == contents_of[:, :-1]).any(axis=1)
    for first in range(0, len(order), chain):
        if crowded[first : first + chain].any():
            _reallocate(order[first : first + chain], contents_of[first : first + chain], met, rng, must=True)
    for _ in range(_SWEEPS if len(order) <= _FEW else 0):
        if met.max() - met.min() <= 1:
            return
        for first in rng.permutation(np.arange(0, len(order), chain)).tolist():
            _reallocate(order[first : first + chain], contents_of[first : first + chain], met, rng, must=False)


def _reallocate(order: Ints, contents_of: Ints, met: Ints, rng: Generator, *, must: bool) -> None:
    """Allocate one chain again, if it must be or if that makes item x content more even."""
    before = met.copy()
    np.subtract.at(met, (order, contents_of), 1)
    contents = _Search(order, met, rng).find()
    np.add.at(met, (order, contents), 1)
    if must or np.square(met).sum() < np.square(before).sum():
        contents_of[:] = contents
    else:
        met[:] = before


class _Place(NamedTuple):
    """One trial of a chain: its list, whether it is the first there, and its item."""

    list: int
    is_first: bool
    item: int


class _Search:
    """Searches the contents of one chain of lists, preferring those that an item has met least."""

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
        """Return contents without equal neighbours and without an item that meets one twice, or raise PlanError."""
        candidates: list[list[int]] = []
        for turn in range(_SHARE_ATTEMPTS):
            candidate = self._walk(is_free=turn % 2 == 1)
            candidates += [candidate] if candidate else []
            if len(candidates) == _CANDIDATES:
                break
        if candidates:
            best = min(candidates, key=self._cost)
            return np.array(best, dtype=np.int64).reshape(self._shape)
        trials = self._shape[1]
        what = f"is apart, and no way was found to keep {self._contents} contents apart in {trials} trials of a square"
        raise PlanError(Problem("design.contents", what, "free", "Add contents, or make design.trials smaller."))

    def _cost(self, chosen: Sequence[int]) -> int:
        """Return how often items have met their contents already."""
        return sum(int(self._met[place.item, content]) for place, content in zip(self._places, chosen, strict=True))

    def _walk(self, *, is_free: bool) -> list[int] | None:
        keys = self._rng.random((len(self._places), self._contents))
        chosen: list[int] = []
        options: list[list[int]] = []
        for _ in range(_STEPS):
            if len(options) == len(chosen):
                if len(chosen) == len(self._places):
                    return chosen
                options.append(self._fitting(chosen, keys[len(chosen)], is_free=is_free))
            if options[-1]:
                chosen.append(options[-1].pop())
            elif not chosen:
                return None
            else:
                options.pop()
                chosen.pop()
        return None

    def _fitting(self, chosen: Sequence[int], keys: Ints, *, is_free: bool) -> list[int]:
        """Return what may come next, the best last."""
        place = self._places[len(chosen)]
        in_list = [content for content, one in zip(chosen, self._places, strict=False) if one.list == place.list]
        taken = {content for content, one in zip(chosen, self._places, strict=False) if one.item == place.item}
        fits = [
            content
            for content in range(self._contents)
            if content not in taken and in_list[-1:] != [content] and in_list.count(content) < self._most
        ]
        met = keys if is_free else self._met[place.item] + keys
        return sorted(fits, key=lambda content: -met[content])
