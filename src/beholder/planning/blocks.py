"""Blocks: trials with the same value of a manifest column are adjacent, the blocks in the order of a square."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from math import ceil
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from beholder.errors import PlanError, Problem
from beholder.formats import plain_count
from beholder.planning.contents import ContentLimits, ListShape, balance_positions, quotas, swap_between_lists
from beholder.planning.even_rounding import Floats, Ints
from beholder.planning.grid import StimulusGrid
from beholder.planning.squares import square_rows
from beholder.study.design import Design


class BlockAllocation(NamedTuple):
    """Rows of `grid` by list and position; a row is what one content has in one block."""

    rows: Ints
    grid: StimulusGrid
    content: Ints
    """The content of each row."""


class BlockTable(NamedTuple):
    """What each content has in each block: the content, the block, and the number of cells."""

    content: Ints
    block: Ints
    cells: Ints
    blocks: int

    @classmethod
    def of(cls, grid: StimulusGrid) -> BlockTable:
        """Return the rows of a grid: contents in order, and the blocks of each in order."""
        of_cell = np.array(grid.blocks)
        free = np.where(grid.present, of_cell[:, list(grid.free)], -1)
        if not grid.free_per_trial:
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


def allocate_blocks(grid: StimulusGrid, shape: ListShape, design: Design, rng: Generator) -> BlockAllocation:
    """Return lists that hold the share of each block, rounded up or down, with the trials of a block adjacent.

    A block is first, second, ... and follows each other block equally often, as in a square. Systematic sampling, as
    for unequal contents: with the contents of a block adjacent on the ring, it rounds the shares of blocks as well.
    """
    table = BlockTable.of(grid)
    quota = block_quotas(grid, shape.trials, design)
    chain, chains = shape.chain, -(-shape.lists // shape.chain)
    ring = np.concatenate(
        [rng.permutation(np.flatnonzero(table.block == block)) for block in rng.permutation(table.blocks)]
    )
    ends = np.cumsum(quota[ring])
    ends[-1] = shape.trials * chain
    teeth = ((rng.permutation(chains) + rng.random()) / chains)[:, None] + np.arange(shape.trials * chain)[None, :]
    chosen = ring[np.minimum(np.searchsorted(ends, teeth, side="right"), len(ring) - 1)]
    chained = _counts(chosen, len(ring)).max(axis=0)
    chosen = chosen.reshape(chains, shape.trials, chain).transpose(0, 2, 1).reshape(-1, shape.trials)[: shape.lists]
    counts = _counts(chosen, len(ring))
    bounds = ContentLimits(counts.min(axis=0), counts.max(axis=0), chained, chain, table.block)
    swap_between_lists(chosen, bounds, apart=False, rng=rng)
    if design.contents == "apart":
        limit_contents(chosen, table, bounds, rng)
    placed = balance_positions(chosen, len(ring), rng)
    square = square_rows(table.blocks, shape.lists, 1, "latin" if design.order == "latin" else "williams", rng)
    place = np.argsort(square, axis=1)
    order = np.argsort(np.take_along_axis(place, table.block[placed], axis=1), axis=1, kind="stable")
    placed = np.take_along_axis(placed, order, axis=1)
    if design.contents == "apart":
        separate_contents(placed, table, bounds, rng)
    return BlockAllocation(placed, table.grid(grid), table.content)


def block_quotas(grid: StimulusGrid, trials: int, design: Design) -> Floats:
    """Return how often each row comes in a chain of lists, or raise PlanError if its block leaves no room for it."""
    table, chain = BlockTable.of(grid), design.sessions_per_participant
    most = np.ones_like(table.cells) if grid.always else table.cells // max(1, grid.free_per_trial)
    in_list = np.minimum(most, 1) if design.contents == "once" else most
    caps = np.minimum(in_list * chain, most)
    weights = np.ones_like(table.cells) if grid.kind == "content" else table.cells
    quota = quotas(trials * chain, weights, caps)
    if design.contents != "apart":
        return quota
    for block in range(table.blocks):
        rows = np.flatnonzero(table.block == block)
        share = float(quota[rows].sum())
        # Equal contents need others between them.
        within = -(-ceil(share / chain - 1e-6) // 2) * chain
        capacity = np.minimum(caps[rows], within)
        if capacity.sum() < share - 1e-6:
            raise PlanError(_crowded(grid, block, share / chain, len(set(table.content[rows].tolist()))))
        quota[rows] = _quotas(share, weights[rows], capacity)
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
    what += f"{plain_count(contents, 'content')}, and trials of one content may not be neighbours"
    return Problem("design.contents", what, "free", "Add contents to the block, or write contents: free.")


def _counts(rows: Ints, values: int) -> Ints:
    return np.stack([np.bincount(row, minlength=values) for row in rows])


# Trades between lists

_SPLIT_ATTEMPTS, _TRADES = 40, 200
"""Random orders of a list, and trades with other lists, that are tried."""


def limit_contents(chosen: Ints, table: BlockTable, bounds: ContentLimits, rng: Generator) -> None:
    """Trade between lists until no row fills more than every second place of its block."""
    for number in range(len(chosen)):
        while (place := _crowded_place(chosen[number], table)) is not None:
            for other, other_place in _trade_partners(chosen, number, place, table, rng):
                rows = np.array([chosen[number], chosen[other]])
                rows[0, place], rows[1, other_place] = rows[1, other_place], rows[0, place]
                if _fits(rows, (number, other), chosen, bounds) and _crowded_place(rows[1], table) is None:
                    chosen[number], chosen[other] = rows
                    break
            else:
                what = f"is apart, and no way was found to keep contents apart in the blocks of list {number + 1}"
                raise PlanError(Problem("design.contents", what, "free", "Add contents, or write contents: free."))


def _crowded_place(row: Ints, table: BlockTable) -> int | None:
    """Return the place of a row that has too few others in its block to be separated; None if there is none."""
    held = np.bincount(table.block[row], minlength=table.blocks)
    counts = np.bincount(row, minlength=len(table.block))
    crowded = np.flatnonzero(counts[row] > (held[table.block[row]] + 1) // 2)
    return int(crowded[0]) if len(crowded) else None


def _trade_partners(
    chosen: Ints, number: int, place: int, table: BlockTable, rng: Generator
) -> Iterator[tuple[int, int]]:
    """Yield lists, and the place of another row of the same block in them, in random order."""
    own = chosen[number, place]
    partners = np.argwhere((table.block[chosen] == table.block[own]) & (chosen != own))
    for other, other_place in rng.permutation(partners).tolist():
        if other != number:
            yield other, other_place


def _fits(rows: Ints, numbers: Sequence[int], chosen: Ints, bounds: ContentLimits) -> bool:
    """Return whether lists, and their chains, may hold these rows instead of their own."""
    chain, content = bounds.chain, len(bounds.most)
    for row, number in zip(rows, numbers, strict=True):
        first = number // chain * chain
        others = [chosen[n] for n in range(first, min(first + chain, len(chosen))) if n not in numbers]
        chained = np.bincount(np.concatenate([row, *others]), minlength=content)
        held = np.bincount(row, minlength=content)
        if (held > np.maximum(bounds.most, 1)).any() or (chained > np.maximum(bounds.chained, 1)).any():
            return False
    return True


def separate_contents(placed: Ints, table: BlockTable, bounds: ContentLimits, rng: Generator) -> None:
    """Reorder lists within their blocks, and trade between them, until no neighbours are of one content."""
    content = table.content[placed]
    for number in np.flatnonzero((content[:, 1:] == content[:, :-1]).any(axis=1)).tolist():
        row = _reorder(placed[number], table, rng)
        if row is not None:
            placed[number] = row
        elif not _trade(placed, number, table, bounds, rng) and not _take_rarer(placed, number, table, bounds, rng):
            what = f"is apart, and no order of the blocks of list {number + 1} keeps its contents apart"
            raise PlanError(Problem("design.contents", what, "free", "Add contents, or write contents: free."))


def _trade(placed: Ints, number: int, table: BlockTable, bounds: ContentLimits, rng: Generator) -> bool:
    """Trade a row whose content comes twice for one with which both lists can be ordered."""
    for place in _repeated_contents(placed[number], table, rng):
        for other, other_place in islice(_trade_partners(placed, number, place, table, rng), _TRADES):
            rows = np.array([placed[number], placed[other]])
            rows[0, place], rows[1, other_place] = rows[1, other_place], rows[0, place]
            if _fits(rows, (number, other), placed, bounds):
                one, two = (_reorder(row, table, rng) for row in rows)
                if one is not None and two is not None:
                    placed[number], placed[other] = one, two
                    return True
    return False


def _take_rarer(placed: Ints, number: int, table: BlockTable, bounds: ContentLimits, rng: Generator) -> bool:
    """Replace a row whose content comes twice by a less frequent one, if lists are too few to trade."""
    totals = np.bincount(placed.ravel(), minlength=len(table.block))
    # The limits that were counted in few lists are lower than necessary.
    bounds = bounds._replace(most=table.cells, chained=table.cells)
    for place in _repeated_contents(placed[number], table, rng):
        own = placed[number, place]
        rarer = np.flatnonzero((table.block == table.block[own]) & (totals < totals[own]))
        for one in rng.permutation(rarer).tolist():
            row = placed[number].copy()
            row[place] = one
            ordered = _reorder(row, table, rng) if _fits(row[None, :], (number,), placed, bounds) else None
            if ordered is not None:
                placed[number] = ordered
                return True
    return False


def _repeated_contents(row: Ints, table: BlockTable, rng: Generator) -> list[int]:
    """Return the places of contents that come twice in a list, in random order."""
    content = table.content[row]
    places: list[int] = rng.permutation(np.flatnonzero(np.bincount(content)[content] > 1)).tolist()
    return places


def _reorder(row: Ints, table: BlockTable, rng: Generator) -> Ints | None:
    """Return the row in an order with the same blocks and without equal neighbours; None if the search fails."""
    return next((drawn for _ in range(_SPLIT_ATTEMPTS) if (drawn := _draw_order(row, table, rng)) is not None), None)


def _draw_order(row: Ints, table: BlockTable, rng: Generator) -> Ints | None:
    """Return the row in a random order with the same blocks; None if equal contents would be neighbours."""
    left = rng.permutation(row).tolist()
    drawn: list[int] = []
    for block in table.block[row].tolist():
        available = [one for one in left if table.block[one] == block]
        before = table.content[drawn[-1]] if drawn else -1
        counts = {one: available.count(one) for one in available}
        fits = [one for one in counts if table.content[one] != before]
        if not fits:
            return None
        # A row that is more than half of what is left has to come now.
        forced = [one for one in fits if counts[one] > len(available) // 2]
        one = (forced or fits)[0]
        left.remove(one)
        drawn.append(one)
    return np.array(drawn, dtype=np.int64)
