"""Very many lists: dealt in runs, each of which is exactly even in itself, so that all together stay so."""

from __future__ import annotations

from math import gcd, lcm

import numpy as np
from numpy.random import Generator

from beholder.plan.dealing.contents import Shape
from beholder.plan.dealing.deal import Dealt, deal
from beholder.plan.ground.grid import Grid
from beholder.study.design import Design

AT_ONCE = 100_000
"""Trials beyond which one maximum flow takes longer for each of them than several do."""


def deal_in_runs(grid: Grid, shape: Shape, design: Design, rng: Generator, at_once: int = AT_ONCE) -> Dealt:
    """Return what `deal` promises, in time that grows no faster than the lists do: `at_once` trials or a few more."""
    size = run_length(grid, shape, design, at_once)
    if size >= shape.lists:
        return deal(grid, shape, design, rng)
    runs = [
        deal(grid, shape._replace(lists=min(size, shape.lists - first)), design, rng)
        for first in range(0, shape.lists, size)
    ]
    return Dealt(*(np.concatenate(parts) for parts in zip(*runs, strict=True)))


def run_length(grid: Grid, shape: Shape, design: Design, at_once: int) -> int:
    """Return how many lists are dealt at once: all of them where no smaller number is even in itself.

    In so many lists every content comes in every position equally often, and so often that its columns do as well:
    all counts that are promised within one are whole numbers, and equal.
    """
    dealt = grid.dealt_per_trial
    columns = grid.present.sum(axis=1)
    is_plain = design.order == "balanced" and design.blocks is None and not grid.companions
    if not is_plain or (grid.kind != "content" and (columns != columns[0]).any()):
        return shape.lists
    times = lcm(*(int(n) // gcd(int(n), dealt) for n in set(columns.tolist()))) if dealt else 1
    even = lcm(len(grid.contents) * times, shape.chain)
    return even * -(-at_once // (even * shape.trials))
