"""mismatch: above zero is for the matched one wherever it stands, donors are drawn fairly, robots find the truth."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beholder.methods import find, load_study
from beholder.methods.contract import Study, Trial
from beholder.planning.builder import make_plan
from beholder.planning.model import Plan
from beholder.sample_size.design import SimulatedWorld, plan_for
from beholder.sample_size.tests import contrast_outcomes
from beholder.simulation.truth import Population, plant_truth
from support.companion_texts import TEXTS, catalogue, in_folder

METHOD = find("mismatch")
GRADES = st.sampled_from([(word, grade) for word in ("matched", "mismatched") for grade in (1, 2)] + [("tie", 0)])


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """A study of texts that belong to sounds, of two conditions."""
    return in_folder(tmp_path_factory.mktemp("mismatch"))


@cache
def planned_in(folder: Path) -> Plan:
    study = load_study(folder)
    return make_plan(study, catalogue(study), METHOD)


def trials_of(study: Study) -> list[Trial]:
    return [trial for planned in planned_in(study.folder).lists for trial in planned.trials]


def answer(trial: Trial, better: str, grade: int) -> dict[str, Any]:
    """Return the answer that calls the slot of this role better."""
    by_role = {slot.role: slot.id for slot in trial.slots}
    chosen = {"better": "tie"} if better == "tie" else {"better": by_role[better], "grade": grade}  # type: ignore[index]
    return {"choices": {"q1": chosen}}


@given(chosen=GRADES, place=st.integers(0, 71))
def test_above_zero_is_for_the_matched_one_wherever_it_stands(
    study: Study, chosen: tuple[str, int], place: int
) -> None:
    trial = trials_of(study)[place]
    better, grade = chosen
    (row,) = METHOD.judgements(trial, METHOD.read(trial, answer(trial, better, grade)))
    assert (row.kind, row.value) == ("diff", {"matched": grade, "mismatched": -grade, "tie": 0}[better])
    judged = trial.slot_by_id[row.slot]
    assert judged.role == "matched"
    is_second = judged == trial.slots[1]
    assert row.raw_value == (row.value if is_second else -(row.value or 0))


def test_both_are_of_one_condition_and_content_and_read_with_their_own_and_a_foreign_text(study: Study) -> None:
    for trial in trials_of(study):
        own, foreign = sorted(trial.slots, key=lambda slot: slot.role)
        assert foreign.stimulus == f"mismatched:{own.stimulus}"
        texts = METHOD.extra(trial)["texts"]
        assert texts == {own.id: TEXTS[trial.content], foreign.id: TEXTS[str(trial.draws["donor"])]}
        assert trial.draws["donor"] != trial.content
        assert "donor" not in METHOD.extra(trial)


def test_nobody_meets_a_content_twice_and_either_stands_first_equally_often(study: Study) -> None:
    plan = planned_in(study.folder)
    first = [trial.slots[0].role for planned in plan.lists for trial in planned.trials]
    assert first.count("matched") == first.count("mismatched")
    assert all(len({trial.content for trial in one.trials}) == 6 for one in plan.lists)


def test_robots_find_what_belongs_together_and_power_knows_it(study: Study) -> None:
    """The planted order comes back, a condition without appropriateness is at chance, and contrasts are simulated."""
    stimuli = catalogue(study)
    truth = plant_truth(stimuli, ("quality",), 1, people=Population(), means={"good": 0.8, "poor": 0.1})
    values: dict[str, list[float]] = {"good": [], "poor": []}
    rng = np.random.default_rng(3)
    for trial in trials_of(study):
        percept = {
            f"q1.{slot.id}": float(np.clip(truth.quality[truth.stimuli[slot.stimulus], 0] + rng.normal(0, 0.1), 0, 1))
            for slot in trial.slots
        }
        (row,) = METHOD.judgements(trial, METHOD.read(trial, METHOD.respond(trial, percept, rng)))
        values[next(slot for slot in trial.slots if slot.role == "matched").stimulus.partition("/")[0]].append(
            row.value or 0
        )
    assert np.mean(values["good"]) > 1.2
    assert abs(np.mean(values["poor"])) < 0.4
    world = SimulatedWorld(study, stimuli, METHOD, {"good": 0.8, "poor": 0.3}, Population(), "random", 1)
    planned = plan_for(world, 12)
    sheet = planned.sheet
    assert (sheet.other_condition == -1).all()
    drawn = np.random.default_rng(1).normal(0, 1, (4, len(sheet)))
    outcomes = contrast_outcomes(sheet, drawn, world.rules(sheet))
    assert [(test.one, test.other) for test in outcomes.tests] == [(0, 1)]
    assert np.isfinite(outcomes.estimate).all()
    assert np.isfinite(outcomes.mean).all()
