"""Statements that the rules of a survey put on its pages: obvious ones, and the same ones again."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from beholder.checks.known_answers import TrapItem
from beholder.methods.contract import Trial
from beholder.planning.statements import bank_of
from beholder.study.model import Study
from support.check_plans import (
    SURVEY,
    plan_of,
    slots_of,
    verdict,
)
from support.method_studies import make_study


def survey(statements: int = 6, **checks: Any) -> Study:
    questions = [*SURVEY[:statements], {"id": "flaws", "text": "Which?", "ticks": ["one", "two"]}]
    design = {"participants": 24, "trials": 8, "seed": 2}
    return make_study("likert", list("abcd"), questions=questions, design=design, checks=checks)


def test_obvious_statements_stand_anywhere_on_a_page_and_are_half_true() -> None:
    study = survey(trap_item={"per_trial": 2})
    plan, _ = plan_of(study)
    bank = {one.name: one for one in bank_of(TrapItem.Options(), "en")}
    assert len(bank) >= 16
    assert {one.is_true for one in bank.values()} == {True, False}
    places: Counter[int] = Counter()
    for planned in plan.lists:
        statements = []
        for trial in planned.trials:
            assert [asked.id for asked in trial.asked] == [f"q{n}" for n in range(1, 10)]
            obvious = [asked for asked in trial.asked if asked.purpose == "trap"]
            assert len(obvious) == 2
            for asked in obvious:
                one = bank[asked.question]
                statements.append(one)
                places[trial.asked.index(asked)] += 1
                assert (asked.text, asked.keyed, asked.ticks) == (one.text, "+", ())
                assert asked.scale == trial_scale(trial)
                assert trial.targets[f"{asked.id}.s1"][:4] == (5 if one.is_true else 1, 1, "", True)
            assert len(trial.targets) == 2
        first = statements[: len(bank)]
        assert len(set(first)) == len(first) == 16
        assert sum(one.is_true for one in statements) == 8
    assert set(places) == set(range(9))
    assert max(places.values()) < 2 * min(places.values())


def trial_scale(trial: Trial) -> Any:
    return next(asked.scale for asked in trial.asked if asked.question == "item0")


def test_a_study_has_a_bank_of_its_own() -> None:
    items = [{"text": "Two and two are four.", "agree": True}, {"text": "I am a fish.", "agree": False}]
    plan, _ = plan_of(survey(3, trap_item={"items": items}))
    for planned in plan.lists:
        texts = [asked.text for trial in planned.trials for asked in trial.asked if asked.purpose == "trap"]
        assert all(set(texts[n : n + 2]) == {"Two and two are four.", "I am a fish."} for n in range(0, 8, 2))
    study = survey(3, trap_item={"items": items})
    trial = plan.lists[0].trials[0]
    (asked,) = (asked for asked in trial.asked if asked.purpose == "trap")
    for value in range(1, 6):
        answer = {"scores": {one.id: {"s1": value} for one in trial.asked if not one.ticks}, "ticks": {
            one.id: {"s1": []} for one in trial.asked if one.ticks}}  # fmt: skip
        said = verdict(study, "trap_item", trial, answer)
        side = np.sign(value - 3) * (1 if asked.text == "Two and two are four." else -1)
        assert said is not None
        assert said.verdict == {1: "pass", 0: "unknown", -1: "fail"}[int(side)]


def test_a_statement_comes_again_some_places_later() -> None:
    plan, _ = plan_of(survey(trap_item=True, repeat={"items_per_trial": 2}))
    for planned in plan.lists:
        for trial in planned.trials:
            assert [asked.id for asked in trial.asked] == [f"q{n}" for n in range(1, 11)]
            again = [(n, asked) for n, asked in enumerate(trial.asked) if asked.purpose == "repeat"]
            assert len({asked.question for _, asked in again}) == 2
            for place, asked in again:
                ((first, original),) = (
                    (n, one) for n, one in enumerate(trial.asked) if asked.question == f"repeat:{one.question}"
                )
                assert place - first >= 4
                assert original.purpose == "ask"
                assert not original.ticks
                assert asked[3:] == original[3:]


def test_a_page_that_asks_for_one_answer_everywhere_has_the_same_statements() -> None:
    study = survey(trap={"per_session": 1}, trap_item=True, repeat={"items_per_trial": 1})
    plan, _ = plan_of(study)
    for trial, _ in slots_of(plan, "trap"):
        assert Counter(asked.purpose for asked in trial.asked) == {"ask": 7, "trap": 1, "repeat": 1}
        scaled = {f"{asked.id}.s1" for asked in trial.asked if asked.purpose == "ask" and not asked.ticks}
        assert set(trial.targets) == scaled
        (value,) = {target.value for target in trial.targets.values()}
        answer = {"scores": {one.id: {"s1": value} for one in trial.asked if not one.ticks}, "ticks": {
            one.id: {"s1": []} for one in trial.asked if one.ticks}}  # fmt: skip
        said = verdict(study, "trap", trial, answer)
        assert said is not None
        assert said.verdict == "pass"
        assert verdict(study, "trap_item", trial, answer) is None
