"""Data sets of sureal: scores, repetitions and comparisons; files of Python are read, and never run."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder import import_study
from beholder.errors import UserError
from beholder.importing.source_folder import SourceFolder
from beholder.importing.sureal import sureal
from beholder.methods import load_study
from support.imported_folders import cleaned_ratings, import_document
from support.sureal_sources import PAIRS, write_sureal, write_sureal_pairs


def test_a_data_set_is_recognised(tmp_path: Path) -> None:
    assert sureal.recognise(SourceFolder(write_sureal(tmp_path / "one"))) == "dis_videos in dataset.json"
    assert sureal.recognise(SourceFolder(write_sureal_pairs(tmp_path / "two"))) == "dis_videos in dataset.py"


@pytest.mark.parametrize(("with_references", "method", "count"), [(True, "acr-hr", 24), (False, "acr", 16)])
def test_scores_become_ratings_and_repetitions_further_ones(
    tmp_path: Path, with_references: bool, method: str, count: int
) -> None:
    done = import_study(write_sureal(tmp_path / "one", with_references=with_references), tmp_path / "mine")
    study = load_study(done.studies[0])
    assert (study.method, study.title, done.people, done.problems) == (method, "Made up", 3, ())
    assert [one.name for one in study.conditions] == (["reference"] if with_references else []) + ["low", "mid"]
    ratings = cleaned_ratings(done.studies[0])
    assert len(ratings) == count
    assert {row["value"] for row in ratings if row["condition"] == "low"} == {"2", "3"}
    assert {row["answered_at"] for row in ratings} == {""}


def test_comparisons_are_read_out_of_python_that_is_never_run(tmp_path: Path) -> None:
    done = import_study(write_sureal_pairs(tmp_path / "one"), tmp_path / "mine")
    ratings = [(row["condition"], row["other_condition"], row["value"]) for row in cleaned_ratings(done.studies[0])]
    assert ratings == [("low", "mid", "-1"), ("low", "mid", "0"), ("low", "mid", "-1")]
    warnings = import_document(done)["warnings"]
    assert warnings[0] == "dataset.py:1 is no name with a value, and is not run."
    assert warnings[1].startswith("A comparison of asset 0 with 9 is left out")


@pytest.mark.parametrize("value", ["__import__('os').getcwd()", "[1] * 10 ** 9", "'a' + 1", "unknown + '/x'", "{**{}}"])
def test_what_is_more_than_a_literal_is_refused_with_its_line(tmp_path: Path, value: str) -> None:
    source = write_sureal_pairs(tmp_path / "one", PAIRS.replace("'files'", value))
    with pytest.raises(UserError) as refused:
        import_study(source, tmp_path / "mine")
    assert refused.value.problems[0].where == "dataset.py:5"
    assert refused.value.problems[0].what == "ref_dir is more than literal values, and nothing of a source is run"


def test_assets_without_a_content_and_scores_that_are_none_are_told(tmp_path: Path) -> None:
    assets = [
        {"asset_id": 0, "content_id": 0, "path": "a.wav", "os": {"ann": "good", "bob": 3}},
        {"asset_id": 0, "content_id": 0, "path": "b.wav", "os": [1]}, {"asset_id": 2, "content_id": 7, "path": "c.wav"},
    ]  # fmt: skip
    done = import_study(write_sureal(tmp_path / "one", dis_videos=assets), tmp_path / "mine")
    told = {one["what"] for one in import_document(done)["broken"]}
    assert told == {
        "is 'good', which is no score", "has the asset_id 0 of an earlier one",
        "has the content_id 7, which ref_videos has not",
    }  # fmt: skip
