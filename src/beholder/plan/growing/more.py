"""More lists by the same design: other draws, and of several those that go best with the lists that are there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import cycle, islice
from typing import Any

import numpy as np

from beholder.methods.contract import Method, Trial
from beholder.plan.bulk import no_collection
from beholder.plan.counting.visited import first_visits
from beholder.plan.groups import Group, groups_of
from beholder.plan.make import make_plan
from beholder.plan.model import PlannedList
from beholder.stimuli.catalogue import Catalogue
from beholder.study.model import Study

_TRIES, _MOST_TRIALS = 10, 20_000
"""How many draws are made of a small extension, and how many trials at most."""
Counts = Counter[tuple[object, ...]]


def more_lists(
    study: Study, catalogue: Catalogue, method: Method, there: Sequence[PlannedList], number: int
) -> list[PlannedList]:
    """Return lists for so many participants by the design of a study, numbered on from those that are there.

    Groups get their shares such that all stay as large as each other. A plan that was given is gone through again.
    """
    if study.design.plan is not None:
        again = islice(cycle([planned for planned in there if planned.added is None]), number)
        return [replace(planned, number=len(there) + n) for n, planned in enumerate(again, 1)]
    groups = groups_of(study, catalogue, method)
    chain = study.design.sessions_per_participant
    shares = _shares(groups, there, number, chain)
    with no_collection():
        best: tuple[float, list[list[PlannedList]]] | None = None
        for turn in range(_tries(there, number)):
            drawn = turn_of(len(there), turn)
            made = [_make(group, method, share, drawn) for group, share in zip(groups, shares, strict=True)]
            score = sum(_unevenness(group, there, lists) for group, lists in zip(groups, made, strict=True))
            if best is None or score < best[0]:
                best = score, made
    assert best is not None
    taken = [
        planned
        for start in range(0, max(map(len, best[1])), chain)
        for lists in sorted(best[1], key=lambda lists: -len(lists))
        for planned in lists[start : start + chain]
    ]
    return [replace(planned, number=len(there) + n) for n, planned in enumerate(taken, 1)]


def turn_of(lists: int, turn: int) -> int:
    """Return another number for each extension of a plan, by how many lists there were, and for each draw of it."""
    return int(np.random.SeedSequence([lists, turn]).generate_state(1)[0])


def _tries(there: Sequence[PlannedList], number: int) -> int:
    trials = number * max(1, len(there[0].entries))
    return max(1, min(_TRIES, _MOST_TRIALS // trials))


def _shares(groups: Sequence[Group], there: Sequence[PlannedList], number: int, chain: int) -> list[int]:
    """Return how many people each group gets: always the one that has fewest lists, those that make up not counted."""
    has = [sum(planned.group == group.levels and not planned.makes_up for planned in there) for group in groups]
    shares = [0] * len(groups)
    for _ in range(number):
        least = min(range(len(groups)), key=lambda place: has[place] + chain * shares[place])
        shares[least] += 1
    return shares


def _make(group: Group, method: Method, number: int, turn: int) -> list[PlannedList]:
    if not number:
        return []
    fresh: dict[str, Any] = {"participants": number, "votes": None, "between": {}}
    study = group.study.model_copy(update={"design": group.study.design.model_copy(update=fresh)})
    made = make_plan(study.redrawn(turn), group.catalogue, method)
    return [replace(planned, group=group.levels) for planned in made.lists]


def _unevenness(group: Group, there: Sequence[PlannedList], fresh: Sequence[PlannedList]) -> float:
    """Return how uneven everything that is promised is over all lists of a group: the sum of squared counts."""
    counts: Counts = Counter()
    for planned in (*(one for one in there if one.group == group.levels), *fresh):
        for position, trial in first_visits(planned):
            counts.update(_counted(position, trial, group.catalogue))
    return float(sum(count * count for count in counts.values()))


def _counted(position: int, trial: Trial, catalogue: Catalogue) -> Iterable[tuple[object, ...]]:
    yield "content", trial.content
    yield "position", trial.content, position
    for place, slot in enumerate(trial.slots):
        condition = catalogue.by_id[slot.stimulus].condition
        yield "stimulus", slot.stimulus
        yield "condition", condition
        yield "slot", condition, place
