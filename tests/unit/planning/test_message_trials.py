"""Stimuli that ask for an answer: those of the researcher, and with one question at a time."""

from __future__ import annotations

from collections import Counter

from support.check_plans import (
    SURVEY,
    gold,
    plan_of,
    slots_of,
    with_lessons,
)
from support.method_studies import catalogue_of, make_study


def test_a_researchers_own_stimuli_ask_and_none_are_made() -> None:
    study = make_study("acr", list("ab"), checks={"trap": {"per_session": 1}})
    own = with_lessons(catalogue_of(study), "trap", gold("trap/x", 9, 2), gold("trap/one", 10, 4, 1))
    plan, catalogue = plan_of(study, own)
    assert catalogue == own
    assert {(slot.stimulus, trial.targets["q1.s1"]) for trial, slot in slots_of(plan, "trap")} == {
        ("trap:trap/x", (2, 0, "", True, ())), ("trap:trap/one", (4, 1, "", True, ())),
    }  # fmt: skip
    board = make_study("parallel", list("ab"), checks={"attention": {"per_session": 1}})
    clips = [gold(f"attention/{content}", 9, 40) for content in ("one", "two", "three")]
    plan, _ = plan_of(board, with_lessons(catalogue_of(board), "attention", *clips))
    assert {target for trial, _ in slots_of(plan, "attention") for target in trial.targets.values()} == {
        (40, 3, "", True, ())
    }


def test_a_question_at_a_time_can_ask_as_well() -> None:
    questions = [*SURVEY[:2], {"id": "grade", "text": "?", "scale": "acr5"}, {"id": "t", "text": "?", "ticks": ["x"]}]
    study = make_study("likert", list("abcd"), questions=questions, options={"layout": "random"}, checks={"trap": True})
    plan, _ = plan_of(study)
    asked = Counter(trial.asked[0].question for trial, _ in slots_of(plan, "trap"))
    # Its words are on one scale, so it asks where that is.
    assert set(asked) <= {"item0", "item1"}
    assert all(len(trial.targets) == 1 for trial, _ in slots_of(plan, "trap"))
