"""How many lists give every stimulus, or every pair, as many ratings as the study requests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import ceil
from typing import TypeVar

import numpy as np

from beholder.errors import PlanError, Problem
from beholder.methods.contract import Trial, Units
from beholder.planning.capacity import content_capacity
from beholder.planning.contents import quotas
from beholder.planning.counts import compared_slots
from beholder.planning.grid import StimulusGrid
from beholder.planning.model import Plan
from beholder.study.design import Design
from beholder.types import CHECK_ROLES

MOST_LISTS = 100_000
"""The largest number of lists of a plan."""

T = TypeVar("T")


def lists_for(grid: StimulusGrid, design: Design, trials: int) -> int:
    """Return how many lists a plan has: for its participants, or for its votes.

    A content whose trials are as many as `n` votes of each of its columns need gives each of them `n`: within a content
    columns are even within one. Contents are even over all lists, or in proportion to their columns.
    """
    if design.votes is None:
        return design.participants * design.sessions_per_participant
    chain, columns = design.sessions_per_participant, grid.present.sum(axis=1)
    needed = -(-design.votes * columns // max(1, grid.free_per_trial)) if grid.free_per_trial else columns
    needed = np.maximum(needed, design.votes)
    if grid.kind == "content" or (columns == columns[0]).all():
        lists = -(-int(needed.max()) * len(grid.contents) // trials)
    else:
        capacity = content_capacity(grid, design)
        if design.contents == "apart":
            capacity = np.minimum(capacity, -(-trials // 2))
        quota = quotas(trials * chain, columns, np.minimum(capacity * chain, columns)) / chain
        lists = ceil(float((needed / quota).max()) - 1e-6)
    if lists > MOST_LISTS:
        raise PlanError(_too_many(design, trials, lists))
    return lists


def _too_many(design: Design, trials: int, lists: int) -> Problem:
    assert design.votes is not None
    most = design.votes * MOST_LISTS // lists
    what = f"is {design.votes}, which takes {lists} lists of {trials} trials, more than {MOST_LISTS}"
    return Problem("design.votes", what, f"1 to {most}" if most > 1 else "1", "Make design.trials larger.")


def search_list_count(votes: int, lists: int, make: Callable[[int], T], fewest: Callable[[T], int]) -> T:
    """Return the result of `make` for the smallest number of lists, from `lists` on, with enough ratings of everything.

    Checks take ratings and companions take places at random, so a plan is made, counted, and made again.
    """
    best, too_few = make(lists), lists - 1
    while (ratings := fewest(best)) < votes:
        too_few = lists
        # In proportion to the missing ratings of the stimulus with the fewest.
        lists += max(1, ceil(lists * (votes - ratings) / max(1, ratings)))
        if lists > MOST_LISTS:
            raise PlanError(Problem("design.votes", f"is {votes}, and {MOST_LISTS} lists do not give as many"))
        best = make(lists)
    while lists - too_few > max(1, lists // 100):
        middle = (lists + too_few) // 2
        attempt = make(middle)
        if fewest(attempt) >= votes:
            best, lists = attempt, middle
        else:
            too_few = middle
    return best


def votes_range(plan: Plan) -> tuple[int, int]:
    """Return the fewest and most ratings of a stimulus, or pair, in any group if every list is finished."""
    if plan.groups:
        least, most = zip(*map(votes_range, plan.groups), strict=True)
        return min(least), max(most)
    assert plan.units is not None, "a plan that was made knows its units"
    counts = _counts([planned.trials for planned in plan.common.lists], plan.units)
    return min(counts), max(counts)


def fewest_ratings(lists: Sequence[Sequence[Trial]], units: Units) -> int:
    """Return the number of ratings of the stimulus, or pair, with the fewest."""
    return min(_counts(lists, units))


def _counts(lists: Iterable[Sequence[Trial]], units: Units) -> list[int]:
    is_pair = units.kind == "pair"
    counts: dict[frozenset[str] | str, int] = {
        key: 0 for unit in units.items for key in ([frozenset(unit.stimuli)] if is_pair else unit.stimuli)
    }
    unrated: set[frozenset[str] | str] = set()
    for trials in lists:
        counted_here = set()
        for trial in trials:
            for key in rated_units(trial, is_pair=is_pair):
                if key in counts and key not in counted_here:
                    counts[key] += 1
                    counted_here.add(key)
            unrated.update(slot.stimulus for slot in trial.slots if not slot.rated)
    # Stimuli that are only shown for comparison are never rated.
    return [count for key, count in counts.items() if count or key not in unrated]


def rated_units(trial: Trial, *, is_pair: bool) -> Sequence[frozenset[str] | str]:
    """Return what is rated in a trial: its stimuli, or the compared two as one."""
    rated = [slot for slot in trial.slots if slot.rated and slot.role not in CHECK_ROLES]
    if is_pair:
        return [frozenset(slot.stimulus for slot in compared_slots(trial))] if rated else []
    return [slot.stimulus for slot in rated]
