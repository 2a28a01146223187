"""The folder analyse/: its files and its notes."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pandas as pd
import pytest

from beholder.analysis import analyse
from beholder.analysis.means import conditions
from beholder.analysis.pairs import pairs
from beholder.analysis.ratings import open_ratings
from beholder.analysis.scores import scores
from beholder.analysis.tests import corrected_tests
from beholder.cleaning import clean
from beholder.errors import UserError
from beholder.extension import extend
from support.crossed_ratings import crossed, write_csv
from support.extended_folders import begin, finish, write_texts
from support.report_pages import made_up


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
    of_table = analyse(tmp_path / "clean" / "ratings.csv", out=tmp_path / "table").notes
    assert of_table["collection"] == interim.notes["collection"], "nor does it help to take the table by itself"
    assert of_table["look"] == interim.notes["look"]
    assert interim.notes["look"]["kind"] == "anytime"
    assert interim.interim_words == (
        "Interim: 3 of 4 planned participants. Intervals and p-values hold whenever one looks; this is look 1, and "
        "recorded."
    )
    modelled = analyse(path, model="p913", out=tmp_path / "models").scores
    assert modelled["p913_quality"].notna().all()
    assert modelled["p913_low"].isna().all()
    left = {one.name for one in (tmp_path / "analyse").iterdir()}
    assert not {"ranks.csv", "models.csv"} & left, "their intervals would hold at the end only"

    await finish(path, url, "d")
    clean(path)
    fixed = analyse(path)
    assert fixed.notes["look"]["kind"] == "fixed", "everybody who was planned has come, but results were known before"
    assert fixed.notes["look"]["level"] == pytest.approx(0.96)
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
    for table in ("scores", "conditions", "pairs"):
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


def test_a_study_with_looks_has_intervals_and_p_values_that_hold_for_all_of_them(tmp_path: Path) -> None:
    quality = {"a": 50.0, "b": 58.0}
    bare, last, early = (
        made_up(tmp_path / name, quality, design=design, population="robots")
        for name, design in (("1", {"participants": 24}), ("2", {"looks": [12, 24]}), ("3", {"looks": [24, 60]}))
    )
    look = analyse(early).notes["look"]
    assert (look["number"], look["looks"], look["is_last"]) == (1, 2, False)
    assert look["words"].startswith("Look 1 of 2, 24 people: it ")
    rated = [open_ratings(study).ratings for study in (bare, last, early)]
    for table in (conditions, scores, pairs):
        found = [table(ratings).table.iloc[0] for ratings in rated]
        widths = [one["ci_high"] - one["ci_low"] for one in found]
        assert widths[0] < widths[1] < widths[2]
    assert found[0]["p"] < found[1]["p"] < found[2]["p"]
    assert found[0]["these_p"] < found[1]["these_p"] < found[2]["these_p"]
    for one in found:
        assert one["mean_difference"] == found[0]["mean_difference"]
        assert (one["p"] < 0.05) == (one["ci_low"] > 0 or one["ci_high"] < 0)
    p = [corrected_tests(ratings).table["p"] for ratings in rated]
    assert (p[0] <= p[1]).all()
    assert (p[1] < p[2]).all()
    result = pairs(rated[2])
    assert "all looks together (look 1 of 2, 24 of 60 participants)" in result.note
    assert "Lan and DeMets (1983)" in result.citation
