"""What cannot be planned is refused with its reason and a way out, every problem at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import cast

from hypothesis import given, settings
from hypothesis import strategies as st

from beholder.errors import Problem
from beholder.methods.acr import Acr
from beholder.methods.contract import Method, Units
from beholder.methods.parallel import Parallel
from beholder.planning.builder import make_plan
from beholder.stimuli.catalogue import Catalogue
from beholder.study.model import Study
from support.pair_methods import board, compare, shown
from support.plans import assert_promises, make_catalogue, make_study, parallel, problems_of


class Tuples(Acr):
    def units(self, study: Study, catalogue: Catalogue) -> Units:
        return Units("tuple", super().units(study, catalogue).items, 4, "slots")


class BothOrders(Acr):
    def units(self, study: Study, catalogue: Catalogue) -> Units:
        return Units("stimulus", super().units(study, catalogue).items, 1, "order")


class PagesWithCompanions(Parallel):
    def units(self, study: Study, catalogue: Catalogue) -> Units:
        return replace(super().units(study, catalogue), companions={"a": ("b",)})


class Wide(Parallel):
    def problems(self, study: Study, catalogue: Catalogue) -> Iterable[Problem]:
        return ()


class Nothing(Acr):
    def units(self, study: Study, catalogue: Catalogue) -> Units:
        return Units("stimulus", (), 1, "none")


def test_kinds_of_later_versions_are_refused_by_name() -> None:
    study, catalogue = make_study("acr"), make_catalogue(2, 2)
    expected = "study.yaml  method {} deals {}, not in this version. Allowed: contents, single stimuli and pairs."
    for method, name, what in (
        (Tuples(), "acr", "tuples"),
        (BothOrders(), "acr", "slots in both orders"),
        (PagesWithCompanions(), "parallel", "contents with companions"),
    ):
        assert problems_of(study, catalogue, cast("Method", method)) == expected.format(name, what)


def test_nothing_to_rate_is_an_error() -> None:
    message = "study.yaml  stimuli hold nothing to rate. Add stimuli of the conditions under test."
    assert problems_of(make_study("acr"), make_catalogue(2, 2), cast("Method", Nothing())) == message


def test_every_content_with_too_few_stimuli_is_named_at_once() -> None:
    catalogue = make_catalogue(3, 4, frozenset({(0, 1), (2, 0), (2, 3)}))
    assert problems_of(make_study("parallel", per_trial=4), catalogue, parallel).splitlines() == [
        "study.yaml  design.per_trial is 4, but content content0 has 3 stimuli and none under condition1. Allowed: 2. "
        "Add the missing files, or leave the content out.",
        "study.yaml  design.per_trial is 4, but content content2 has 2 stimuli and none under condition0, condition3. "
        "Allowed: 2. Add the missing files, or leave the content out.",
    ]
    assert problems_of(make_study("parallel"), catalogue, parallel).startswith(
        "study.yaml  design.per_trial is left out, which means all 4 conditions, but content content0 has 3 stimuli "
        "and none under condition1. "
    )


def test_conditions_in_always_must_exist_everywhere() -> None:
    study = make_study("parallel", per_trial=1, always=["condition1", "condtion2"])
    assert problems_of(study, make_catalogue(2, 3, frozenset({(1, 1)})), parallel).splitlines() == [
        "study.yaml  design.per_trial is 1, and parallel compares at least two. Allowed: 2 or more.",
        "study.yaml  design.always puts condition1 into every trial, but content content1 has none. "
        "Add the file, or leave content1 out.",
        "study.yaml  design.always names condtion2, which is no condition. "
        "Allowed: condition0, condition1, condition2. Did you mean condition2?",
        "study.yaml  design.per_trial is 1, but design.always puts 2 conditions into every trial. Allowed: 2.",
    ]


def test_more_slots_than_colours_is_an_error() -> None:
    assert problems_of(make_study("parallel"), make_catalogue(2, 13), cast("Method", Wide())) == (
        "study.yaml  design.per_trial is left out, which means all 13 conditions, and there are 12 colours to tell "
        "slots apart. Allowed: 2 to 12."
    )


def test_more_slots_than_conditions_is_an_error() -> None:
    assert problems_of(make_study("parallel", per_trial=9), make_catalogue(2, 4), parallel) == (
        "study.yaml  design.per_trial is 9, but there are 4 conditions to show. Allowed: 2 to 4."
    )


def test_more_conditions_in_every_trial_than_a_page_can_hold_is_an_error() -> None:
    study = make_study("parallel", per_trial=3, always=[f"condition{n}" for n in range(13)])
    assert problems_of(study, make_catalogue(2, 14), parallel) == (
        "study.yaml  design.per_trial is 3, but design.always puts 13 conditions into every trial. "
        "Leave 2 of them out: a page can hold 12."
    )


def test_a_page_that_holds_nothing_but_what_is_always_there_is_an_error() -> None:
    study = make_study("parallel", per_trial=2, always=["condition0", "condition3"])
    assert problems_of(study, make_catalogue(3, 9), parallel) == (
        "study.yaml  design.per_trial is 2, but design.always puts 2 conditions into every trial, and condition1, "
        "condition2, condition4, condition5 and 3 more would never be shown. Allowed: 3 to 9."
    )
    plan = make_plan(
        make_study("parallel", per_trial=2, always=["condition0", "condition1"]), make_catalogue(3, 2), parallel
    )
    assert {len(trial.slots) for planned in plan.lists for trial in planned.trials} == {2}


def test_a_star_compares_everything_with_one_condition() -> None:
    catalogue = make_catalogue(3, 4)
    plan = make_plan(make_study(participants=6, pairs={"star": "condition2"}), catalogue, compare)
    trials = [trial for planned in plan.lists for trial in planned.trials]
    assert len({frozenset(shown(trial)) for trial in trials}) == 9
    assert all(any(s.endswith("condition2") for s in shown(trial)) for trial in trials)


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


def test_a_star_that_is_no_condition_is_an_error() -> None:
    assert problems_of(make_study(pairs={"star": "condtion1"}), make_catalogue(2, 3), compare) == (
        "study.yaml  design.pairs.star is condtion1, which is no condition. "
        "Allowed: condition0, condition1, condition2. Did you mean condition1?"
    )
