"""Plans of pairs: every pair equally often, both orders equally often, and slots with a name stay where they are."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beholder.methods import load_study
from beholder.methods.acr import Acr
from beholder.methods.contract import Method
from beholder.methods.pairs import pair_units, reference_units
from beholder.planning.balance import balance, balance_table, ratings_per_stimulus, ratings_range
from beholder.planning.builder import make_plan
from beholder.planning.model import Plan
from beholder.stimuli.catalogue import Catalogue
from beholder.study.model import Study
from support.pair_methods import board, compare, degrade, match, shown
from support.plans import assert_promises, make_catalogue, make_study, problems_of


@st.composite
def comparisons(draw: st.DrawFn, complete: bool = True) -> tuple[Study, Catalogue]:
    conditions, contents = draw(st.integers(2, 5)), draw(st.integers(2, 6))
    cells = [(i, j) for i in range(1, contents) for j in range(conditions)]
    missing = frozenset() if complete else draw(st.frozensets(st.sampled_from(cells), max_size=len(cells) // 3))
    catalogue = make_catalogue(contents, conditions, missing)
    star = draw(st.sampled_from(["all", {"star": f"condition{draw(st.integers(0, conditions - 1))}"}]))
    rule = draw(st.sampled_from(["once", "apart", "free"]))
    units = Counter(unit.content for unit in pair_units(make_study(pairs=star), catalogue))
    whole = sum(units.values())
    if rule == "once":
        most = len(units)
    elif rule == "free":
        most = whole
    else:
        most = max(n for n in range(1, whole + 1) if sum(min(c, -(-n // 2)) for c in units.values()) >= n)
    if rule == "apart" and len(units) == 1:
        most = 1
    return make_study(
        participants=draw(st.integers(1, 40)),
        trials=draw(st.integers(1, most)),
        pairs=star,
        contents=rule,
        seed=draw(st.integers(0, 5)),
    ), catalogue


@settings(max_examples=50, deadline=None)
@given(comparisons())
def test_every_promise_holds_where_a_trial_is_a_pair(case: tuple[Study, Catalogue]) -> None:
    study, catalogue = case
    plan = make_plan(study, catalogue, compare)
    assert_promises(plan, catalogue)
    promised = [row.count for row in balance(plan, catalogue) if row.promised is not None]
    assert promised == [
        "order x pair", "order x pair of stimuli", "order x list", "pair totals", "content totals",
        "content x position", "pairs within a content", "content x pair",
    ]  # fmt: skip
    assert_rules_of_a_list(plan, study, catalogue)


@settings(max_examples=50, deadline=None)
@given(comparisons(complete=False))
def test_missing_stimuli_leave_the_other_pairs_even(case: tuple[Study, Catalogue]) -> None:
    study, catalogue = case
    plan = make_plan(study, catalogue, compare)
    assert_promises(plan, catalogue)
    assert_rules_of_a_list(plan, study, catalogue)


def assert_rules_of_a_list(plan: Plan, study: Study, catalogue: Catalogue) -> None:
    units = {frozenset(unit.stimuli) for unit in pair_units(study, catalogue)}
    for planned in plan.lists:
        pairs = [frozenset(shown(trial)) for trial in planned.trials]
        assert len(pairs) == study.design.trials
        assert len(pairs) == len(set(pairs)), "a pair comes twice in a list"
        assert set(pairs) <= units
        order = [trial.content for trial in planned.trials]
        if study.design.contents == "once":
            assert len(order) == len(set(order))
        if study.design.contents == "apart":
            assert all(one != two for one, two in pairwise(order))
        assert all(trial.together for trial in planned.trials)


@settings(max_examples=30, deadline=None)
@given(comparisons())
def test_both_orders_are_equally_frequent_for_each_pair_and_in_each_list(case: tuple[Study, Catalogue]) -> None:
    study, catalogue = case
    plan = make_plan(study, catalogue, compare)
    place = {stimulus.id: catalogue.conditions.index(stimulus.condition) for stimulus in catalogue.stimuli}
    excess: Counter[object] = Counter()
    for planned in plan.lists:
        for trial in planned.trials:
            one, two = shown(trial)
            sign = 1 if place[one] < place[two] else -1
            pair = frozenset((catalogue.by_id[one].condition, catalogue.by_id[two].condition))
            for group in (planned.number, frozenset((one, two)), pair):
                excess[group] += sign
    assert all(abs(value) <= 1 for value in excess.values())


def test_an_order_that_is_fixed_has_the_earlier_condition_first() -> None:
    catalogue = make_catalogue(4, 3)
    plan = make_plan(make_study(participants=7, trials=6, both_orders=False), catalogue, compare)
    for planned in plan.lists:
        for trial in planned.trials:
            one, two = (catalogue.conditions.index(catalogue.by_id[s].condition) for s in shown(trial))
            assert one < two
    assert not [row for row in balance(plan, catalogue) if row.count.startswith("order")]
    assert_promises(plan, catalogue)


def test_a_star_compares_everything_with_one_condition() -> None:
    catalogue = make_catalogue(3, 4)
    plan = make_plan(make_study(participants=6, pairs={"star": "condition2"}), catalogue, compare)
    trials = [trial for planned in plan.lists for trial in planned.trials]
    assert len({frozenset(shown(trial)) for trial in trials}) == 9
    assert all(any(s.endswith("condition2") for s in shown(trial)) for trial in trials)


def test_the_two_get_letters_and_what_has_a_name_stays_last() -> None:
    plan = make_plan(make_study(participants=20, trials=6), make_catalogue(3, 3), match)
    first = Counter[bool]()
    for planned in plan.lists:
        for trial in planned.trials:
            assert [slot.id for slot in trial.slots] == ["s1", "s2", "s3"]
            assert [slot.label for slot in trial.slots] == ["A", "B", "x"]
            assert trial.slots[2].stimulus == trial.draws["same_as"]
            assert trial.slots[2].colour is None
            assert trial.slots[0].colour != trial.slots[1].colour
            first[shown(trial)[0] < shown(trial)[1]] += 1
    assert first[True] == first[False] == 60


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


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 30), st.integers(2, 5), st.integers(3, 5))
def test_what_is_always_shown_is_balanced_over_slots_beside_a_reference_in_front(
    participants: int, contents: int, per_trial: int
) -> None:
    catalogue = make_catalogue(contents, 5, roles={0: "reference"})
    study = make_study(participants=participants, per_trial=per_trial, contents="once")
    plan = make_plan(study, catalogue, board)
    assert_promises(plan, catalogue)
    for planned in plan.lists:
        for trial in planned.trials:
            assert [slot.label for slot in trial.slots] == ["reference", *"ABCDE"[:per_trial]]
            assert trial.slots[0][2:] == ("reference", "reference", False, None)
            conditions = [catalogue.by_id[slot.stimulus].condition for slot in trial.slots[1:]]
            assert len(set(conditions)) == per_trial
            assert {"condition0", "condition2"} <= set(conditions)
            assert [slot.role for slot in trial.slots].count("hidden_reference") == 1


def test_conditions_that_the_method_always_shows_join_those_of_the_study() -> None:
    catalogue = make_catalogue(3, 5, roles={0: "reference"})
    study = make_study(per_trial=4, always=["condition4", "condition0"], contents="once")
    plan = make_plan(study, catalogue, board)
    for trial in plan.lists[0].trials:
        assert {catalogue.by_id[s].condition for s in shown(trial)} > {"condition0", "condition2", "condition4"}
    study = make_study(per_trial=2, always=["condition4"], contents="once")
    assert problems_of(study, catalogue, board) == (
        "study.yaml  design.per_trial is 2, but 3 conditions are in every trial. Allowed: 4 to 5."
    )


def test_a_condition_that_the_method_always_shows_must_be_everywhere() -> None:
    catalogue = make_catalogue(2, 4, frozenset({(1, 2)}), roles={0: "reference"})
    assert problems_of(make_study(per_trial=3), catalogue, board) == (
        "study.yaml  method parallel puts condition2 into every trial, but content content1 has none. "
        "Add the file, or leave content1 out."
    )
    assert problems_of(make_study(per_trial=2), make_catalogue(2, 2, roles={0: "reference"}), board) == (
        "study.yaml  method parallel names condition2, which is no condition. Allowed: condition0, condition1. "
        "Did you mean condition1?"
    )
    catalogue = make_catalogue(2, 4, roles={0: "reference"})
    assert problems_of(make_study(trials=3, per_trial=3), catalogue, board) == (
        "study.yaml  design.trials is 3, but there are 2 contents and with conditions that are in every trial each "
        "may come once. Allowed: 1 to 2. Add contents: no stimulus comes twice in a list."
    )


def test_more_trials_than_pairs_is_an_error() -> None:
    assert problems_of(make_study(trials=7), make_catalogue(2, 3), compare) == (
        "study.yaml  design.trials is 7, but there are 6 pairs of 2 contents, and none may come twice in a list. "
        "Allowed: 1 to 6. Add stimuli."
    )


def test_one_condition_has_nothing_to_be_compared_with() -> None:
    assert problems_of(make_study(), make_catalogue(2, 1), compare) == (
        "study.yaml  stimuli hold nothing to rate. Add stimuli of the conditions under test."
    )


def test_a_star_that_is_no_condition_is_an_error() -> None:
    assert problems_of(make_study(pairs={"star": "condtion1"}), make_catalogue(2, 3), compare) == (
        "study.yaml  design.pairs.star is condtion1, which is no condition. "
        "Allowed: condition0, condition1, condition2. Did you mean condition1?"
    )


def test_pairs_do_not_fit_a_method_without_them() -> None:
    study = make_study(pairs={"star": "condition1"}, both_orders=False)
    assert problems_of(study, make_catalogue(2, 3), cast("Method", Acr())).splitlines() == [
        "study.yaml  design.pairs does not fit acr, which makes its own trials. Allowed: all. Leave it out.",
        "study.yaml  design.both_orders does not fit acr, where no two stand in either order. Allowed: true. "
        "Leave it out.",
    ]


WRONG = {
    "pairs: some": "design.pairs is some. Allowed: all, sparse, {star: condition}, {sparse: 2 to 100}, or a CSV file.",
    "pairs: {sparse: 1}": "design.pairs is a map. "
    "Allowed: all, sparse, {star: condition}, {sparse: 2 to 100}, or a CSV file.",
    "pairs: {star: naturel}": "design.pairs.star is naturel, which is not among the conditions. "
    "Allowed: natural or full. Did you mean natural?",
    "both_orders: no": "design.both_orders is no. Allowed: true or false. Write false.",
}


@pytest.mark.parametrize("written", WRONG)
def test_what_a_study_says_wrongly_about_pairs_is_told_with_its_line(tmp_path: Path, written: str) -> None:
    lines = ["beholder: 1", "name: t", "title: T", "method: acr", "stimuli: s", "conditions: [natural, full]"]
    (tmp_path / "study.yaml").write_text("\n".join([*lines, f"design: {{{written}}}"]), "utf-8")
    with pytest.raises(Exception, match=re.escape(f"study.yaml:7  {WRONG[written]}")):
        load_study(tmp_path)


def test_units_are_pairs_in_the_order_of_the_study_and_of_these_roles_only() -> None:
    catalogue = make_catalogue(1, 3, roles={0: "reference"})
    study = make_study()
    assert [unit.stimuli for unit in pair_units(study, catalogue)] == [
        ("content0-condition0", "content0-condition1"),
        ("content0-condition0", "content0-condition2"),
        ("content0-condition1", "content0-condition2"),
    ]
    assert len(pair_units(study, catalogue, ("test", "anchor"))) == 1
    assert [unit.stimuli for unit in reference_units(catalogue)] == [
        ("content0-condition0", "content0-condition1"),
        ("content0-condition0", "content0-condition2"),
    ]
    assert reference_units(make_catalogue(1, 3)) == ()


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


def test_the_same_seed_gives_the_same_plan_of_pairs() -> None:
    catalogue = make_catalogue(5, 4)
    one, two, other = (make_plan(make_study(participants=9, trials=7, seed=s), catalogue, match) for s in (3, 3, 4))
    assert one == two
    assert one.lists != other.lists
