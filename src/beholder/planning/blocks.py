"""Blocks: trials with the same value of a manifest column stand together, the blocks in the order of a square."""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from beholder.errors import PlanError, Problem
from beholder.planning.block_contents import BlockTable, pull_apart, thin_out
from beholder.planning.cells import StimulusGrid, count
from beholder.planning.contents import ContentLimits, ListShape, into_positions, quotas, swap_between_lists
from beholder.planning.even_rounding import Floats, Ints
from beholder.planning.squares import rows_of_squares
from beholder.study.design import Design


class Blocked(NamedTuple):
    """Rows of `grid` by list and position; a row is what one content has in one block."""

    rows: Ints
    grid: StimulusGrid
    content: Ints
    """Of each row."""


def deal_in_blocks(grid: StimulusGrid, shape: ListShape, design: Design, rng: Generator) -> Blocked:
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
        thin_out(chosen, book, bounds, rng)
    dealt = into_positions(chosen, len(ring), rng)
    square = rows_of_squares(book.blocks, shape.lists, 1, "latin" if design.order == "latin" else "williams", rng)
    place = np.argsort(square, axis=1)
    order = np.argsort(np.take_along_axis(place, book.block[dealt], axis=1), axis=1, kind="stable")
    dealt = np.take_along_axis(dealt, order, axis=1)
    if design.contents == "apart":
        pull_apart(dealt, book, bounds, rng)
    return Blocked(dealt, book.grid(grid), book.content)


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
