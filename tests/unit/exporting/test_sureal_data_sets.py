"""Data sets in the format of sureal: what is exported can be imported, and gives the same ratings."""

from __future__ import annotations

import json
from pathlib import Path

import beholder
from beholder.cleaning import clean
from support.imported_folders import cleaned_ratings
from support.sureal_sources import write_sureal, write_sureal_pairs


def votes(study: Path) -> list[tuple[str, ...]]:
    """Return the ratings of a study without the names of people, which every import makes anew."""
    columns = ("content", "condition", "other_condition", "value")
    return sorted(tuple(row[name] for name in columns) for row in cleaned_ratings(study))


def test_scores_that_were_exported_and_imported_are_the_same_ratings(tmp_path: Path) -> None:
    first = beholder.import_study(write_sureal(tmp_path / "one"), tmp_path / "mine").studies[0]
    folder = beholder.export(first, sureal=True).folder
    data = json.loads((folder / "sureal.json").read_text("utf-8"))
    assert (data["ref_score"], [one["content_name"] for one in data["ref_videos"]]) == (5, ["park", "street"])
    again = [values for one in data["dis_videos"] for values in one["os"].values() if isinstance(values, list)]
    assert sorted(again) == [[2, 2], [2, 2], [4, 4], [4, 4], [5, 5], [5, 5]]
    second = beholder.import_study(folder / "sureal.json", tmp_path / "again").studies[0]
    assert votes(second) == votes(first)


def test_comparisons_are_python_that_is_read_again(tmp_path: Path) -> None:
    first = beholder.import_study(write_sureal_pairs(tmp_path / "one"), tmp_path / "mine").studies[0]
    folder = beholder.export(first, sureal=True).folder
    second = beholder.import_study(folder / "sureal.py", tmp_path / "again").studies[0]
    assert votes(second) == votes(first)


def test_without_the_option_there_is_none(tmp_path: Path) -> None:
    study = beholder.import_study(write_sureal(tmp_path / "one"), tmp_path / "mine").studies[0]
    assert not list(beholder.export(study).folder.glob("sureal*"))
    assert clean(study).counts["ratings"] == 24
