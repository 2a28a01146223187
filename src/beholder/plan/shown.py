"""What a plan shows, as arrays to count in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from beholder.methods.contract import Slot, Trial, Units
from beholder.plan.flow import Ints, Mask
from beholder.plan.model import CHECKING, LETTERS, Plan, PlannedList
from beholder.stimuli.catalogue import Catalogue


def free_slots(trial: Trial) -> list[Slot]:
    """Return the slots that were dealt, without those that the method put in a place with a name."""
    return [slot for slot in trial.slots if slot.label is None or slot.label in LETTERS]


def _dealt_slots(trial: Trial) -> list[tuple[int, Slot]]:
    """Return the slots that were dealt and are rated, each with its place among all that were dealt."""
    return [(place, slot) for place, slot in enumerate(free_slots(trial)) if slot.role not in CHECKING]


def first_visits(planned: PlannedList) -> Iterator[tuple[int, Trial]]:
    """Yield position and trial, from 0, of everything that is dealt; one that comes for each question comes once.

    Positions are those among what is rated.
    """
    seen: set[frozenset[str]] = set()
    for position, trial in enumerate(planned.rated):
        stimuli = frozenset(slot.stimulus for slot in trial.slots)
        if stimuli not in seen:
            seen.add(stimuli)
            yield position, trial


def dealt_stimuli(plan: Plan) -> frozenset[str]:
    """Return the stimuli that can be dealt, companions among them, without those that only stand in named places."""
    trials = [trial for planned in plan.lists for trial in planned.rated]
    free = frozenset(slot.stimulus for trial in trials for _, slot in _dealt_slots(trial))
    if plan.units is None:
        return free
    shown = frozenset(slot.stimulus for trial in trials for slot in trial.slots if slot.role not in CHECKING)
    return frozenset(stimulus for unit in plan.units.items for stimulus in unit.stimuli) - (shown - free)


@dataclass(frozen=True)
class Shown:
    """Every dealt trial, and in it every item: a condition in its slot, or the pair of conditions of the trial.

    `list_of`, `position_of`, `content_of` are by trial; `trial`, `slot`, `column` by item.
    """

    contents: int
    columns: int
    lists: int
    list_of: Ints
    position_of: Ints
    content_of: Ints
    trial: Ints
    slot: Ints
    column: Ints
    present: Mask
    """Which content has which column."""
    is_companion: Mask
    """Which trial shows what goes with others, and is not dealt by itself."""
    follows: Ints
    """How often each content comes right after each other one."""

    @cached_property
    def content(self) -> Ints:
        return self.content_of[self.trial]

    @cached_property
    def list(self) -> Ints:
        return self.list_of[self.trial]

    @cached_property
    def position(self) -> Ints:
        return self.position_of[self.trial]

    @cached_property
    def positions(self) -> int:
        return int(self.position_of.max()) + 1

    @cached_property
    def slots(self) -> int:
        return int(self.slot.max()) + 1

    @cached_property
    def always(self) -> Mask:
        """The columns that are in every trial; none when that holds for all, as then nothing was chosen."""
        there = self.present.any(axis=0)
        everywhere = np.bincount(self.column, minlength=self.columns) == len(self.list_of)
        return np.asarray(everywhere & bool(self.slots > 1 and (there & ~everywhere).any()), dtype=np.bool_)

    @cached_property
    def chosen(self) -> Mask:
        """The columns that are dealt."""
        return np.asarray(self.present.any(axis=0) & ~self.always, dtype=np.bool_)


@dataclass(frozen=True)
class Ordered:
    """A plan of pairs: by trial, which two stimuli, of which two conditions, and whether the earlier comes second."""

    unit: Ints
    is_turned: Mask
    first: Ints
    second: Ints


def is_of_pairs(plan: Plan) -> bool:
    """Return whether two stimuli are compared in each trial."""
    of_pairs = plan.units is not None and plan.units.kind == "pair"
    return of_pairs and len(free_slots(plan.lists[0].trials[0])) == 2


def read_shown(plan: Plan, catalogue: Catalogue) -> Shown:
    """Return what a plan shows, in conditions."""
    conditions = {condition: number for number, condition in enumerate(catalogue.conditions)}
    # What is only practised on may have conditions of its own.
    column = {stimulus.id: conditions[stimulus.condition] for stimulus in catalogue.by_cell.values()}
    dealt = dealt_stimuli(plan) - _companions(plan)
    cells = [(s.content, conditions[s.condition]) for s in catalogue.by_cell.values() if s.id in dealt]
    slots = [[(place, column[slot.stimulus]) for place, slot in row] for row in _slots(plan)]
    return _shown(plan, catalogue, cells, slots, len(conditions))


def read_pairs(plan: Plan, dealt: Units, catalogue: Catalogue) -> tuple[Shown, Ordered]:
    """Return what a plan of pairs shows, in pairs of conditions, and which comes first."""
    place = {condition: number for number, condition in enumerate(catalogue.conditions)}
    number = {stimulus.id: place[stimulus.condition] for stimulus in catalogue.by_cell.values()}
    units = {frozenset(unit.stimuli): n for n, unit in enumerate(dealt.items)}
    kinds = [tuple(sorted(number[stimulus] for stimulus in unit.stimuli)) for unit in dealt.items]
    columns = {kind: n for n, kind in enumerate(sorted(set(kinds)))}
    cells = [(unit.content, columns[kind]) for unit, kind in zip(dealt.items, kinds, strict=True)]
    slots = [[slot for _, slot in row] for row in _slots(plan)]
    unit = np.array([units[frozenset(slot.stimulus for slot in row)] for row in slots], dtype=np.int64)
    shown = _shown(plan, catalogue, cells, [[(0, columns[kinds[n]])] for n in unit.tolist()], len(columns))
    first, second = (np.array([number[row[n].stimulus] for row in slots], dtype=np.int64) for n in (0, 1))
    starts = np.array([dealt.items[n].stimuli[0] != row[0].stimulus for n, row in zip(unit, slots, strict=True)])
    return shown, Ordered(unit, starts, first, second)


def _slots(plan: Plan) -> list[list[tuple[int, Slot]]]:
    return [_dealt_slots(trial) for planned in plan.lists for _, trial in first_visits(planned)]


def _companions(plan: Plan) -> frozenset[str]:
    beside: Mapping[str, tuple[str, ...]] = plan.units.companions if plan.units else {}
    return frozenset(stimulus for stimuli in beside.values() for stimulus in stimuli)


def _shown(
    plan: Plan, catalogue: Catalogue, cells: list[tuple[str, int]], slots: list[list[tuple[int, int]]], columns: int
) -> Shown:
    names = {content: True for content, _ in cells}
    contents = {content: n for n, content in enumerate(c for c in catalogue.contents if c in names)}
    visits = [
        (planned.number - 1, position, trial) for planned in plan.lists for position, trial in first_visits(planned)
    ]
    companions = _companions(plan)
    is_companion = np.array([trial.slots[0].stimulus in companions for _, _, trial in visits], dtype=np.bool_)
    items = [(n, place, column) for n, row in enumerate(slots) if not is_companion[n] for place, column in row]
    trial, slot, column = np.array(items, dtype=np.int64).reshape(-1, 3).T
    present = np.zeros((len(contents), columns), dtype=np.bool_)
    for content, cell in cells:
        present[contents[content], cell] = True
    follows = np.zeros((len(contents), len(contents)), dtype=np.int64)
    for planned in plan.lists:
        order = [contents[entry.content] for entry in planned.rated]
        np.add.at(follows, (order[:-1], order[1:]), 1)
    return Shown(
        contents=len(contents),
        columns=columns,
        lists=len(plan.lists),
        list_of=np.array([visit[0] for visit in visits], dtype=np.int64),
        position_of=np.array([visit[1] for visit in visits], dtype=np.int64),
        content_of=np.array([contents[visit[2].content] for visit in visits], dtype=np.int64),
        trial=trial,
        slot=slot,
        column=column,
        present=present,
        is_companion=is_companion,
        follows=follows,
    )
