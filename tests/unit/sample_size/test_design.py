"""The sessions that power counts: how long they are, what they cost, and by which method."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from beholder.methods import find
from beholder.sample_size.design import as_method, participants_to_start, pay_of, plan_for
from beholder.sample_size.estimates import sizes_table
from beholder.sample_size.simulation import simulate_point
from beholder.study.questions import SCALES
from support.method_studies import catalogue_of, make_study
from support.power_worlds import CONTENTS, world_of


def test_sessions_of_one_person_are_one_person() -> None:
    study = make_study("acr", ["a", "b"], design={"trials": 3, "sessions_per_participant": 2})
    session = plan_for(world_of(study), 5)
    assert session.sheet.lists == 5
    assert session.visits == 2
    assert np.bincount(session.sheet.list).tolist() == [6] * 5


def test_who_leaves_is_replaced() -> None:
    assert participants_to_start(40, 0.0, [10, 10]) == 40
    assert participants_to_start(40, 0.02, [10, 10]) == math.ceil(40 / 0.98**10)


def test_a_session_earns_its_reward_whatever_its_list_holds() -> None:
    recruit = {"mode": "link", "reward": "1.50 GBP"}
    study = make_study("acr", ["a", "b"], design={"trials": 3, "sessions_per_participant": 2}, recruit=recruit)
    plain = catalogue_of(study, contents=CONTENTS)
    stimuli = tuple(
        replace(one, probe=replace(one.probe, duration_ms=5000 * (1 + CONTENTS.index(one.content))))
        for one in plain.stimuli
    )
    world = world_of(study, replace(plain, stimuli=stimuli))
    points = [simulate_point(plan_for(world, size), 20) for size in (5, 10)]
    table = sizes_table(points, pay_of(study, None, points[0].session))
    assert table["cost"].tolist() == [15.0, 30.0]
    assert table["minutes"].round(9).nunique() == 1, "of many lists, and not of the first"


def test_a_later_session_is_trials_alone() -> None:
    after = [{"id": "age", "text": "?", "type": "number"}]
    many, one = (
        plan_for(world_of(make_study("acr", ["a", "b"], after=after, design={"trials": 3, **more})), 5)
        for more in ({"sessions_per_participant": 3}, {})
    )
    assert many.minutes - one.minutes == pytest.approx(2 * one.rating_minutes)
    assert one.minutes > one.rating_minutes + 0.15


@pytest.mark.parametrize("name", ["p835", "av"])
def test_questions_that_a_method_brings_are_asked_by_another_method_too(name: str) -> None:
    study = make_study(name, ["a", "b"], questions=[])
    for other in ("acr", "parallel", "pair"):
        asked = as_method(study, find(other), study.checks).questions
        assert [question.id for question in asked] == [question.id for question in find(name).questions(study)]
        assert {question.scale for question in asked} <= {SCALES[scale] for scale in find(other).scales}


def test_groups_stay_groups_by_another_method() -> None:
    questions = [{"id": name, "text": "?", "scale": "cont100"} for name in ("look", "fit")]
    between: dict[str, Any] = {"asked": {"look": {"questions": ["look"]}, "fit": {"questions": ["fit"]}}}
    study = make_study("parallel", ["a", "b"], questions=questions, design={"trials": 3, "between": between})
    acr = as_method(study, find("acr"), study.checks)
    session = plan_for(replace(world_of(study), study=acr, method=find("acr")), 6)
    assert [len({*session.sheet.question[session.sheet.list == person].tolist()}) for person in range(6)] == [1] * 6
    between["asked"]["fit"] = {"options": {"layout": "rows"}}
    study = make_study("parallel", ["a", "b"], questions=questions, design={"trials": 3, "between": between})
    assert as_method(study, find("acr"), study.checks).design.between == {}, "options are those of another method"
