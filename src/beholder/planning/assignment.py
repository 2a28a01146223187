"""Dealing: contents to lists and positions, columns to trials, and which of them stands in which place."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from beholder.methods.contract import Units
from beholder.planning.block_contents import share_contents
from beholder.planning.blocks import deal_in_blocks
from beholder.planning.capacity import count_companions, rooms, square_items
from beholder.planning.cells import StimulusGrid
from beholder.planning.contents import (
    ListShape,
    deal_by_quota,
    deal_conditions,
    deal_evenly,
    deal_with_companions,
    quotas,
)
from beholder.planning.even_rounding import Ints, scatter
from beholder.planning.slots import order_pairs, order_slots
from beholder.planning.squares import Square, is_square, rows_of_squares
from beholder.study.design import Design


class Dealt(NamedTuple):
    """Contents by list and position, and the columns of each trial (trials of list 1 first) in canonical order."""

    contents: Ints
    columns: Ints


def deal(grid: StimulusGrid, shape: ListShape, design: Design, rng: Generator) -> Dealt:
    """Return which content stands where, and which of its columns."""
    if grid.blocks:
        rows, blocked, of_row = deal_in_blocks(grid, shape, design, rng)
        return Dealt(of_row[rows], _deal_columns(blocked, rows, shape.chain, rng))
    if is_square(design):
        return _deal_squares(grid, shape, design, rng)
    visited = count_companions(grid, shape.trials, shape.chain) if grid.companions else None
    if visited is None:
        contents = _deal_contents(grid, shape, design, rng)
        return Dealt(contents, _deal_columns(grid, contents, shape.chain, rng))
    contents, is_companion = deal_with_companions(shape, visited, len(grid.contents), grid.apart, rng)
    tests = contents[~is_companion].reshape(shape.lists, shape.trials - visited)
    columns = np.array(grid.companions)[contents.ravel()]
    columns[~is_companion.ravel()] = _deal_columns(grid, tests, shape.chain, rng)[:, 0]
    return Dealt(contents, columns[:, None])


def _deal_squares(grid: StimulusGrid, shape: ListShape, design: Design, rng: Generator) -> Dealt:
    """Return lists that are rows of squares: of contents where a trial is one, else of columns."""
    items = square_items(grid)
    square: Square = "latin" if design.order == "latin" else "williams"
    order = rows_of_squares(len(items), shape.lists, shape.trials // len(items), square, rng)
    if grid.kind == "content":
        return Dealt(order, _deal_columns(grid, order, shape.chain, rng))
    contents = share_contents(order, shape, len(grid.contents), apart=design.contents == "apart", rng=rng)
    return Dealt(contents, items[order].reshape(-1, 1))


def _deal_contents(grid: StimulusGrid, shape: ListShape, design: Design, rng: Generator) -> Ints:
    apart = design.contents == "apart"
    stimuli = grid.present.sum(axis=1)
    if grid.kind == "content" or (stimuli == stimuli[0]).all():
        return deal_evenly(shape, len(grid.contents), apart=apart, rng=rng)
    room = rooms(grid, design)
    if apart:
        room = np.minimum(room, -(-shape.trials // 2))
    room = np.minimum(room * shape.chain, stimuli)
    return deal_by_quota(shape, quotas(shape.trials * shape.chain, stimuli, room), apart=apart, rng=rng)


def _deal_columns(grid: StimulusGrid, contents: Ints, chain: int, rng: Generator) -> Ints:
    """Return the columns of each trial in canonical order."""
    chosen = np.zeros((contents.size, len(grid.columns)), dtype=np.bool_)
    chosen[:, list(grid.always)] = True
    if grid.dealt_per_trial:
        chosen[:, list(grid.free)] = deal_conditions(contents, grid.present, grid.dealt_per_trial, rng, chain=chain)
    return np.nonzero(chosen)[1].reshape(contents.size, grid.per_trial)


def places(grid: StimulusGrid, units: Units, dealt: Dealt, rng: Generator) -> Ints:
    """Return for each trial which of its stimuli stands in the first place, the second, ..."""
    if units.shuffle == "slots" and grid.kind != "pair":
        return order_slots(dealt.columns, dealt.contents.shape[1], rng)
    if units.shuffle != "none":
        return order_pairs(dealt.contents, dealt.columns[:, 0], len(grid.columns), rng)
    return np.broadcast_to(np.arange(grid.width), (len(dealt.columns), grid.width))


def visits(contents: Ints, asks: tuple[tuple[str, ...], ...], rng: Generator) -> Ints:
    """Return by list which of its dealt units comes with which set of questions, as unit * sets + set."""
    if asks:
        return scatter(contents, len(asks), rng)
    return np.broadcast_to(np.arange(contents.shape[1]), contents.shape)
