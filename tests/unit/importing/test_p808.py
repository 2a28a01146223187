"""The P.808 toolkit: answers stand in the results of the platform; P.835 and P.804 have several questions."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from beholder import import_study
from beholder.cleaning import clean
from beholder.importing.p808 import p808
from beholder.importing.source_folder import SourceFolder
from beholder.methods import load_study
from support.toolkit_sources import write_p808, write_rows


def ratings(study: Path) -> list[dict[str, str]]:
    with (clean(study).folder / "ratings.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_batch_is_recognised_by_its_columns(tmp_path: Path) -> None:
    assert p808.recognise(SourceFolder(write_p808(tmp_path / "one"))) == "the columns of Batch_2_batch_results.csv"
    write_rows(tmp_path / "two" / "clips.csv", [{"rating_clips": "https://x.example.org/a.wav"}])
    assert p808.recognise(SourceFolder(tmp_path / "two")) == "the columns of clips.csv"


def test_answers_become_ratings_with_the_time_of_the_platform(tmp_path: Path) -> None:
    done = import_study(write_p808(tmp_path / "batch"), tmp_path / "mine")
    study = load_study(done.studies[0])
    assert (study.method, study.questions[0].text) == ("acr", "How do you rate the quality of this recording?")
    found = ratings(done.studies[0])
    first = [row["value"] for row in found if row["origin"].endswith(":2")]
    assert first == ["4", "2", "4", "2"]
    assert found[0]["answered_at"].startswith("2024-03-04T19:48:59")
    assert {row["use"] for row in found} == {"true"}


@pytest.mark.parametrize(
    ("items", "method", "questions"),
    [
        (("sig", "bak", "ovrl"), "p835", {"signal", "background", "overall"}),
        (("noise", "col", "ovrl"), "likert", {"noise", "col", "ovrl"}),
    ],
)
def test_several_questions_of_one_recording(
    tmp_path: Path, items: tuple[str, ...], method: str, questions: set[str]
) -> None:
    done = import_study(write_p808(tmp_path / "batch", items), tmp_path / "mine")
    assert load_study(done.studies[0]).method == method
    found = ratings(done.studies[0])
    assert {row["question"] for row in found} == questions
    assert len(found) == 3 * 4 * 3
