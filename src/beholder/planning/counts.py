"""What a plan shows, as arrays to count in."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np

from beholder.methods.contract import Slot, Trial, Units
from beholder.planning.even_rounding import Ints, Mask
from beholder.planning.model import LETTERS, Plan, PlannedList
from beholder.stimuli.catalogue import Catalogue
from beholder.types import CHECK_ROLES


def free_slots(trial: Trial) -> list[Slot]:
    """Return the slots that were allocated, without labelled ones of the method."""
    return [slot for slot in trial.slots if slot.label is None or slot.label in LETTERS]


def compared_slots(trial: Trial) -> list[Slot]:
    """Return the slots of the two that a trial compares, without a third stimulus; one of the two may be labelled."""
    slots = free_slots(trial)
    return slots if len(slots) > 1 else list(trial.slots)


def is_of_pairs(plan: Plan) -> bool:
    """Return whether two stimuli are compared in each trial."""
    of_pairs = plan.units is not None and plan.units.kind == "pair"
    return of_pairs and len(free_slots(plan.lists[0].trials[0])) == 2


@dataclass(frozen=True)
class PlannedItems:
    """Every allocated trial, and its items: a condition in its slot, or the pair of conditions of the trial.

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
    """Which trials show a companion, which is not allocated on its own."""
    follows: Ints
    """How often each content follows each other one directly."""

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
        """The columns that are in every trial; none if all are, as then nothing was chosen."""
        present = self.present.any(axis=0)
        everywhere = np.bincount(self.column, minlength=self.columns) == len(self.list_of)
        return np.asarray(everywhere & bool(self.slots > 1 and (present & ~everywhere).any()), dtype=np.bool_)

    @cached_property
    def chosen(self) -> Mask:
        """The columns that are allocated."""
        return np.asarray(self.present.any(axis=0) & ~self.always, dtype=np.bool_)


@dataclass(frozen=True)
class PairOrders:
    """A plan of pairs: by trial, the two stimuli, their conditions, and whether the earlier one comes second."""

    unit: Ints
    is_turned: Mask
    first: Ints
    second: Ints


class _Items(NamedTuple):
    """The trial, slot and column of each counted item."""

    trial: Ints
    slot: Ints
    column: Ints


def read_conditions(plan: Plan, catalogue: Catalogue) -> PlannedItems:
    """Return the items of a plan, in conditions."""
    occurrences = stimulus_occurrences(plan)
    conditions = {condition: number for number, condition in enumerate(catalogue.conditions)}
    # Training stimuli may have further conditions.
    column = {stimulus.id: conditions[stimulus.condition] for stimulus in catalogue.by_cell.values()}
    allocated = allocated_stimuli(plan, occurrences) - _companions(plan)
    cells = [(s.content, conditions[s.condition]) for s in catalogue.by_cell.values() if s.id in allocated]
    items = _Items(occurrences.trial, occurrences.places, _codes(occurrences.stimuli, column))
    return _planned_items(plan, catalogue, occurrences, cells, items, len(conditions))


def read_pairs(plan: Plan, units_of_plan: Units, catalogue: Catalogue) -> tuple[PlannedItems, PairOrders]:
    """Return the items of a plan of pairs, in pairs of conditions, and their orders."""
    occurrences = stimulus_occurrences(plan)
    place = {condition: number for number, condition in enumerate(catalogue.conditions)}
    number = {one.id: place[one.condition] for one in catalogue.stimuli if one.condition in place}
    kinds = [tuple(sorted(number[stimulus] for stimulus in unit.stimuli)) for unit in units_of_plan.items]
    columns = {kind: n for n, kind in enumerate(sorted(set(kinds)))}
    cells = [(unit.content, columns[kind]) for unit, kind in zip(units_of_plan.items, kinds, strict=True)]
    units = {frozenset(unit.stimuli): n for n, unit in enumerate(units_of_plan.items)}
    stimuli = occurrences.stimuli
    firsts = [stimuli[n] for n in occurrences.first.tolist()]
    seconds = [stimuli[n + 1] for n in occurrences.first.tolist()]
    pairs = [frozenset(pair) for pair in zip(firsts, seconds, strict=True)]
    unit = _codes(pairs, units)
    items = _Items(np.arange(len(unit)), np.zeros_like(unit), np.array([columns[kind] for kind in kinds])[unit])
    is_turned = np.array(
        [units_of_plan.items[n].stimuli[0] != first for n, first in zip(unit.tolist(), firsts, strict=True)]
    )
    shown = _planned_items(plan, catalogue, occurrences, cells, items, len(columns))
    return shown, PairOrders(unit, is_turned, _codes(firsts, number), _codes(seconds, number))


def _planned_items(
    plan: Plan,
    catalogue: Catalogue,
    occurrences: StimulusOccurrences,
    cells: Sequence[tuple[str, int]],
    items: _Items,
    columns: int,
) -> PlannedItems:
    names = {content for content, _ in cells}
    contents = {content: n for n, content in enumerate(c for c in catalogue.contents if c in names)}
    companions = _companions(plan)
    is_companion = np.array([trial.slots[0].stimulus in companions for trial in occurrences.trials], dtype=np.bool_)
    counted = ~is_companion[items.trial]
    present = np.zeros((len(contents), columns), dtype=np.bool_)
    for content, cell in cells:
        present[contents[content], cell] = True
    return PlannedItems(
        contents=len(contents),
        columns=columns,
        lists=len(plan.lists),
        list_of=occurrences.list_of,
        position_of=occurrences.position_of,
        content_of=_codes([trial.content for trial in occurrences.trials], contents),
        trial=items.trial[counted],
        slot=items.slot[counted],
        column=items.column[counted],
        present=present,
        is_companion=is_companion,
        follows=_follows(_codes(occurrences.order, contents), occurrences.order_of, len(contents)),
    )


K = TypeVar("K", bound=Hashable)


def _codes(names: Sequence[K], numbers: Mapping[K, int]) -> Ints:
    return np.fromiter(map(numbers.__getitem__, names), np.int64, len(names))


def _companions(plan: Plan) -> frozenset[str]:
    companions: Mapping[str, tuple[str, ...]] = plan.units.companions if plan.units else {}
    return frozenset(stimulus for stimuli in companions.values() for stimulus in stimuli)


def _follows(order: Ints, list_of: Ints, contents: int) -> Ints:
    """Return how often each content follows each other one directly."""
    after = list_of[1:] == list_of[:-1]
    steps = order[:-1][after] * contents + order[1:][after]
    return np.bincount(steps, minlength=contents * contents).reshape(contents, contents)


# Occurrences


@dataclass(frozen=True)
class StimulusOccurrences:
    """Every allocated trial and its stimuli, in order; a unit that is repeated for each question occurs once.

    `list_of`, `position_of`, `first` and `count` are by trial: where its stimuli begin, and how many they are;
    `stimuli` and `places` (among all allocated in the trial, from 0) are by stimulus.
    """

    trials: list[Trial]
    list_of: Ints
    position_of: Ints
    count: Ints
    stimuli: list[str]
    places: Ints
    named: frozenset[str]
    """Stimuli in labelled places."""
    order: list[str]
    """The contents of all rated trials, repetitions included, list after list."""
    order_of: Ints
    """The list of each of these."""

    @property
    def first(self) -> Ints:
        return np.cumsum(self.count) - self.count

    @property
    def trial(self) -> Ints:
        """The trial of each stimulus."""
        return np.repeat(np.arange(len(self.trials)), self.count)


def first_occurrences(planned: PlannedList) -> Iterator[tuple[int, Trial]]:
    """Yield position and trial of everything that is allocated, repetitions for further questions left out.

    Positions are among the rated trials, from 0.
    """
    return _first_occurrences(planned.rated)


def _first_occurrences(rated: tuple[Trial, ...]) -> Iterator[tuple[int, Trial]]:
    known: set[frozenset[str]] = set()
    for position, trial in enumerate(rated):
        stimuli = frozenset([slot.stimulus for slot in trial.slots])
        if stimuli not in known:
            known.add(stimuli)
            yield position, trial


def stimulus_occurrences(plan: Plan) -> StimulusOccurrences:
    """Return what is allocated in a plan, collected in one pass: a large plan has millions of slots."""
    trials: list[Trial] = []
    lists, positions, counts, places, order_of = [], [], [], [], []
    stimuli: list[str] = []
    order: list[str] = []
    named: set[str] = set()
    for number, planned in enumerate(plan.lists):
        rated = planned.rated
        order += [trial.content for trial in rated]
        order_of += [number] * len(rated)
        for position, trial in _first_occurrences(rated):
            place, before = 0, len(stimuli)
            for _, stimulus, role, label, _, _ in trial.slots:
                if label is not None and label not in LETTERS:
                    if role not in CHECK_ROLES:
                        named.add(stimulus)
                    continue
                if role not in CHECK_ROLES:
                    stimuli.append(stimulus)
                    places.append(place)
                place += 1
            trials.append(trial)
            lists.append(number)
            positions.append(position)
            counts.append(len(stimuli) - before)
    numbers = (np.array(column, dtype=np.int64) for column in (lists, positions, counts, places, order_of))
    list_of, position_of, count, place_of, row_of = numbers
    return StimulusOccurrences(trials, list_of, position_of, count, stimuli, place_of, frozenset(named), order, row_of)


def allocated_stimuli(plan: Plan, occurrences: StimulusOccurrences | None = None) -> frozenset[str]:
    """Return the stimuli that can be allocated, companions included, without those that only have labelled places."""
    occurrences = occurrences or stimulus_occurrences(plan)
    free = frozenset(occurrences.stimuli)
    if plan.units is None:
        return free
    return frozenset(stimulus for unit in plan.units.items for stimulus in unit.stimuli) - (occurrences.named - free)
