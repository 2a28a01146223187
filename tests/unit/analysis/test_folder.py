"""The folder analyse/: its files and its notes."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pandas as pd
import pytest

from beholder.analysis import analyse
from beholder.cleaning import clean
from beholder.errors import UserError
from beholder.extension import extend
from support.crossed_ratings import crossed, write_csv
from support.extended_folders import begin, finish, write_texts


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


# Looks at people's ratings


async def test_an_analysis_of_peoples_ratings_is_a_look_that_later_ones_know(tmp_path: Path) -> None:
    path, url = write_texts(tmp_path, design={"participants": 4, "trials": 8, "seed": 3}), str(tmp_path / "store")
    await begin(path, url)
    await finish(path, url, "abc")
    clean(path)
    interim = analyse(path)
    assert analyse(path).notes == interim.notes, "the same ratings are the same look"
    assert interim.notes["look"]["kind"] == "anytime"
    assert interim.interim_words == (
        "Interim: 3 of 4 planned participants. Intervals and p-values hold whenever one looks; this is look 1, and "
        "recorded."
    )
    left = {one.name for one in (tmp_path / "analyse").iterdir()}
    assert not {"mixed.csv", "ranks.csv", "models.csv"} & left, "their intervals would hold at the end only"

    await finish(path, url, "d")
    clean(path)
    fixed = analyse(path)
    assert fixed.notes["look"] is None, "everybody who was planned has come"
    assert (tmp_path / "analyse" / "ranks.csv").is_file()

    assert extend(path, participants=1).words[-1] == (
        "Results were looked at before (2 times): with more people now, intervals have to hold whenever one looks, and "
        "are wider."
    )
    await finish(path, url, "e")
    clean(path)
    extended = analyse(path)
    assert [look["participants"] for look in extended.notes["collection"]["looks"]] == [3, 4, 5]
    assert extended.notes["look"]["kind"] == "anytime", "it was extended when results were known"
    for table in ("scores", "pairs"):
        shown, usual = getattr(interim, table), getattr(fixed, table)
        assert _width(shown) > _width(usual), table
    assert (extended.pairs["p"] > 0.05).all()


def _width(table: pd.DataFrame) -> float:
    return float((table["ci_high"] - table["ci_low"]).mean())


async def test_a_look_that_cannot_be_recorded_is_told(tmp_path: Path) -> None:
    path, url = write_texts(tmp_path, design={"participants": 4, "trials": 8, "seed": 3}), str(tmp_path / "elsewhere")
    await begin(path, url)
    await finish(path, url, "ab")
    clean(path, store=url)
    (tmp_path / "elsewhere").rename(tmp_path / "moved")
    results = analyse(path)
    assert results.interim_words.endswith("The look could not be recorded: name the store (--store).")
    assert len(analyse(path, store=str(tmp_path / "moved")).notes["collection"]["looks"]) == 1
