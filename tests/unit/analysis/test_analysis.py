"""Analyse: published numbers come out again, and edge cases stay honest."""

from __future__ import annotations

import math
from pathlib import Path

from beholder.analysis import analyse
from support.crossed_ratings import crossed, write_csv

# Published and exact values


# Holm


# Wilcoxon


# Intervals


# The verb


def test_a_foreign_table_needs_four_columns_only(tmp_path: Path) -> None:
    results = analyse(write_csv(tmp_path, crossed({"a": 1, "b": 3}, 8)))
    assert {path.stem for path in (tmp_path / "analyse").iterdir()} == {*results.notes["analyses"], "notes"}
    assert {"scores", "conditions", "contents", "pairs", "participants", "questions"} <= set(results.notes["analyses"])
    assert list(results.scores.columns)[:9] == [
        "stimulus", "content", "condition", "question", "n", "mean", "sd", "ci_low", "ci_high",
    ]  # fmt: skip
    (pair,) = results.pairs.to_dict("records")
    assert (pair["condition"], pair["other_condition"], pair["comparison"]) == ("a", "b", "within")
    assert (pair["n"], pair["participants"], pair["contents"], pair["test"]) == (16, 8, 2, "clustered t")
    assert pair["mean_difference"] < 0


def test_results_go_where_they_are_asked_to(tmp_path: Path) -> None:
    analyse(write_csv(tmp_path, crossed({"a": 1}, 2)), out=tmp_path / "elsewhere")
    assert (tmp_path / "elsewhere" / "scores.csv").is_file()
    assert not (tmp_path / "analyse").exists()


def test_analysing_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    path = write_csv(tmp_path, crossed({"a": 1, "b": 2, "c": 2}, 6))
    analyse(path)
    first = {file.name: file.read_bytes() for file in (tmp_path / "analyse").iterdir()}
    analyse(path)
    assert {file.name: file.read_bytes() for file in (tmp_path / "analyse").iterdir()} == first


def test_one_participant_gives_scores_without_intervals_and_without_tests(tmp_path: Path) -> None:
    results = analyse(write_csv(tmp_path, crossed({"a": 1, "b": 2}, 1)))
    assert set(results.conditions["note"]) == {"one participant: no interval"}
    assert results.conditions["ci_low"].isna().all()
    (pair,) = results.pairs.to_dict("records")
    assert pair["note"] == "one participant: no test"
    assert math.isnan(pair["p_holm"])
    assert '"p"' not in (tmp_path / "analyse" / "notes.json").read_text()


def test_a_table_without_any_rating_gives_empty_results(tmp_path: Path) -> None:
    results = analyse(write_csv(tmp_path, crossed({"a": 1}, 0)))
    assert [len(getattr(results, name)) for name in ("scores", "conditions", "contents", "pairs", "participants")] == [
        0
    ] * 5


# Tables that cannot be
