"""What cannot be planned is refused with its reason and a way out, every problem at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import cast

import pytest

from beholder.errors import Problem
from beholder.methods.acr import Acr
from beholder.methods.contract import Generator, Method, Trial, Unit, Units
from beholder.methods.parallel import Parallel
from beholder.planning.builder import make_plan
from beholder.stimuli.catalogue import Catalogue
from beholder.study.model import Study
from support.plans import acr, make_catalogue, make_study, parallel, problems_of


class Tuples(Acr):
    def units(self, study: Study, catalogue: Catalogue) -> Units:
        return Units("tuple", super().units(study, catalogue).items, 4, "slots")


class BothOrders(Acr):
    def units(self, study: Study, catalogue: Catalogue) -> Units:
        return Units("stimulus", super().units(study, catalogue).items, 1, "order")


class TooManySlots(Acr):
    def compose(self, study: Study, unit: Unit, catalogue: Catalogue, rng: Generator) -> Trial:
        trial = super().compose(study, unit, catalogue, rng)
        return Trial(trial.id, trial.content, trial.purpose, trial.slots * 2, trial.asked)


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


def test_more_trials_than_contents_that_come_once_is_an_error() -> None:
    message = "study.yaml  design.trials is 10, but there are 4 contents and each may come once. Allowed: 1 to 4. "
    some, every = (
        make_study("parallel", trials=10, contents="once", per_trial=2),
        make_study("parallel", trials=10, contents="once"),
    )
    assert problems_of(some, make_catalogue(4, 4), parallel) == (
        f"{message}Add contents, or write contents: apart, which allows 1 to 8."
    )
    assert problems_of(some, make_catalogue(4, 6), parallel) == f"{message}Add contents, or write contents: apart."
    assert problems_of(every, make_catalogue(4, 3), parallel) == f"{message}Add contents."


def test_conditions_in_every_trial_leave_only_more_contents_as_a_way_out() -> None:
    study = make_study("parallel", trials=5, per_trial=2, always=["condition0"], contents="once")
    assert problems_of(study, make_catalogue(1, 3), parallel) == (
        "study.yaml  design.trials is 5, but there is 1 content and each may come once. Allowed: 1. Add contents."
    )


def test_a_method_that_composes_other_slots_than_it_was_dealt_is_a_bug_of_the_method() -> None:
    with pytest.raises(ValueError, match=r"^acr composed 2 slots without a label from a unit of 1 stimuli$"):
        make_plan(make_study("acr"), make_catalogue(2, 2), cast("Method", TooManySlots()))


def test_contents_with_conditions_in_every_trial_come_once() -> None:
    study = make_study("parallel", trials=5, per_trial=2, always=["condition0"], contents="apart")
    assert problems_of(study, make_catalogue(4, 6), parallel) == (
        "study.yaml  design.trials is 5, but there are 4 contents and with design.always each may come once. "
        "Allowed: 1 to 4. Add contents: no stimulus comes twice in a list."
    )


def test_one_content_cannot_be_kept_apart_from_itself() -> None:
    assert problems_of(make_study("acr", trials=3, contents="apart"), make_catalogue(1, 6), acr) == (
        "study.yaml  design.trials is 3, but there is 1 content, and trials of one content may not be neighbours. "
        "Allowed: 1. Add contents, or write contents: free."
    )


def test_more_trials_than_the_stimuli_of_a_content_make_is_an_error() -> None:
    study = make_study("parallel", trials=5, per_trial=2, contents="apart")
    assert problems_of(study, make_catalogue(2, 5, frozenset({(1, 0), (1, 1)})), parallel) == (
        "study.yaml  design.trials is 5, but there are 2 contents, and content content1 has stimuli for 1 trial "
        "of a list. Allowed: 1 to 2. Add contents: no stimulus comes twice in a list."
    )
    study = make_study("parallel", trials=5, per_trial=5, contents="apart")
    assert problems_of(study, make_catalogue(2, 8), parallel) == (
        "study.yaml  design.trials is 5, but there are 2 contents, and content content0 has stimuli for 1 trial "
        "of a list. Allowed: 1 to 2. Add contents, or write per_trial: 2: no stimulus comes twice in a list."
    )


def test_more_trials_than_stimuli_is_an_error() -> None:
    assert problems_of(make_study("acr", trials=7, contents="free"), make_catalogue(2, 3), acr) == (
        "study.yaml  design.trials is 7, but there are 6 stimuli of 2 contents, and none may come twice in a list. "
        "Allowed: 1 to 6. Add stimuli."
    )


def test_every_content_with_too_few_stimuli_is_named_at_once() -> None:
    catalogue = make_catalogue(3, 4, frozenset({(0, 1), (2, 0), (2, 3)}))
    assert problems_of(make_study("parallel", per_trial=4), catalogue, parallel).splitlines() == [
        "study.yaml  design.per_trial is 4, but content content0 has 3 stimuli. Allowed: 2. "
        "Add the missing files, or leave the content out.",
        "study.yaml  design.per_trial is 4, but content content2 has 2 stimuli. Allowed: 2. "
        "Add the missing files, or leave the content out.",
    ]
    assert problems_of(make_study("parallel"), catalogue, parallel).startswith(
        "study.yaml  design.per_trial is left out, which means all 4 conditions, but content content0 has 3 stimuli. "
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
