"""Scores and ticks are read exactly or refused: out of range, incomplete, unknown, superfluous."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from support.method_studies import answer_of
from support.method_trials import QUALITY, STUDIES, TICKS, refusal, trial_of


@pytest.mark.parametrize("name", STUDIES)
def test_the_answer_of_a_robot_is_read_unchanged_and_read_again_the_same(name: str) -> None:
    method, trial = trial_of(name)
    answer = answer_of(method, trial, QUALITY)
    assert method.read(trial, answer) == answer
    rated = [slot.id for slot in trial.slots if slot.rated]
    for rating in method.judgements(trial, answer):
        assert rating.value is not None
        assert rating.missing is None
        assert rating.slot in rated
        assert rating.scale_min <= rating.value <= rating.scale_max


@pytest.mark.parametrize("name", STUDIES)
@pytest.mark.parametrize(
    "answer", [None, [], "x", 1, {}, {"scores": None}, {"choices": None}, {"scores": {}, "choices": {}}]
)
def test_an_answer_of_another_shape_is_refused(name: str, answer: Any) -> None:
    method, trial = trial_of(name)
    where, what, allowed = refusal(method, trial, answer)
    assert where.startswith("answer")
    assert what
    assert allowed


@pytest.mark.parametrize("name", STUDIES)
def test_an_answer_with_something_more_is_refused(name: str) -> None:
    method, trial = trial_of(name)
    good = answer_of(method, trial, QUALITY)
    part = next(iter(good))
    assert refusal(method, trial, {**good, "condition": "x"})[0] == "answer.condition"
    assert refusal(method, trial, {**good, part: {**good[part], "q9": good[part]["q1"]}})[0] == f"answer.{part}.q9"
    more = {**good[part], "q1": {**good[part]["q1"], "s9": 1}}
    assert refusal(method, trial, {**good, part: more})[0].startswith(f"answer.{part}.q1")


@pytest.mark.parametrize("name", ["acr", "dcr", "mushra", "parallel", "likert", "acr-hr"])
@pytest.mark.parametrize("value", [None, True, "50", -1, 101, 50.5, float("nan"), float("inf"), [], {}])
def test_a_score_that_is_no_number_on_the_scale_is_refused(name: str, value: Any) -> None:
    """An untouched control is null, never 0, 50 or 100."""
    method, trial = trial_of(name)
    good = answer_of(method, trial, QUALITY)
    question = next(asked.id for asked in trial.asked if not asked.ticks)
    slot = next(iter(good["scores"][question]))
    bad = {**good, "scores": {**good["scores"], question: {**good["scores"][question], slot: value}}}
    where, what, _ = refusal(method, trial, bad)
    assert where == f"answer.scores.{question}.{slot}"
    assert what == f"{value!r} is not on the scale"


def test_a_score_for_a_slot_that_is_not_rated_is_refused() -> None:
    method, trial = trial_of("dcr")
    assert refusal(method, trial, {"scores": {"q1": {"s1": 5, "s2": 3}}}) == (
        "answer.scores.q1.s1", "s1 is not in this trial", "s2",
    )  # fmt: skip


@pytest.mark.parametrize("name", ["acr", "pair", "abx"])
def test_a_comment_is_kept_up_to_5000_characters(name: str) -> None:
    method, trial = trial_of(name)
    good = answer_of(method, trial, QUALITY)
    said = {**good, "comment": "ß" * 5000}
    assert method.read(trial, said) == said
    assert refusal(method, trial, {**good, "comment": "x" * 5001}) == (
        "answer.comment", "The comment cannot be kept", "text of up to 5000 characters",
    )  # fmt: skip


@pytest.mark.parametrize("name", STUDIES)
@pytest.mark.parametrize("missing", [{"s9": "media_error"}, {"s1": "bored"}, {"s1": None}, ["s1"], "s1"])
def test_only_a_slot_of_the_trial_can_be_missing_and_only_for_one_reason(name: str, missing: Any) -> None:
    method, trial = trial_of(name)
    where, _, _ = refusal(method, trial, {**answer_of(method, trial, QUALITY), "missing": missing})
    assert where.startswith("answer.missing")


def test_a_missing_slot_has_no_value_and_the_others_keep_theirs() -> None:
    method, trial = trial_of("parallel")
    answer: Any = {"scores": {"q1": {"s2": 40}}, "missing": {"s1": "media_error"}}
    assert method.read(trial, answer) == answer
    one, two = method.judgements(trial, answer)
    assert (one.value, one.keyed, one.missing) == (None, None, "media_error")
    assert (two.value, two.keyed, two.missing) == (40, 40, None)


def test_without_its_reference_a_stimulus_may_be_left_without_a_value() -> None:
    method, trial = trial_of("dcr")
    answer: Any = {"scores": {"q1": {}}, "missing": {"s1": "media_error"}}
    assert method.read(trial, answer) == answer
    (rating,) = method.judgements(trial, answer)
    assert (rating.value, rating.missing) == (None, "media_error")
    assert refusal(method, trial, {"scores": {"q1": {}}})[1] == "s2 has no answer"


def test_ticks_are_places_each_once() -> None:
    method, trial = trial_of("likert", questions=[TICKS])
    assert method.read(trial, {"ticks": {"q1": {"s1": [2, 0]}}}) == {"ticks": {"q1": {"s1": [0, 2]}}}
    assert method.read(trial, {"ticks": {"q1": {"s1": []}}}) == {"ticks": {"q1": {"s1": []}}}
    for bad in ([3], [-1], [True], ["0"], [0.5], [[0]], {"0": 1}, None, "0"):
        assert refusal(method, trial, {"ticks": {"q1": {"s1": bad}}}) == (
            "answer.ticks.q1.s1", f"{bad!r} is not a list of ticks", "places from 0 to 2",
        )  # fmt: skip
    assert refusal(method, trial, {"ticks": {"q1": {"s1": [1, 1]}}})[1] == "[1, 1] names a tick twice"
    assert refusal(method, trial, {"ticks": {"q1": {}}})[1] == "s1 has no answer"
    assert refusal(method, trial, {"scores": {"q1": {"s1": 1}}})[1] == "scores are not asked for"


def test_every_tick_is_a_rating_of_its_own() -> None:
    method, trial = trial_of("likert", questions=[TICKS])
    ratings = method.judgements(trial, {"ticks": {"q1": {"s1": [0, 2]}}})
    assert [(rating.kind, rating.unit, rating.value) for rating in ratings] == [
        ("pick", "noise", 1), ("pick", "echo", 0), ("pick", "hum", 1),
    ]  # fmt: skip
    assert {(rating.scale_min, rating.scale_max, rating.keyed) for rating in ratings} == {(0, 1, None)}
    missing = method.judgements(trial, {"ticks": {"q1": {}}, "missing": {"s1": "media_error"}})
    assert {(rating.value, rating.missing) for rating in missing} == {(None, "media_error")}


def test_robots_tick_more_of_what_is_worse() -> None:
    method, trial = trial_of("likert", questions=[TICKS])
    counts = []
    for quality in (0.0, 1.0):
        rng = np.random.default_rng(1)
        answers: Any = [method.respond(trial, {"q1.s1": quality}, rng) for _ in range(50)]
        counts.append(sum(len(answer["ticks"]["q1"]["s1"]) for answer in answers))
    assert counts[0] > 50
    assert counts[1] == 0


def test_a_statement_keyed_minus_is_turned_and_what_was_clicked_stays() -> None:
    questions = [{"id": "good", "text": "Good"}, {"id": "bad", "text": "Bad", "keyed": "-"}]
    method, trial = trial_of("likert", questions=questions, options={"shuffle": False})
    answer = answer_of(method, trial, {"a": 0.95, "b": 0.95})
    assert answer == {"scores": {"q1": {"s1": 5}, "q2": {"s1": 1}}}
    good, bad = method.judgements(trial, answer)
    assert (good.value, good.raw_value, good.keyed) == (5, 5, 5)
    assert (bad.value, bad.raw_value, bad.keyed) == (1, 1, 5)
