"""dscqs: differences have one sign in either order, and are those of a calculation by hand; robots give them back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beholder.analysis.scores import scores
from beholder.methods import find
from beholder.methods.contract import Trial
from beholder.planning.builder import make_plan
from beholder.server.playback import is_watched, read_playback
from beholder.simulation.robot import watch_events
from support.method_studies import catalogue_of, felt, make_study, problems

REFERENCE = [{"name": "source", "role": "reference"}, "near", "far"]
STUDY = make_study("dscqs", REFERENCE, design={"participants": 6, "trials": 4, "seed": 2})
METHOD = find("dscqs")
PLAN = make_plan(STUDY, catalogue_of(STUDY), METHOD)
TRIALS = [trial for planned in PLAN.lists for trial in planned.trials]
SCORES = st.integers(0, 100)


def scored(trial: Trial, test: float, reference: float) -> dict[str, Any]:
    """Return the answer that gives these scores, wherever the two stand."""
    by_role: dict[str, float] = {"hidden_reference": reference, "test": test}
    return {"scores": {"q1": {slot.id: by_role[slot.role] for slot in trial.slots if slot.rated}}}


@given(test=SCORES, reference=SCORES, trial=st.sampled_from(TRIALS))
def test_a_rating_is_the_score_minus_that_of_the_reference_whichever_came_first(
    test: int, reference: int, trial: Trial
) -> None:
    answer = scored(trial, test, reference)
    assert METHOD.read(trial, answer) == answer
    (row,) = METHOD.judgements(trial, answer)
    judged = trial.slot_by_id[row.slot]
    assert (judged.role, trial.slot_by_id[row.other_slot or ""].role) == ("test", "hidden_reference")
    assert (row.kind, row.value, row.scale_min, row.scale_max) == ("diff", test - reference, -100, 100)
    is_second = judged == trial.slots[-1]
    assert row.raw_value == (row.value if is_second else -(row.value or 0))


def test_either_comes_first_equally_often() -> None:
    first = [trial.slots[0].role for trial in TRIALS]
    assert abs(first.count("test") - first.count("hidden_reference")) <= 1


def test_a_difference_without_one_of_its_two_scores_is_missing() -> None:
    trial = TRIALS[0]
    answer = METHOD.read(trial, {"scores": {"q1": {"s2": 40}}, "missing": {"s1": "media_error"}})
    (row,) = METHOD.judgements(trial, answer)
    assert (row.value, row.missing) == (None, "media_error")


def test_both_have_a_slider_and_there_is_a_reference() -> None:
    radio = {"min": 1, "max": 5, "look": "radio"}
    asked = [{"id": "quality", "text": "?", "scale": radio}]
    assert problems(make_study("dscqs", ["a", "b"], questions=asked, playback={"max_plays": 1})) == [
        "conditions have no reference, and dscqs hides one beside each of the others. Allowed: one condition with "
        "role: reference. Write it as {name: ..., role: reference}.",
        "questions.0.scale has the look radio, and dscqs gives both a slider. Allowed: look: slider.",
        "playback.max_plays is 1, and dscqs shows everything twice. Allowed: 2 or more. Leave it out.",
        "stimuli hold nothing to rate. Add stimuli of the conditions under test.",
    ]


@pytest.mark.parametrize("passes", [1, 2])
def test_an_answer_needs_as_many_plays_as_the_trial_has(passes: int) -> None:
    media = {"ms": 3000, "medium": "audio", "width": 0, "height": 0}
    once = replace(TRIALS[0], passes=passes)
    log = watch_events({"slots": [{"id": slot.id, "media": media} for slot in once.slots], "passes": passes})
    evidence = read_playback(log, {slot.id: 3000 for slot in once.slots})
    assert {slot: played.plays for slot, played in evidence.slots.items()} == {"s1": passes, "s2": passes}
    assert is_watched(evidence.slots["s1"], 3000, "whole", passes)
    assert not is_watched(evidence.slots["s1"], 3000, "whole", passes + 1)
    assert is_watched(evidence.slots["s1"], 3000, "none", passes + 1)


GIVEN = {"ada": (60, 80), "ben": (55, 90), "cyd": (70, 70)}
"""Scores of the stimulus under test and of the reference."""


def test_the_mean_difference_and_its_interval_are_those_calculated_by_hand() -> None:
    study = make_study("dscqs", REFERENCE, design={"participants": 3, "trials": 6, "seed": 1})
    rows = []
    for name, planned in zip(GIVEN, make_plan(study, catalogue_of(study), METHOD).lists, strict=True):
        trial = next(t for t in planned.trials if {slot.stimulus for slot in t.slots} == {"near/one", "source/one"})
        test, reference = GIVEN[name]
        answer = {"scores": {"q1": {slot.id: test if slot.role == "test" else reference for slot in trial.slots}}}
        (row,) = METHOD.judgements(trial, METHOD.read(trial, answer))
        rows.append(
            {
                "participant": name, "content": "one", "condition": "near", "other_condition": "source",
                "other_stimulus": "source/one", "stimulus": "near/one", "question": row.question, "kind": row.kind,
                "value": row.value, "scale_min": row.scale_min, "scale_max": row.scale_max, "method": "dscqs",
            }
        )  # fmt: skip
    assert [row["value"] for row in rows] == [-20, -35, 0]
    table = scores(pd.DataFrame(rows)).table
    (scored,) = table[table["condition"] == "near"].to_dict("records")
    # Mean -55/3; variance (1.667² + 16.667² + 18.333²) / 2 = 308.33; t(2) = 4.3027.
    assert scored["mean"] == pytest.approx(-55 / 3)
    assert scored["sd"] == pytest.approx(17.5594, abs=1e-4)
    half = 4.302653 * 17.5594 / 3**0.5
    assert (scored["ci_low"], scored["ci_high"]) == pytest.approx((-55 / 3 - half, -55 / 3 + half), abs=1e-3)


def test_robots_give_back_planted_differences() -> None:
    study = make_study("dscqs", REFERENCE, design={"participants": 8, "trials": 6, "seed": 1})
    rng = np.random.default_rng(2)
    found: dict[str, list[float]] = {"near": [], "far": []}
    planted = {"source": 0.9, "near": 0.7, "far": 0.2}
    for planned in make_plan(study, catalogue_of(study), METHOD).lists:
        for trial in planned.trials:
            assert (trial.passes, METHOD.extra(trial)) == (2, {"presentation": "sequential", "gap": 1.0})
            (row,) = METHOD.judgements(trial, METHOD.respond(trial, felt(trial, planted), rng))
            found[trial.slot_by_id[row.slot].stimulus.partition("/")[0]].append(row.value or 0.0)
    assert {name: np.mean(values) for name, values in found.items()} == pytest.approx({"near": -20, "far": -70})
