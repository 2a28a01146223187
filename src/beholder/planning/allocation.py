"""Allocation: contents to lists and positions, columns of the grid to trials, and the order within trials and lists."""

from __future__ import annotations

from math import gcd, lcm
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from beholder.methods.contract import Units
from beholder.planning.blocks import allocate_blocks
from beholder.planning.capacity import content_capacity, count_companions, square_items
from beholder.planning.contents import (
    ListShape,
    allocate_by_quota,
    allocate_conditions,
    allocate_evenly,
    allocate_with_companions,
    quotas,
    spread_pairs,
)
from beholder.planning.even_rounding import Ints
from beholder.planning.grid import StimulusGrid
from beholder.planning.slots import order_pairs, order_slots
from beholder.planning.square_contents import allocate_square_contents
from beholder.planning.squares import Square, is_square, square_rows
from beholder.study.design import Design


class Allocation(NamedTuple):
    """Contents by list and position, and the columns of each trial (trials of list 1 first) in canonical order."""

    contents: Ints
    columns: Ints


RUN_TRIALS = 100_000
"""The number of trials above which several smaller maximum flows are faster than one."""


def allocate_in_runs(
    grid: StimulusGrid, shape: ListShape, design: Design, rng: Generator, at_once: int = RUN_TRIALS
) -> Allocation:
    """Return what `allocate` returns, in linear time: lists are allocated in runs of about `at_once` trials.

    Each run is exactly even on its own, so that all of them together are.
    """
    size = run_length(grid, shape, design, at_once)
    if size >= shape.lists:
        return allocate(grid, shape, design, rng)
    runs = [
        allocate(grid, shape._replace(lists=min(size, shape.lists - first)), design, rng)
        for first in range(0, shape.lists, size)
    ]
    return Allocation(*(np.concatenate(parts) for parts in zip(*runs, strict=True)))


def run_length(grid: StimulusGrid, shape: ListShape, design: Design, at_once: int) -> int:
    """Return how many lists are allocated at once: all of them if no smaller number is even on its own.

    Within a run every content comes in every position equally often, and so often that its columns do as well: all
    counts that are promised within one are whole numbers, and equal.
    """
    per_trial = grid.free_per_trial
    columns = grid.present.sum(axis=1)
    is_plain = design.order == "balanced" and design.blocks is None and not grid.companions
    if not is_plain or (grid.kind != "content" and (columns != columns[0]).any()):
        return shape.lists
    times = lcm(*(int(n) // gcd(int(n), per_trial) for n in set(columns.tolist()))) if per_trial else 1
    even = lcm(len(grid.contents) * times, shape.chain)
    return even * -(-at_once // (even * shape.trials))


def allocate(grid: StimulusGrid, shape: ListShape, design: Design, rng: Generator) -> Allocation:
    """Return the content and the columns of every trial."""
    if grid.blocks:
        rows, blocked, of_row = allocate_blocks(grid, shape, design, rng)
        return Allocation(of_row[rows], _allocate_columns(blocked, rows, shape.chain, rng))
    if is_square(design):
        return _allocate_squares(grid, shape, design, rng)
    visited = count_companions(grid, shape.trials, shape.chain) if grid.companions else None
    if visited is None:
        contents = _allocate_contents(grid, shape, design, rng)
        return Allocation(contents, _allocate_columns(grid, contents, shape.chain, rng))
    contents, is_companion = allocate_with_companions(shape, visited, len(grid.contents), grid.apart, rng)
    tests = contents[~is_companion].reshape(shape.lists, shape.trials - visited)
    columns = np.array(grid.companions)[contents.ravel()]
    columns[~is_companion.ravel()] = _allocate_columns(grid, tests, shape.chain, rng)[:, 0]
    return Allocation(contents, columns[:, None])


def _allocate_squares(grid: StimulusGrid, shape: ListShape, design: Design, rng: Generator) -> Allocation:
    """Return lists that are rows of squares: of contents if a trial is a content, else of columns."""
    items = square_items(grid)
    square: Square = "latin" if design.order == "latin" else "williams"
    order = square_rows(len(items), shape.lists, shape.trials // len(items), square, rng)
    if grid.kind == "content":
        return Allocation(order, _allocate_columns(grid, order, shape.chain, rng))
    contents = allocate_square_contents(order, shape, len(grid.contents), apart=design.contents == "apart", rng=rng)
    return Allocation(contents, items[order].reshape(-1, 1))


def _allocate_contents(grid: StimulusGrid, shape: ListShape, design: Design, rng: Generator) -> Ints:
    apart = design.contents == "apart"
    stimuli = grid.present.sum(axis=1)
    if grid.kind == "content" or (stimuli == stimuli[0]).all():
        return allocate_evenly(shape, len(grid.contents), apart=apart, rng=rng)
    capacity = content_capacity(grid, design)
    if apart:
        capacity = np.minimum(capacity, -(-shape.trials // 2))
    capacity = np.minimum(capacity * shape.chain, stimuli)
    return allocate_by_quota(shape, quotas(shape.trials * shape.chain, stimuli, capacity), apart=apart, rng=rng)


def _allocate_columns(grid: StimulusGrid, contents: Ints, chain: int, rng: Generator) -> Ints:
    """Return the columns of each trial in canonical order."""
    chosen = np.zeros((contents.size, len(grid.columns)), dtype=np.bool_)
    chosen[:, list(grid.always)] = True
    if grid.free_per_trial:
        free = allocate_conditions(contents, grid.present, grid.free_per_trial, rng, chain=chain)
        if grid.pairs_evenly and grid.free_per_trial < len(grid.free):
            spread_pairs(free, contents, chain, rng)
        chosen[:, list(grid.free)] = free
    return np.nonzero(chosen)[1].reshape(contents.size, grid.per_trial)


def slot_orders(grid: StimulusGrid, units: Units, allocated: Allocation, rng: Generator) -> Ints:
    """Return for each trial the order of its stimuli in the slots."""
    if units.shuffle == "slots" and grid.kind != "pair":
        return order_slots(allocated.columns, allocated.contents.shape[1], rng)
    if units.shuffle != "none":
        return order_pairs(allocated.contents, allocated.columns[:, 0], len(grid.columns), rng)
    return np.broadcast_to(np.arange(grid.width), (len(allocated.columns), grid.width))


def trial_orders(contents: Ints, asks: tuple[tuple[str, ...], ...], rng: Generator) -> Ints:
    """Return by list which allocated unit comes with which set of questions, as unit * sets + set."""
    if asks:
        return separate_repeats(contents, len(asks), rng)
    return np.broadcast_to(np.arange(contents.shape[1]), contents.shape)


def separate_repeats(allocated: Ints, times: int, rng: Generator) -> Ints:
    """Return by list and place a number below `trials * times`: the unit is that number // times, the visit % times.

    Neighbours are of different contents if possible, and else of different units.
    """
    lists, trials = allocated.shape
    content = np.repeat(allocated, times, axis=1)
    contents = _sequence(_counts(content), rng)
    is_crowded = (contents[:, 1:] == contents[:, :-1]).any(axis=1)
    if is_crowded.any():
        unit = np.repeat(np.broadcast_to(np.arange(trials), (int(is_crowded.sum()), trials)), times, axis=1)
        content[is_crowded], contents[is_crowded] = unit, _sequence(_counts(unit), rng)
    # Both are sorted by content, visits of one content in random order: each place gets one visit.
    visits = np.argsort(content + rng.random(content.shape), axis=1)
    places = np.argsort(contents, axis=1, kind="stable")
    order = np.empty((lists, trials * times), dtype=np.int64)
    np.put_along_axis(order, places, visits, axis=1)
    return order


def _counts(values: Ints) -> Ints:
    counts = np.zeros((len(values), int(values.max()) + 1), dtype=np.int64)
    np.add.at(counts, (np.arange(len(values))[:, None], values), 1)
    return counts


def _sequence(counts: Ints, rng: Generator) -> Ints:
    """Return rows that hold each value as often as `counts` says, equal values never adjacent if possible.

    Values are drawn in proportion to what is left; a value that is more than half of what is left is next.
    """
    remaining = counts.copy()
    rows, length = np.arange(len(remaining)), int(remaining[0].sum())
    sequence = np.empty((len(remaining), length), dtype=np.int64)
    for place in range(length):
        allowed = remaining.copy()
        if place:
            allowed[rows, sequence[:, place - 1]] = 0
            is_stuck = ~allowed.any(axis=1)
            allowed[is_stuck] = remaining[is_stuck]
        drawn = (np.cumsum(allowed, axis=1) > (rng.random(len(remaining)) * allowed.sum(axis=1))[:, None]).argmax(
            axis=1
        )
        most = allowed.argmax(axis=1)
        is_forced = allowed[rows, most] > (length - place) // 2
        sequence[:, place] = np.where(is_forced, most, drawn)
        remaining[rows, sequence[:, place]] -= 1
    return sequence
