"""Documents of the second HEMVIP: choices, or the clicks that are their only trace."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder import import_study
from beholder.importing.hemvip.pair_documents import CLICKED
from support.hemvip_sources import write_documents
from support.imported_folders import cleaned_ratings, import_document, read_rows


@pytest.mark.parametrize("dialect", [2024, 2025])
def test_choices_become_grades_and_clicks_are_in_doubt(tmp_path: Path, dialect: int) -> None:
    done = import_study(write_documents(tmp_path / "one", dialect, ".wav"), tmp_path / "mine")
    assert (done.people, done.sessions, done.uncertain) == (2, 2, {CLICKED: 2})
    ratings = cleaned_ratings(done.studies[0])
    first = [(row["condition"], row["other_condition"], row["value"]) for row in ratings if row["content"] == "clip1"]
    assert first == [("GT", "BA", "2"), ("BA", "SA", "-1"), ("GT", "BA", "0"), ("BA", "SA", "2")]
    foreign = read_rows(done.folder / "clean" / "foreign.csv")
    assert [(row["check"], row["verdict"]) for row in foreign] == [("attention", "fail"), ("attention", "pass")]


def test_a_choice_that_says_nothing_of_which_is_better_is_missing_and_told(tmp_path: Path) -> None:
    source = write_documents(tmp_path / "one", 2025, ".wav")
    path = source / "studies.json"
    path.write_text(path.read_text("utf-8").replace("RightSlightlyBetter", "BothExpressed"), "utf-8")
    done = import_study(source, tmp_path / "mine")
    assert "the choice is bothexpressed" in {one["what"] for one in import_document(done)["broken"]}
    assert "" in {row["value"] for row in cleaned_ratings(done.studies[0])}
