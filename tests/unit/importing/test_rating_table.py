"""Plain tables of ratings become studies by the reader of `analyse`, where they are of no other tool."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder import import_study
from beholder.errors import UserError
from beholder.importing.rating_table import rating_table
from beholder.importing.source_folder import SourceFolder
from beholder.methods import load_study
from support.imported_folders import cleaned_ratings, import_document
from support.small_media import write_stimulus

LONG = """\
Subject;Scene;Codec;Score;Note
ann;park;h264;2;x
ann;park;av1;5;
bob;park;h264;3;
bob;park;av1;4;
bob;park;av1;3;
"""
WIDE = "subject,park_h264,park_av1\nann,2,5\nbob,3,\n"


def write_table(folder: Path, text: str = LONG, name: str = "votes.csv") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for strength, codec in enumerate(("h264", "av1"), 2):
        write_stimulus(folder / "files" / codec / "park.wav", strength)
    (folder / name).write_text(text, "utf-8")
    return folder / name


def test_a_long_table_becomes_a_study_with_its_ratings_and_lines(tmp_path: Path) -> None:
    done = import_study(write_table(tmp_path / "one"), tmp_path / "mine")
    assert (done.importer, done.people, done.missing, done.problems) == ("a table of ratings", 2, (), ())
    study = load_study(done.studies[0])
    assert (study.method, [one.name for one in study.conditions]) == ("acr", ["h264", "av1"])
    ratings = [(row["condition"], row["value"], row["origin"]) for row in cleaned_ratings(done.studies[0])]
    assert ratings == [
        ("h264", "2", "votes.csv:2"), ("av1", "5", "votes.csv:3"), ("h264", "3", "votes.csv:4"),
        ("av1", "4", "votes.csv:5"), ("av1", "3", "votes.csv:6"),
    ]  # fmt: skip
    (note,) = [one for one in import_document(done)["unsupported"] if one.get("column") == "Note"]
    assert note["why"].startswith("it is none of participant")


def test_a_wide_table_has_a_rating_in_each_cell_and_missing_ones(tmp_path: Path) -> None:
    done = import_study(write_table(tmp_path / "one", WIDE), tmp_path / "mine")
    ratings = [(row["condition"], row["value"]) for row in cleaned_ratings(done.studies[0])]
    assert sorted(ratings) == [
        ("park_av1", ""), ("park_av1", "5"), ("park_h264", "2"), ("park_h264", "3"),
    ]  # fmt: skip


def test_a_table_that_another_importer_knows_is_not_taken_and_one_without_ratings_is_nothing(tmp_path: Path) -> None:
    assert rating_table.recognise(SourceFolder(write_table(tmp_path / "one"))) == "the columns of votes.csv"
    assert rating_table.recognise(SourceFolder(write_table(tmp_path / "two", "a,b\n1,x\n"))) == ""
    with pytest.raises(UserError, match="is a folder"):
        import_study(tmp_path / "one", tmp_path / "mine", importer="table")
