"""Contents for trials whose conditions are fixed already, as in a square: each with each equally often."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from beholder.errors import PlanError, Problem
from beholder.planning.cells import StimulusGrid
from beholder.planning.contents import ContentLimits, ListShape
from beholder.planning.even_rounding import Ints, Partition, families, pick

_STEPS, _SHARE_ATTEMPTS, _FOUND = 2_000, 200, 3
"""Steps of one search for an order without equal neighbours, how often it begins anew, and of how many one is taken."""
_SWEEPS, _FEW = 6, 400
"""How often few lists are gone through once more; of very many, differences as small matter less."""


def share_contents(order: Ints, shape: ListShape, contents: int, *, apart: bool, rng: Generator) -> Ints:
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
        _pull_apart(order, shared, shape.chain, contents, rng)
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


def _pull_apart(order: Ints, shared: Ints, chain: int, contents: int, rng: Generator) -> None:
    """Deal chains anew in which equal contents are neighbours, keeping contents as even with items as can be."""
    met = np.zeros((int(order.max()) + 1, contents), dtype=np.int64)
    np.add.at(met, (order.ravel(), shared.ravel()), 1)
    crowded = (shared[:, 1:] == shared[:, :-1]).any(axis=1)
    for first in range(0, len(order), chain):
        if crowded[first : first + chain].any():
            _deal_anew(order[first : first + chain], shared[first : first + chain], met, rng, must=True)
    for _ in range(_SWEEPS if len(order) <= _FEW else 0):
        if met.max() - met.min() <= 1:
            return
        for first in rng.permutation(np.arange(0, len(order), chain)).tolist():
            _deal_anew(order[first : first + chain], shared[first : first + chain], met, rng, must=False)


def _deal_anew(order: Ints, shared: Ints, met: Ints, rng: Generator, *, must: bool) -> None:
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
            if len(found) == _FOUND:
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


# --- Contents of one list that must not be neighbours, where its trials stand in blocks ---


_SPLIT_ATTEMPTS, _TRADES = 40, 200
"""Orders of a list that are drawn, and trades with others that are tried."""


def thin_out(chosen: Ints, book: BlockTable, bounds: ContentLimits, rng: Generator) -> None:
    """Trade between lists until nothing fills more than every second place of its block."""
    for number in range(len(chosen)):
        while (place := _crowded_place(chosen[number], book)) is not None:
            for other, there in _traders(chosen, number, place, book, rng):
                rows = np.array([chosen[number], chosen[other]])
                rows[0, place], rows[1, there] = rows[1, there], rows[0, place]
                if _fits(rows, (number, other), chosen, bounds) and _crowded_place(rows[1], book) is None:
                    chosen[number], chosen[other] = rows
                    break
            else:
                what = f"is apart, and no way was found to keep contents apart in the blocks of list {number + 1}"
                raise PlanError(Problem("design.contents", what, "free", "Add contents, or write contents: free."))


def _crowded_place(row: Ints, book: BlockTable) -> int | None:
    """Return where something stands that has too few others in its block to stand between it."""
    held = np.bincount(book.block[row], minlength=book.blocks)
    counts = np.bincount(row, minlength=len(book.block))
    crowded = np.flatnonzero(counts[row] > (held[book.block[row]] + 1) // 2)
    return int(crowded[0]) if len(crowded) else None


def _traders(chosen: Ints, number: int, place: int, book: BlockTable, rng: Generator) -> Iterator[tuple[int, int]]:
    """Yield lists, and where in them something else of the same block stands, in any order."""
    mine = chosen[number, place]
    found = np.argwhere((book.block[chosen] == book.block[mine]) & (chosen != mine))
    for other, there in rng.permutation(found).tolist():
        if other != number:
            yield other, there


def _fits(rows: Ints, numbers: Sequence[int], chosen: Ints, bounds: ContentLimits) -> bool:
    """Return whether lists may hold these rows in place of their own, and their chains."""
    chain, content = bounds.chain, len(bounds.most)
    for row, number in zip(rows, numbers, strict=True):
        first = number // chain * chain
        beside = [chosen[n] for n in range(first, min(first + chain, len(chosen))) if n not in numbers]
        chained = np.bincount(np.concatenate([row, *beside]), minlength=content)
        held = np.bincount(row, minlength=content)
        if (held > np.maximum(bounds.most, 1)).any() or (chained > np.maximum(bounds.chained, 1)).any():
            return False
    return True


def pull_apart(dealt: Ints, book: BlockTable, bounds: ContentLimits, rng: Generator) -> None:
    """Reorder lists within their blocks, and trade between them, until no two neighbours are of one content."""
    content = book.content[dealt]
    for number in np.flatnonzero((content[:, 1:] == content[:, :-1]).any(axis=1)).tolist():
        row = _ordered(dealt[number], book, rng)
        if row is not None:
            dealt[number] = row
        elif not _trade(dealt, number, book, bounds, rng) and not _take_rarer(dealt, number, book, bounds, rng):
            what = f"is apart, and no order of the blocks of list {number + 1} keeps its contents apart"
            raise PlanError(Problem("design.contents", what, "free", "Add contents, or write contents: free."))


def _trade(dealt: Ints, number: int, book: BlockTable, bounds: ContentLimits, rng: Generator) -> bool:
    """Give away something of a content that comes twice, for something of which both lists can be ordered."""
    for place in _twice(dealt[number], book, rng):
        for other, there in islice(_traders(dealt, number, place, book, rng), _TRADES):
            rows = np.array([dealt[number], dealt[other]])
            rows[0, place], rows[1, there] = rows[1, there], rows[0, place]
            if _fits(rows, (number, other), dealt, bounds):
                one, two = (_ordered(row, book, rng) for row in rows)
                if one is not None and two is not None:
                    dealt[number], dealt[other] = one, two
                    return True
    return False


def _take_rarer(dealt: Ints, number: int, book: BlockTable, bounds: ContentLimits, rng: Generator) -> bool:
    """Put something that comes less often into the place of what is of a content that comes twice: lists are few."""
    totals = np.bincount(dealt.ravel(), minlength=len(book.block))
    # One list shows no more of what it could hold than what it happens to hold.
    bounds = bounds._replace(most=book.cells, chained=book.cells)
    for place in _twice(dealt[number], book, rng):
        mine = dealt[number, place]
        rarer = np.flatnonzero((book.block == book.block[mine]) & (totals < totals[mine]))
        for one in rng.permutation(rarer).tolist():
            row = dealt[number].copy()
            row[place] = one
            ordered = _ordered(row, book, rng) if _fits(row[None, :], (number,), dealt, bounds) else None
            if ordered is not None:
                dealt[number] = ordered
                return True
    return False


def _twice(row: Ints, book: BlockTable, rng: Generator) -> list[int]:
    """Return where something of a content stands that comes twice in a list, in any order."""
    content = book.content[row]
    places: list[int] = rng.permutation(np.flatnonzero(np.bincount(content)[content] > 1)).tolist()
    return places


def _ordered(row: Ints, book: BlockTable, rng: Generator) -> Ints | None:
    """Return the row in an order of the same blocks without equal neighbours; None where none was found."""
    return next((drawn for _ in range(_SPLIT_ATTEMPTS) if (drawn := _drawn(row, book, rng)) is not None), None)


def _drawn(row: Ints, book: BlockTable, rng: Generator) -> Ints | None:
    """Return the row in another order of the same blocks; None where it came to two equal neighbours."""
    left = rng.permutation(row).tolist()
    drawn: list[int] = []
    for block in book.block[row].tolist():
        mine = [one for one in left if book.block[one] == block]
        before = book.content[drawn[-1]] if drawn else -1
        counts = {one: mine.count(one) for one in mine}
        fits = [one for one in counts if book.content[one] != before]
        if not fits:
            return None
        # What fills more than half of what is left has to come now.
        due = [one for one in fits if counts[one] > len(mine) // 2]
        one = (due or fits)[0]
        left.remove(one)
        drawn.append(one)
    return np.array(drawn, dtype=np.int64)


# --- What each content has in each block, as rows to deal ---


class BlockTable(NamedTuple):
    """What each content has in each block: the content, the block, and how many cells to deal."""

    content: Ints
    block: Ints
    cells: Ints
    blocks: int

    @classmethod
    def of(cls, grid: StimulusGrid) -> BlockTable:
        """Return the rows of a grid, contents in their order, and the blocks of each in theirs."""
        of_cell = np.array(grid.blocks)
        free = np.where(grid.present, of_cell[:, list(grid.free)], -1)
        if not grid.dealt_per_trial:
            free = of_cell
        pairs = [(content, block) for content, row in enumerate(free) for block in np.unique(row[row >= 0]).tolist()]
        content, block = np.array(pairs, dtype=np.int64).T
        cells = np.array([(free[one] == two).sum() for one, two in pairs], dtype=np.int64)
        return cls(content, block, cells, len(grid.block_names))

    def grid(self, grid: StimulusGrid) -> StimulusGrid:
        """Return the grid with a row for what each content has in each block."""
        cells = tuple(
            tuple(
                cell if number == block else ()
                for cell, number in zip(grid.cells[content], grid.blocks[content], strict=True)
            )
            for content, block in zip(self.content.tolist(), self.block.tolist(), strict=True)
        )
        return replace(grid, contents=tuple(grid.contents[n] for n in self.content.tolist()), cells=cells)
