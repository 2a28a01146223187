"""Every stimulus that is dealt in a plan, as arrays: in which list, at which position, in which slot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from beholder.plan.counting.shown import dealt_stimuli, is_of_pairs
from beholder.plan.counting.visited import visit
from beholder.plan.model import Plan
from beholder.stimuli.catalogue import Catalogue

Ints: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]


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
    """Return what a plan shows; stimuli that are there for a check alone are no part of it."""
    visited = visit(plan)
    dealt = frozenset(visited.stimuli).union(*(dealt_stimuli(part) for part in plan.groups or (plan,)))
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
