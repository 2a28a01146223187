"""Factors between participants in study.yaml: faults of factors and levels, and the study of each group."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from beholder.errors import StudyError
from beholder.methods import load_study
from beholder.study.groups import group_study, groups_in, varied_keys
from beholder.study.serialization import resolved_yaml
from support.group_studies import ASKED, LAYOUT, QUESTIONS, make_study, study_text


def write(folder: Path, between: dict[str, Any], **keys: Any) -> Path:
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump(study_text(between, **keys), sort_keys=False), "utf-8")
    return path


def problems(folder: Path, between: dict[str, Any], **keys: Any) -> list[str]:
    with pytest.raises(StudyError) as caught:
        load_study(write(folder, between, **keys))
    return [str(problem).partition("  ")[2] for problem in caught.value.problems]


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
            {"Größe: 2": {"a": {}, "b": {"playback": {"watch": "none"}}}},
            {},
            "design.between.Größe: 2 is no name for a factor or a level. Allowed: up to 64 characters, beginning with "
            'a letter or digit, without , : ; and ". Rename it.',
        ),
        (
            {"page": {"two": {"per_trial": 2}, "one": {"per_trial": 1}}},
            {"always": ["a", "b"]},
            "design.between.page.one.per_trial is 1, below the 2 conditions that are always shown. Allowed: at least "
            "2. Shorten design.always, or show more per trial.",
        ),
        (
            {"page": {"two": {"per_trial": "two"}, "many": {}}},
            {},
            "design.between.page.two.per_trial is two. Allowed: a whole number, 1 or more.",
        ),
        (
            {"page": {"two": {"per_trial": 2}, "three": {}}, "long": {"yes": {"per_trial": 3}, "no": {}}},
            {},
            "design.between.long.yes.per_trial is changed by design.between.page.two.per_trial too. Allowed: each key "
            "in one factor. Write one factor whose levels have both, or change something else.",
        ),
        (
            {"asked": {"=Q1": {}, "Q2": {"playback": {"watch": "none"}}}},
            {},
            "design.between.asked.=Q1 is no name for a factor or a level. Allowed: up to 64 characters, beginning with "
            'a letter or digit, without , : ; and ". Rename it.',
        ),
        (
            {"layout": {"a": {"options": {"layout": "sideways"}}, "b": {}}},
            {},
            "design.between.layout.a.options.layout is sideways. Allowed: turns or rows.",
        ),
        (
            {"layout": {"a": {"options": {"layuot": "rows"}}, "b": {}}},
            {},
            "design.between.layout.a.options.layuot is not a known key. Allowed: layout, "
            "reference, anchors and marks. Did you mean layout?",
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
    messages = problems(tmp_path, between, conditions=["x", "y", "z"], design=design)
    assert sorted(set(messages)) == [
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
    message = f"study.yaml:{line}  design.between.layout.no.options.layout is NA. Allowed: turns or rows."
    assert [str(problem) for problem in caught.value.problems] == [message]


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
    groups = [group_study(study, levels) for levels in groups_in(study.design.between)]
    assert [[question.id for question in group.questions] for group in groups[:3:2]] == [
        ["subtitle", "human-like"],
        list(QUESTIONS),
    ]
    assert [(group.playback.watch, group.playback.sound) for group in groups[:2]] == [("none", "off"), ("whole", "off")]
    assert [group.options.get("layout") for group in groups] == ["rows", None, "rows", None]
    assert [group.texts.pages[0].text for group in groups] == ["Free.", "Set.", "Free.", "Set."]


def test_factors_and_levels_are_called_as_people_write_them(tmp_path: Path) -> None:
    between = {"Question asked": {"Q1": {"questions": [QUESTIONS[0]]}, "Größe (2)": {"questions": [QUESTIONS[1]]}}}
    study = load_study(write(tmp_path, between))
    assert groups_in(study.design.between) == [{"Question asked": "Q1"}, {"Question asked": "Größe (2)"}]
    assert group_study(study, {"Question asked": "Q1"}).questions[0].id == QUESTIONS[0]


def test_levels_say_how_many_stimuli_stand_on_a_page_and_how_many_pages_there_are(tmp_path: Path) -> None:
    between = {"page": {"small": {"per_trial": 2, "trials": 6}, "usual": None}}
    study = load_study(write(tmp_path, between))
    designs = {level: group_study(study, {"page": level}).design for level in ("small", "usual")}
    assert [(one.per_trial, one.trials) for one in designs.values()] == [(2, 6), (3, 4)]
    assert varied_keys(study) == {"design.per_trial", "design.trials"}
    assert "per_trial: 2" in resolved_yaml(study)
