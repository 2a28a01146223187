"""Blocks: trials with the same value of a manifest column stand together, the blocks in the order of a square."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from math import ceil
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from beholder.errors import PlanError, Problem
from beholder.planning.contents import ContentLimits, ListShape, balance_positions, quotas, swap_between_lists
from beholder.planning.even_rounding import Floats, Ints
from beholder.planning.grid import StimulusGrid, count
from beholder.planning.squares import square_rows
from beholder.study.design import Design


class BlockAllocation(NamedTuple):
    """Rows of `grid` by list and position; a row is what one content has in one block."""

    rows: Ints
    grid: StimulusGrid
    content: Ints
    """Of each row."""


def allocate_blocks(grid: StimulusGrid, shape: ListShape, design: Design, rng: Generator) -> BlockAllocation:
    """Return lists that hold of each block its fair share, rounded up or down, the trials of a block together.

    A block is first, second, ... and after each other block equally often, as squares have it. Systematic sampling, as
    of contents that are not equal: with the contents of a block side by side, it rounds the share of blocks as well.
    """
    book = BlockTable.of(grid)
    quota = block_quotas(grid, shape.trials, design)
    chain, chains = shape.chain, -(-shape.lists // shape.chain)
    ring = np.concatenate(
        [rng.permutation(np.flatnonzero(book.block == block)) for block in rng.permutation(book.blocks)]
    )
    ends = np.cumsum(quota[ring])
    ends[-1] = shape.trials * chain
    teeth = ((rng.permutation(chains) + rng.random()) / chains)[:, None] + np.arange(shape.trials * chain)[None, :]
    chosen = ring[np.minimum(np.searchsorted(ends, teeth, side="right"), len(ring) - 1)]
    chained = _counts(chosen, len(ring)).max(axis=0)
    chosen = chosen.reshape(chains, shape.trials, chain).transpose(0, 2, 1).reshape(-1, shape.trials)[: shape.lists]
    counts = _counts(chosen, len(ring))
    bounds = ContentLimits(counts.min(axis=0), counts.max(axis=0), chained, chain, book.block)
    swap_between_lists(chosen, bounds, apart=False, rng=rng)
    if design.contents == "apart":
        limit_contents(chosen, book, bounds, rng)
    dealt = balance_positions(chosen, len(ring), rng)
    square = square_rows(book.blocks, shape.lists, 1, "latin" if design.order == "latin" else "williams", rng)
    place = np.argsort(square, axis=1)
    order = np.argsort(np.take_along_axis(place, book.block[dealt], axis=1), axis=1, kind="stable")
    dealt = np.take_along_axis(dealt, order, axis=1)
    if design.contents == "apart":
        separate_contents(dealt, book, bounds, rng)
    return BlockAllocation(dealt, book.grid(grid), book.content)


def block_quotas(grid: StimulusGrid, trials: int, design: Design) -> Floats:
    """Return how often each row comes in a chain of lists, or raise PlanError where its block leaves no room for it."""
    book, chain = BlockTable.of(grid), design.sessions_per_participant
    most = np.ones_like(book.cells) if grid.always else book.cells // max(1, grid.dealt_per_trial)
    in_list = np.minimum(most, 1) if design.contents == "once" else most
    caps = np.minimum(in_list * chain, most)
    weights = np.ones_like(book.cells) if grid.kind == "content" else book.cells
    quota = quotas(trials * chain, weights, caps)
    if design.contents != "apart":
        return quota
    for block in range(book.blocks):
        mine = np.flatnonzero(book.block == block)
        share = float(quota[mine].sum())
        # Between equal ones there have to be others.
        within = -(-ceil(share / chain - 1e-6) // 2) * chain
        room = np.minimum(caps[mine], within)
        if room.sum() < share - 1e-6:
            raise PlanError(_crowded(grid, block, share / chain, len(set(book.content[mine].tolist()))))
        quota[mine] = _quotas(share, weights[mine], room)
    return quota


def _quotas(total: float, weights: Ints, caps: Ints) -> Floats:
    """Return what `quotas` returns, for a total that need not be whole."""
    quota = np.zeros(len(weights))
    free = np.ones(len(weights), dtype=np.bool_)
    while free.any():
        quota[free] = (total - quota[~free].sum()) * weights[free] / weights[free].sum()
        over = free & (quota > caps)
        if not over.any():
            break
        quota[over] = caps[over]
        free &= ~over
    return quota


def _crowded(grid: StimulusGrid, block: int, share: float, contents: int) -> Problem:
    what = f"is apart, but a list has about {share:.3g} trials of block {grid.block_names[block]}, which has "
    what += f"{count(contents, 'content', 'contents')}, and trials of one content may not be neighbours"
    return Problem("design.contents", what, "free", "Add contents to the block, or write contents: free.")


def _counts(rows: Ints, values: int) -> Ints:
    return np.stack([np.bincount(row, minlength=values) for row in rows])


_SPLIT_ATTEMPTS, _TRADES = 40, 200
"""Orders of a list that are drawn, and trades with others that are tried."""


def limit_contents(chosen: Ints, book: BlockTable, bounds: ContentLimits, rng: Generator) -> None:
    """Trade between lists until nothing fills more than every second place of its block."""
    for number in range(len(chosen)):
        while (place := _crowded_place(chosen[number], book)) is not None:
            for other, there in _trade_partners(chosen, number, place, book, rng):
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


def _trade_partners(
    chosen: Ints, number: int, place: int, book: BlockTable, rng: Generator
) -> Iterator[tuple[int, int]]:
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


def separate_contents(dealt: Ints, book: BlockTable, bounds: ContentLimits, rng: Generator) -> None:
    """Reorder lists within their blocks, and trade between them, until no two neighbours are of one content."""
    content = book.content[dealt]
    for number in np.flatnonzero((content[:, 1:] == content[:, :-1]).any(axis=1)).tolist():
        row = _reorder(dealt[number], book, rng)
        if row is not None:
            dealt[number] = row
        elif not _trade(dealt, number, book, bounds, rng) and not _take_rarer(dealt, number, book, bounds, rng):
            what = f"is apart, and no order of the blocks of list {number + 1} keeps its contents apart"
            raise PlanError(Problem("design.contents", what, "free", "Add contents, or write contents: free."))


def _trade(dealt: Ints, number: int, book: BlockTable, bounds: ContentLimits, rng: Generator) -> bool:
    """Give away something of a content that comes twice, for something of which both lists can be ordered."""
    for place in _repeated_contents(dealt[number], book, rng):
        for other, there in islice(_trade_partners(dealt, number, place, book, rng), _TRADES):
            rows = np.array([dealt[number], dealt[other]])
            rows[0, place], rows[1, there] = rows[1, there], rows[0, place]
            if _fits(rows, (number, other), dealt, bounds):
                one, two = (_reorder(row, book, rng) for row in rows)
                if one is not None and two is not None:
                    dealt[number], dealt[other] = one, two
                    return True
    return False


def _take_rarer(dealt: Ints, number: int, book: BlockTable, bounds: ContentLimits, rng: Generator) -> bool:
    """Put something that comes less often into the place of what is of a content that comes twice: lists are few."""
    totals = np.bincount(dealt.ravel(), minlength=len(book.block))
    # One list shows no more of what it could hold than what it happens to hold.
    bounds = bounds._replace(most=book.cells, chained=book.cells)
    for place in _repeated_contents(dealt[number], book, rng):
        mine = dealt[number, place]
        rarer = np.flatnonzero((book.block == book.block[mine]) & (totals < totals[mine]))
        for one in rng.permutation(rarer).tolist():
            row = dealt[number].copy()
            row[place] = one
            ordered = _reorder(row, book, rng) if _fits(row[None, :], (number,), dealt, bounds) else None
            if ordered is not None:
                dealt[number] = ordered
                return True
    return False


def _repeated_contents(row: Ints, book: BlockTable, rng: Generator) -> list[int]:
    """Return where something of a content stands that comes twice in a list, in any order."""
    content = book.content[row]
    places: list[int] = rng.permutation(np.flatnonzero(np.bincount(content)[content] > 1)).tolist()
    return places


def _reorder(row: Ints, book: BlockTable, rng: Generator) -> Ints | None:
    """Return the row in an order of the same blocks without equal neighbours; None where none was found."""
    return next((drawn for _ in range(_SPLIT_ATTEMPTS) if (drawn := _draw_order(row, book, rng)) is not None), None)


def _draw_order(row: Ints, book: BlockTable, rng: Generator) -> Ints | None:
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
