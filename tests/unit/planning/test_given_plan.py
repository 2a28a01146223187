"""A plan that the researcher gives: taken as it is, or every wrong line is reported."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from beholder.errors import PlanError
from beholder.methods import find, load_study
from beholder.planning.balance import balance, balance_table
from beholder.planning.builder import make_plan
from beholder.planning.digest import plan_digest
from beholder.planning.folder import plan_csv
from beholder.planning.model import Plan
from beholder.stimuli.catalogue import Catalogue
from beholder.study.model import Study
from support.given_plans import catalogue_of, study_of
from support.plans import make_catalogue, with_clips
from support.variants import variant


def given_back(plan: Plan, study: Study, catalogue: Catalogue) -> Plan:
    (study.folder / "mine.csv").write_text("".join(plan_csv(plan)), "utf-8")
    again = study.model_copy(update={"design": study_of(study.method, study.folder).design})
    return make_plan(again, catalogue, find(study.method))


def refused(method: str, folder: Path, rows: str, catalogue: Catalogue | None = None, **keys: Any) -> list[str]:
    """Return what is said of a plan with these lines below its heading, blanks between the cells."""
    heading = "" if rows.startswith(("list", "\n")) else "list,position,slot,stimulus\n"
    lines = "\n".join(",".join(line.split()) for line in rows.strip().splitlines())
    (folder / "mine.csv").write_text(heading + lines + "\n", "utf-8")
    return _refused(study_of(method, folder, keys), catalogue or catalogue_of(method))


def _refused(study: Study, catalogue: Catalogue) -> list[str]:
    with pytest.raises(PlanError) as caught:
        make_plan(study, catalogue, find(study.method))
    return [str(problem) for problem in caught.value.problems]


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(1, 12), st.integers(4, 6), st.integers(0, 9))
@pytest.mark.parametrize(
    "method", ["parallel", "pair", "acr-hr", *map(variant, ("acr", "ab", "abx", "mushra", "dcr", "ccr"))]
)
def test_a_plan_that_is_given_back_is_the_same_plan(
    method: str, tmp_path: Path, participants: int, contents: int, seed: int
) -> None:
    catalogue = catalogue_of(method, contents, 2 if method in ("ab", "abx") else 4)
    study = study_of(method, tmp_path, participants=participants, trials=4, seed=seed, breaks=2)
    plan = make_plan(study, catalogue, find(method))
    (tmp_path / "mine.csv").write_text("".join(plan_csv(plan)), "utf-8")
    again = make_plan(study_of(method, tmp_path, plan="mine.csv", seed=seed, breaks=2), catalogue, find(method))
    assert again.lists == plan.lists
    table, counted = (balance_table(balance(one, catalogue)) for one in (plan, again))
    if method not in ("pair", "abx", "ab", "ccr"):  # of pairs, those that never come are no part of a given plan
        assert sorted(row[:-1] for row in table) == sorted(row[:-1] for row in counted)
    assert {row[-1] for row in counted} == {"promised", ""}


def test_what_checks_put_in_is_left_out_of_the_table_and_put_in_again(tmp_path: Path) -> None:
    checks = {"attention": {"per_session": 2, "say": "text"}, "repeat": {"per_session": 1}}
    study = study_of("parallel", tmp_path, {"checks": checks}, participants=9, trials=6, per_trial=3)
    catalogue = with_clips(study, catalogue_of("parallel", 8), find("parallel"))
    plan = make_plan(study, catalogue, find("parallel"))
    assert any(slot.role == "attention" for trial in plan.lists[0].trials for slot in trial.slots)
    text = "".join(plan_csv(plan))
    assert text.splitlines()[0] == "list,position,slot,stimulus"
    assert "attention" not in text
    assert len(text.splitlines()) == 1 + 9 * 6 * 3
    assert given_back(plan, study, catalogue).lists == plan.lists


def test_each_question_has_its_own_line_where_it_has_its_own_trial(tmp_path: Path) -> None:
    questions = [{"id": name, "text": "So?", "scale": "agree5"} for name in ("warm", "clear", "dull", "calm", "odd")]
    checks = {"trap_item": True, "repeat": {"items_per_trial": 1}}
    keys = {"options": {"layout": "random"}, "questions": questions, "checks": checks}
    study = study_of("likert", tmp_path, keys, participants=5, trials=4)
    catalogue = catalogue_of("likert")
    plan = make_plan(study, catalogue, find("likert"))
    text = "".join(plan_csv(plan)).splitlines()
    assert text[0] == "list,position,slot,stimulus,question"
    assert len(text) == 1 + 5 * 4 * 5
    assert {len(planned.trials) for planned in plan.lists} == {4 * 5 + 4 + 4}
    assert given_back(plan, study, catalogue).lists == plan.lists


def test_it_is_taken_as_it_is(tmp_path: Path) -> None:
    rows = [
        "Stimulus;slot;list;position;",
        "condition2/content1;1;2;1;",
        "condition0/content1.mp4;2;2;1;",  # by its file
        "condition3/content0;2;1;2;",
        "condition1/content0;1;1;2;",
        "condition0/content3;1;1;1;",
        "condition3/content3;2;1;1;",
        "condition2/content3;3;1;1;",
        ";;;;",
    ]
    (tmp_path / "mine.csv").write_bytes("\ufeff".encode() + "\r\n".join(rows).encode())
    study, catalogue = study_of("parallel", tmp_path), catalogue_of("parallel")
    plan = make_plan(study, catalogue, find("parallel"))
    assert [[[slot.stimulus for slot in trial.slots] for trial in planned.trials] for planned in plan.lists] == [
        [
            ["condition0/content3", "condition3/content3", "condition2/content3"],
            ["condition1/content0", "condition3/content0"],
        ],
        [["condition2/content1", "condition0/content1"]],
    ]
    assert [[slot.label for slot in trial.slots] for trial in plan.lists[0].trials] == [["A", "B", "C"], ["A", "B"]]
    rows_by_name = {row.count: row for row in balance(plan, catalogue)}
    assert (rows_by_name["content totals"].least, rows_by_name["content totals"].most) == (0, 1)
    assert all(row.promised is None for row in rows_by_name.values())


def test_lists_of_different_length_get_their_checks(tmp_path: Path) -> None:
    """One file for each participant, as HEMVIP has them, need not be equally long."""
    rows = [
        f"{number},{position + 1},{slot + 1},condition{slot}/content{position}"
        for number, length in ((1, 5), (2, 8), (3, 6))
        for position in range(length)
        for slot in range(3)
    ]
    (tmp_path / "mine.csv").write_text("\n".join(["list,position,slot,stimulus", *rows]), "utf-8")
    checks = {"attention": {"per_session": 2, "say": "text"}, "repeat": {"per_session": 1}}
    study = study_of("parallel", tmp_path, {"checks": checks})
    catalogue = with_clips(study, catalogue_of("parallel", 8), find("parallel"))
    plan = make_plan(study, catalogue, find("parallel"))
    assert [len(planned.rated) for planned in plan.lists] == [5, 8, 6]
    for planned in plan.lists:
        roles = [slot.role for trial in planned.trials for slot in trial.slots]
        assert roles.count("attention") == 2
        assert roles.count("repeat") == 3


def test_a_file_that_changes_is_another_plan(tmp_path: Path) -> None:
    study, catalogue = study_of("acr", tmp_path), catalogue_of("acr")
    digests = set()
    for content in ("content0", "content1"):
        (tmp_path / "mine.csv").write_text(f"list,position,slot,stimulus\n1,1,1,condition0/{content}\n", "utf-8")
        digests.add(plan_digest(study, catalogue))
    assert len(digests) == 2


@pytest.mark.parametrize("name", ["no", "01", "NA", "Größe 2", 'a,"b"'])
def test_names_stay_as_they_are(name: str, tmp_path: Path) -> None:
    catalogue = make_catalogue(2, 1)
    first, *others = catalogue.stimuli
    catalogue = replace(catalogue, stimuli=(replace(first, id=name), *others))
    study = study_of("acr", tmp_path, participants=2, trials=2)
    plan = make_plan(study, catalogue, find("acr"))
    assert given_back(plan, study, catalogue).lists == plan.lists


def test_every_line_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    rows = """
        0 1 1 condition0/content0
        1 x 1 condition0/content0
        1 1 1 condition0/content0
        1 1 1 condition1/content0
        1 2 1 conditon1/content0
        1 3 1 conditon1/content0
        1 4 1 nonsense
        1 5 1.0 condition1/content0
        1 6 1 condition1/content0 more
    """
    known = "condition0/content0, condition1/content0, condition2/content0, condition3/content0, condition0/content1"
    assert refused("acr", tmp_path, rows.strip("\n")) == [
        "mine.csv:10  has 5 cells, the first line has 4.",
        "mine.csv:2  list is 0. Allowed: whole numbers from 1.",
        "mine.csv:3  position is x. Allowed: whole numbers from 1.",
        "mine.csv:5  list 1, position 1, slot 1 is there already, on line 4. Allowed: one line for each slot.",
        "mine.csv:9  slot is 1.0. Allowed: whole numbers from 1.",
        "mine.csv:6  stimulus is conditon1/content0, which is no stimulus, as on one more. "
        "Did you mean condition1/content0?",
        f"mine.csv:8  stimulus is nonsense, which is no stimulus. Allowed: {known} and 11 more.",
    ]


def test_columns_are_these_four(tmp_path: Path) -> None:
    allowed = "Allowed: list, position, slot, stimulus."
    assert refused("acr", tmp_path, "list page slot slot colour stimuli\n1 1 1 1 red a") == [
        f"mine.csv:1  column position is missing. {allowed}",
        f"mine.csv:1  column slot is there twice. {allowed}",
        f"mine.csv:1  column stimulus is missing. {allowed}",
        f"mine.csv:1  column page is unknown. {allowed}",
        f"mine.csv:1  column colour is unknown. {allowed}",
        f"mine.csv:1  column stimuli is unknown. {allowed} Did you mean stimulus?",
    ]
    assert refused("acr", tmp_path, "list position slot stimulus") == [
        "mine.csv  has no lines below the first. Allowed: one line for each stimulus of each trial."
    ]


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    study, catalogue = study_of("acr", tmp_path), catalogue_of("acr")
    assert _refused(study, catalogue) == [
        "mine.csv  does not exist. Write it, with the columns list, position, slot, stimulus."
    ]
    (tmp_path / "mine.csv").write_bytes("list,position,slot,stimulus\n1,1,1,Größe".encode("latin-1"))
    assert _refused(study, catalogue) == ["mine.csv  is not UTF-8 text. Save it as CSV UTF-8."]
    (tmp_path / "mine.csv").write_text('list,position,slot,stimulus\n1,1,1,"a"b\n', "utf-8")
    assert _refused(study, catalogue) == ["mine.csv:2  is no CSV: ',' expected after '\"'."]


def test_numbers_that_are_left_out_are_told(tmp_path: Path) -> None:
    rows = """
        2 1 1 condition0/content0
        2 4 1 condition0/content1
        2 4 3 condition1/content1
        99999999 1 1 condition0/content0
    """
    allowed = "Allowed: every number from 1."
    assert refused("parallel", tmp_path, rows.strip("\n")) == [
        f"mine.csv  has lists up to 99999999, without 1, 3, 4, 5, 6 and 99999992 more. {allowed}",
        f"mine.csv:2  list 2 has positions up to 4, without 2, 3. {allowed}",
        f"mine.csv:3  list 2, position 4 has slots up to 3, without 2. {allowed}",
    ]


def test_what_a_method_cannot_show_is_told(tmp_path: Path) -> None:
    twice = """
        1 1 1 condition0/content0
        1 1 2 condition1/content0
        1 2 1 condition0/content1
    """
    assert refused("acr", tmp_path, twice.strip("\n")) == [
        "mine.csv:2  list 1, position 1 has 2 slots, and acr shows one stimulus at a time. Allowed: slot 1 alone. "
        "Give each stimulus a position of its own."
    ]
    assert refused("pair", tmp_path, twice.strip("\n")) == [
        "mine.csv:4  list 1, position 2 has 1 slot, and pair compares two stimuli. Allowed: slots 1 and 2."
    ]
    assert refused("parallel", tmp_path, twice.strip("\n")) == [
        "mine.csv:4  list 1, position 2 has 1 slot, and parallel compares at least 2. Allowed: 2 to 12 slots."
    ]
    mixed = "1 1 1 condition0/content0\n1 1 2 condition1/content1"
    assert refused("parallel", tmp_path, mixed) == [
        "mine.csv:2  list 1, position 1 has stimuli of 2 contents: content0, content1. "
        "Allowed: stimuli of one content in a trial."
    ]
    many = "\n".join(f"1 1 {slot + 1} condition{slot}/content0" for slot in range(13))
    assert refused("parallel", tmp_path, many, catalogue_of("parallel", 1, 13)) == [
        "mine.csv:2  list 1, position 1 has 13 slots, and there are 12 colours to tell slots apart. "
        "Allowed: 2 to 12 slots."
    ]


def test_nothing_comes_twice_in_a_list(tmp_path: Path) -> None:
    rule = "Allowed: nothing twice in a list. Take another stimulus, or another list."
    rows = "1 1 1 condition0/content0\n1 2 1 condition0/content1\n1 3 1 condition0/content0"
    assert refused("acr", tmp_path, rows) == [
        f"mine.csv:4  list 1, position 3 has condition0/content0 again, after position 1. {rule}"
    ]
    rows = "1 1 1 condition0/content0\n1 1 2 condition0/content0"
    assert refused("parallel", tmp_path, rows) == [
        f"mine.csv:2  list 1, position 1 has condition0/content0 twice. {rule}"
    ]
    rows = "1 1 1 condition0/content0\n1 1 2 condition1/content0\n1 2 2 condition0/content0\n1 2 1 condition1/content0"
    assert refused("pair", tmp_path, rows) == [
        "mine.csv:5  list 1, position 2 has condition1/content0 with condition0/content0 again, after position 1. "
        + rule
    ]


def test_references_are_where_the_method_needs_them(tmp_path: Path) -> None:
    assert refused("mushra", tmp_path, "1 1 1 condition1/content0\n1 1 2 condition2/content0") == [
        "mine.csv:2  list 1, position 1 lacks condition0, which mushra has in every trial. "
        "Add a line with the condition0 of content0."
    ]
    assert refused("dcr", tmp_path, "1 1 1 condition0/content0") == [
        "mine.csv:2  list 1, position 1 has condition0/content0, with the role reference, which dcr does not ask "
        "about. Allowed: stimuli that are rated. Leave the line out: the method adds what it needs."
    ]
    assert refused("ccr", tmp_path, "1 1 1 condition1/content0\n1 1 2 condition2/content0") == [
        "mine.csv:2  list 1, position 1 compares condition1/content0 with condition2/content0, which ccr does not. "
        "Allowed: condition1/content0 with condition0/content0."
    ]
    rows = "1 1 1 condition1/content0\n1 2 1 condition1/content1\n1 3 1 condition0/content1"
    assert refused("acr-hr", tmp_path, rows) == [
        "mine.csv:2  list 1, position 1 has condition1/content0, and condition0/content0, which goes with it, is not "
        "in the list. Give condition0/content0 a position in list 1.",
        "mine.csv:3  list 1, position 2 has condition1/content1, 1 trial away from condition0/content1, which goes "
        "with it. Allowed: 2 trials or more.",
    ]


def test_stimuli_of_checks_are_placed_by_rule(tmp_path: Path) -> None:
    catalogue = catalogue_of("acr")
    gold = replace(catalogue.stimuli[0], id="gold:x", role="gold", condition="x")
    catalogue = replace(catalogue, stimuli=(*catalogue.stimuli, gold))
    assert refused("acr", tmp_path, "1 1 1 gold:x", catalogue) == [
        "mine.csv:2  list 1, position 1 has gold:x, with the role gold, which the rules of the study place. "
        "Allowed: stimuli that are rated. Leave the line out."
    ]


def test_a_list_that_has_no_room_for_a_check_is_told(tmp_path: Path) -> None:
    rows = "1 1 1 condition0/content0\n1 2 1 condition0/content1\n2 1 1 condition0/content0"
    (tmp_path / "study.yaml").write_text(
        "beholder: 1\nname: tiny\ntitle: Tiny\nmethod: acr\nstimuli: stimuli\n"
        "questions: [{id: quality, text: So?}]\nchecks: {repeat: {per_session: 1}}\ndesign: {plan: mine.csv}\n", "utf-8"
    )  # fmt: skip
    (tmp_path / "mine.csv").write_text("list,position,slot,stimulus\n" + rows.replace(" ", ","), "utf-8")
    problems = _refused(load_study(tmp_path / "study.yaml"), catalogue_of("acr"))
    assert problems == [
        "study.yaml:7  checks.repeat.per_session is 1, and a list of 1 trial has 0 places between them, and each comes "
        "again 4 or more trials later, so that none fits. Make design.trials larger, or take it out."
    ]


def test_a_file_that_is_wrong_throughout_is_told_briefly(tmp_path: Path) -> None:
    rows = "\n".join(f"1 {n} 0 condition0/content0" for n in range(1, 101))
    problems = refused("acr", tmp_path, rows)
    assert len(problems) == 21
    assert problems[-1] == "mine.csv  has 80 more problems."


def test_what_else_the_design_says_contradicts_it(tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text(
        "beholder: 1\nname: tiny\ntitle: Tiny\nmethod: acr\nstimuli: stimuli\n"
        "questions: [{id: quality, text: So?}]\n"
        "design:\n  plan: mine.csv\n  participants: 20\n  contents: apart\n  seed: 3\n", "utf-8"
    )  # fmt: skip
    (tmp_path / "mine.csv").write_text("list,position,slot,stimulus\n1,1,1,condition0/content0\n", "utf-8")
    because = (
        "is written beside design.plan, and mine.csv says all of that. Allowed: plan, breaks and seed. "
        "Leave it out, or leave out design.plan."
    )
    assert _refused(load_study(tmp_path / "study.yaml"), catalogue_of("acr")) == [
        f"study.yaml:9  design.participants {because}",
        f"study.yaml:10  design.contents {because}",
    ]
