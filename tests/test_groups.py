"""Factors between participants: every group is a study of its own, balanced in itself, and knows of no other."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import beholder
from asking import serving, write_asking
from beholder.analyse.factors import factors
from beholder.errors import PlanError, Refused, StudyError
from beholder.methods import find, load_study
from beholder.plan.counting.balance import balance, ratings_range
from beholder.plan.digest import plan_digest
from beholder.plan.groups import groups_of
from beholder.plan.make import make_plan
from beholder.plan.model import Plan, PlannedList
from beholder.plan.written import lists_from_json, lists_to_json
from beholder.serve.host import Host
from beholder.serve.submission import Submission
from beholder.stimuli.catalogue import Catalogue
from beholder.stimuli.lesson import Expectation, Lesson
from beholder.study.between import groups_in, study_of
from beholder.study.model import Study
from beholder.study.resolved import resolved_yaml
from planning import assert_promises, make_catalogue
from waiting import Clock, Person

QUESTIONS = ("human-like", "subtitle", "matching", "intelligent")
ASKED = {name: {"questions": [name]} for name in QUESTIONS}
LAYOUT: dict[str, Any] = {"turns": {}, "rows": {"options": {"layout": "rows"}}}


def study_text(between: dict[str, Any], **keys: Any) -> dict[str, Any]:
    design = {"participants": 8, "trials": 4, "per_trial": 3, "seed": 3, **keys.pop("design", {})}
    return {
        "beholder": 1, "name": "tiny", "title": "Tiny", "method": "parallel", "stimuli": "stimuli",
        "questions": [{"id": name, "text": f"{name}?"} for name in QUESTIONS],
        "design": {**design, "between": between}, **keys,
    }  # fmt: skip


def write(folder: Path, between: dict[str, Any], **keys: Any) -> Path:
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump(study_text(between, **keys), sort_keys=False), "utf-8")
    return path


def make_study(between: dict[str, Any], **keys: Any) -> Study:
    return Study.model_validate(study_text(between, **keys))


def problems(folder: Path, between: dict[str, Any], **keys: Any) -> list[str]:
    with pytest.raises(StudyError) as caught:
        load_study(write(folder, between, **keys))
    return [str(problem).partition("  ")[2] for problem in caught.value.problems]


def plan_problems(study: Study, catalogue: Catalogue) -> list[str]:
    with pytest.raises(PlanError) as caught:
        make_plan(study, catalogue, find(study.method))
    return [str(problem).partition("  ")[2] for problem in caught.value.problems]


# The file


@pytest.mark.parametrize(
    ("between", "design", "told"),
    [
        (
            {"asked": {"a": {}}},
            {},
            "design.between.asked has one level, a, and splits nothing. Allowed: two levels or more. Add a level, "
            "which may be empty, or take the factor out.",
        ),
        (
            {"asked": None},
            {},
            "design.between.asked has no levels, and splits nothing. Allowed: two levels or more. Add a level, which "
            "may be empty, or take the factor out.",
        ),
        (
            {"asked": {"a": {}, "b": None}},
            {},
            "design.between.asked.b is the same as design.between.asked.a, and splits nothing. Allowed: levels that "
            "differ. Change it, or take it out.",
        ),
        (
            {"layout": {"a": {"options": {"layout": "turns"}}, "b": {}}},
            {},
            "design.between.layout.b is the same as design.between.layout.a, and splits nothing. Allowed: levels that "
            "differ. Change it, or take it out.",
        ),
        (
            {"asked": ASKED, "layout": LAYOUT},
            {"participants": 3},
            "design.participants is 3, below the 8 groups of design.between (4 x 2). Allowed: 8 or more. "
            "participants: 8 gives each of the 8 groups one.",
        ),
        (
            {"asked": {"a": {"questions": ["matchin"]}, "b": {}}},
            {},
            "design.between.asked.a.questions.0 is matchin, which is not among the questions. Allowed: human-like, "
            "subtitle, matching or intelligent. Did you mean matching?",
        ),
        (
            {"asked": {"a": {"questions": ["matching", "matching"]}, "b": {}}},
            {},
            "design.between.asked.a.questions.1 is matching, as is design.between.asked.a.questions.0. Allowed: each "
            "once. Take one out.",
        ),
        (
            {"asked": {"a": {"questions": []}, "b": {}}},
            {},
            "design.between.asked.a.questions is empty. Allowed: one or more of the questions. Leave it out to have "
            "all questions.",
        ),
        (
            {
                "asked": {"a": {"playback": {"watch": "none"}}, "b": {}},
                "told": {"c": {"playback": {"watch": "whole"}}, "d": None},
            },
            {},
            "design.between.told.c.playback.watch is changed by design.between.asked.a.playback.watch too. Allowed: "
            "each key in one factor. Write one factor whose levels have both, or change something else.",
        ),
        (
            {"Größe 2": {"a": {}, "b": {"playback": {"watch": "none"}}}},
            {},
            "design.between.Größe 2 is no name for a column. Allowed: up to 64 small letters, digits, - and _, "
            "beginning with a letter or digit. Rename it.",
        ),
        (
            {"layout": {"a": {"options": {"layout": "sideways"}}, "b": {}}},
            {},
            "design.between.layout.a.options.layout is sideways. Allowed: turns or rows.",
        ),
        (
            {"layout": {"a": {"options": {"layuot": "rows"}}, "b": {}}},
            {},
            "design.between.layout.a.options.layuot is not a known key. Allowed: layout, reference "
            "and anchors. Did you mean layout?",
        ),
        (
            {"seen": {"a": {"playback": {"look_seconds": 3}}, "b": {}}},
            {},
            "design.between.seen.a.playback.look_seconds cannot be a factor: stimuli are made and measured once, for "
            "all participants. Change another key.",
        ),
        (
            {"shown": {"a": {"options": {"anchors": ["lowpass-3500"]}}, "b": {}}},
            {},
            "design.between.shown.a.options.anchors cannot be a factor: stimuli are made and measured once, for all "
            "participants. List all of them in options.anchors, and let the levels choose by conditions.",
        ),
        (
            {"seen": {"a": {"playback": {"watch": "no"}}, "b": {}}},
            {},
            "design.between.seen.a.playback.watch is no. Allowed: whole, start or none. Did you mean none?",
        ),
        (
            {"told": {"a": {"instructions": "texts/none.md"}, "b": {}}},
            {},
            "design.between.told.a.instructions is texts/none.md, and there is no such file. Allowed: Markdown, or the "
            "name of a file that ends in .md. Write it to texts/none.md in the study folder.",
        ),
        (
            {
                "one": {f"l{n}": {"playback": {"max_plays": n + 1}} for n in range(40)},
                "two": {f"l{n}": {"instructions": f"{n}"} for n in range(40)},
            },
            {"participants": 20_000},
            "design.between makes 1600 groups (40 x 40). Allowed: up to 1000 groups. Take a factor or some levels out.",
        ),
    ],
)
def test_what_does_not_split_or_fit_is_told(
    tmp_path: Path, between: dict[str, Any], design: dict[str, Any], told: str
) -> None:
    assert told in problems(tmp_path, between, design=design)


def test_the_study_of_every_group_is_looked_at_and_all_is_told_at_once(tmp_path: Path) -> None:
    between = {
        "shown": {"few": {"conditions": ["x", "y"]}, "other": {"conditions": ["y", "z"]}},
        "layout": {"a": {"options": {"layout": "sideways"}}, "b": {}},
    }
    design = {"always": ["x"], "per_trial": 3}
    found = problems(tmp_path, between, conditions=["x", "y", "z"], design=design)
    assert sorted(set(found)) == [
        *(
            f"design.always.0 is x, which is not among the conditions, in the group shown: other, layout: {layout}. "
            "Allowed: y or z."
            for layout in ("a", "b")
        ),
        "design.between.layout.a.options.layout is sideways. Allowed: turns or rows.",
        *(
            f"design.per_trial is 3, above the number of conditions 2, in the group shown: {shown}, layout: {layout}. "
            "Allowed: at most 2. Leave it out to show all conditions."
            for shown in ("few", "other")
            for layout in ("a", "b")
        ),
    ]


def test_the_line_of_a_problem_is_that_of_its_level(tmp_path: Path) -> None:
    path = tmp_path / "study.yaml"
    text = yaml.safe_dump(study_text({}), sort_keys=False).replace("  between: {}\n", "")
    levels = "  between:\n    layout:\n      01: {}\n      no:\n        options:\n          layout: NA\n"
    path.write_text(text.replace("design:\n", f"design:\n{levels}"), "utf-8")
    line = path.read_text("utf-8").splitlines().index("          layout: NA") + 1
    with pytest.raises(StudyError) as caught:
        load_study(path)
    told = f"study.yaml:{line}  design.between.layout.no.options.layout is NA. Allowed: turns or rows."
    assert [str(problem) for problem in caught.value.problems] == [told]


def test_a_study_with_groups_is_written_out_and_read_again(tmp_path: Path) -> None:
    between = {"asked": ASKED, "01": {"no": {"playback": {"watch": "none"}}, "yes": None}}
    study = load_study(write(tmp_path, between))
    (tmp_path / "again").mkdir()
    (tmp_path / "again" / "study.yaml").write_text(resolved_yaml(study), "utf-8")
    assert load_study(tmp_path / "again").model_dump() == study.model_dump()
    assert list(study.design.between["01"]) == ["no", "yes"]


def test_a_group_has_what_its_levels_change_and_the_rest_of_the_study() -> None:
    between = {
        "asked": {"two": {"questions": ["subtitle", "human-like"]}, "all": {}},
        "how": {
            "free": {"playback": {"watch": "none"}, "options": {"layout": "rows"}, "instructions": "Free."},
            "set": {},
        },
    }
    study = make_study(between, playback={"sound": "off"}, texts={"instructions": "Set."})
    groups = [study_of(study, levels) for levels in groups_in(study.design.between)]
    assert [[question.id for question in group.questions] for group in groups[:3:2]] == [
        ["subtitle", "human-like"],
        list(QUESTIONS),
    ]
    assert [(group.playback.watch, group.playback.sound) for group in groups[:2]] == [("none", "off"), ("whole", "off")]
    assert [group.options.get("layout") for group in groups] == ["rows", None, "rows", None]
    assert [group.texts.pages[0].text for group in groups] == ["Free.", "Set.", "Free.", "Set."]


# The plan


def parts(plan: Plan) -> dict[tuple[tuple[str, str], ...], list[PlannedList]]:
    found: dict[tuple[tuple[str, str], ...], list[PlannedList]] = {}
    for planned in plan.lists:
        found.setdefault(planned.group_key, []).append(planned)
    return found


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
        # Matched: whoever is asked something else sees the same, in the same order and in the same places.
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
    lessons = {"training": Lesson("here", expected={"matching": Expectation(80.0)}, number=1),
               "gold": Lesson("here", expected={"subtitle": Expectation(10.0)}, number=2)}  # fmt: skip
    known = [
        replace(plain.stimuli[0], id=f"known-{role}", content=f"known-{role}", role=role, lesson=lesson)  # type: ignore[arg-type]
        for role, lesson in lessons.items()
    ]
    catalogue = replace(plain, stimuli=(*plain.stimuli, *known))
    first, second = groups_of(study, catalogue, find("parallel"))
    assert [one.id for one in first.catalogue.stimuli if one.lesson] == ["known-training"]
    assert {one.id: dict(one.lesson.expected) for one in second.catalogue.stimuli if one.lesson} == {
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

    told: dict[str, Any] = {"a": {"instructions": "One."}, "b": {"instructions": "Two."}}
    other: dict[str, Any] = {"a": {"instructions": "1."}, "b": {"instructions": "2.", "playback": {"watch": "none"}}}
    assert digest({"told": told}) == digest({"told": other})
    assert digest({"told": told}) != digest({"told": dict(reversed(told.items()))})
    assert digest({"layout": LAYOUT}) != digest({"layout": {**LAYOUT, "rows": {"options": {"layout": "other"}}}})
    assert digest({}) != digest({"layout": LAYOUT})


def test_what_stands_in_the_way_of_a_group_is_told_with_its_name() -> None:
    between = {"shown": {"none": {"conditions": ["condition9"]}, "all": {}}}
    assert plan_problems(make_study(between), make_catalogue(4, 3)) == [
        "design.between.shown.none.conditions.0 is condition9, which is no condition. Allowed: condition0, condition1, "
        "condition2. Did you mean condition2?",
    ]
    between = {"shown": {"few": {"conditions": ["condition0", "condition1"]}, "all": {}}}
    found = plan_problems(make_study(between), make_catalogue(4, 3))
    told = "design.per_trial is 3, but there are 2 conditions to show, in the group shown: few. Allowed: 2."
    assert found == [told]
    found = plan_problems(make_study({"layout": LAYOUT}, design={"trials": 9}), make_catalogue(4, 3))
    assert len(found) == 1
    assert "group" not in found[0]


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
    found = plan_problems(study, make_catalogue(4, 3))
    assert len(found) == 1
    assert found[0].startswith("design.between.asked.a.questions leaves out ")
    assert found[0].endswith(
        "which options.items asks for in every group. Write the questions out under questions, or let the levels "
        "choose item sets with options.items."
    )


# The server

SERVED = {
    "zqasked": {"zqone": {"questions": ["first"], "instructions": "Only the **first**."},
                "zqtwo": {"questions": ["second"], "instructions": "Only the second."}},
    "zqhow": {"zqset": {}, "zqfree": {"playback": {"watch": "none"}, "options": {"layout": "rows"}}},
}  # fmt: skip
TWO = [{"id": "first", "text": "How kind is it?"}, {"id": "second", "text": "How clear is it?"}]


def write_served(folder: Path, between: dict[str, Any] | None = None) -> Path:
    design = {"participants": 8, "trials": 2, "seed": 3, "between": between or SERVED}
    return write_asking(folder, questions=TWO, design=design, checks={}, texts={"instructions": "For all."})


class Keeper(Person):
    """Somebody who keeps everything that they are sent."""

    def __init__(self, host: Host, clock: Clock, name: str) -> None:
        super().__init__(host, clock, name)
        self.steps: list[dict[str, Any]] = []

    async def take(self) -> None:
        _, arrival = await self.host.arrive(self.params, self.device)
        self.received = [json.dumps(arrival)]
        self.token, self.step = arrival["token"], arrival["step"]  # type: ignore[assignment]
        while self.step["kind"] != "end":
            self.steps.append(dict(self.step))
            self.clock.wait(seconds=30)
            said = await self.host.answer(self.token, self.key, await self.answers())
            self.received.append(json.dumps(said))
            self.step = said["step"]  # type: ignore[assignment]


async def test_each_group_meets_its_own_study_and_nothing_tells_of_another(tmp_path: Path) -> None:
    async with serving(write_served(tmp_path / "study"), tmp_path / "store") as (host, clock):
        people = [Keeper(host, clock, f"p{number}") for number in range(8)]
        for person in people:
            await person.take()
        lists = [(await person.facts()).list for person in people]
        assert lists == list(range(1, 9))
    for number, person in enumerate(people):
        is_second, is_free = number % 4 >= 2, number % 2 == 1
        trials = [step["trial"] for step in person.steps if step["kind"] == "trial"]
        assert {asked["text"] for trial in trials for asked in trial["asked"]} == {TWO[is_second]["text"]}
        assert {trial["playback"]["watch"] for trial in trials} == {"none" if is_free else "whole"}
        assert {trial["extra"]["layout"] for trial in trials} == {"rows" if is_free else "turns"}
        text = next(step["text"] for step in person.steps if step["key"] == "text:instructions")
        own = "<p>Only the second.</p>" if is_second else "<p>Only the <strong>first</strong>.</p>"
        assert text == own
        # Before a list is theirs, nobody can know which instructions will be; from then on each page has them.
        assert json.loads(person.received[0])["study"]["instructions"] == ""
        assert {step["instructions"] for step in person.steps[1:]} == {own}
        everything = "".join(person.received)
        assert not re.findall(".{30}zq(?:asked|how|one|two|set|free).{20}", everything)
        assert "For all." not in everything
        assert TWO[not is_second]["text"] not in everything


async def test_watching_is_asked_for_as_the_group_has_it(tmp_path: Path) -> None:
    async with serving(write_served(tmp_path / "study"), tmp_path / "store") as (host, clock):
        people = [await Person(host, clock, f"p{number}").come() for number in range(2)]
        for person, code in zip(people, ("not_watched", None), strict=True):
            await person.until("trial:")
            scores = {slot["id"]: 50 for slot in person.step["trial"]["slots"]}
            try:
                await person.answer(Submission({"scores": {"q1": scores}}))
                assert code is None
            except Refused:
                assert code is not None


async def test_a_preview_is_of_any_list(tmp_path: Path) -> None:
    async with serving(write_served(tmp_path / "study"), tmp_path / "store") as (host, _):
        secret = host.preview.link.partition("preview=")[2]
        for number, text in ((1, TWO[0]["text"]), (3, TWO[1]["text"])):
            _, arrival = await host.arrive({"preview": secret, "list": str(number)}, {})
            assert "Only the" in str(arrival["study"])
            step = await host.step(str(arrival["token"]), "trial:1")
            assert step["trial"]["asked"][0]["text"] == text  # type: ignore[call-overload, index]
            url = step["trial"]["slots"][0]["media"]["url"]  # type: ignore[call-overload, index]
            await host.media(str(url).rpartition("/")[2])
        for other in ("0", "9", "-1", "x", "9" * 30):
            with pytest.raises(Refused):
                await host.arrive({"preview": secret, "list": other}, {})
        with pytest.raises(Refused):
            await host.media("preview5-00")


# From robots to the report


@pytest.fixture(scope="module")
def rehearsed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of four groups that robots have taken over HTTP, cleaned."""
    folder = tmp_path_factory.mktemp("groups")
    path = write_served(folder)
    beholder.simulate(path, participants=6, seed=2)
    beholder.clean(path)
    return folder


def test_levels_are_columns_of_the_ratings(rehearsed: Path) -> None:
    with (rehearsed / "clean" / "ratings.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    asked = {(row["factor_zqasked"], row["question"]) for row in rows}
    assert asked == {("zqone", "first"), ("zqtwo", "second")}
    people = Counter(levels for levels, _ in {
        ((row["factor_zqasked"], row["factor_zqhow"]), row["participant"]) for row in rows
    })  # fmt: skip
    assert sorted(people.values()) == [1, 1, 2, 2]
    assert {row["use"] for row in rows} == {"true"}


def test_the_account_tells_how_many_of_each_group_began_finished_and_are_used(rehearsed: Path) -> None:
    account = json.loads((rehearsed / "clean" / "account.json").read_text("utf-8"))
    assert account["groups"][0] == {
        "levels": {"zqasked": "zqone", "zqhow": "zqset"}, "began": 2, "finished": 2, "used": 2,
    }  # fmt: skip
    assert [one["used"] for one in account["groups"]] == [2, 2, 1, 1]


def test_each_question_is_analysed_by_those_who_were_asked(rehearsed: Path) -> None:
    results = beholder.analyse(rehearsed)
    assert list(dict.fromkeys(results.conditions["question"])) == ["first", "second"]
    table = results.also["factors"]
    rows = {(row.question, row.factor, row.level): row for row in table.itertuples()}
    assert set(rows) == {
        (question, factor, level)
        for question, own in (("first", "zqone"), ("second", "zqtwo"))
        for factor, level in (("zqasked", own), ("zqhow", "zqset"), ("zqhow", "zqfree"))
    }
    assert rows["first", "zqhow", "zqset"].participants == 2


def test_a_comparison_counts_for_the_level_of_whoever_made_it() -> None:
    """A level belongs to the participant: both stimuli of a pair are judged at the level of the judge."""
    rows = [
        {
            "participant": f"p{person}", "content": f"c{content}", "condition": "a", "other_condition": "b",
            "kind": "choice", "value": float(person % 2 == 0), "factor_layout": ("grid", "list")[person % 2],
        }
        for person in range(6)
        for content in range(3)
    ]  # fmt: skip
    found = factors(pd.DataFrame(rows))
    assert found is not None
    by_level = {row.level: row for row in found.table.itertuples()}
    assert {level: (row.participants, row.n) for level, row in by_level.items()} == {"grid": (3, 18), "list": (3, 18)}
