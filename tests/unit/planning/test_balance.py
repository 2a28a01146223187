"""The balance of a plan: what it promises and what it reports."""

from __future__ import annotations

from beholder.methods import find
from beholder.planning.balance import balance, balance_table, ratings_per_stimulus, ratings_range
from beholder.planning.builder import make_plan
from support.companion_plans import make_referenced, with_reference
from support.pair_methods import compare
from support.plans import make_catalogue, make_study, parallel


def test_the_balance_reports_what_was_promised_and_what_was_not() -> None:
    catalogue = make_catalogue(4, 3)
    plan = make_plan(
        make_study("parallel", participants=6, trials=4, per_trial=2, contents="once"), catalogue, parallel
    )
    table = balance_table(balance(plan, catalogue))
    assert table[0] == ["count", "cells", "least", "most", "difference", "promised"]
    assert table[1] == ["condition totals", "3", "16", "16", "0", "at most 1"]
    assert table[2] == ["content totals", "4", "6", "6", "0", "at most 1"]
    assert [row[0] for row in table[3:]] == [
        "condition x slot",
        "content x position",
        "conditions within a content",
        "content x condition",
        "ratings per stimulus",
        "stimulus x position",
        "stimulus x slot",
        "condition x slot x position",
        "conditions within a list",
        "conditions together in a trial",
        "content after content",
        "condition totals of lists 1 to 3",
        "content totals of lists 1 to 3",
    ]


def test_ratings_per_stimulus_count_every_finished_list_once() -> None:
    plan = make_plan(make_study("parallel", participants=6, trials=4, contents="once"), make_catalogue(4, 3), parallel)
    assert set(ratings_per_stimulus(plan).values()) == {6}
    assert len(ratings_per_stimulus(plan)) == 12


def test_the_balance_tells_references_from_tests() -> None:
    catalogue = make_referenced(6, 3)
    plan = make_plan(make_study(participants=12, trials=9), catalogue, with_reference)
    table = balance_table(balance(plan, catalogue))
    assert table[1:5] == [
        ["condition totals", "3", "24", "24", "0", "at most 1"],
        ["reference totals", "6", "6", "6", "0", "at most 1"],
        ["content x position", "54", "2", "2", "0", "at most 1"],
        ["conditions within a content", "18", "4", "4", "0", "at most 1"],
    ]
    assert ratings_range(plan) == (4, 6)


def test_the_balance_of_pairs_reads_well() -> None:
    catalogue = make_catalogue(4, 3)
    table = balance_table(balance(make_plan(make_study(participants=8, trials=6), catalogue, compare), catalogue))
    assert table[1] == ["order x pair", "6", "8", "8", "0", "at most 1"]
    assert [row[0] for row in table[9:]] == [
        "comparisons per stimulus",
        "condition totals",
        "condition x slot",
        "stimulus x slot",
        "pair of stimuli x position",
        "pairs within a list",
        "content after content",
        "pair after pair",
        "pair totals of lists 1 to 4",
        "content totals of lists 1 to 4",
    ]


def test_where_one_of_a_pair_is_always_first_nothing_is_told_of_order() -> None:
    catalogue = make_catalogue(4, 3)
    study = make_study("pair", participants=8, trials=6, both_orders=False)
    plan = make_plan(study, catalogue, find("pair"))
    assert all(planned.slots[0].stimulus < planned.slots[1].stimulus for one in plan.lists for planned in one.rated)
    assert not [row.count for row in balance(plan, catalogue) if row.count.startswith("order ")]
