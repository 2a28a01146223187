"""Trials of a list: as many as fit, and the reasons why more do not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import pytest

from beholder.methods.contract import Method, Units
from beholder.planning.builder import make_plan
from beholder.stimuli.catalogue import Catalogue, Probe
from beholder.study.model import Study
from support.companion_plans import WithReference, make_referenced, with_reference
from support.pair_methods import compare
from support.plans import acr, make_catalogue, make_study, parallel, problems_of
from support.square_plans import square_problems_of
from support.vote_plans import vote_plan


def test_trials_left_out_are_as_many_as_possible_up_to_twelve() -> None:
    few = make_plan(make_study("parallel", participants=2, contents="once"), make_catalogue(7, 2), parallel)
    many = make_plan(make_study("parallel", participants=2, contents="once"), make_catalogue(30, 2), parallel)
    assert len(few.lists[0].trials) == 7
    assert len(many.lists[0].trials) == 12


def test_trials_left_out_are_as_many_as_can_be_up_to_twelve() -> None:
    for contents, tests, trials in ((20, 5, 12), (3, 2, 9), (5, 1, 10)):
        plan = make_plan(make_study(participants=2), make_referenced(contents, tests), with_reference)
        assert len(plan.lists[0].trials) == trials


@pytest.mark.parametrize(
    ("design", "catalogue", "message"),
    [
        ({"trials": 2}, make_referenced(4, 2),
         "study.yaml  design.trials is 2, but each content comes with its reference, at least 2 trials apart. "
         "Allowed: 4 to 12."),
        ({"trials": 13}, make_referenced(4, 2),
         "study.yaml  design.trials is 13, but there are 4 contents, each with its reference, content content0 has "
         "2 stimuli under test, and none may come twice in a list. Allowed: 4 to 12. Add contents, or conditions."),
        ({"trials": 5}, make_referenced(4, 1),
         "study.yaml  design.trials is 5, but content content0 has 1 stimulus under test, which comes with its "
         "reference. Allowed: even numbers, 4 to 8."),
        ({}, make_referenced(1, 5),
         "study.yaml  stimuli are of 1 content, too few to keep a reference from its tests. "
         "Allowed: 2 contents or more. Add contents."),
        ({"contents": "once"}, make_referenced(4, 2),
         "study.yaml  design.contents is once, but each content comes with its reference. Allowed: apart or free. "
         "Leave it out."),
    ],
)  # fmt: skip
def test_what_cannot_be_kept_apart_is_an_error(design: Mapping[str, Any], catalogue: Catalogue, message: str) -> None:
    assert problems_of(make_study(**design), catalogue, with_reference) == message


def test_a_content_of_which_only_the_reference_is_there_is_an_error() -> None:
    class Bare(WithReference):
        def units(self, study: Study, catalogue: Catalogue) -> Units:
            units = super().units(study, catalogue)
            return replace(units, companions={**units.companions, "content1-condition0": ("content1-condition0",)})

    catalogue = make_referenced(3, 1, frozenset({(1, 1)}))
    assert problems_of(make_study(), catalogue, cast("Method", Bare())) == (
        "study.yaml  stimuli of content content1 are its reference alone. "
        "Add a stimulus under test, or leave content1 out."
    )


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


def test_more_trials_than_pairs_is_an_error() -> None:
    assert problems_of(make_study(trials=7), make_catalogue(2, 3), compare) == (
        "study.yaml  design.trials is 7, but there are 6 pairs of 2 contents, and none may come twice in a list. "
        "Allowed: 1 to 6. Add stimuli."
    )


def test_trials_that_are_no_round_are_told_with_those_that_are() -> None:
    assert square_problems_of(make_catalogue(5, 4), order="latin", trials=10) == (
        "study.yaml  design.trials is 10, but design.order is latin, and a list goes through all 4 conditions once, or "
        "up to 5 times. Allowed: 8 or 12."
    )
    assert square_problems_of(make_catalogue(5, 4), order="williams", trials=3) == (
        "study.yaml  design.trials is 3, but design.order is williams, and a list goes through all 4 conditions once, "
        "or up to 5 times. Allowed: 4."
    )
    assert square_problems_of(make_catalogue(4, 4), parallel, order="latin", trials=6, contents="once") == (
        "study.yaml  design.trials is 6, but design.order is latin, and a list goes through all 4 contents once. "
        "Allowed: 4."
    )
    assert square_problems_of(make_catalogue(4, 3), compare, order="latin", trials=15) == (
        "study.yaml  design.trials is 15, but design.order is latin, and a list goes through all 3 pairs of conditions "
        "once, or up to 4 times. Allowed: 12."
    )


def test_a_square_that_needs_more_contents_is_told() -> None:
    assert square_problems_of(make_catalogue(3, 6), order="latin", contents="once") == (
        "study.yaml  design.order is latin, and a list goes through all 6 conditions, but there are 3 contents and "
        "each may come once. Allowed: balanced. Add contents up to 6, or write contents: apart."
    )
    assert square_problems_of(make_catalogue(1, 6), order="latin") == (
        "study.yaml  design.order is latin, and a list goes through all 6 conditions, but there is 1 content, and "
        "trials of one content may not be neighbours. Allowed: balanced. Add contents, or write contents: free."
    )
    make_plan(make_study(order="latin", contents="apart"), make_catalogue(3, 6), acr)
    make_plan(make_study(order="latin", contents="free"), make_catalogue(1, 6), acr)


def test_sessions_of_one_person_that_would_repeat_something_are_told() -> None:
    assert square_problems_of(
        make_catalogue(4, 3), order="latin", sessions_per_participant=5, contents="free"
    ).startswith("study.yaml  design.sessions_per_participant is 5, but 5 sessions of 3 trials are 15 trials")


def test_two_contents_that_take_turns_are_for_one_session() -> None:
    assert square_problems_of(make_catalogue(2, 4), order="latin", sessions_per_participant=2, contents="apart") == (
        "study.yaml  design.sessions_per_participant is 2, but 2 sessions of 4 trials are 8 trials, there are 8 "
        "stimuli of 2 contents, and nobody may meet the same one twice. Allowed: 1 with 4 trials."
    )
    make_plan(make_study(order="latin", contents="apart"), make_catalogue(2, 4), acr)
    make_plan(make_study(order="latin", contents="free", sessions_per_participant=2), make_catalogue(2, 4), acr)


def test_without_trials_a_chain_is_as_long_as_it_can_be() -> None:
    assert len(vote_plan("acr", make_catalogue(6, 5), sessions_per_participant=5).lists[0].rated) == 6
    assert len(vote_plan("acr", make_catalogue(6, 5), sessions_per_participant=2).lists[0].rated) == 12


def long_clips(seconds: float) -> Catalogue:
    catalogue = make_catalogue(10, 4)
    probe = Probe(1000, "mp4", round(1000 * seconds), 320, 180, 25.0, "h264", "", 0)
    stimuli = tuple(type(one)(**{**vars(one), "probe": probe}) for one in catalogue.stimuli)
    return Catalogue(stimuli, catalogue.conditions, catalogue.contents)


@pytest.mark.parametrize(("seconds", "trials"), [(10, 12), (53, 12), (65, 10), (233, 3), (3600, 1)])
def test_without_trials_a_session_takes_no_more_than_twelve_minutes(seconds: float, trials: int) -> None:
    plan = vote_plan("acr", long_clips(seconds))
    assert len(plan.lists[0].rated) == trials, "a clip, three seconds, and four for the question"
    assert len(vote_plan("acr", long_clips(seconds), trials=20).lists[0].rated) == 20, "what is written is kept"
