"""Which content stands where: one row per list, one column per position."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from beholder.plan.flow import Floats, Groups, Ints, Mask, pick

_SWEEPS = 12


class Shape(NamedTuple):
    """How many lists, and how many trials in each."""

    lists: int
    trials: int


def deal_evenly(shape: Shape, contents: int, *, apart: bool, rng: Generator) -> Ints:
    """Return contents by list and position; totals and content x position stay within one.

    In each run of as many lists as there are contents, list i takes the contents `(i + shift) mod contents` of a
    shuffled ring. Shifts that lie evenly round the ring cover it evenly, however many of these lists are used;
    each position has one shift, so it meets every content once before it meets one again.
    """
    shifts = np.arange(shape.trials) * contents // shape.trials
    rows = []
    for first in range(0, shape.lists, contents):
        ring, order = rng.permutation(contents), _walk(shifts, contents, rng)
        run = np.arange(min(contents, shape.lists - first))
        rows.append(ring[(run[:, None] + order[None, :]) % contents])
    dealt = np.concatenate(rows)
    least = np.full(contents, shape.trials // contents)
    most = np.full(contents, -(-shape.trials // contents))
    _swap_between_lists(dealt, least, most, apart=apart, rng=rng)
    return dealt


def deal_by_quota(shape: Shape, quota: Floats, *, apart: bool, rng: Generator) -> Ints:
    """Return contents by list and position where a list holds `quota` of each content, rounded up or down.

    Systematic sampling: a content is an arc of the length of its quota, a list is a comb with teeth at distance one,
    and the combs of all lists lie evenly. Totals are the quotas times the lists, rounded.
    """
    order = rng.permutation(len(quota))
    ends = np.cumsum(quota[order])
    ends[-1] = shape.trials
    offsets = (rng.permutation(shape.lists) + 0.5) / shape.lists
    teeth = offsets[:, None] + np.arange(shape.trials)[None, :]
    chosen = order[np.minimum(np.searchsorted(ends, teeth, side="right"), len(quota) - 1)]
    dealt = _into_positions(chosen, len(quota), rng)
    counts = np.stack([np.bincount(row, minlength=len(quota)) for row in dealt])
    _swap_between_lists(dealt, counts.min(axis=0), counts.max(axis=0), apart=apart, rng=rng)
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


def _swap_between_lists(dealt: Ints, least: Ints, most: Ints, *, apart: bool, rng: Generator) -> None:
    """Break up fixed company: nearby lists trade contents at the same position, which keeps every promised count."""
    lists, trials = dealt.shape
    if lists < 2 or (least == most).all():
        return
    # Trading with near lists only, so that the first lists alone stay nearly even as well.
    reach = max(4.0, 2.0 * len(least) / trials)
    for _ in range(_SWEEPS):
        for position in rng.permutation(trials):
            order = np.argsort(np.arange(lists) + rng.uniform(0, reach, lists))
            one, two = order[0 : lists - 1 : 2], order[1::2]
            mine, yours = dealt[one, position], dealt[two, position]
            fits = mine != yours
            for row, gone, come in ((one, mine, yours), (two, yours, mine)):
                fits &= (dealt[row] == come[:, None]).sum(axis=1) < most[come]
                fits &= (dealt[row] == gone[:, None]).sum(axis=1) > least[gone]
                if apart:
                    fits &= _differs_from_neighbours(dealt, row, int(position), come)
            dealt[one[fits], position], dealt[two[fits], position] = yours[fits], mine[fits]


def _differs_from_neighbours(dealt: Ints, rows: Ints, position: int, come: Ints) -> Mask:
    differs = np.ones(len(rows), dtype=np.bool_)
    for beside in (position - 1, position + 1):
        if 0 <= beside < dealt.shape[1]:
            differs &= dealt[rows, beside] != come
    return differs


def _into_positions(chosen: Ints, contents: int, rng: Generator) -> Ints:
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
