"""Pages whose stimuli are put in order: scores by place, checks among them, pages that do not fit."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beholder.methods import find
from beholder.methods.contract import Trial
from beholder.methods.orders import order_scores, places_on_pages, scores_of_places
from beholder.planning.balance import balance
from beholder.planning.builder import make_plan
from support.method_studies import QUESTION, catalogue_of, make_study, problems
from support.method_trials import trial_of

BOTH = pytest.mark.parametrize("name", ["rank", "best-worst"])


def scores_by_slot(name: str, choice: dict[str, Any], trial: Trial) -> dict[str, float | None]:
    method = find(name)
    answer = method.read(trial, {"choices": {"q1": choice}})
    return {one.slot: one.value for one in method.judgements(trial, answer)}


def test_scores_are_places_from_1_to_minus_1_and_ties_have_the_mean_place() -> None:
    assert order_scores([["s2"], ["s1"], ["s3"]]) == {"s2": 1, "s1": 0, "s3": -1}
    assert order_scores([["s2"], ["s1", "s4"], ["s3"]]) == {"s2": 1, "s1": 0, "s4": 0, "s3": -1}
    assert order_scores([["s1", "s2"], ["s3"]]) == {"s1": 0.5, "s2": 0.5, "s3": -1}
    assert order_scores([["s1"]]) == {}


@given(st.lists(st.integers(0, 4), min_size=2, max_size=8))
def test_scores_of_a_page_sum_to_zero_and_better_is_more(felt: list[int]) -> None:
    groups = [[f"s{n}" for n, one in enumerate(felt) if one == level] for level in sorted(set(felt), reverse=True)]
    scores = order_scores(groups)
    assert sum(scores.values()) == pytest.approx(0)
    for (one, strong), (other, weak) in combinations(enumerate(felt), 2):
        assert np.sign(scores[f"s{one}"] - scores[f"s{other}"]) == np.sign(strong - weak)


@given(st.lists(st.floats(0, 1), min_size=4, max_size=12), st.booleans(), st.sampled_from(["rank", "best-worst"]))
def test_robots_on_many_pages_at_once_answer_as_on_each_by_itself(felt: list[float], ties: bool, name: str) -> None:
    ties = ties and name == "rank"
    study = make_study(name, "abcd", options={"ties": True} if ties else {})
    method, trial = trial_of(name, options={"ties": True} if ties else {})
    pages = [felt[at : at + 4] for at in range(0, len(felt) - 3, 4)]
    strengths, numbers = np.array(pages).ravel(), np.repeat(np.arange(len(pages)), 4)
    at_once = method.page_scores(study)(strengths, numbers)  # type: ignore[attr-defined]
    one_by_one: list[float | None] = []
    for page in pages:
        percept = {f"q1.s{place}": one for place, one in enumerate(page, 1)}
        answer = method.read(trial, method.respond(trial, percept, np.random.default_rng(0)))
        one_by_one += [one.value for one in method.judgements(trial, answer)]
    assert at_once.tolist() == pytest.approx(one_by_one)


def test_places_are_by_page() -> None:
    strengths, pages = np.array([0.2, 0.9, 0.5, 0.5, 0.1]), np.array([0, 0, 1, 1, 1])
    places, counts = places_on_pages(strengths, pages, ties=True)
    assert places.tolist() == [2, 1, 1.5, 1.5, 3]
    assert scores_of_places(places, counts).tolist() == [-1, 1, 0.5, 0.5, -1]


@pytest.mark.parametrize(
    ("name", "choice", "expected"),
    [
        ("rank", {"order": [["s3"], ["s1"], ["s2"], ["s4"]]}, {"s1": 1, "s2": 0, "s4": -1, "s3": 1}),
        ("best-worst", {"best": "s3", "worst": "s4"}, {"s1": 0.5, "s2": 0.5, "s4": -1, "s3": 1}),
    ],
)
def test_a_check_takes_no_place_among_the_others(name: str, choice: dict[str, Any], expected: dict[str, float]) -> None:
    _, trial = trial_of(name)
    slots = [slot._replace(role="attention") if slot.id == "s3" else slot for slot in trial.slots]
    assert scores_by_slot(name, choice, replace(trial, slots=tuple(slots))) == expected


@BOTH
def test_a_page_with_one_that_would_not_play_says_nothing(name: str) -> None:
    method, trial = trial_of(name)
    answer = method.read(trial, {"missing": {"s2": "media_error"}})
    assert answer == {"choices": {}, "missing": {"s2": "media_error"}}
    judged = method.judgements(trial, answer)
    assert [one.value for one in judged] == [None] * 4
    assert {one.missing for one in judged} == {"media_error"}


@BOTH
def test_a_reversed_question_is_turned(name: str) -> None:
    method, trial = trial_of(name, questions=[{**QUESTION, "keyed": "-"}])
    percept = {f"q1.s{place}": place / 10 for place in range(1, 5)}
    judged = method.judgements(trial, method.respond(trial, percept, np.random.default_rng(0)))
    values = {one.slot: (one.value, one.keyed) for one in judged}
    assert values["s1"] == (1, -1)  # the weakest is put first by a question that asks for the least
    assert values["s4"] == (-1, 1)


@BOTH
def test_pages_that_do_not_fit_are_refused(name: str) -> None:
    wrong = [{**QUESTION, "scale": {"min": 1, "max": 5, "look": "radio"}}]
    assert problems(make_study(name, ["a"], questions=wrong)) == [
        f"conditions give every page 1 stimulus, and {name} compares at least two. Allowed: two or more. Add one, or "
        "use method: acr.",
        "questions.0.scale is from 1 to 5, and places are from -1 to 1. Allowed: order. Leave it out, or write "
        "{min: -1, max: 1, labels: {-1: ..., 1: ...}, look: radio}.",
    ]
    many = make_study(name, "abcdefghij", design={"participants": 4, "trials": 2, "per_trial": 9})
    assert f"design.per_trial is 9, and {name} puts 2 to 8 in order. Allowed: 2 to 8." in problems(many)


@pytest.mark.parametrize(("name", "per_page"), [("rank", 8), ("best-worst", 4)])
def test_a_page_holds_as_many_as_people_can_keep_in_mind(name: str, per_page: int) -> None:
    study = make_study(name, "abcdefghij")
    assert find(name).units(study, catalogue_of(study)).per_trial == per_page


def test_every_two_conditions_meet_nearly_equally_often() -> None:
    study = make_study("best-worst", "abcdefg", design={"participants": 21, "trials": 3, "per_trial": 4})
    catalogue = catalogue_of(study, contents=("one", "two", "three", "four"))
    rows = {row.count: row for row in balance(make_plan(study, catalogue, find("best-worst")), catalogue)}
    for row in rows.values():
        assert row.promised is None or row.difference <= row.promised, row.count
    # 63 pages have 378 pairs of 21 kinds: 18 each.
    assert (rows["conditions together in a trial"].least, rows["conditions together in a trial"].most) == (18, 18)
