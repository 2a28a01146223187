"""How even one count of a plan is; and of several groups of participants, how even the least even one is."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from beholder.plan.groups import restricted
from beholder.plan.model import Plan
from beholder.stimuli.catalogue import Catalogue

_HALF = re.compile(r"of lists 1 to [0-9]+$")


@dataclass(frozen=True)
class Evenness:
    """One count: over how many cells, its least and most, the largest difference between two that should be even."""

    count: str
    cells: int
    least: int
    most: int
    difference: int
    promised: int | None


def group_counts(
    plan: Plan, catalogue: Catalogue, counts: Callable[[Plan, Catalogue], Sequence[Evenness]]
) -> tuple[Evenness, ...]:
    """Return the counts of a plan of several groups: a promise is one that is made to each of them."""
    found: dict[str, list[Evenness]] = {}
    for part in plan.groups:
        for row in counts(part, _catalogue_of(part, catalogue)):
            # Which lists are the first half is another number in each group.
            found.setdefault(_HALF.sub("of the first half of each group", row.count), []).append(row)
    rows = [_worst(count, some, len(plan.groups)) for count, some in found.items()]
    rows.append(_totals(plan))
    return tuple(sorted(rows, key=lambda row: row.promised is None))


def _worst(count: str, rows: Sequence[Evenness], groups: int) -> Evenness:
    promises = [row.promised for row in rows if row.promised is not None]
    return Evenness(
        count,
        sum(row.cells for row in rows),
        min(row.least for row in rows),
        max(row.most for row in rows),
        max(row.difference for row in rows),
        max(promises) if len(promises) == groups else None,
    )


def _totals(plan: Plan) -> Evenness:
    """Return how even groups are, within the lists of one person.

    Where they have other conditions a number of votes may take more lists in one.
    """
    sizes = [len(part.lists) for part in plan.groups]
    is_same = len({_stimuli(part) for part in plan.groups}) == 1
    promised = plan.design.sessions_per_participant if is_same and plan.design else None
    return Evenness("group totals", len(sizes), min(sizes), max(sizes), max(sizes) - min(sizes), promised)


def _stimuli(part: Plan) -> frozenset[str]:
    return frozenset(name for unit in part.units.items for name in unit.stimuli) if part.units else frozenset()


def _catalogue_of(part: Plan, catalogue: Catalogue) -> Catalogue:
    """Return the catalogue with the conditions that a group meets."""
    shown = {slot.stimulus for planned in part.lists for trial in planned.trials for slot in trial.slots}
    conditions = {catalogue.by_id[name].condition for name in shown | _stimuli(part)}
    return catalogue if conditions.issuperset(catalogue.conditions) else restricted(catalogue, conditions)
