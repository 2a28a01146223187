"""Counts of a plan: stimuli that are not rated, or have a labelled place, are not counted."""

from __future__ import annotations

from beholder.planning.balance import balance, ratings_per_stimulus, ratings_range
from beholder.planning.builder import make_plan
from support.pair_methods import degrade, match, shown
from support.plans import assert_promises, make_catalogue, make_study


def test_a_copy_that_is_not_rated_is_not_counted() -> None:
    catalogue = make_catalogue(3, 3)
    plan = make_plan(make_study(participants=20, trials=6), catalogue, match)
    assert_promises(plan, catalogue)
    assert sum(ratings_per_stimulus(plan).values()) == 2 * 20 * 6
    assert ratings_range(plan) == (26, 27)


def test_a_reference_in_front_stays_there_and_is_not_counted() -> None:
    catalogue = make_catalogue(4, 3, roles={1: "reference"})
    plan = make_plan(make_study(participants=8, trials=8), catalogue, degrade)
    for planned in plan.lists:
        for trial in planned.trials:
            assert [(slot.id, slot.label, slot.colour) for slot in trial.slots] == [
                ("s1", "reference", None),
                ("s2", None, None),
            ]
            assert shown(trial)[0].endswith("condition1")
    assert_promises(plan, catalogue)
    rows = {row.count: row for row in balance(plan, catalogue)}
    assert (rows["condition totals"].cells, rows["condition totals"].least) == (2, 32)
    assert ratings_range(plan) == (8, 8)
