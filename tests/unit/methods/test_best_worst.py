"""best-worst: two marks, which are never the same."""

from __future__ import annotations

from support.method_trials import refusal, trial_of


def test_the_best_is_1_the_worst_minus_1_and_the_others_0() -> None:
    method, trial = trial_of("best-worst")
    answer = method.read(trial, {"choices": {"q1": {"best": "s3", "worst": "s1"}}})
    judged = method.judgements(trial, answer)
    assert {one.slot: one.value for one in judged} == {"s1": -1, "s2": 0, "s3": 1, "s4": 0}
    assert {(one.kind, one.scale_min, one.scale_max) for one in judged} == {("score", -1, 1)}


def test_marks_that_cannot_be_are_refused() -> None:
    method, trial = trial_of("best-worst")
    assert refusal(method, trial, {"choices": {"q1": {"best": "s2", "worst": "s2"}}}) == (
        "answer.choices.q1.worst", "'s2' is marked as the best and the worst", "two slots",
    )  # fmt: skip
    assert refusal(method, trial, {"choices": {"q1": {"best": "s2", "worst": "s9"}}}) == (
        "answer.choices.q1.worst", "'s9' is not one of these", "s1, s2, s3, s4",
    )  # fmt: skip
