"""Looks at a study, when it stops, and training examples, as the researcher writes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from beholder.errors import StimuliError, StudyError
from beholder.methods import load_study
from beholder.planning.digest import plan_digest
from beholder.stimuli.ingestion import load_catalogue
from beholder.study.serialization import resolved_yaml
from beholder.testing import write_study

HEAD = """beholder: 1
name: looked-at
title: Looked at
method: acr
stimuli: stimuli
conditions: [ours, baseline]
questions: [{id: quality, text: x}]
"""
RISING = "Allowed: numbers of participants from 2 on, each larger than the one before, such as [20, 40, 60]."


def written(folder: Path, text: str) -> Path:
    path = folder / "study.yaml"
    path.write_text(HEAD + text, "utf-8")
    return path


def test_the_last_look_is_the_number_of_participants(tmp_path: Path) -> None:
    design = load_study(written(tmp_path, "design: {looks: [20, 40, 60]}\n")).design
    assert (design.looks, design.participants) == ((20, 40, 60), 60)
    assert (design.stop.decided, design.stop.precision, design.stop.futility, design.stop.budget) == (
        "all", None, None, None,
    )  # fmt: skip


def test_a_study_with_looks_can_be_written_out_and_read_again(tmp_path: Path) -> None:
    text = "design: {looks: [20, 40], stop: {decided: any, precision: 0.3, futility: 0.1, budget: 80 GBP}}\n"
    study = load_study(written(tmp_path, text))
    (tmp_path / "study.yaml").write_text(resolved_yaml(study), "utf-8")
    assert load_study(tmp_path / "study.yaml") == study


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ("{looks: [20, 20, 10], participants: 10}",
         ["looks.1 is 20, not above the 20 before it. Allowed: numbers that rise. Put them in order, each once.",
          "looks.2 is 10, not above the 20 before it. Allowed: numbers that rise. Put them in order, each once."]),
        ("{looks: [20, 40], participants: 60}",
         ["looks ends at 40, and design.participants is 60. Allowed: the number of participants at the end. "
          "Take participants out, or end looks with 60."]),
        ("{looks: [20, 40], votes: 8}",
         ["looks counts participants, and design.votes is 8. Allowed: one of the two. "
          "Write design.participants in place of votes."]),
        ("{stop: {decided: any}}",
         ["stop is written, and no look is planned at which the study could stop. "
          "Write design.looks, such as [20, 40, 60]."]),
        ("{looks: 20}", [f"looks is 20. {RISING}"]),
        ("{looks: [1, 20]}", ["looks.0 is 1. Allowed: a whole number, 2 to 100,000."]),
        ("{looks: [20, 40], stop: {decided: some}}", ["stop.decided is some. Allowed: all, any or none."]),
        ("{looks: [20, 40], stop: {precision: 0}}", ["stop.precision is 0. Allowed: a number above 0."]),
        ("{looks: [20, 40], stop: {futility: 1}}", ["stop.futility is 1. Allowed: a number above 0 below 1."]),
    ],
)  # fmt: skip
def test_looks_that_do_not_fit_are_told_by_their_key(tmp_path: Path, text: str, messages: list[str]) -> None:
    with pytest.raises(StudyError) as error:
        load_study(written(tmp_path, f"design: {text}\n"))
    lines = str(error.value).splitlines()
    assert [line.removeprefix("study.yaml:8  design.") for line in lines] == messages


def test_the_budget_at_which_a_study_stops_is_in_the_currency_of_the_reward(tmp_path: Path) -> None:
    text = "recruit: {reward: 2 GBP}\ndesign: {looks: [20, 40], stop: {budget: 80 EUR}}\n"
    with pytest.raises(StudyError, match=r"design\.stop\.budget is 80\.00 EUR, and recruit\.reward is 2\.00 GBP"):
        load_study(written(tmp_path, text))


def test_places_are_opened_by_looks_or_at_once(tmp_path: Path) -> None:
    with pytest.raises(StudyError) as error:
        load_study(written(tmp_path, "recruit: {places: 60}\ndesign: {looks: [20, 40, 60]}\n"))
    assert str(error.value) == (
        "study.yaml:8  recruit.places is 60, and design.looks says how many people are asked at first and later. "
        "Allowed: one of the two. Take one of them out."
    )


def test_looks_do_not_change_the_plan(tmp_path: Path, tiny: Path) -> None:
    bare = load_study(write_study(tmp_path / "bare", tiny, design={"participants": 8}))
    looked = {"looks": [4, 8], "stop": {"decided": "any"}}
    looks = load_study(write_study(tmp_path / "looks", tiny, design=looked))
    assert plan_digest(looks, load_catalogue(looks)) == plan_digest(bare, load_catalogue(bare))


def test_two_training_examples_of_one_name_are_told_by_their_keys(tmp_path: Path, tiny: Path) -> None:
    file = {"file": "stimuli/natural/greeting.mp4"}
    study = load_study(write_study(tmp_path, tiny, training={"items": [file, file]}))
    with pytest.raises(StimuliError) as raised:
        load_catalogue(study)
    (problem,) = (str(one).partition("  ")[2] for one in raised.value.problems)
    assert problem == (
        "training.items.1 is content greeting under condition training again, as training.items.0 is. "
        "Allowed: one file for each content and condition. "
        "Write another training.items.1.content or training.items.1.condition."
    )


def test_one_example_that_is_not_shown_is_counted_as_one(tmp_path: Path, tiny: Path) -> None:
    assert warnings(tmp_path, tiny, ["role", "expected"], ["training", "3"], training=False) == [
        "training is false, so 1 stimulus with role training is not shown."
    ]


@pytest.mark.parametrize(
    ("columns", "cells", "message"),
    [
        (["role", "expcted"], ["training", "3"], "column expcted is a factor and does nothing. Did you mean expected?"),
        (["role", "Mesage"], ["training", ""], "column Mesage is a factor and does nothing. Did you mean message?"),
        (["roles"], ["test"], "column roles is a factor and does nothing. Did you mean role?"),
        (["role", "bitrate"], ["", "500"], None),
        (["role", "roles"], ["", "lead"], None),
    ],
)
def test_a_column_whose_name_is_nearly_known_is_told(
    tmp_path: Path, tiny: Path, columns: list[str], cells: list[str], message: str | None
) -> None:
    assert warnings(tmp_path, tiny, columns, cells) == ([message] if message else [])


def warnings(tmp_path: Path, tiny: Path, columns: list[str], cells: list[str], **keys: Any) -> list[str]:
    """Return the warnings about a manifest with one line more than the study needs."""
    path = write_study(tmp_path, tiny, stimuli={"manifest": "list.csv"}, **keys)
    files = sorted((tmp_path / "stimuli").glob("*/*.mp4"))
    blank = [""] * len(columns)
    rows = [["file", "content", "condition", *columns]]
    rows += [[file.relative_to(tmp_path).as_posix(), file.stem, file.parent.name, *blank] for file in files]
    rows.append([rows[1][0], "more", rows[1][2], *cells])
    (tmp_path / "list.csv").write_text("".join(f"{','.join(row)}\n" for row in rows), "utf-8")
    messages = [str(one).partition("  ")[2] for one in load_catalogue(load_study(path)).warnings]
    return [one for one in messages if "is missing" not in one]
