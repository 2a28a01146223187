"""The answers of robots: by plan and truth, the same each time, and as requested where a message is followed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from beholder.methods import load_study
from beholder.server.process import load_served
from beholder.simulation.oracle import Oracle, TrialMoment
from beholder.simulation.truth import IDEAL, Population, plant_truth
from support.message_studies import write_asking

SESSIONS = {f"s{number}": number for number in range(1, 7)}
AGE = {"id": "age", "text": "Your age?", "type": "number", "min": 18, "max": 99}
CORRECT = {"id": "eyes", "text": "Do you see well?", "type": "single", "options": ["yes", "no"], "correct": ["yes"]}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_asking(tmp_path_factory.mktemp("oracle"), before=[CORRECT], after=[AGE])


def make_oracle(study: Path, people: Population | None = None) -> Oracle:
    served, _ = load_served(load_study(study), "http://here")
    oracle = Oracle(served, b"secret", plant_truth(served.catalogue, ("quality",), 1), 1, people)
    oracle.claims |= SESSIONS
    return oracle


def missed_messages(oracle: Oracle, kind: str) -> tuple[int, int]:
    """Return how many messages robots of a kind did not follow, and how many there are."""
    missed = total = 0
    for session in SESSIONS:
        responder = oracle.responder(kind, session)
        for trial in oracle.trials(session):
            answer: Any = responder.answer(session, trial.id)
            for where, target in trial.targets.items():
                question, slot = where.split(".")
                total += 1
                missed += abs(answer["scores"][question][slot] - target.value) > target.tolerance
    return missed, total


def test_honest_robots_follow_messages_and_careless_ones_do_not(study: Path) -> None:
    oracle = make_oracle(study)
    missed, total = missed_messages(oracle, "honest")
    assert total >= len(SESSIONS)
    assert missed <= 1
    assert missed_messages(oracle, "careless")[0] > total / 2


def test_a_robot_answers_the_same_each_time_and_another_one_differently(study: Path) -> None:
    first, second = make_oracle(study), make_oracle(study)
    answer = first.responder("honest", "a").answer("s1", "trial:1")
    assert second.responder("honest", "a").answer("s1", "trial:1") == answer
    assert first.responder("honest", "b").answer("s1", "trial:1") != answer


def test_the_progress_of_a_session_counts_only_where_people_tire(study: Path) -> None:
    oracle, tired = make_oracle(study), make_oracle(study, replace(IDEAL, fatigue=0.5))
    assert {oracle.moment("s1", trial) for trial in oracle.trials("s1")} == {TrialMoment()}
    progress = [tired.moment("s1", trial).progress for trial in tired.trials("s1")]
    assert (progress[0], progress[-1]) == (0.0, 1.0)
    assert progress == sorted(progress)


def test_prescreening_is_answered_correctly(study: Path) -> None:
    eyes = {"id": "eyes", "type": "single", "options": ["no", "yes"], "required": True}
    assert {make_oracle(study).fill(f"1-{number}", eyes, "questions:before") for number in range(9)} == {"yes"}


def test_questionnaires_are_answered_the_same_each_time_and_differently_by_others(study: Path) -> None:
    item = {**AGE, "required": True, "options": []}
    ages = [
        make_oracle(study).responder("honest", f"1-{number}").fill(item, "questions:before") for number in (1, 1, 2, 3)
    ]
    assert ages[0] == ages[1]
    assert len(set(ages)) > 1
    later = {"id": "later", "type": "likert", "required": False, "options": []}
    oracle = make_oracle(study)
    assert oracle.responder("honest", "a").fill(later, "questions:after") is None
    assert oracle.responder("honest", "a").fill({**later, "required": True}, "questions:after") == 3
