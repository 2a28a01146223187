"""The order within a trial: which condition is in which slot, in which colour, or first; which question is first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from operator import itemgetter

import numpy as np
from numpy.random import Generator

from beholder.methods.contract import Break, Slot, Trial, slot_ids, slots_from_columns
from beholder.planning.even_rounding import Ints, Partition, families, pick
from beholder.planning.model import LETTERS

PALETTE = (
    "#2a76b0", "#f2d342", "#820b02", "#9699fe", "#af7003", "#53eafe", "#44396b", "#f08e89",
    "#174daa", "#afe2ae", "#8a4e47", "#2dc4ca",
)  # fmt: skip
"""Colours that can be distinguished with every kind of colour vision; the first eight are the best."""

_BEST = 8

_FIRST = 8


def order_slots(conditions: Ints, trials: int, rng: Generator) -> Ints:
    """Return for each trial the condition of slot 1, 2, ...; condition x slot is even within one.

    `conditions` holds the conditions of each trial (trials of list 1 first), `trials` is the number of trials of a
    list.
    """
    order = np.argsort(rng.random(conditions.shape), axis=1)
    if conditions.shape[1] > 1:
        shown = np.take_along_axis(conditions, order, axis=1)
        # In growing pieces first, so that the first lists alone are nearly even as well.
        start, size = 0, _FIRST * trials
        while start < len(shown):
            _level(shown[start : start + size], order[start : start + size], rng)
            start, size = start + size, max(size, start + size)
        _level(shown, order, rng)
    return order


def _level(shown: Ints, order: Ints, rng: Generator) -> None:
    """Swap slots within trials until every condition has every slot equally often, within one."""
    slots, conditions = shown.shape[1], int(shown.max()) + 1
    while True:
        counts = np.stack([np.bincount(shown[:, slot], minlength=conditions) for slot in range(slots)], axis=1)
        if (counts.max(axis=1) - counts.min(axis=1) <= 1).all():
            return
        for one in range(slots):
            for two in range(one + 1, slots):
                _level_two(shown, order, one, two, conditions, rng)


def _level_two(shown: Ints, order: Ints, one: int, two: int, conditions: int, rng: Generator) -> None:
    """Make every condition equally frequent, within one, in two slots.

    Each trial is an arc from the condition in slot `one` to that in slot `two`; a swap reverses it. Reversing a path
    from a condition with too many arcs out to one with too few changes no condition in between, and such a path always
    exists: the reachable conditions have, taken together, no more arcs out than in.
    """
    kind = shown[:, one] * conditions + shown[:, two]
    before = np.bincount(kind, minlength=conditions * conditions).reshape(conditions, conditions)
    after = before.copy()
    excess = after.sum(axis=1) - after.sum(axis=0)
    # First the conditions with too many in slot `one`, then those with too few.
    _settle(after, excess)
    _settle(after.T, -excess)
    turned = before - after
    for a, b in np.argwhere(turned > 0):
        trials = rng.permutation(np.flatnonzero(kind == a * conditions + b))[: turned[a, b]]
        for table in (shown, order):
            table[trials, one], table[trials, two] = table[trials, two], table[trials, one]


def _settle(arcs: Ints, excess: Ints) -> None:
    """Reverse arcs in place until no condition has two more arcs out than in."""
    for high in range(len(excess)):
        while excess[high] >= 2:
            path = _path(arcs, high, excess)
            steps = list(pairwise(path))
            amount = min(excess[high] // 2, (1 - excess[path[-1]]) // 2, *(arcs[a, b] for a, b in steps))
            for a, b in steps:
                arcs[a, b] -= amount
                arcs[b, a] += amount
            excess[high] -= 2 * amount
            excess[path[-1]] += 2 * amount


def _path(arcs: Ints, start: int, excess: Ints) -> list[int]:
    """Return the shortest path along arcs from `start` to a condition with too few."""
    previous: dict[int, int] = {start: start}
    queue = [start]
    for node in queue:
        if excess[node] < 0:
            path = [node]
            while path[-1] != start:
                path.append(previous[path[-1]])
            return path[::-1]
        for neighbour in np.flatnonzero(arcs[node]).tolist():
            if neighbour not in previous:
                previous[neighbour] = node
                queue.append(neighbour)
    raise AssertionError("no condition has too few")


def order_pairs(contents: Ints, column: Ints, columns: int, rng: Generator) -> Ints:
    """Return for each trial which of its two stimuli is first and which second.

    Within one, both orders are equally frequent for every two stimuli, every pair of conditions, and in every list.
    `contents` holds contents by list and position, `column` the pair of conditions of each trial.
    """
    lists, trials = contents.shape
    unit = column * (int(contents.max()) + 1) + contents.ravel()
    of_list = np.repeat(np.arange(lists), trials)
    left = [Partition(unit, int(unit.max()) + 1), Partition(column, columns)]
    swapped = pick(np.full(unit.size, 0.5), left, families(of_list, lists), rng)
    # A random choice which order `swapped` stands for: an odd trial favours neither.
    second = swapped ^ bool(rng.integers(2))
    return np.stack([second, ~second], axis=1).astype(np.int64)


def draw_colours(count: int, slots: int, rng: Generator) -> Ints:
    """Return indices into the palette for every trial and slot, no colour twice in a trial."""
    best = np.argsort(rng.random((count, _BEST)), axis=1)
    if slots <= _BEST:
        return best[:, :slots]
    more = _BEST + np.argsort(rng.random((count, len(PALETTE) - _BEST)), axis=1)[:, : slots - _BEST]
    return rng.permuted(np.concatenate([best, more], axis=1), axis=1)


def arrange(trial: Trial, name: str, order: Sequence[int], colours: Sequence[int]) -> Trial:
    """Return the trial with its slots in shown order, with ids, letters and colours; labelled slots stay in place."""
    _, stimuli, roles, labels, rated, _ = zip(*trial.slots, strict=True)
    count = len(labels)
    if labels.count(None) == count > 1:
        in_order, in_colours = itemgetter(*order), itemgetter(*colours[:count])
        shown = in_order(stimuli), in_order(roles), LETTERS[:count], in_order(rated), in_colours(PALETTE)
        slots = slots_from_columns(slot_ids(count), *shown)
    else:
        slots = _beside_labelled(trial, order, colours)
    return Trial(
        name, trial.content, trial.purpose, slots, trial.asked, trial.draws, trial.targets, trial.together,
        passes=trial.passes,
    )  # fmt: skip


def order_questions(trial: Trial, order: Sequence[str]) -> Trial:
    """Return the trial with its questions in this order, others after them; what is expected moves with them."""
    places = {question: place for place, question in enumerate(order)}
    asked = sorted(trial.asked, key=lambda one: places.get(one.question, len(places)))
    names = {one.id: f"q{place}" for place, one in enumerate(asked, 1)}
    targets = {}
    for where, target in trial.targets.items():
        question, slot = where.split(".")
        targets[f"{names[question]}.{slot}"] = target
    return replace(trial, asked=tuple(one._replace(id=names[one.id]) for one in asked), targets=targets)


def order_training(training: Sequence[Trial], rated: Sequence[Trial | Break]) -> tuple[Trial, ...]:
    """Return training trials with their questions in the order of the list after them.

    Only where each question comes after a play of its own: there the order is part of what is practised.
    """
    first = next((entry for entry in rated if isinstance(entry, Trial)), None)
    order = [one.question for one in first.asked] if first is not None else []
    return tuple(order_questions(trial, order) if trial.passes > 1 and order else trial for trial in training)


def _beside_labelled(trial: Trial, order: Sequence[int], colours: Sequence[int]) -> tuple[Slot, ...]:
    """Return slots in shown order, labelled ones in their place; a single other slot needs no letter."""
    free = [slot for slot in trial.slots if slot.label is None]
    following = zip(order, LETTERS, colours, strict=False)
    slots = []
    for identity, slot in zip(slot_ids(len(trial.slots)), trial.slots, strict=True):
        if slot.label is not None or len(free) == 1:
            slots.append(slot._replace(id=identity, colour=None))
        else:
            place, letter, colour = next(following)
            shown = free[place]
            slots.append(Slot(identity, shown.stimulus, shown.role, letter, shown.rated, PALETTE[colour]))
    return tuple(slots)
