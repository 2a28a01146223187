"""Sides: scores of a study, a run or a table, ready to be compared."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest

from beholder.analysis.means import conditions
from beholder.analysis.sides import read_side, split_run, with_unique_names
from beholder.errors import UserError
from support.crossed_ratings import crossed, write_csv


def test_a_run_is_named_behind_the_file(tmp_path: Path) -> None:
    assert split_run("study.yaml@2") == (Path("study.yaml"), 2)
    assert split_run("study.yaml") == (Path("study.yaml"), None)
    odd = tmp_path / "a@1"
    odd.write_text("", "utf-8")
    assert split_run(odd) == (odd, None)


def test_the_side_of_ratings_has_the_means_of_their_analysis(tmp_path: Path) -> None:
    table = crossed({"a": 2, "b": 3}, participants=6, contents=3)
    side = read_side(write_csv(tmp_path, table), "mine")
    expected = conditions(table).table
    assert (side.name, side.questions) == ("mine", ("rating",))
    assert list(side.conditions["mean"]) == list(expected["mean"])
    half = (expected["ci_high"] - expected["ci_low"]) / 2
    assert (side.conditions["se"] < half).all()
    assert set(side.conditions["df"]) == {2}


def test_a_table_of_scores_gives_condition_means_without_intervals(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    pd.DataFrame(
        [("a", "c1", 1.0), ("a", "c2", 3.0), ("b", "c1", 4.0)], columns=["condition", "content", "mean"]
    ).to_csv(path, index=False)
    side = read_side(path)
    assert dict(zip(side.conditions["condition"], side.conditions["mean"], strict=True)) == {"a": 2.0, "b": 4.0}
    assert all(math.isnan(se) for se in side.conditions["se"])
    with pytest.raises(UserError, match="has no run 3"):
        read_side(f"{path}@3")


def test_sides_of_one_name_are_numbered(tmp_path: Path) -> None:
    side = read_side(write_csv(tmp_path, crossed({"a": 2, "b": 3}, participants=3)))
    assert [one.name for one in with_unique_names([side, side, side])] == ["ratings", "ratings (2)", "ratings (3)"]
