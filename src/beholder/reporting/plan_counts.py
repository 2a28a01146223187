"""Tables of counts of a plan: how often two things occur together, and how often in an even plan."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from beholder.planning.counts import allocated_stimuli, is_of_pairs, stimulus_occurrences
from beholder.planning.model import Plan
from beholder.stimuli.catalogue import Catalogue

Ints: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]
Floats: TypeAlias = NDArray[np.float64]
MOST_NAMED = 60
"""Contents or lists that a picture has a row for."""


_WHOLE = 1 - 1e-9
"""Counts are whole: one that is less than one away from even can be no nearer."""


_NEAR = 0.1
"""The share of an even count by which a count may differ without a warning."""


# Stimuli of a plan


@dataclass(frozen=True)
class Shows:
    """What a plan shows, one entry for each stimulus in a slot; all numbers from 0, in the order of the lists."""

    list: Ints
    position: Ints
    trial: Ints
    slot: Ints
    content: Ints
    condition: Ints
    contents: tuple[str, ...]
    conditions: tuple[str, ...]
    present: Mask
    """Which content has which condition to show."""
    lists: int
    groups: Ints
    """By list."""
    group_names: tuple[str, ...]
    is_of_pairs: bool

    @property
    def positions(self) -> int:
        return int(self.position.max(initial=-1)) + 1

    @property
    def slots(self) -> int:
        return int(self.slot.max(initial=-1)) + 1

    @property
    def first(self) -> Mask:
        """The first entry of each trial."""
        return np.asarray(np.diff(self.trial, prepend=-1) > 0, dtype=np.bool_)


def read_shows(plan: Plan, catalogue: Catalogue) -> Shows:
    """Return what a plan shows; stimuli that only checks use are left out."""
    visited = stimulus_occurrences(plan)
    dealt = frozenset(visited.stimuli).union(*(allocated_stimuli(part) for part in plan.groups or (plan,)))
    stimuli = [stimulus for stimulus in catalogue.by_cell.values() if stimulus.id in dealt]
    there = {stimulus.content for stimulus in stimuli}, {stimulus.condition for stimulus in stimuli}
    contents = tuple(content for content in catalogue.contents if content in there[0])
    conditions = tuple(condition for condition in catalogue.conditions if condition in there[1])
    places = {name: n for n, name in enumerate(contents)}, {name: n for n, name in enumerate(conditions)}
    cell = {stimulus.id: (places[0][stimulus.content], places[1][stimulus.condition]) for stimulus in stimuli}
    present = np.zeros((len(contents), len(conditions)), dtype=np.bool_)
    for place in cell.values():
        present[place] = True
    groups = [", ".join(planned.group.values()) for planned in plan.lists]
    names = tuple(dict.fromkeys(groups))
    content, condition = np.array([cell[name] for name in visited.stimuli], dtype=np.int64).reshape(-1, 2).T
    trial = visited.trial
    return Shows(
        visited.list_of[trial], visited.position_of[trial], trial, visited.places, content, condition, contents,
        conditions, present, len(plan.lists),
        np.array([names.index(one) for one in groups]), names, is_of_pairs(plan),
    )  # fmt: skip


# Tables of counts


@dataclass(frozen=True)
class Count:
    """One table of counts; `row` and `column` say what they are of, and are the columns of its file."""

    row: str
    column: str
    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: Ints
    counted: Mask
    """The cells that can hold a count."""
    even: Floats
    """The count of each cell if the plan were even."""
    every: str
    """The beginning of its sentence: every ... every ..."""
    some: str

    @property
    def name(self) -> str:
        """The name of its files."""
        return f"{self.row}-{self.column}".replace(" ", "-")

    @cached_property
    def cells(self) -> Ints:
        """The counts of the cells that can hold one."""
        return self.values[self.counted]

    @property
    def least(self) -> int:
        return int(self.cells.min(initial=self.most))

    @property
    def most(self) -> int:
        return int(self.cells.max(initial=0))

    @cached_property
    def off(self) -> Floats:
        """How far each cell is from even, negative if it is too low; 0 if it is even, or nearly so."""
        off = self.values - self.even
        return np.where(self.counted & (np.abs(off) > np.maximum(_WHOLE, _NEAR * self.even)), off, 0.0)

    @property
    def is_even(self) -> bool:
        """Whether no cell could be nearer to even: counts are whole."""
        return not (self.counted & (np.abs(self.values - self.even) > _WHOLE)).any()

    @property
    def is_near(self) -> bool:
        """Whether every cell is even, or nearly so."""
        return not self.off.any()


def counts(shows: Shows, blocks: Sequence[str] = ()) -> Iterator[Count]:
    """Yield every table of counts of this plan; `blocks` are the blocks of its contents and conditions."""
    conditions, contents = shows.conditions, shows.contents
    positions, slots = (tuple(str(n + 1) for n in range(number)) for number in (shows.positions, shows.slots))
    has_conditions = len(conditions) > 1
    if len(slots) > 1 and has_conditions:
        values = _tally(shows.condition, shows.slot, (len(conditions), len(slots)))
        yield Count(
            "condition", "slot", "Conditions in slots", conditions, slots, values, *_expected(values),
            "Every condition stands in every slot", "Conditions stand in a slot",
        )  # fmt: skip
    if shows.is_of_pairs:
        yield _ordered(shows)
    if has_conditions:
        yield _cells(shows)
    first = shows.first
    if len(contents) > 1 and len(positions) > 1:
        values = _tally(shows.content[first], shows.position[first], (len(contents), len(positions)))
        yield Count(
            "content", "position", "Contents at positions", contents, positions, values, *_expected(values),
            "Every content comes at every position", "A content comes at a position",
        )  # fmt: skip
    if has_conditions and len(positions) > 1:
        values = _tally(shows.condition, shows.position, (len(conditions), len(positions)))
        yield Count(
            "condition", "position", "Conditions at positions", conditions, positions, values, *_expected(values),
            "Every condition comes at every position", "A condition comes at a position",
        )  # fmt: skip
    if has_conditions and len(slots) > 1 and not shows.is_of_pairs:
        yield _in_one_trial(shows)
    if has_conditions and len(slots) == 1 and len(positions) > 1:
        yield _successors(shows)
    yield from _grouped(shows, blocks)
    if 1 < shows.lists <= MOST_NAMED and 1 < len(contents) <= MOST_NAMED:
        values = _tally(shows.content[first], shows.list[first], (len(contents), shows.lists))
        lists = tuple(str(n + 1) for n in range(shows.lists))
        yield Count(
            "content", "list", "Contents in lists", contents, lists, values, *_expected(values),
            "Every content comes in every list", "A content comes in a list",
        )  # fmt: skip


def stimuli_by_position(shows: Shows) -> Ints:
    """Return how often each stimulus comes at each position: counts by content, condition and position."""
    shape = (shows.present.size, shows.positions)
    stimulus = shows.content * len(shows.conditions) + shows.condition
    return _tally(stimulus, shows.position, shape)[shows.present.ravel()]


def _tally(rows: Ints, columns: Ints, shape: tuple[int, int]) -> Ints:
    return np.bincount(rows * shape[1] + columns, minlength=shape[0] * shape[1]).reshape(shape)


def _expected(values: Ints) -> tuple[Mask, Floats]:
    """Return all cells, and the expected count of each from its row and column."""
    whole = max(1, int(values.sum()))
    even = values.sum(axis=1, keepdims=True) * values.sum(axis=0, keepdims=True) / whole
    return np.ones_like(values, dtype=np.bool_), np.asarray(even, dtype=np.float64)


def _in_every_trial(shows: Shows) -> Mask:
    """Return the conditions that are in every trial."""
    trials = int(shows.first.sum())
    return np.asarray(np.bincount(shows.condition, minlength=len(shows.conditions)) == trials, dtype=np.bool_)


def _cells(shows: Shows) -> Count:
    """Return how often each stimulus is shown; even within a content, but for conditions that are in every trial."""
    values = _tally(shows.content, shows.condition, shows.present.shape)
    chosen = shows.present & ~_in_every_trial(shows)
    means = np.where(chosen, values, 0).sum(axis=1) / np.maximum(1, chosen.sum(axis=1))
    return Count(
        "content", "condition", "Contents and conditions", shows.contents, shows.conditions, values, shows.present,
        np.where(chosen, means[:, None], values), "Every content is shown under every condition",
        "A content is shown under a condition",
    )  # fmt: skip


def _ordered(shows: Shows) -> Count:
    """Return which condition comes first and which second; a pair is even where both orders come equally often."""
    first = shows.first
    size = len(shows.conditions)
    values = _tally(shows.condition[first], shows.condition[~first], (size, size))
    both = (values + values.T) / 2
    return Count(
        "first", "second", "First and second", shows.conditions, shows.conditions, values, both > 0, both,
        "Every pair comes in both orders", "A pair comes in an order",
    )  # fmt: skip


def _in_one_trial(shows: Shows) -> Count:
    size = len(shows.conditions)
    there = np.zeros((int(shows.trial.max()) + 1, size), dtype=np.float64)
    there[shows.trial, shows.condition] = 1
    values = (there.T @ there).astype(np.int64)
    # What is in every trial is with each other one as often as that one is there.
    always = _in_every_trial(shows)
    chosen = ~(always[:, None] | always[None, :] | np.eye(size, dtype=np.bool_))
    even = np.where(chosen, values[chosen].mean() if chosen.any() else 0.0, values)
    counted = ~np.eye(size, dtype=np.bool_)
    np.fill_diagonal(values, 0)
    return Count(
        "condition", "other condition", "Conditions together in a trial", shows.conditions, shows.conditions, values,
        counted, even, "Every two conditions are together in a trial", "Two conditions are together in a trial",
    )  # fmt: skip


def _successors(shows: Shows) -> Count:
    size = len(shows.conditions)
    follows = (shows.list[1:] == shows.list[:-1]) & (shows.position[1:] == shows.position[:-1] + 1)
    values = _tally(shows.condition[1:][follows], shows.condition[:-1][follows], (size, size))
    counted = ~np.eye(size, dtype=np.bool_) | np.broadcast_to(np.diag(values).any(), (size, size))
    even = np.where(counted, values[counted].mean() if counted.any() else 0.0, 0.0)
    return Count(
        "condition", "after", "Condition after condition", shows.conditions, shows.conditions, values, counted, even,
        "Every condition comes right after every other", "A condition comes right after another",
    )  # fmt: skip


def _grouped(shows: Shows, blocks: Sequence[str]) -> Iterator[Count]:
    """Yield groups of participants and blocks of trials, where there are any."""
    if len(shows.group_names) > 1:
        shape = (len(shows.group_names), len(shows.conditions))
        values = _tally(shows.groups[shows.list], shows.condition, shape)
        yield Count(
            "group", "condition", "Groups and conditions", shows.group_names, shows.conditions, values,
            *_expected(values), "Every group meets every condition", "A group meets a condition",
        )  # fmt: skip
    names = tuple(dict.fromkeys(block for block in blocks if block))
    if len(names) > 1:
        cells = np.array([names.index(block) if block else -1 for block in blocks], dtype=np.int64)
        of = cells[shows.content * len(shows.conditions) + shows.condition]
        kept = shows.first & (of >= 0)
        values = _tally(of[kept], shows.position[kept], (len(names), shows.positions))
        positions = tuple(str(n + 1) for n in range(shows.positions))
        yield Count(
            "block", "position", "Blocks at positions", names, positions, values, *_expected(values),
            "Every block comes at every position", "A block comes at a position",
        )  # fmt: skip
