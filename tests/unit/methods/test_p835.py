"""p835: voice, background and the whole, in fixed steps; the order of the first two is balanced between lists."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from beholder.methods import find
from beholder.methods.contract import Target
from beholder.planning.balance import balance
from beholder.planning.builder import make_plan
from beholder.planning.model import Plan
from beholder.planning.serialization import lists_from_json, lists_to_json
from beholder.planning.slots import order_questions
from beholder.study.model import Study
from support.method_studies import catalogue_of, make_study
from support.training_studies import lesson, teach

QUESTIONS = ("signal", "background", "overall")
METHOD = find("p835")


def study_of(conditions: Sequence[str] = ("a", "b"), **keys: Any) -> Study:
    return make_study("p835", conditions, **{"questions": None, **keys})


def plan_of(study: Study) -> Plan:
    return make_plan(study, catalogue_of(study, medium="audio"), METHOD)


def test_p835_asks_its_three_questions_without_being_told() -> None:
    asked = METHOD.questions(study_of())
    assert [(question.id, question.scale.labels[-1][1]) for question in asked] == [
        ("signal", "Not distorted"), ("background", "Not noticeable"), ("overall", "Excellent"),
    ]  # fmt: skip


@pytest.mark.parametrize("participants", [6, 7])
def test_as_many_lists_begin_with_the_voice_as_with_the_background_and_the_whole_is_last(participants: int) -> None:
    study = study_of(design={"participants": participants, "trials": 2, "seed": 4})
    plan = plan_of(study)
    orders: Counter[tuple[str, ...]] = Counter()
    for planned in plan.lists:
        (order,) = {tuple(asked.question for asked in trial.asked) for trial in planned.trials}
        assert all([asked.id for asked in trial.asked] == ["q1", "q2", "q3"] for trial in planned.trials)
        orders[order] += 1
    assert set(orders) == {QUESTIONS, ("background", "signal", "overall")}
    assert max(orders.values()) - min(orders.values()) <= 1
    row = next(row for row in balance(plan, catalogue_of(study)) if row.count == "lists with an order of questions")
    assert (row.cells, row.difference, row.promised) == (2, participants % 2, 1)


def test_who_comes_again_is_asked_in_the_same_order() -> None:
    design = {"participants": 8, "trials": 1, "sessions_per_participant": 2, "seed": 4}
    first = [planned.trials[0].asked[0].question for planned in plan_of(study_of(design=design)).lists]
    assert first[::2] == first[1::2]
    assert first[::2] == ["signal", "background"] * (len(first) // 4)


def test_an_answer_is_the_same_rating_in_either_order() -> None:
    study = study_of()
    lists = plan_of(study).lists
    rows = []
    for planned in lists[:2]:
        trial = planned.trials[0]
        by_question = {"signal": 4, "background": 2, "overall": 3}
        answer = {"scores": {asked.id: {"s1": by_question[asked.question]} for asked in trial.asked}}
        assert METHOD.read(trial, answer) == answer
        rows.append({one.question: one.value for one in METHOD.judgements(trial, answer)})
        assert trial.passes == 3
        told: Any = METHOD.extra(trial)["attend"]
        assert ("voice alone" in str(told[0])) == (trial.asked[0].question == "signal")
    assert rows[0] == rows[1] == {"signal": 4, "background": 2, "overall": 3}


def test_people_practise_in_the_order_in_which_they_are_asked() -> None:
    study = study_of(design={"participants": 4, "trials": 2, "seed": 4})
    catalogue = teach(catalogue_of(study, medium="audio"), ("a/one", lesson(1, {"signal": 5, "background": 1})))
    plan = make_plan(study, catalogue, METHOD)
    for lists in (plan.lists, tuple(lists_from_json(lists_to_json(plan)))):
        firsts = []
        for planned in lists:
            (example,) = planned.training
            assert [one.question for one in example.asked] == [one.question for one in planned.trials[0].asked]
            expected = {example.asked[int(where[1]) - 1].question: one.value for where, one in example.targets.items()}
            assert expected == {"signal": 5, "background": 1}
            firsts.append(example.asked[0].question)
        assert firsts == ["signal", "background"] * 2


def test_what_is_expected_of_a_question_moves_with_it() -> None:
    trial = plan_of(study_of()).lists[0].trials[0]
    known = replace(trial, targets={"q1.s1": Target(5, 1, ""), "q3.s1": Target(2, 0, "")})
    turned = order_questions(known, ("overall", "background", "signal"))
    assert [asked.question for asked in turned.asked] == ["overall", "background", "signal"]
    assert {place: target.value for place, target in turned.targets.items()} == {"q3.s1": 5, "q1.s1": 2}


def test_voice_and_background_that_differ_are_told_apart_by_robots() -> None:
    study = study_of(conditions=["a", "b", "c"], design={"participants": 40, "trials": 6, "seed": 1})
    catalogue = catalogue_of(study, medium="audio")
    rng = np.random.default_rng(3)
    voice, background = {"a": 0.9, "b": 0.5, "c": 0.1}, {"a": 0.1, "b": 0.5, "c": 0.9}
    means: dict[tuple[str, str], list[float]] = {}
    for planned in make_plan(study, catalogue, METHOD).lists:
        for trial in planned.trials:
            condition = catalogue.by_id[trial.slots[0].stimulus].condition
            true = {"signal": voice, "background": background, "overall": {"a": 0.5, "b": 0.5, "c": 0.5}}
            felt = {
                f"{asked.id}.s1": true[asked.question][condition] + 0.1 * rng.standard_normal() for asked in trial.asked
            }
            for row in METHOD.judgements(trial, METHOD.respond(trial, felt, rng)):
                means.setdefault((row.question, condition), []).append(float(row.value or 0))
    average = {key: float(np.mean(values)) for key, values in means.items()}
    for question, planted in (("signal", voice), ("background", background)):
        for condition, quality in planted.items():
            assert average[question, condition] == pytest.approx(1 + 4 * quality, abs=0.3)
