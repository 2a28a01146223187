"""Which content stands where: one row per list, one column per position."""

from __future__ import annotations

from itertools import pairwise
from math import lcm
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from beholder.plan.dealing.flow import Floats, Groups, Ints, Mask, pick

_SWEEPS = 12


class Shape(NamedTuple):
    """How many lists, and how many trials in each; so many lists that follow one another make a `chain`.

    One person can take a chain from its first list to its last without meeting a stimulus twice.
    """

    lists: int
    trials: int
    chain: int = 1


def deal_evenly(shape: Shape, contents: int, *, apart: bool, rng: Generator) -> Ints:
    """Return contents by list and position; totals and content x position stay within one.

    In each run of as many lists as there are contents, list i takes the contents `(i + shift) mod contents` of a
    shuffled ring. Shifts that lie evenly round the ring cover it evenly, however many of these lists are used;
    each position has one shift, so it meets every content once before it meets one again. For the same reason lists
    that follow one another hold each content equally often, within one: a chain keeps its ring.
    """
    shifts = np.arange(shape.trials) * contents // shape.trials
    rows = []
    ring = np.arange(contents)
    for first in range(0, shape.lists, contents):
        if first % lcm(contents, shape.chain) == 0:
            ring = rng.permutation(contents)
        order = _walk(shifts, contents, rng)
        run = np.arange(min(contents, shape.lists - first))
        rows.append(ring[(run[:, None] + order[None, :]) % contents])
    dealt = _mixed_in_chains(np.concatenate(rows), shape.chain, rng)
    least = np.full(contents, shape.trials // contents)
    most = np.full(contents, -(-shape.trials // contents))
    chained = np.full(contents, -(-shape.trials * shape.chain // contents))
    swap_between_lists(dealt, Bounds(least, most, chained, shape.chain), apart=apart, rng=rng)
    return dealt


def deal_by_quota(shape: Shape, quota: Floats, *, apart: bool, rng: Generator) -> Ints:
    """Return contents by list and position where a chain holds `quota` of each content, rounded up or down.

    Systematic sampling: a content is an arc of the length of its quota, a chain is a comb with teeth at distance one,
    and the combs of all chains lie evenly. Totals are the quotas times the chains, rounded. The teeth go to the lists
    of their chain in turn, so that these share each content evenly.
    """
    chain, chains = shape.chain, -(-shape.lists // shape.chain)
    order = rng.permutation(len(quota))
    ends = np.cumsum(quota[order])
    ends[-1] = shape.trials * chain
    offsets = (rng.permutation(chains) + 0.5) / chains
    teeth = offsets[:, None] + np.arange(shape.trials * chain)[None, :]
    chosen = order[np.minimum(np.searchsorted(ends, teeth, side="right"), len(quota) - 1)]
    chained = _counts(chosen, len(quota)).max(axis=0)
    chosen = chosen.reshape(chains, shape.trials, chain).transpose(0, 2, 1).reshape(-1, shape.trials)[: shape.lists]
    dealt = into_positions(_mixed_in_chains(chosen, chain, rng), len(quota), rng)
    counts = _counts(dealt, len(quota))
    swap_between_lists(dealt, Bounds(counts.min(axis=0), counts.max(axis=0), chained, chain), apart=apart, rng=rng)
    if apart:
        for row in np.flatnonzero((dealt[:, 1:] == dealt[:, :-1]).any(axis=1)):
            dealt[row] = _pull_apart(dealt[row], rng)
    return dealt


def quotas(trials: int, weights: Ints, caps: Ints) -> Floats:
    """Return how often each content comes in a list: in proportion to its weight, at most its cap."""
    low, high = 0.0, float(trials)
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if np.minimum(caps, middle * weights).sum() < trials else (low, middle)
    quota = np.minimum(caps, high * weights)
    free = quota < caps
    if free.any():
        quota[free] *= (trials - quota[~free].sum()) / quota[free].sum()
    return np.asarray(quota, dtype=np.float64)


def _walk(shifts: Ints, contents: int, rng: Generator) -> Ints:
    """Return the shifts in the order of positions, equal ones never next to each other where that can be."""
    if len(shifts) <= contents:
        # Williams' zigzag: neighbours lie at ever other distances, so no content keeps following the same one.
        step = np.arange(len(shifts))
        zigzag = np.where(step % 2 == 0, step // 2, -(step + 1) // 2)
        places: Ints = (rng.integers(len(shifts)) + rng.choice([-1, 1]) * zigzag) % len(shifts)
        return shifts[places]
    counts = np.bincount(shifts, minlength=contents)
    rounds = [rng.permutation(np.flatnonzero(counts >= depth)) for depth in range(int(counts.max()), 0, -1)]
    for before, after in pairwise(rounds):
        if before[-1] == after[0]:
            after[[0, -1]] = after[[-1, 0]]
    return np.concatenate(rounds)


def _mixed_in_chains(dealt: Ints, chain: int, rng: Generator) -> Ints:
    """Return the lists of each chain in a drawn order, so that the first lists of all chains are as good as any."""
    if chain == 1:
        return dealt
    return dealt[np.lexsort((rng.random(len(dealt)), np.arange(len(dealt)) // chain))]


def _counts(rows: Ints, contents: int) -> Ints:
    """Return how often each content is in each row."""
    return np.stack([np.bincount(row, minlength=contents) for row in rows])


class Bounds(NamedTuple):
    """How often each content may be in a list, and in a chain."""

    least: Ints
    most: Ints
    chained: Ints
    chain: int
    block: Ints | None = None
    """Where lists trade within blocks only: the block of each content."""


def swap_between_lists(dealt: Ints, bounds: Bounds, *, apart: bool, rng: Generator) -> None:
    """Break up fixed company: nearby lists trade contents at the same position, which keeps every promised count."""
    lists, trials = dealt.shape
    least, most, chained, chain, block = bounds
    if lists < 2 or (least == most).all():
        return
    # Trading with near lists only, so that the first lists alone stay nearly even as well.
    reach = max(4.0, 2.0 * len(least) / trials)
    for _ in range(_SWEEPS * chain):
        for position in rng.permutation(trials):
            # Of each chain one list trades at a time: two might take the same content.
            rows = np.arange(lists) if chain == 1 else _one_of_each(lists, chain, rng)
            order = rows[np.argsort(rows + rng.uniform(0, reach * chain, len(rows)))]
            one, two = order[0 : len(rows) - 1 : 2], order[1::2]
            mine, yours = dealt[one, position], dealt[two, position]
            fits = mine != yours if block is None else (mine != yours) & (block[mine] == block[yours])
            for row, gone, come in ((one, mine, yours), (two, yours, mine)):
                fits &= (dealt[row] == come[:, None]).sum(axis=1) < most[come]
                fits &= (dealt[row] == gone[:, None]).sum(axis=1) > least[gone]
                if chain > 1:
                    fits &= _in_chain(dealt, row, come, chain) < chained[come]
                if apart:
                    fits &= _differs_from_neighbours(dealt, row, int(position), come)
            dealt[one[fits], position], dealt[two[fits], position] = yours[fits], mine[fits]


def _one_of_each(lists: int, chain: int, rng: Generator) -> Ints:
    """Return one list of each chain; the last chain may be short."""
    first = np.arange(0, lists, chain)
    return np.asarray(first + np.floor(rng.random(len(first)) * np.minimum(chain, lists - first)), dtype=np.int64)


def _in_chain(dealt: Ints, rows: Ints, content: Ints, chain: int) -> Ints:
    """Return how often each content is in the chain of each list."""
    beside = (rows // chain * chain)[:, None] + np.arange(chain)[None, :]
    there = (dealt[np.minimum(beside, len(dealt) - 1)] == content[:, None, None]).sum(axis=2)
    return np.asarray((there * (beside < len(dealt))).sum(axis=1), dtype=np.int64)


def _differs_from_neighbours(dealt: Ints, rows: Ints, position: int, come: Ints) -> Mask:
    differs = np.ones(len(rows), dtype=np.bool_)
    for beside in (position - 1, position + 1):
        if 0 <= beside < dealt.shape[1]:
            differs &= dealt[rows, beside] != come
    return differs


def into_positions(chosen: Ints, contents: int, rng: Generator) -> Ints:
    """Return each row reordered, so that every content meets every position equally often, within one."""
    lists, trials = chosen.shape
    items = np.arange(lists * trials)
    of_list, of_tooth, of_content = items // trials, items % trials, chosen.ravel()
    dealt = np.empty_like(chosen)
    for position in range(trials):
        content, row = of_content[items], of_list[items]
        mask = pick(
            np.full(len(items), 1 / (trials - position)),
            # A list may hold a content twice: the tooth tells the two apart.
            [Groups(content * trials + of_tooth[items], contents * trials), Groups(content, contents)],
            [Groups(row, lists)],
            rng,
        )
        dealt[row[mask], position] = content[mask]
        items = items[~mask]
    return dealt


def _pull_apart(row: Ints, rng: Generator) -> Ints:
    """Return the row in an order without equal neighbours: the most frequent first, into every other place."""
    values, counts = np.unique(row, return_counts=True)
    order = rng.permutation(len(values))
    order = order[np.argsort(-counts[order], kind="stable")]
    places = np.concatenate([np.arange(0, len(row), 2), np.arange(1, len(row), 2)])
    apart = np.empty_like(row)
    apart[places] = np.repeat(values[order], counts[order])
    return apart
