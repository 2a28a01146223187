"""bs1116: one of the two has the highest grade; difference grades have one sign wherever the reference stands."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beholder.analysis.scores import scores
from beholder.errors import Refused
from beholder.methods import find
from beholder.methods.contract import Trial
from beholder.planning.builder import make_plan
from support.method_studies import catalogue_of, felt, make_study, problems

CONDITIONS = [{"name": "source", "role": "reference"}, "near", "far"]
STUDY = make_study("bs1116", CONDITIONS, design={"participants": 6, "trials": 4, "seed": 2})
METHOD = find("bs1116")
TRIALS = [trial for planned in make_plan(STUDY, catalogue_of(STUDY), METHOD).lists for trial in planned.trials]
GRADES = st.integers(10, 50).map(lambda tenths: tenths / 10)


def graded(trial: Trial, test: float, reference: float) -> dict[str, Any]:
    """Return the answer that gives these grades, wherever the two stand."""
    by_role = {"hidden_reference": reference, "test": test}
    return {"scores": {"q1": {slot.id: by_role[slot.role] for slot in trial.slots if slot.rated}}}


@given(lower=GRADES, is_right=st.booleans(), trial=st.sampled_from(TRIALS))
def test_a_rating_is_the_grade_minus_that_of_the_hidden_reference_wherever_it_stands(
    lower: float, is_right: bool, trial: Trial
) -> None:
    test, reference = (lower, 5.0) if is_right else (5.0, lower)
    answer = graded(trial, test, reference)
    assert METHOD.read(trial, answer) == answer
    (row,) = METHOD.judgements(trial, answer)
    judged, other = trial.slot_by_id[row.slot], trial.slot_by_id[row.other_slot or ""]
    assert (judged.role, other.role, row.kind) == ("test", "hidden_reference", "diff")
    assert (row.value, row.scale_min, row.scale_max) == (round(test - reference, 6), -4, 4)
    assert (row.value or 0) * (-1 if is_right else 1) >= 0
    assert row.raw_value == (row.value if judged == trial.slots[-1] else -(row.value or 0))


def test_every_trial_has_the_reference_twice_once_under_its_name() -> None:
    places = []
    for trial in TRIALS:
        shown, *rated = trial.slots
        assert (shown.id, shown.label, shown.rated, shown.role) == ("s1", "reference", False, "reference")
        assert sorted(slot.role for slot in rated) == ["hidden_reference", "test"]
        assert [slot.label for slot in rated] == ["A", "B"]
        assert METHOD.extra(trial) == {}
        places.append(rated[0].role)
    assert abs(places.count("test") - places.count("hidden_reference")) <= 1


@given(one=GRADES, two=GRADES, trial=st.sampled_from(TRIALS))
def test_an_answer_without_the_highest_grade_is_refused_and_no_other_is(one: float, two: float, trial: Trial) -> None:
    answer = graded(trial, one, two)
    if 5.0 in (one, two):
        assert METHOD.read(trial, answer) == answer
        return
    with pytest.raises(Refused) as refused:
        METHOD.read(trial, answer)
    assert refused.value.where == "answer.scores.q1"
    assert refused.value.allowed == "5 for one of them, or for both"


@pytest.mark.parametrize("wrong", [5.05, 7, 0.9, "5", None, True])
def test_grades_are_on_the_scale(wrong: Any) -> None:
    with pytest.raises(Refused, match="is not on the scale"):
        METHOD.read(TRIALS[0], {"scores": {"q1": {"s2": 5, "s3": wrong}}})


def test_with_one_that_would_not_play_there_is_no_rule_and_no_rating() -> None:
    trial = TRIALS[0]
    for given_scores, missing in (({"s3": 4.0}, "s2"), ({"s2": 3.0, "s3": 4.0}, "s1"), ({}, "s1")):
        answer = METHOD.read(trial, {"scores": {"q1": given_scores}, "missing": {missing: "media_error"}})
        (row,) = METHOD.judgements(trial, answer)
        assert (row.value, row.missing) == (None, "media_error")


def test_what_does_not_fit_is_named() -> None:
    asked = [
        {"id": "noise", "text": "?", "keyed": "-"},
        {"id": "q", "text": "?", "scale": {"min": 1, "max": 5, "look": "radio"}},
    ]
    assert problems(make_study("bs1116", ["a", "b"], questions=asked)) == [
        "conditions have no reference, and bs1116 shows one, and hides it once more beside each of the others. "
        "Allowed: one condition with role: reference. Write it as {name: ..., role: reference}.",
        "questions.1.scale has the look radio, and bs1116 gives both a slider. Allowed: look: slider.",
        "questions.0.keyed is -, and in bs1116 the reference gets the highest grade. Allowed: +. Leave it out.",
        "stimuli hold nothing to rate. Add stimuli of the conditions under test.",
    ]


GIVEN = {"ada": (3.2, 5.0), "ben": (4.6, 5.0), "cyd": (5.0, 4.9), "dan": (5.0, 5.0)}
"""Grades of the stimulus under test and of the hidden reference."""


def test_the_mean_difference_grade_and_its_interval_are_those_calculated_by_hand() -> None:
    trial = next(t for t in TRIALS if {slot.stimulus for slot in t.slots} == {"near/one", "source/one"})
    rows = []
    for name, (test, reference) in GIVEN.items():
        (row,) = METHOD.judgements(trial, METHOD.read(trial, graded(trial, test, reference)))
        rows.append(
            {
                "participant": name, "content": "one", "condition": "near", "other_condition": "source",
                "other_stimulus": "source/one", "stimulus": "near/one", "question": row.question, "kind": row.kind,
                "value": row.value, "scale_min": row.scale_min, "scale_max": row.scale_max, "method": "bs1116",
            }
        )  # fmt: skip
    assert [row["value"] for row in rows] == [-1.8, -0.4, 0.1, 0]
    table = scores(pd.DataFrame(rows)).table
    (scored,) = table[table["condition"] == "near"].to_dict("records")
    # Mean -2.1 / 4 = -0.525; deviations -1.275, 0.125, 0.625, 0.525: squares sum to 2.3075; t(3) = 3.182446.
    assert scored["mean"] == pytest.approx(-0.525)
    assert scored["sd"] == pytest.approx((2.3075 / 3) ** 0.5)
    half = 3.182446 * (2.3075 / 3) ** 0.5 / 2
    assert (scored["ci_low"], scored["ci_high"]) == pytest.approx((-0.525 - half, -0.525 + half), abs=1e-5)


def test_a_robot_gives_the_one_it_takes_for_the_reference_the_top_and_the_other_its_distance() -> None:
    rng = np.random.default_rng(1)
    for planted, expected in (
        ({"source": 0.9, "near": 0.7, "far": 0.2}, {"near": -0.8, "far": -2.8}),
        ({"source": 0.5, "near": 0.75, "far": 0.5}, {"near": 1.0, "far": 0.0}),
    ):
        for trial in TRIALS:
            answer = METHOD.respond(trial, felt(trial, planted), rng)
            (row,) = METHOD.judgements(trial, METHOD.read(trial, answer))
            assert row.value == pytest.approx(expected[trial.slot_by_id[row.slot].stimulus.partition("/")[0]])
