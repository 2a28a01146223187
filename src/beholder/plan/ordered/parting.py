"""Contents of one list that must not be neighbours, where its trials stand in blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np
from numpy.random import Generator

from beholder.errors import PlanError, Problem
from beholder.plan.dealing.contents import Bounds
from beholder.plan.dealing.flow import Ints
from beholder.plan.ordered.book import Book

_TRIES, _TRADES = 40, 200
"""Orders of a list that are drawn, and trades with others that are tried."""


def thin_out(chosen: Ints, book: Book, bounds: Bounds, rng: Generator) -> None:
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


def _crowded_place(row: Ints, book: Book) -> int | None:
    """Return where something stands that has too few others in its block to stand between it."""
    held = np.bincount(book.block[row], minlength=book.blocks)
    counts = np.bincount(row, minlength=len(book.block))
    crowded = np.flatnonzero(counts[row] > (held[book.block[row]] + 1) // 2)
    return int(crowded[0]) if len(crowded) else None


def _traders(chosen: Ints, number: int, place: int, book: Book, rng: Generator) -> Iterator[tuple[int, int]]:
    """Yield lists, and where in them something else of the same block stands, in any order."""
    mine = chosen[number, place]
    found = np.argwhere((book.block[chosen] == book.block[mine]) & (chosen != mine))
    for other, there in rng.permutation(found).tolist():
        if other != number:
            yield other, there


def _fits(rows: Ints, numbers: Sequence[int], chosen: Ints, bounds: Bounds) -> bool:
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


def pull_apart(dealt: Ints, book: Book, bounds: Bounds, rng: Generator) -> None:
    """Reorder lists within their blocks, and trade between them, until no two neighbours are of one content."""
    content = book.content[dealt]
    for number in np.flatnonzero((content[:, 1:] == content[:, :-1]).any(axis=1)).tolist():
        row = _ordered(dealt[number], book, rng)
        if row is not None:
            dealt[number] = row
        elif not _trade(dealt, number, book, bounds, rng) and not _take_rarer(dealt, number, book, bounds, rng):
            what = f"is apart, and no order of the blocks of list {number + 1} keeps its contents apart"
            raise PlanError(Problem("design.contents", what, "free", "Add contents, or write contents: free."))


def _trade(dealt: Ints, number: int, book: Book, bounds: Bounds, rng: Generator) -> bool:
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


def _take_rarer(dealt: Ints, number: int, book: Book, bounds: Bounds, rng: Generator) -> bool:
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


def _twice(row: Ints, book: Book, rng: Generator) -> list[int]:
    """Return where something of a content stands that comes twice in a list, in any order."""
    content = book.content[row]
    places: list[int] = rng.permutation(np.flatnonzero(np.bincount(content)[content] > 1)).tolist()
    return places


def _ordered(row: Ints, book: Book, rng: Generator) -> Ints | None:
    """Return the row in an order of the same blocks without equal neighbours; None where none was found."""
    return next((drawn for _ in range(_TRIES) if (drawn := _drawn(row, book, rng)) is not None), None)


def _drawn(row: Ints, book: Book, rng: Generator) -> Ints | None:
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
