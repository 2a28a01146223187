"""What is dealt in a plan, gathered in one pass: a large one has millions of slots."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from beholder.methods.contract import Trial
from beholder.plan.dealing.flow import Ints
from beholder.plan.model import CHECKING, LETTERS, Plan, PlannedList


@dataclass(frozen=True)
class Visited:
    """Every trial that is dealt, and in it every stimulus that is, in order; what comes for each question comes once.

    `list_of`, `position_of`, `first` and `count` are by trial: where its stimuli begin, and how many they are;
    `stimuli` and `places` (among all that were dealt in the trial, from 0) by stimulus.
    """

    trials: list[Trial]
    list_of: Ints
    position_of: Ints
    count: Ints
    stimuli: list[str]
    places: Ints
    named: frozenset[str]
    """What stands in a place with a name."""
    order: list[str]
    """The contents of all that is rated, also what comes once more, list after list."""
    order_of: Ints
    """The list of each of them."""

    @property
    def first(self) -> Ints:
        return np.cumsum(self.count) - self.count

    @property
    def trial(self) -> Ints:
        """The trial of each stimulus."""
        return np.repeat(np.arange(len(self.trials)), self.count)


def first_visits(planned: PlannedList) -> Iterator[tuple[int, Trial]]:
    """Yield position and trial, from 0, of everything that is dealt; one that comes for each question comes once.

    Positions are those among what is rated.
    """
    return _first_visits(planned.rated)


def visit(plan: Plan) -> Visited:
    """Return what is dealt in a plan."""
    trials: list[Trial] = []
    lists, positions, counts, places, order_of = [], [], [], [], []
    stimuli: list[str] = []
    order: list[str] = []
    named: set[str] = set()
    for number, planned in enumerate(plan.lists):
        rated = planned.rated
        order += [trial.content for trial in rated]
        order_of += [number] * len(rated)
        for position, trial in _first_visits(rated):
            place, before = 0, len(stimuli)
            for _, stimulus, role, label, _, _ in trial.slots:
                if label is not None and label not in LETTERS:
                    if role not in CHECKING:
                        named.add(stimulus)
                    continue
                if role not in CHECKING:
                    stimuli.append(stimulus)
                    places.append(place)
                place += 1
            trials.append(trial)
            lists.append(number)
            positions.append(position)
            counts.append(len(stimuli) - before)
    numbers = (np.array(column, dtype=np.int64) for column in (lists, positions, counts, places, order_of))
    list_of, position_of, count, place_of, row_of = numbers
    return Visited(trials, list_of, position_of, count, stimuli, place_of, frozenset(named), order, row_of)


def _first_visits(rated: tuple[Trial, ...]) -> Iterator[tuple[int, Trial]]:
    seen: set[frozenset[str]] = set()
    for position, trial in enumerate(rated):
        stimuli = frozenset([slot.stimulus for slot in trial.slots])
        if stimuli not in seen:
            seen.add(stimuli)
            yield position, trial
