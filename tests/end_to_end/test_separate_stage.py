"""A separate stage from study file to report and export: what fits it, robots that play both parts, their tables."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

import beholder
from beholder.checks.registry import check_problems
from beholder.errors import PlanError
from beholder.methods import load_study
from beholder.planning.digest import plan_digest
from beholder.stimuli.ingestion import load_catalogue
from beholder.study.model import Study
from beholder.testing import write_study
from support.report_pages import read_undrawn

QUESTIONS = [{"id": "quality", "text": "How good is it?", "scale": "acr5"}]
KEYS: dict[str, Any] = {
    "method": "acr", "stage": "separate", "questions": QUESTIONS,
    "design": {"participants": 6, "trials": 2, "seed": 3},
}  # fmt: skip


def problems_of(folder: Path, tiny: Path, **keys: Any) -> list[str]:
    study = load_study(write_study(folder / "study", tiny, **{**KEYS, **keys}))
    with pytest.raises(PlanError) as caught:
        beholder.plan(study)
    return [str(problem).partition("  ")[2] for problem in caught.value.problems]


def test_a_method_whose_stimuli_stand_beside_the_answers_is_refused(tmp_path: Path, tiny: Path) -> None:
    assert problems_of(tmp_path, tiny, method="parallel", questions=[{"id": "quality", "text": "How good is it?"}]) == [
        "stage is separate, and parallel has its stimuli beside the answers, for as long as somebody answers. Allowed: "
        "same, or a method that asks afterwards: acr, acr-hr, ccr, dcr, dscqs, likert, pair. Leave it out."
    ]


def test_two_at_once_and_a_volume_that_is_set_on_the_page_are_refused(tmp_path: Path, tiny: Path) -> None:
    question = {"id": "better", "text": "Which is better?", "scale": "ccr7"}
    keys: dict[str, Any] = {"options": {"presentation": "side-by-side"}, "playback": {"volume": True}}
    assert problems_of(tmp_path, tiny, method="ccr", questions=[question], **keys) == [
        "options.presentation is side-by-side, and on a separate stage stimuli come one after the other. Allowed: "
        "sequential. Leave out one of the two.",
        "playback.volume is true, and the sound comes from another device than the page that would set it. Allowed: "
        "false. Take it out, or take out stage: separate.",
    ]


def test_views_of_a_pair_are_refused(tmp_path: Path, tiny: Path) -> None:
    question = {"id": "better", "text": "Which is better?"}
    assert problems_of(tmp_path, tiny, method="pair", questions=[question], options={"view": "flip"})[-1] == (
        "options.view is there, and a pair is looked at in its views on the page that asks, which has no clips here. "
        "Take it out, or take out stage: separate."
    )


def test_marks_are_refused(tmp_path: Path, tiny: Path) -> None:
    assert problems_of(tmp_path, tiny, options={"marks": True}) == [
        "options.marks is there, and marks are set on the page on which stimuli play, which is not the one that asks. "
        "Allowed: false. Take it out, or take out stage: separate."
    ]


def test_texts_are_refused(tmp_path: Path) -> None:
    for condition in ("a", "b"):
        for content in ("one", "two"):
            path = tmp_path / "like" / "stimuli" / condition / f"{content}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"The {content} of {condition}.", "utf-8")
    (tmp_path / "like" / "media").mkdir()
    assert problems_of(tmp_path, tmp_path / "like", conditions=["a", "b"]) == [
        "stage is separate, and the stimuli are texts. Allowed: same, or videos or sounds. Leave it out."
    ]


def test_checks_of_the_device_that_does_not_show_are_refused_each_by_its_key(tmp_path: Path, tiny: Path) -> None:
    qualification = {"screen": True, "headphones": True, "colour": True, "device": True}
    study = load_study(write_study(tmp_path, tiny, **KEYS, qualification=qualification))
    what = "looks at the device on which people answer, and stage: separate shows on another one. Allowed: false."
    assert [str(problem).partition("  ")[2] for problem in check_problems(study)] == [
        f"qualification.{name} {what} Write qualification.{name}: false." for name in ("screen", "headphones")
    ]


def test_where_clips_are_shown_belongs_to_the_plan_so_that_it_stays_once_somebody_has_begun(
    tmp_path: Path, tiny: Path
) -> None:
    digests = set()
    for stage in ("separate", "same"):
        study = load_study(write_study(tmp_path / stage, tiny, **{**KEYS, "stage": stage}))
        digests.add(plan_digest(study, load_catalogue(study)))
    assert len(digests) == 2


@pytest.fixture(scope="module")
def rehearsed(tmp_path_factory: pytest.TempPathFactory, tiny: Path) -> Study:
    study = load_study(write_study(tmp_path_factory.mktemp("stage"), tiny, **KEYS))
    beholder.plan(study)
    beholder.simulate(study, participants=6)
    beholder.clean(study)
    return study


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_robots_play_both_parts_and_the_tables_have_one_column_more(rehearsed: Study) -> None:
    played = rows(rehearsed.outputs / "clean" / "playback.csv")
    assert len(played) == 12
    assert {(row["plays"], row["coverage"], row["interrupted"]) for row in played} == {("1", "1", "0")}
    beholder.export(rehearsed)
    exported = rows(rehearsed.outputs / "export" / "playback.csv")
    assert [row["interrupted"] for row in exported] == ["0"] * 12


def test_a_further_session_is_coupled_with_a_stage_of_its_own(tmp_path: Path, tiny: Path) -> None:
    design = {"participants": 2, "trials": 2, "sessions_per_participant": 2, "seed": 3}
    study = load_study(write_study(tmp_path, tiny, **{**KEYS, "design": design}))
    crowd = beholder.simulate(study)
    assert [robot.has_completed for robot in crowd.robots] == [True] * 4
    assert len({robot.stage_token for robot in crowd.robots}) == 4


def test_the_report_says_that_another_device_showed_with_its_screens_and_interruptions(rehearsed: Study) -> None:
    path = rehearsed.outputs / "clean" / "playback.csv"
    table = rows(path)
    for place, row in enumerate(table):  # robots have no screen
        row |= {"screen_width": "1280", "screen_height": "720", "dpr": "1.5", "interrupted": str(2 * (place == 0))}
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(table[0]))
        writer.writeheader()
        writer.writerows(table)
    beholder.analyse(rehearsed)
    text = " ".join(read_undrawn(rehearsed).text.split())
    assert (
        "Stimuli were shown on a separate device, which each participant coupled with the one that asked. The screen "
        "of that device had 1920 by 1080 device pixels, 1.5 per CSS pixel in the median. What was interrupted on it "
        "was shown once more: 2 times, on 1 page of 12." in text
    )
