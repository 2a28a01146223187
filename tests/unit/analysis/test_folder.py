"""The folder analyse/: its files and its notes."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from beholder.analysis import analyse
from beholder.errors import UserError
from support.crossed_ratings import crossed, write_csv


def test_notes_name_unit_correction_and_sources(tmp_path: Path) -> None:
    analyse(write_csv(tmp_path, crossed({"a": 1, "b": 2}, 4)))
    notes = json.loads((tmp_path / "analyse" / "notes.json").read_text())
    assert notes["unit"] == "participant and content"
    assert notes["correction"]["method"] == "Holm"
    assert "Pratt" in notes["analyses"]["tests"]["note"]
    assert all(notes["analyses"][name]["citation"] for name in ("scores", "conditions", "contents", "pairs"))


def test_notes_hold_the_hash_of_the_ratings_that_were_analysed(tmp_path: Path) -> None:
    path = write_csv(tmp_path, crossed({"a": 1}, 2))
    assert analyse(path).notes["ratings_sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()


def test_no_note_and_no_source_refers_to_another_analysis(tmp_path: Path) -> None:
    analyses = analyse(write_csv(tmp_path, crossed({"a": 1, "b": 2}, 4))).notes["analyses"]
    for analysis in analyses.values():
        assert "as conditions" not in analysis["citation"]
        assert "as for" not in analysis["note"]


def test_files_of_an_earlier_analysis_that_no_longer_apply_are_gone(tmp_path: Path) -> None:
    analyse(write_csv(tmp_path, crossed({"a": 1, "b": 2}, 4)))
    (tmp_path / "analyse" / "mine.txt").write_text("stays", encoding="utf-8")
    analyse(write_csv(tmp_path, crossed({"a": 1}, 4)))
    left = {path.name for path in (tmp_path / "analyse").iterdir()}
    assert "mine.txt" in left
    assert not {"tests.csv", "agreement.csv", "ranks.csv"} & left


def test_a_folder_that_cannot_be_written_is_said_plainly(tmp_path: Path) -> None:
    path = write_csv(tmp_path, crossed({"a": 1}, 2))
    with pytest.raises(UserError) as error:
        analyse(path, out=path)
    text = "cannot be written: File exists. Allowed: a folder in which you may write."
    assert str(error.value) == f"{path}  {text}"
