"""Plans of groups: each group is balanced on its own, groups fill in turns, and problems name their group."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beholder.errors import PlanError
from beholder.methods import find
from beholder.planning.balance import balance, ratings_range
from beholder.planning.builder import make_plan
from beholder.planning.digest import plan_digest
from beholder.planning.groups import groups_of
from beholder.planning.model import Plan, PlannedList
from beholder.planning.serialization import lists_from_json, lists_to_json
from beholder.stimuli.catalogue import Catalogue
from beholder.stimuli.known_answers import Expectation, KnownAnswer
from beholder.study.model import Study
from support.group_studies import ASKED, LAYOUT, QUESTIONS, make_study
from support.plans import assert_promises, make_catalogue


def plan_problems(study: Study, catalogue: Catalogue) -> list[str]:
    with pytest.raises(PlanError) as caught:
        make_plan(study, catalogue, find(study.method))
    return [str(problem).partition("  ")[2] for problem in caught.value.problems]


def parts(plan: Plan) -> dict[tuple[tuple[str, str], ...], list[PlannedList]]:
    lists: dict[tuple[tuple[str, str], ...], list[PlannedList]] = {}
    for planned in plan.lists:
        lists.setdefault(planned.group_key, []).append(planned)
    return lists


def shown(planned: PlannedList) -> list[list[str]]:
    return [[slot.stimulus for slot in trial.slots] for trial in planned.trials]


def test_four_questions_in_four_groups_are_one_study() -> None:
    """HEMVIP's own study: each participant answers one of four questions, about the same videos."""
    study = make_study({"asked": ASKED}, design={"participants": 48, "trials": 10, "per_trial": 3, "seed": 7})
    catalogue = make_catalogue(12, 5)
    plan = make_plan(study, catalogue, find("parallel"))
    assert_promises(plan, catalogue)
    groups = list(parts(plan).values())
    assert [len(lists) for lists in groups] == [12] * 4
    for name, lists in zip(QUESTIONS, groups, strict=True):
        assert {asked.question for one in lists for trial in one.trials for asked in trial.asked} == {name}
        # Matched: groups with other questions see the same, in the same order and in the same places.
        assert list(map(shown, lists)) == list(map(shown, groups[0]))
    rows = {row.count: row for row in balance(plan, catalogue)}
    assert (rows["group totals"].least, rows["group totals"].most, rows["group totals"].promised) == (12, 12, 1)
    assert ratings_range(plan) == (6, 6)
    assert rows["condition totals"].promised == rows["content totals"].promised == 1


@settings(deadline=None, max_examples=25)
@given(
    people=st.integers(4, 30),
    conditions=st.integers(2, 4),
    contents=st.integers(2, 6),
    seed=st.integers(0, 5),
    data=st.data(),
)
def test_each_group_is_balanced_in_itself_and_groups_fill_in_turns(
    people: int, conditions: int, contents: int, seed: int, data: st.DataObject
) -> None:
    per_trial = data.draw(st.integers(2, conditions))
    trials = data.draw(st.integers(1, contents))
    between = {"asked": {"one": {"questions": ["matching"]}, "all": {}}, "layout": LAYOUT}
    design = {"participants": people, "trials": trials, "per_trial": per_trial, "seed": seed}
    study, catalogue = make_study(between, design=design), make_catalogue(contents, conditions)
    plan = make_plan(study, catalogue, find("parallel"))
    assert_promises(plan, catalogue)
    assert [planned.number for planned in plan.lists] == list(range(1, people + 1))
    for taken in range(4, people + 1):
        # Claims take the lowest number that is free, so this holds whenever people stop coming.
        sizes = Counter(planned.group_key for planned in plan.lists[:taken]).values()
        assert len(sizes) == 4
        assert max(sizes) - min(sizes) <= 1


def test_groups_with_conditions_of_their_own_are_each_balanced() -> None:
    between = {"shown": {"few": {"conditions": ["condition0", "condition1"]}, "all": {}}}
    design = {"participants": 13, "per_trial": None}
    study, catalogue = make_study(between, design=design), make_catalogue(6, 4)
    plan = make_plan(study, catalogue, find("parallel"))
    assert_promises(plan, catalogue)
    few, every = parts(plan).values()
    assert (len(few), len(every)) == (7, 6)
    assert {stimulus.rpartition("-")[2] for one in few for page in shown(one) for stimulus in page} == {
        "condition0",
        "condition1",
    }
    assert {len(page) for one in every for page in shown(one)} == {4}
    written = [planned.group for planned in lists_from_json(json.loads(json.dumps(list(lists_to_json(plan)))))]
    assert written == [planned.group for planned in plan.lists]


def test_votes_are_votes_of_each_group() -> None:
    study = make_study({"asked": ASKED}, design={"participants": 20, "votes": 5, "per_trial": 2})
    plan = make_plan(study, make_catalogue(6, 4), find("parallel"))
    low, high = ratings_range(plan)
    assert 5 <= low <= high <= 6
    assert len({len(lists) for lists in parts(plan).values()}) == 1


def test_lists_of_one_person_follow_one_another() -> None:
    study = make_study({"layout": LAYOUT}, design={"participants": 6, "trials": 2, "sessions_per_participant": 3})
    plan = make_plan(study, make_catalogue(6, 3), find("parallel"))
    turns = [planned.group["layout"] for planned in plan.lists]
    assert turns == (["turns"] * 3 + ["rows"] * 3) * 3


@pytest.mark.parametrize("people", [4, 5])
def test_groups_are_even_within_the_lists_of_one_person(people: int) -> None:
    study = make_study({"layout": LAYOUT}, design={"participants": people, "trials": 2, "sessions_per_participant": 3})
    catalogue = make_catalogue(6, 3)
    plan = make_plan(study, catalogue, find("parallel"))
    assert_promises(plan, catalogue)
    row = next(row for row in balance(plan, catalogue) if row.count == "group totals")
    assert (row.difference, row.promised) == (3 * (people % 2), 3)


def test_training_and_gold_expect_nothing_of_what_a_group_is_not_asked() -> None:
    study = make_study({"asked": {"a": {"questions": ["matching"]}, "b": {"questions": ["subtitle"]}}})
    plain = make_catalogue(4, 3)
    lessons = {"training": KnownAnswer("here", expected={"matching": Expectation(80.0)}, number=1),
               "gold": KnownAnswer("here", expected={"subtitle": Expectation(10.0)}, number=2)}  # fmt: skip
    known = [
        replace(plain.stimuli[0], id=f"known-{role}", content=f"known-{role}", role=role, known_answer=lesson)  # type: ignore[arg-type]
        for role, lesson in lessons.items()
    ]
    catalogue = replace(plain, stimuli=(*plain.stimuli, *known))
    first, second = groups_of(study, catalogue, find("parallel"))
    assert [one.id for one in first.catalogue.stimuli if one.known_answer] == ["known-training"]
    assert {one.id: dict(one.known_answer.expected) for one in second.catalogue.stimuli if one.known_answer} == {
        "known-training": {},
        "known-gold": {"subtitle": Expectation(10.0)},
    }
    plan = make_plan(study, catalogue, find("parallel"))
    again = list(lists_from_json(json.loads(json.dumps(list(lists_to_json(plan))))))
    assert again == list(plan.lists)
    assert [[sorted(trial.targets) for trial in one.training] for one in again[:4]] == [[["q1.s1"]], [[]]] * 2
    assert sum("train" in json.dumps(one) for one in lists_to_json(plan)) == 2


def test_the_plan_depends_on_groups_and_their_order_but_not_on_their_texts() -> None:
    catalogue = make_catalogue(4, 3)

    def digest(between: dict[str, Any]) -> str:
        return plan_digest(make_study(between), catalogue)

    levels: dict[str, Any] = {"a": {"instructions": "One."}, "b": {"instructions": "Two."}}
    other: dict[str, Any] = {"a": {"instructions": "1."}, "b": {"instructions": "2.", "playback": {"watch": "none"}}}
    assert digest({"told": levels}) == digest({"told": other})
    assert digest({"told": levels}) != digest({"told": dict(reversed(levels.items()))})
    assert digest({"layout": LAYOUT}) != digest({"layout": {**LAYOUT, "rows": {"options": {"layout": "other"}}}})
    assert digest({}) != digest({"layout": LAYOUT})


def test_what_stands_in_the_way_of_a_group_is_told_with_its_name() -> None:
    between = {"shown": {"none": {"conditions": ["condition9"]}, "all": {}}}
    assert plan_problems(make_study(between), make_catalogue(4, 3)) == [
        "design.between.shown.none.conditions.0 is condition9, which is no condition. Allowed: condition0, condition1, "
        "condition2. Did you mean condition2?",
    ]
    between = {"shown": {"few": {"conditions": ["condition0", "condition1"]}, "all": {}}}
    problems = plan_problems(make_study(between), make_catalogue(4, 3))
    message = "design.per_trial is 3, but there are 2 conditions to show, in the group shown: few. Allowed: 2."
    assert problems == [message]
    problems = plan_problems(make_study({"layout": LAYOUT}, design={"trials": 9}), make_catalogue(4, 3))
    assert len(problems) == 1
    assert "group" not in problems[0]


def test_a_factor_and_a_column_of_the_manifest_have_two_names() -> None:
    plain = make_catalogue(4, 3)
    catalogue = replace(plain, stimuli=tuple(replace(one, factors={"layout": "x"}) for one in plain.stimuli))
    assert plan_problems(make_study({"layout": LAYOUT}), catalogue) == [
        "design.between.layout is the name of a column of the manifest too, and both would be factor_layout. Allowed: "
        "a name of its own. Rename one of them.",
    ]


def test_items_of_a_set_are_not_left_out_by_questions() -> None:
    study = make_study(
        {"asked": {"a": {"questions": ["matching"]}, "b": {}}},
        method="likert", options={"items": "avatar-short", "layout": "grid", "shuffle": True, "columns": "low-first"},
        design={"per_trial": None},
    )  # fmt: skip
    problems = plan_problems(study, make_catalogue(4, 3))
    assert len(problems) == 1
    assert problems[0].startswith("design.between.asked.a.questions leaves out ")
    assert problems[0].endswith(
        "which options.items asks for in every group. Write the questions out under questions, or let the levels "
        "choose item sets with options.items."
    )


def test_how_many_stimuli_stand_on_a_page_can_differ_between_groups() -> None:
    between = {"page": {"two": {"per_trial": 2, "trials": 6}, "five": {"per_trial": 5, "trials": 3}}}
    study = make_study(between, design={"participants": 24, "seed": 7})
    catalogue = make_catalogue(12, 5)
    plan = make_plan(study, catalogue, find("parallel"))
    assert_promises(plan, catalogue)
    pages = [{(len(one.trials), *{len(trial.slots) for trial in one.trials}) for one in lists}
             for lists in parts(plan).values()]  # fmt: skip
    assert pages == [{(6, 2)}, {(3, 5)}]
    assert [len(lists) for lists in parts(plan).values()] == [12, 12]
    # 12 people with 12 stimuli each, and with 15 each, over 60 stimuli.
    assert ratings_range(plan) == (2, 3)
    longer = {"page": {**between["page"], "two": {"per_trial": 2, "trials": 7}}}
    other = make_study(longer, design={"participants": 24, "seed": 7})
    assert plan_digest(study, catalogue) != plan_digest(other, catalogue)


def test_a_page_that_is_too_large_is_told_at_its_level() -> None:
    study = make_study({"page": {"few": {"per_trial": 2}, "many": {"per_trial": 7}}})
    assert plan_problems(study, make_catalogue(12, 5)) == [
        "design.between.page.many.per_trial is 7, but there are 5 conditions to show, in the group page: many. "
        "Allowed: 2 to 5."
    ]
