"""Statements that the rules of a survey put on its pages: obvious ones, and the same ones again."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np

from beholder.checks.answer_patterns import Repeat
from beholder.checks.contract import AnsweredTrial
from beholder.checks.known_answers import TrapItem
from beholder.checks.registry import study_rules
from beholder.methods import find
from beholder.methods.contract import Trial
from beholder.planning.model import is_check
from beholder.planning.serialization import list_from_json, list_to_json
from beholder.planning.statements import bank_of
from beholder.study.model import Study
from support.check_plans import (
    SURVEY,
    gaps_of,
    places_of,
    plan_of,
    slots_of,
    spread,
    verdict,
    without_checks,
)
from support.method_studies import make_study


def survey(statements: int = 6, layout: str = "grid", trials: int = 8, **checks: Any) -> Study:
    questions = [*SURVEY[:statements], {"id": "flaws", "text": "Which?", "ticks": ["one", "two"]}]
    design = {"participants": 24, "trials": trials, "seed": 2}
    options = {"layout": layout}
    return make_study("likert", list("abcd"), options=options, questions=questions, design=design, checks=checks)


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


# Each statement in a trial of its own


def test_where_each_statement_is_a_trial_obvious_ones_are_trials_about_stimuli_of_the_list() -> None:
    study = survey(layout="random", trials=4, trap_item={"per_trial": 2})
    plan, catalogue = plan_of(study)
    bank = {one.name: one for one in bank_of(TrapItem.Options(), "en")}
    gaps: Counter[int] = Counter()
    for planned, plain in zip(plan.lists, without_checks(study, catalogue).lists, strict=True):
        trials = planned.trials
        assert len(trials) == 4 * 7 + 4 * 2
        assert [(one.slots, one.asked) for one in planned.rated] == [(one.slots, one.asked) for one in plain.trials]
        checks = [is_check(trial) for trial in trials]
        assert not checks[0]
        assert not checks[-1]
        assert not any(one and two for one, two in pairwise(checks))
        gaps.update(gaps_of(planned, "trap_item"))
        obvious = [trials[place] for place in places_of(planned, "trap_item")]
        rated = Counter(slot.stimulus for trial in planned.rated for slot in trial.slots)
        assert Counter(slot.stimulus for trial in obvious for slot in trial.slots) == dict.fromkeys(rated, 2)
        statements = []
        for trial in obvious:
            (asked,) = trial.asked
            one = bank[asked.question]
            statements.append(one)
            assert (asked.purpose, asked.text, asked.keyed, asked.ticks) == ("trap", one.text, "+", ())
            assert asked.scale == next(one.asked[0].scale for one in planned.rated if not one.asked[0].ticks)
            assert {where: target[:4] for where, target in trial.targets.items()} == {
                "q1.s1": (5 if one.is_true else 1, 1, "", True)
            }
            assert trial.rated_questions == frozenset()
            assert trial.draws == planned.rated[0].draws
        assert len(set(statements)) == 8
        assert sum(one.is_true for one in statements) == 4
        assert list_from_json(list_to_json(planned)).entries == planned.entries
    assert spread(gaps, 27) <= 3
    trial, _ = slots_of(plan, "trap_item")[0]
    is_true = bank[trial.asked[0].question].is_true
    said = [verdict(study, "trap_item", trial, {"scores": {"q1": {"s1": value}}}) for value in (1, 3, 5)]
    expected = ["fail", "unknown", "pass"] if is_true else ["pass", "unknown", "fail"]
    assert [one and one.verdict for one in said] == expected


def test_where_each_statement_is_a_trial_it_comes_again_as_a_later_one() -> None:
    study = survey(layout="random", trials=4, trap_item=True, repeat={"items_per_trial": 1})
    plan, _ = plan_of(study)
    again: Counter[int] = Counter()
    for planned in plan.lists:
        places, rated = places_of(planned, "repeat"), [trial.slots[0].stimulus for trial in planned.rated]
        assert len(places) == len(places_of(planned, "trap_item")) == 4
        again.update(Counter(planned.trials[place].slots[0].stimulus for place in places).values())
        for place in places:
            trial = planned.trials[place]
            assert not trial.asked[0].ticks
            assert trial.slots[0].stimulus in rated
            (first,) = (
                n for n, one in enumerate(planned.trials[:place])
                if not is_check(one) and one.asked == trial.asked and one.slots[0].stimulus == trial.slots[0].stimulus
            )  # fmt: skip
            assert place - first >= 4
            assert [repeated(study, planned.trials[first], trial, value) for value in (2, 3, 4)] == [
                "pass", "pass", "fail",
            ]  # fmt: skip
    # One of each stimulus, but for a list whose early places have no other.
    assert again[1] >= 0.95 * 4 * len(plan.lists)


def repeated(study: Study, first: Trial, trial: Trial, value: int) -> str:
    """Return the verdict on a trial that comes again, answered so after a 2."""
    method = find(study.method)
    (rule,) = (rule for rule in study_rules(study) if isinstance(rule, Repeat))
    earlier, later = (
        AnsweredTrial(one.id, one, answer, method.judgements(one, answer))
        for one, answer in ((first, scored(2)), (trial, scored(value)))
    )
    said = rule.judge_trial(later, [earlier])
    assert said is not None
    return said.verdict


def scored(value: int) -> Any:
    return {"scores": {"q1": {"s1": value}}}
