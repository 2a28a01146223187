"""A stimulus and its hidden reference, each with a score: what robots give at once is what they give one by one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beholder.checks.answer_patterns import Repeat
from beholder.checks.contract import AnsweredTrial
from beholder.checks.known_answers import Gold
from beholder.methods import find
from beholder.methods.contract import Target
from beholder.methods.differences import DifferenceMethod, difference_limits
from beholder.planning.known_answers import answerable
from beholder.study.questions import SCALES
from support.method_studies import make_study
from support.method_trials import trial_of
from support.training_plans import training_of
from support.training_studies import lesson

STRENGTHS = st.lists(st.tuples(st.floats(-0.2, 1.2), st.floats(-0.2, 1.2)), min_size=1, max_size=4)


@pytest.mark.parametrize("name", ["bs1116", "dscqs"])
@given(strengths=STRENGTHS)
def test_many_differences_at_once_are_those_of_single_answers(name: str, strengths: list[tuple[float, float]]) -> None:
    method, trial = trial_of(name)
    assert isinstance(method, DifferenceMethod)
    one_by_one = []
    for test, reference in strengths:
        by_role = {"test": test, "hidden_reference": reference, "reference": 1.0}
        percept = {f"q1.{slot.id}": by_role[slot.role] for slot in trial.slots}
        answer = method.read(trial, method.respond(trial, percept, np.random.default_rng(1)))
        (row,) = method.judgements(trial, answer)
        one_by_one.append(row.value)
    judged, other = np.array(strengths).T
    at_once = method.differences(trial.asked[0].scale, judged, other, np.zeros(len(judged), dtype=bool))
    assert at_once.tolist() == one_by_one


WORST = {"bs1116": 1.5, "dscqs": 10}


@pytest.mark.parametrize("name", WORST)
def test_a_known_answer_is_held_against_the_score_of_its_stimulus_and_not_against_the_difference(name: str) -> None:
    method, trial = trial_of(name)
    test, reference = ([slot.id for slot in trial.slots if slot.role == role] for role in ("test", "hidden_reference"))
    asked, worst = trial.asked[0], WORST[name]
    known = replace(
        trial,
        slots=tuple(slot._replace(role="gold") if slot.rated else slot for slot in trial.slots),
        targets={f"q1.{test[0]}": Target(worst, 0.1, "")},
    )
    for given_score, verdict in ((worst, "pass"), (asked.scale.max, "fail")):
        answer = {"scores": {"q1": {test[0]: given_score, reference[0]: asked.scale.max}}}
        answered = AnsweredTrial("trial:1", known, answer, method.judgements(known, answer))
        said = Gold(Gold.Options()).judge_trial(answered)
        assert said is not None
        assert said.verdict == verdict
    assert answerable(method, trial, ["score"]) == {("quality", test[0]), ("quality", reference[0])}


@pytest.mark.parametrize("name", WORST)
def test_training_teaches_the_score_of_a_stimulus(name: str) -> None:
    conditions = [{"name": "source", "role": "reference"}, "near", "far"]
    (example,) = training_of(make_study(name, conditions), ("far/one", lesson(1, WORST[name])))
    (target,) = example["targets"].values()
    assert target[0] == WORST[name]
    assert {slot for slot, _ in example["slots"]} == {"source/one", "training:far/one"}


@pytest.mark.parametrize("name", WORST)
def test_both_scores_of_a_repeated_trial_are_compared(name: str) -> None:
    method, trial = trial_of(name)
    again = replace(trial, slots=tuple(slot._replace(role="repeat") if slot.rated else slot for slot in trial.slots))
    best, (one, two) = trial.asked[0].scale.max, [slot.id for slot in trial.slots if slot.rated]
    first, second = (
        {"scores": {"q1": scores}} for scores in ({one: best, two: WORST[name]}, {one: WORST[name], two: best})
    )
    trials = [
        AnsweredTrial(f"trial:{number}", shown, answer, method.judgements(shown, answer))
        for number, (shown, answer) in enumerate(((trial, first), (again, second)), 1)
    ]
    said = Repeat(Repeat.Options()).judge_trial(trials[1], trials[:1])
    assert said is not None
    assert (said.verdict, said.evidence["compared"]) == ("fail", 2)


def test_a_difference_reaches_from_end_to_end_of_the_scale_both_ways() -> None:
    assert difference_limits(SCALES["grade5"]) == (-4, 4)
    assert difference_limits(SCALES["cont100"]) == (-100, 100)
    assert {name for name in ("bs1116", "dscqs", "ccr", "mushra") if isinstance(find(name), DifferenceMethod)} == {
        "bs1116", "dscqs",
    }  # fmt: skip
