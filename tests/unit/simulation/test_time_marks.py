"""Planted defects and how robots mark them: worse conditions have more, and marks are such as the page sends."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from beholder.methods import find
from beholder.methods.contract import Trial
from beholder.simulation.time_marks import marking_traits, planted_defects, simulated_marks
from beholder.simulation.truth import truth_of
from beholder.stimuli.catalogue import Catalogue
from support.method_studies import QUESTION, catalogue_of, make_study, one_trial

LENGTH_MS = 9000


def case(method: str, **marks: Any) -> tuple[Catalogue, Trial, Any]:
    study = make_study(method, questions=[QUESTION], options={"marks": {"labels": ["stutter", "blur"], **marks}})
    catalogue = catalogue_of(study, duration_ms=LENGTH_MS)
    _, trial = one_trial(study, catalogue)
    return catalogue, trial, truth_of(study, catalogue, find(method))


def marks_of(kind: str, method: str = "acr", seed: int = 1, **marks: Any) -> list[Any]:
    catalogue, trial, truth = case(method, **marks)
    return simulated_marks(trial, catalogue, truth, kind, 1, np.random.default_rng(seed))


def test_conditions_share_the_places_of_a_content_and_worse_ones_have_more_of_them() -> None:
    catalogue, *_ = case("acr")
    stimulus = catalogue.stimuli[0]
    every = [planted_defects(stimulus, quality, 2, 1) for quality in (0.0, 0.3, 0.6, 1.0)]
    assert [len(some) for some in every] == sorted((len(some) for some in every), reverse=True)
    assert (len(every[0]), every[-1]) == (6, ())
    assert set(every[2]) < set(every[1]) < set(every[0])
    assert all(0 < one.ms < LENGTH_MS for one in every[0])
    assert Counter(one.label for one in every[0]) == {0: 3, 1: 3}
    assert planted_defects(replace(stimulus, condition="other"), 0.0, 2, 1) == every[0]
    assert planted_defects(replace(stimulus, content="other"), 0.0, 2, 1) != every[0]


@pytest.mark.parametrize("method", ["acr", "parallel", "likert"])
def test_marks_are_such_as_the_method_reads(method: str) -> None:
    _, trial, _ = case(method)
    marks = marks_of("noisy", method)
    rules = find(method)
    percept = {f"{asked.id}.{slot.id}": 0.5 for asked in trial.asked for slot in trial.slots}
    answer: Any = rules.respond(trial, percept, np.random.default_rng(1))
    read: Any = rules.read(trial, {**answer, "marks": marks})
    assert sorted(map(str, read["marks"])) == sorted(map(str, marks))
    assert all(0 <= one["ms"] <= LENGTH_MS for one in marks)


def test_the_same_draws_give_the_same_marks() -> None:
    assert marks_of("honest") == marks_of("honest")


def test_attentive_people_mark_defects_and_careless_ones_anything() -> None:
    assert marking_traits("sharp").detects > marking_traits("honest").detects > marking_traits("noisy").detects
    assert marks_of("straight") == []
    careless = [len(marks_of("careless", seed=seed)) for seed in range(30)]
    expected = marking_traits("careless").false_alarms * LENGTH_MS / 60_000
    assert np.mean(careless) == pytest.approx(expected, abs=3 * (expected / 30) ** 0.5)


def test_as_many_are_marked_as_the_page_asks_for_and_no_more() -> None:
    assert len(marks_of("straight", at_least=2)) == 2
    assert max(len(marks_of("careless", most=1, seed=seed)) for seed in range(20)) == 1
