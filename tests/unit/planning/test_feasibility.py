"""Whether a plan is possible: problems of method, planner and pairs, and the alternatives that messages offer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beholder.errors import PlanError, Problem
from beholder.methods import find, load_study
from beholder.methods.acr import Acr
from beholder.methods.contract import Method, Stimulus
from beholder.methods.pairs import pair_units, reference_units
from beholder.planning import plan_study as plan_verb
from beholder.planning.builder import make_plan
from beholder.planning.feasibility import build_frame, confounding_warnings
from beholder.stimuli.catalogue import Catalogue
from beholder.study.cleaning import Analyse
from support.pair_methods import Degrade, compare
from support.pair_plans import compared_conditions, table_study
from support.plans import PROBE, acr, assert_promises, dcr, make_catalogue, make_study, problems_of
from support.tiny_plans import tiny_catalogue


def test_what_method_and_planner_find_wrong_has_the_line_of_its_key(tmp_path: Path) -> None:
    lines = [
        "beholder: 1", "name: tiny", "title: Tiny", "method: parallel", "stimuli: stimuli", "design:",
        "  participants: 4", "  per_trial: 1", "  always: [z]",
    ]  # fmt: skip
    (tmp_path / "study.yaml").write_text("\n".join(lines), "utf-8")
    with pytest.raises(PlanError) as caught:
        plan_verb(load_study(tmp_path), catalogue=tiny_catalogue())
    assert str(caught.value).splitlines() == [
        "study.yaml:1  questions are missing, and parallel asks at least one. Allowed: a list of {id, text, scale}.",
        "study.yaml:8  design.per_trial is 1, and parallel compares at least two. Allowed: 2 or more.",
        "study.yaml:9  design.always names z, which is no condition. Allowed: a, b, c.",
    ]
    (tmp_path / "study.yaml").write_text(
        "\n".join([*lines[:7], "  trials: 9", "questions: [{id: q, text: Q}]"]), "utf-8"
    )
    with pytest.raises(PlanError, match=r"^study\.yaml:8  design\.trials is 9, but there are 4 contents and each may"):
        plan_verb(load_study(tmp_path), catalogue=tiny_catalogue())


def test_one_condition_has_nothing_to_be_compared_with() -> None:
    assert problems_of(make_study(), make_catalogue(2, 1), compare) == (
        "study.yaml  stimuli hold nothing to rate. Add stimuli of the conditions under test."
    )


def test_pairs_do_not_fit_a_method_without_them() -> None:
    study = make_study(pairs={"star": "condition1"}, both_orders=False)
    assert problems_of(study, make_catalogue(2, 3), cast("Method", Acr())).splitlines() == [
        "study.yaml  design.pairs does not fit acr, which makes its own trials. Allowed: all. Leave it out.",
        "study.yaml  design.both_orders does not fit acr, where no two stand in either order. Allowed: true. "
        "Leave it out.",
    ]


WRONG = {
    "pairs: some": "design.pairs is some. "
    "Allowed: all, sparse, active, {star: condition}, {sparse: 2 to 100}, {active: {...}}, or a CSV file.",
    "pairs: {sparse: 1}": "design.pairs is a map. "
    "Allowed: all, sparse, active, {star: condition}, {sparse: 2 to 100}, {active: {...}}, or a CSV file.",
    "pairs: {star: naturel}": "design.pairs.star is naturel, which is not among the conditions. "
    "Allowed: natural or full. Did you mean natural?",
    "both_orders: no": "design.both_orders is no. Allowed: true or false. Write false.",
}


@pytest.mark.parametrize("written", WRONG)
def test_what_a_study_says_wrongly_about_pairs_is_told_with_its_line(tmp_path: Path, written: str) -> None:
    lines = ["beholder: 1", "name: t", "title: T", "method: acr", "stimuli: s", "conditions: [natural, full]"]
    (tmp_path / "study.yaml").write_text("\n".join([*lines, f"design: {{{written}}}"]), "utf-8")
    with pytest.raises(Exception, match=re.escape(f"study.yaml:7  {WRONG[written]}")):
        load_study(tmp_path)


def test_units_are_pairs_in_the_order_of_the_study_and_of_these_roles_only() -> None:
    catalogue = make_catalogue(1, 3, roles={0: "reference"})
    study = make_study()
    assert [unit.stimuli for unit in pair_units(study, catalogue)] == [
        ("content0-condition0", "content0-condition1"),
        ("content0-condition0", "content0-condition2"),
        ("content0-condition1", "content0-condition2"),
    ]
    assert len(pair_units(study, catalogue, ("test", "anchor"))) == 1
    assert [unit.stimuli for unit in reference_units(catalogue)] == [
        ("content0-condition0", "content0-condition1"),
        ("content0-condition0", "content0-condition2"),
    ]
    assert reference_units(make_catalogue(1, 3)) == ()


def test_a_table_of_conditions_holds_for_every_content(tmp_path: Path) -> None:
    catalogue = make_catalogue(3, 4)
    study = table_study(
        tmp_path, "condition;other\ncondition2;condition0\n\ncondition1;condition2\ncondition3;condition1\n", trials=6
    )
    assert [unit.stimuli for unit in pair_units(study, catalogue)][:3] == [
        ("content0-condition0", "content0-condition2"),
        ("content0-condition1", "content0-condition2"),
        ("content0-condition1", "content0-condition3"),
    ]
    assert len(pair_units(study, catalogue)) == 9
    assert_promises(make_plan(study, catalogue, compare), catalogue)


def test_a_table_of_stimuli_holds_for_these_alone(tmp_path: Path) -> None:
    catalogue = make_catalogue(2, 3)
    text = "stimulus,other\ncontent1-condition2,content1-condition0\ncondition0/content0.mp4,condition1/content0.mp4\n"
    study = table_study(tmp_path, text, trials=2)
    assert [unit.stimuli for unit in pair_units(study, catalogue)] == [
        ("content0-condition0", "content0-condition1"),
        ("content1-condition0", "content1-condition2"),
    ]
    assert_promises(make_plan(study, catalogue, compare), catalogue)


def test_every_wrong_line_of_a_table_is_told(tmp_path: Path) -> None:
    text = "condition,other\ncondition0,condtion1\n,condition1\ncondition2,condition2\ncondition0,condition1\n"
    study = table_study(tmp_path, text + "condition1,condition0\ncondition1,condition2\nelse,condition0\n")
    assert problems_of(study, make_catalogue(2, 3), compare).splitlines() == [
        "pairs.csv:2  other is condtion1, which is no condition. Did you mean condition1?",
        "pairs.csv:3  condition is empty. Allowed: condition0, condition1, condition2.",
        "pairs.csv:4  compares condition2 with itself. Allowed: two different ones.",
        "pairs.csv:6  has condition1 and condition0, as line 5 has. Allowed: every pair once, in either order. "
        "Remove one.",
        "pairs.csv:8  condition is else, which is no condition. Allowed: condition0, condition1, condition2.",
    ]


def test_of_very_many_wrong_lines_the_first_are_told(tmp_path: Path) -> None:
    study = table_study(tmp_path, "condition,other\n" + "condition0,condition1\n" * 50_000)
    lines = problems_of(study, make_catalogue(2, 2), compare).splitlines()
    assert len(lines) == 21
    assert lines[-1] == "pairs.csv  has 49979 more problems."


def test_names_are_the_same_however_their_letters_are_written(tmp_path: Path) -> None:
    written = "Größe 2", "Gro\u0308ße 2"
    assert written[0] != written[1]
    catalogue = cells((written[0], "plain"))
    study = table_study(tmp_path, f'condition,other\n{written[1]},"plain\n"\n')
    assert compared_conditions(study, catalogue) == {frozenset({written[0], "plain"})}
    make_plan(study, catalogue, compare)
    study = table_study(tmp_path, f'condition,other\n{written[1]},"pla\nin"\n')
    assert problems_of(study, catalogue, compare) == (
        "pairs.csv:3  other is pla in, which is no condition. Did you mean plain?"
    )


def test_stimuli_of_two_contents_are_told(tmp_path: Path) -> None:
    study = table_study(tmp_path, "stimulus,other\ncontent0-condition0,content1-condition1\nx,content0-condition0\n")
    assert problems_of(study, make_catalogue(2, 3), compare).splitlines() == [
        "pairs.csv:2  compares stimuli of two contents, content0 and content1. Allowed: two stimuli of one content.",
        "pairs.csv:3  stimulus is x, which is no stimulus. Allowed: content0-condition0, content0-condition1, "
        "content0-condition2, content1-condition0, content1-condition1 and 1 more.",
    ]


WRONG_TABLES = {
    "": "pairs.csv:1  column condition is missing. Allowed: condition, other.",
    "condition,other\n": "pairs.csv  has no lines below the first. Allowed: one line for each pair.",
    "stimulus,with\na,b\n": "pairs.csv:1  column other is missing. Allowed: stimulus, other.",
    "condition,other,note\na,b,c\n": "pairs.csv:1  column note is unknown. Allowed: condition, other.",
}


@pytest.mark.parametrize("text", WRONG_TABLES)
def test_a_table_that_is_none_is_told(tmp_path: Path, text: str) -> None:
    lines = problems_of(table_study(tmp_path, text), make_catalogue(2, 3), compare).splitlines()
    assert WRONG_TABLES[text] in lines


def test_a_table_that_is_not_there_is_told(tmp_path: Path) -> None:
    study = table_study(tmp_path, "")
    (tmp_path / "pairs.csv").unlink()
    assert problems_of(study, make_catalogue(2, 3), compare).splitlines()[0] == (
        "pairs.csv  does not exist. Write it, with the columns condition, other."
    )


def test_a_table_outside_the_folder_is_told(tmp_path: Path) -> None:
    lines = ["beholder: 1", "name: t", "title: T", "method: pair", "stimuli: s", "design: {pairs: ../pairs.csv}"]
    (tmp_path / "study.yaml").write_text("\n".join(lines), "utf-8")
    text = "study.yaml:6  design.pairs is ../pairs.csv, outside the study folder."
    with pytest.raises(Exception, match=re.escape(text)):
        load_study(tmp_path)


def test_parts_that_a_table_leaves_are_told_with_the_line_that_joins_them(tmp_path: Path) -> None:
    text = "condition,other\ncondition0,condition1\ncondition2,condition3\n"
    assert problems_of(table_study(tmp_path, text), make_catalogue(2, 4), compare) == (
        "study.yaml  design.pairs is pairs.csv, which leaves 2 parts that are never compared with each other: "
        "(condition0, condition1) and (condition2, condition3). Allowed: pairs that hold all conditions together. "
        "Add the line condition0,condition2 (condition,other) to join two of them."
    )
    make_plan(table_study(tmp_path, text + "condition0,condition2\n"), make_catalogue(2, 4), compare)
    text = "stimulus,other\ncontent0-condition0,content0-condition1\n"
    assert problems_of(table_study(tmp_path, text), make_catalogue(2, 3), compare).endswith(
        "(condition0, condition1) and (condition2). Allowed: pairs that hold all conditions together. "
        "Add the line content0-condition0,content0-condition2 (stimulus,other) to join two of them."
    )


def cells(*there: Sequence[str]) -> Catalogue:
    """Return a catalogue in which each content has the conditions of its word: `cells("ab", "cd")`."""
    stimuli = tuple(
        Stimulus(f"{condition}/{number}", f"t{number}", condition, "test", "video", "f", "00", PROBE, Path("served"))
        for number, word in enumerate(there)
        for condition in word
    )
    conditions = tuple(sorted({stimulus.condition for stimulus in stimuli}))
    return Catalogue(stimuli, conditions, tuple(f"t{number}" for number in range(len(there))))


def test_parts_that_missing_files_leave_are_told_with_the_file_that_joins_them() -> None:
    assert problems_of(make_study(), cells("ab", "ab", "cd"), compare) == (
        "study.yaml  design.pairs is all, which, with the files that there are, leaves 2 parts that are never compared "
        "with each other: (a, b) and (c, d). Allowed: pairs that hold all conditions together. "
        "Add a of content t2, which has c: the pair a, c would join two of them."
    )
    make_plan(make_study(trials=2), cells("ab", "ab", "acd"), compare)
    assert problems_of(make_study(pairs={"star": "b"}), cells("abc", "acd"), compare) == (
        "study.yaml  design.pairs is a star around b, which, with the files that there are, leaves 2 parts that are "
        "never compared with each other: (a, b, c) and (d). Allowed: pairs that hold all conditions together. "
        "Add b of content t1, which has d: the pair b, d would join two of them."
    )
    make_plan(make_study(pairs={"star": "b"}, trials=2), cells("abc", "abcd"), compare)
    many = problems_of(make_study(), cells("ab", "cd", "ef", "gh", "ij"), compare)
    assert (
        "leaves 5 parts that are never compared with each other: (a, b) and (c, d) and (e, f) and (g, h) and 1 more"
        in many
    )


def test_where_each_is_held_against_a_reference_nothing_falls_apart() -> None:
    catalogue = make_catalogue(4, 3, frozenset({(0, 1), (1, 1), (2, 2), (3, 2)}), roles={0: "reference"})
    for method in (cast("Method", Degrade()), dcr):
        make_plan(make_study(trials=2), catalogue, method)


def test_a_condition_cannot_meet_more_others_than_there_are() -> None:
    assert problems_of(make_study(pairs={"sparse": 9}), make_catalogue(2, 6), compare) == (
        "study.yaml  design.pairs is {sparse: 9}, but each of 6 conditions has 5 others. Allowed: {sparse: 2} to "
        "{sparse: 5}, or all."
    )
    assert problems_of(make_study(pairs={"sparse": 2}), make_catalogue(2, 2), compare) == (
        "study.yaml  design.pairs is {sparse: 2}, but each of 2 conditions has 1 other. Allowed: all."
    )


def test_sparse_and_given_pairs_do_not_fit_methods_without_them(tmp_path: Path) -> None:
    text = "study.yaml  design.pairs does not fit acr, which makes its own trials. Allowed: all. Leave it out."
    assert problems_of(make_study(pairs="sparse"), make_catalogue(2, 3), acr) == text
    study = table_study(tmp_path, "condition,other\ncondition0,condition1\ncondition1,condition2\n")
    assert problems_of(study, make_catalogue(2, 3), acr) == text
    catalogue = make_catalogue(2, 6, roles={0: "reference"})
    assert "does not fit dcr" in problems_of(make_study(pairs={"sparse": 2}), catalogue, dcr)


_KEYS = ("design.trials", "design.per_trial")


def frame_problems_of(method: str, design: dict[str, Any], catalogue: Catalogue) -> tuple[Problem, ...]:
    try:
        build_frame(make_study(method, **design), catalogue, find(method))
    except PlanError as error:
        return tuple(error.problems)
    return ()


def key_of(problem: Problem) -> str:
    """Return the key of the design that a problem is about, `trials`; nothing where it is about something else."""
    return next((key.partition(".")[2] for key in _KEYS if problem.what.startswith(f"{key} ")), "")


def offers(problem: Problem, design: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the designs that a message offers."""
    key, allowed = key_of(problem), problem.allowed
    designs = []
    if numbers := re.fullmatch(r"(?:even numbers, )?(\d+)(?: to (\d+))?", allowed):
        designs += [design | {key: int(number)} for number in numbers.groups() if number]
    if rule := re.search(r"write contents: (\w+)(?:, which allows (?:1 to )?(\d+))?", problem.fix):
        designs.append(design | {"contents": rule[1]} | ({"trials": int(rule[2])} if rule[2] else {}))
    if smaller := re.search(r"write per_trial: (\d+)", problem.fix):
        designs.append(design | {"per_trial": int(smaller[1])})
    return designs


@st.composite
def wishes(draw: st.DrawFn) -> tuple[str, dict[str, Any], Catalogue]:
    contents, conditions = draw(st.integers(1, 5)), draw(st.integers(2, 14))
    cells = st.tuples(st.integers(0, contents - 1), st.integers(1, conditions - 1))
    missing = draw(st.frozensets(cells, max_size=3))
    method = draw(st.sampled_from(["parallel", "acr", "acr-hr", "pair"]))
    design: dict[str, Any] = {
        "participants": 3,
        "trials": draw(st.integers(1, 60)),
        "contents": draw(st.sampled_from(["once", "apart", "free"])),
    }
    if method == "parallel":
        design["per_trial"] = draw(st.integers(1, 15))
        design["always"] = [f"condition{n}" for n in range(draw(st.integers(0, min(2, conditions))))]
    roles: dict[int, Any] = {0: "reference"} if method == "acr-hr" else {}
    return method, design, make_catalogue(contents, conditions, missing, roles)


@settings(max_examples=150, deadline=None)
@given(wishes())
def test_the_design_that_a_message_offers_works(case: tuple[str, dict[str, Any], Catalogue]) -> None:
    method, design, catalogue = case
    for problem in frame_problems_of(method, design, catalogue):
        for offered in offers(problem, design):
            # Something else may be wrong with it, which is another message.
            still = [one for one in frame_problems_of(method, offered, catalogue) if key_of(one) == key_of(problem)]
            assert not still, (problem, offered, still)


# Each condition has a content of its own but the first two, which share all of theirs.
CONFOUNDED = make_catalogue(
    4, 4, frozenset((i, j) for i in range(4) for j in range(4) if (i < 2) != (j < 2) or (i >= 2 and i != j))
)


def _confounded(catalogue: Catalogue, contrasts: Sequence[tuple[str, str]] = (), **design: Any) -> list[str]:
    study = make_study(**design).model_copy(update={"analyse": Analyse(contrasts=tuple(contrasts))})
    return [str(one) for one in confounding_warnings(study, catalogue, make_plan(study, catalogue, acr))]


def test_conditions_without_a_common_content_are_told_before_anybody_comes() -> None:
    assert _confounded(CONFOUNDED, participants=6, trials=6) == [
        "study.yaml  stimuli leave 5 of 6 pairs of conditions, such as condition0 and condition2, that have no "
        "content in common: contents may make the difference, and there will be no test. Add stimuli of the same "
        "contents under both condition0 and condition2."
    ]
    named = [("condition0", "condition1"), ("condition3", "condition0")]
    assert _confounded(CONFOUNDED, named, participants=6, trials=6) == [
        "study.yaml  analyse.contrasts.1 compares condition3 with condition0, which have no content in common: "
        "contents may make the difference, and there will be no test. Add stimuli of the same contents under both "
        "condition3 and condition0."
    ]
    assert _confounded(make_catalogue(4, 4), participants=6, trials=6) == []


def test_conditions_that_nobody_rates_both_of_are_told() -> None:
    assert _confounded(make_catalogue(3, 2), participants=12, trials=1) == [
        "study.yaml  design leaves 1 of 1 pair of conditions, such as condition0 and condition1, that nobody rates "
        "both of: people may make the difference, and it takes many to tell. With more trials in a session people "
        "are their own control, and fewer of them are needed."
    ]
    assert _confounded(make_catalogue(3, 2), participants=12, trials=2) == []
