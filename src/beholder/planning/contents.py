"""Contents to lists and positions, and conditions to trials: arrays with a row per list and a column per position."""

from __future__ import annotations

from itertools import pairwise
from math import lcm
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from beholder.planning.even_rounding import Floats, Ints, Mask, Partition, families, pick

_SWEEPS = 12


class ListShape(NamedTuple):
    """Number of lists and of trials per list; `chain` lists in a row form a chain.

    One person can take a chain from its first list to its last without meeting a stimulus twice.
    """

    lists: int
    trials: int
    chain: int = 1


def allocate_evenly(shape: ListShape, contents: int, *, apart: bool, rng: Generator) -> Ints:
    """Return contents by list and position; totals and content x position are even within one.

    In each run of as many lists as there are contents, list i has the contents `(i + shift) mod contents` of a shuffled
    ring. Shifts at equal distances cover the ring evenly, however many of these lists are used; each position has one
    shift and so meets every content once before it repeats one. For the same reason consecutive lists hold each content
    equally often, within one: a chain keeps its ring.
    """
    shifts = np.arange(shape.trials) * contents // shape.trials
    rows = []
    ring = np.arange(contents)
    for first in range(0, shape.lists, contents):
        if first % lcm(contents, shape.chain) == 0:
            ring = rng.permutation(contents)
        order = _shift_order(shifts, contents, rng)
        run = np.arange(min(contents, shape.lists - first))
        rows.append(ring[(run[:, None] + order[None, :]) % contents])
    allocated = _shuffle_in_chains(np.concatenate(rows), shape.chain, rng)
    least = np.full(contents, shape.trials // contents)
    most = np.full(contents, -(-shape.trials // contents))
    chained = np.full(contents, -(-shape.trials * shape.chain // contents))
    swap_between_lists(allocated, ContentLimits(least, most, chained, shape.chain), apart=apart, rng=rng)
    return allocated


def _shift_order(shifts: Ints, contents: int, rng: Generator) -> Ints:
    """Return the shifts in the order of positions, equal shifts never adjacent if possible."""
    if len(shifts) <= contents:
        # Williams' zigzag: the distances between neighbours differ, so no content keeps following the same one.
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


def allocate_by_quota(shape: ListShape, quota: Floats, *, apart: bool, rng: Generator) -> Ints:
    """Return contents by list and position; a chain holds `quota` of each content, rounded up or down.

    Systematic sampling: a content is an arc as long as its quota, a chain is a comb with teeth at distance one, and the
    combs of all chains are evenly spaced. Totals are the quotas times the chains, rounded. The teeth go to the lists of
    their chain in turn, which share each content evenly.
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
    allocated = balance_positions(_shuffle_in_chains(chosen, chain, rng), len(quota), rng)
    counts = _counts(allocated, len(quota))
    swap_between_lists(
        allocated, ContentLimits(counts.min(axis=0), counts.max(axis=0), chained, chain), apart=apart, rng=rng
    )
    if apart:
        for row in np.flatnonzero((allocated[:, 1:] == allocated[:, :-1]).any(axis=1)):
            allocated[row] = _separate(allocated[row], rng)
    return allocated


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


def _shuffle_in_chains(allocated: Ints, chain: int, rng: Generator) -> Ints:
    """Return the lists of each chain in random order, so that the first lists of chains are like the others."""
    if chain == 1:
        return allocated
    return allocated[np.lexsort((rng.random(len(allocated)), np.arange(len(allocated)) // chain))]


def _counts(rows: Ints, contents: int) -> Ints:
    """Return how often each content is in each row."""
    return np.stack([np.bincount(row, minlength=contents) for row in rows])


class ContentLimits(NamedTuple):
    """How often each content may be in a list and in a chain."""

    least: Ints
    most: Ints
    chained: Ints
    chain: int
    block: Ints | None = None
    """The block of each content, if swaps are within blocks only."""


def swap_between_lists(allocated: Ints, bounds: ContentLimits, *, apart: bool, rng: Generator) -> None:
    """Swap contents of nearby lists at the same position, to vary which contents come together; all counts stay."""
    lists, trials = allocated.shape
    least, most, chained, chain, block = bounds
    if lists < 2 or (least == most).all():
        return
    # Only nearby lists swap, so that the first lists alone are nearly even as well.
    reach = max(4.0, 2.0 * len(least) / trials)
    for _ in range(_SWEEPS * chain):
        for position in rng.permutation(trials):
            # One list of each chain swaps at a time: two might take the same content.
            rows = np.arange(lists) if chain == 1 else _one_of_each(lists, chain, rng)
            order = rows[np.argsort(rows + rng.uniform(0, reach * chain, len(rows)))]
            one, two = order[0 : len(rows) - 1 : 2], order[1::2]
            own, other = allocated[one, position], allocated[two, position]
            fits = own != other if block is None else (own != other) & (block[own] == block[other])
            for row, removed, added in ((one, own, other), (two, other, own)):
                fits &= (allocated[row] == added[:, None]).sum(axis=1) < most[added]
                fits &= (allocated[row] == removed[:, None]).sum(axis=1) > least[removed]
                if chain > 1:
                    fits &= _in_chain(allocated, row, added, chain) < chained[added]
                if apart:
                    fits &= _differs_from_neighbours(allocated, row, int(position), added)
            allocated[one[fits], position], allocated[two[fits], position] = other[fits], own[fits]


def _one_of_each(lists: int, chain: int, rng: Generator) -> Ints:
    """Return one list of each chain; the last chain may be short."""
    first = np.arange(0, lists, chain)
    return np.asarray(first + np.floor(rng.random(len(first)) * np.minimum(chain, lists - first)), dtype=np.int64)


def _in_chain(allocated: Ints, rows: Ints, content: Ints, chain: int) -> Ints:
    """Return how often each content is in the chain of each list."""
    chain_lists = (rows // chain * chain)[:, None] + np.arange(chain)[None, :]
    counts = (allocated[np.minimum(chain_lists, len(allocated) - 1)] == content[:, None, None]).sum(axis=2)
    return np.asarray((counts * (chain_lists < len(allocated))).sum(axis=1), dtype=np.int64)


def _differs_from_neighbours(allocated: Ints, rows: Ints, position: int, added: Ints) -> Mask:
    differs = np.ones(len(rows), dtype=np.bool_)
    for neighbour in (position - 1, position + 1):
        if 0 <= neighbour < allocated.shape[1]:
            differs &= allocated[rows, neighbour] != added
    return differs


def balance_positions(chosen: Ints, contents: int, rng: Generator) -> Ints:
    """Return each row reordered so that every content has every position equally often, within one."""
    lists, trials = chosen.shape
    items = np.arange(lists * trials)
    of_list, of_tooth, of_content = items // trials, items % trials, chosen.ravel()
    placed = np.empty_like(chosen)
    for position in range(trials):
        content, row = of_content[items], of_list[items]
        mask = pick(
            np.full(len(items), 1 / (trials - position)),
            # A list may hold a content twice: the tooth distinguishes the two.
            [Partition(content * trials + of_tooth[items], contents * trials), Partition(content, contents)],
            [Partition(row, lists)],
            rng,
        )
        placed[row[mask], position] = content[mask]
        items = items[~mask]
    return placed


def _separate(row: Ints, rng: Generator) -> Ints:
    """Return the row without equal neighbours: the most frequent value first, in every other place."""
    values, counts = np.unique(row, return_counts=True)
    order = rng.permutation(len(values))
    order = order[np.argsort(-counts[order], kind="stable")]
    places = np.concatenate([np.arange(0, len(row), 2), np.arange(1, len(row), 2)])
    apart = np.empty_like(row)
    apart[places] = np.repeat(values[order], counts[order])
    return apart


# Conditions


def allocate_conditions(contents_of: Ints, present: Mask, per_trial: int, rng: Generator, *, chain: int = 1) -> Mask:
    """Return a mask of conditions by trial (trials of list 1 first), `per_trial` in each.

    `contents_of` holds contents by list and position, `present` which content has which condition. Even within one:
    conditions overall, within each content, within each content at each position, and within each list; trials of one
    content in one list, or in one chain of lists, share no condition. Conditions that some content lacks are as even as
    possible.
    """
    lists, trials = contents_of.shape
    contents, conditions = present.shape
    content = contents_of.ravel()
    of_list = np.repeat(np.arange(lists), trials)
    position = np.tile(np.arange(trials), lists)
    left = [Partition(content * trials + position, contents * trials), Partition(content, contents)]
    right = _right(of_list, content, lists, chain)
    chosen = np.zeros((len(content), conditions), dtype=np.bool_)
    need = np.full(len(content), per_trial)
    remaining = present.sum(axis=1)
    for condition in rng.permutation(conditions):
        items = np.flatnonzero(present[content, condition] & (need > 0))
        share: Floats = need[items] / remaining[content[items]]
        if len(items) and share.min() < 1:
            mask = pick(share, [_only(g, items) for g in left], [_only(g, items) for g in right], rng)
            items = items[mask]
        chosen[items, condition] = True
        need[items] -= 1
        remaining = remaining - present[:, condition]
    if chain > 1:
        _level_lists(chosen, contents_of, chain, rng)
    return chosen


def _level_lists(chosen: Mask, contents_of: Ints, chain: int, rng: Generator) -> None:
    """Make the lists of a chain hold every condition equally often, as far as their contents allow.

    What a content shows in two lists of a chain is exchanged, which changes neither the chain nor the content: picks by
    whole chains leave it to chance in which list a condition comes.
    """
    lists, trials = contents_of.shape
    for first in range(0, lists, chain):
        contents = contents_of[first : first + chain].ravel()
        shown = chosen[first * trials : first * trials + len(contents)]
        of_list = np.arange(len(contents)) // trials
        one, two = np.nonzero(
            np.triu(contents[:, None] == contents[None, :], 1) & (of_list[:, None] != of_list[None, :])
        )
        if not len(one):
            continue
        order = rng.permutation(len(one))
        one, two = one[order], two[order]
        counts = shown.reshape(-1, trials, shown.shape[1]).sum(axis=1)
        while True:
            moved = shown[two].astype(np.int64) - shown[one]
            gain = (moved * (counts[of_list[one]] - counts[of_list[two]] + moved)).sum(axis=1)
            best = int(gain.argmin())
            if gain[best] >= 0:
                break
            a, b = one[best], two[best]
            counts[of_list[a]] += moved[best]
            counts[of_list[b]] -= moved[best]
            shown[[a, b]] = shown[[b, a]]


_EXCHANGES = 20_000
"""Exchanges between two trials that are tried, at most; and for each trial."""
_EXCHANGES_EACH = 30


def spread_pairs(chosen: Mask, contents_of: Ints, chain: int, rng: Generator) -> None:
    """Make every two conditions equally often one of a trial, as far as exchanges between trials lead.

    Two trials of one content exchange a condition, so that conditions stay as even overall and within each content;
    what a list holds counts as well, so that lists stay nearly as even.
    """
    lists, trials = contents_of.shape
    content = contents_of.ravel()
    of_list = np.arange(len(content)) // trials
    shown = chosen.astype(np.int64)
    together = shown.T @ shown
    in_list = shown.reshape(lists, trials, -1).sum(axis=1)
    trials_of = [np.flatnonzero(content == one) for one in range(int(content.max()) + 1)]
    tries = min(_EXCHANGES, _EXCHANGES_EACH * len(content))
    for first, draw in zip(rng.integers(len(content), size=tries), rng.random((tries, 3)), strict=True):
        others = trials_of[content[first]]
        second = others[int(draw[0] * len(others))]
        mine, theirs = np.flatnonzero(shown[first] > shown[second]), np.flatnonzero(shown[second] > shown[first])
        if not len(mine):
            continue
        given, taken = mine[int(draw[1] * len(mine))], theirs[int(draw[2] * len(theirs))]
        moved = shown[first] - shown[second]
        moved[[given, taken]] = 0
        one, two = in_list[of_list[first]], in_list[of_list[second]]
        gain = 2 * int(moved @ (together[taken] - together[given] + moved))
        if of_list[first] != of_list[second]:
            gain += 2 * int(one[taken] - one[given] + two[given] - two[taken] + 2)
        if gain >= 0 or _is_met(shown, others, of_list // chain, (first, taken), (second, given)):
            continue
        together[taken] += moved
        together[given] -= moved
        together[:, taken], together[:, given] = together[taken], together[given]
        for trial, out, back in ((first, given, taken), (second, taken, given)):
            shown[trial, out], shown[trial, back] = 0, 1
            in_list[of_list[trial], out] -= 1
            in_list[of_list[trial], back] += 1
    chosen[:] = shown.astype(np.bool_)


def _is_met(shown: Ints, others: Ints, of_chain: Ints, *gains: tuple[Any, Any]) -> bool:
    """Return whether a trial would get a stimulus that another one of its chain has."""
    for trial, condition in gains:
        same = others[(of_chain[others] == of_chain[trial]) & (others != trial)]
        if shown[same, condition].any():
            return True
    return False


def _only(groups: Partition, items: Ints) -> Partition:
    return Partition(groups.of[items], groups.number)


def _right(of_list: Ints, content: Ints, lists: int, chain: int) -> list[Partition]:
    """Return the nested groups of lists: trials of a content in a chain if there are several, lists, runs of lists."""
    of_chain, chains = of_list // chain, -(-lists // chain)
    _, chain_content = np.unique(of_chain * (int(content.max()) + 1) + content, return_inverse=True)
    if int(chain_content.max()) + 1 < len(content):
        return [Partition(chain_content, int(chain_content.max()) + 1), *families(of_chain, chains)]
    return [*([Partition(of_list, lists)] if chain > 1 else []), *families(of_chain, chains)]


# Companions

_FEWEST, _RUNS = 8, 64  # fewest lists with the same cycle, and most cycles


class CompanionAllocation(NamedTuple):
    """Contents by list and position, and which of the trials show the companion."""

    contents: Ints
    is_companion: Mask


def allocate_with_companions(
    shape: ListShape, visited: int, contents: int, apart: int, rng: Generator
) -> CompanionAllocation:
    """Return lists of `visited` contents each, all equally often within one, and their companions once.

    Contents come in lists, and in each position, equally often over all lists, within one. A list cycles through its
    contents, so that no content comes twice in a row. No two lists of a chain share a content.
    """
    runs: list[CompanionAllocation] = []
    # A run of lists that is a multiple of the contents is even on its own, whatever the cycle.
    whole = lcm(contents, shape.chain)
    size = whole * -(-max(_FEWEST, -(-shape.lists // _RUNS)) // whole)
    for first in range(0, shape.lists, size):
        part = ListShape(min(size, shape.lists - first), visited, shape.chain)
        listed = allocate_evenly(part, contents, apart=False, rng=rng)
        rounds = _rounds(visited, shape.trials, apart, rng)
        cycle = np.concatenate(rounds)
        # The companion comes in each round of its content with the same probability.
        times = np.bincount(cycle, minlength=visited)
        companion_round = np.floor(rng.random(listed.shape) * times).astype(np.int64)
        round_of = np.repeat(np.arange(len(rounds)), [len(order) for order in rounds])
        runs.append(CompanionAllocation(listed[:, cycle], companion_round[:, cycle] == round_of))
    return CompanionAllocation(
        np.concatenate([run.contents for run in runs]), np.concatenate([run.is_companion for run in runs])
    )


def _rounds(visited: int, trials: int, apart: int, rng: Generator) -> list[Ints]:
    """Return orders of the contents of a round: whole rounds, and a partial one to fill the list.

    No round begins with the end of the one before; if contents have to be further apart, all rounds are the same.
    """
    times, over = divmod(trials, visited)
    rounds = [rng.permutation(visited) for _ in range(times + 1)]
    if apart > 2:
        rounds = [rounds[0]] * (times + 1)
    rounds[-1] = rounds[-1][:over]
    # From the end, because the last round may be too short to change.
    for before, after in reversed(list(pairwise(rounds))):
        if len(after) and before[-1] == after[0]:
            place = int(rng.integers(visited - 1))
            before[[place, -1]] = before[[-1, place]]
    return rounds
