"""pair: a plain choice has no grade, and a tie only where the study allows one."""

from __future__ import annotations

from support.method_trials import refusal, trial_of


def test_a_tie_is_refused_where_none_is_allowed() -> None:
    method, trial = trial_of("pair")
    assert refusal(method, trial, {"choices": {"q1": {"better": "tie"}}}) == (
        "answer.choices.q1.better", "'tie' cannot be better", "s1, s2",
    )  # fmt: skip


def test_the_grade_of_a_plain_choice_may_be_written_and_says_nothing() -> None:
    method, trial = trial_of("pair")
    assert method.read(trial, {"choices": {"q1": {"better": "s2", "grade": 1}}}) == {
        "choices": {"q1": {"better": "s2"}}
    }
    assert refusal(method, trial, {"choices": {"q1": {"better": "s2", "grade": 2}}})[1] == "2 is not a grade"
