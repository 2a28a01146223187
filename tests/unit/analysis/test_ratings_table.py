"""Tables of ratings: required columns, and every problem at once."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest

from beholder.analysis import analyse
from beholder.analysis.means import conditions
from beholder.errors import UserError
from support.crossed_ratings import write_csv


def test_absent_columns_are_all_named(tmp_path: Path) -> None:
    path = write_csv(tmp_path, pd.DataFrame({"participants": ["p"], "content": ["c"], "value": [1]}))
    with pytest.raises(UserError) as error:
        analyse(path)
    allowed = "Allowed: participant, content, condition, value."
    assert str(error.value).splitlines() == [
        f"{path}  has no column participant. {allowed} Did you mean participants?",
        f"{path}  has no column condition. {allowed}",
    ]


def test_columns_under_the_names_of_others_are_recognised(tmp_path: Path) -> None:
    path = write_csv(tmp_path, pd.DataFrame({"Subject": ["p"], "content": ["c"], "condition": ["a"], "score": [1]}))
    with pytest.raises(UserError) as error:
        analyse(path)
    allowed = "Allowed: participant, content, condition, value."
    assert str(error.value).splitlines() == [
        f"{path}  has no column participant. {allowed} Rename Subject to participant.",
        f"{path}  has no column value. {allowed} Rename score to value.",
    ]


def test_ratings_without_a_name_and_values_that_cannot_be_are_all_told(tmp_path: Path) -> None:
    table = pd.DataFrame(
        {
            "participant": ["p", "", "p", "p"], "content": ["c", "c", "", "c"], "condition": ["a", "a", "a", ""],
            "value": [7, 1, 0, 1], "kind": "correct",
        }
    )  # fmt: skip
    path = write_csv(tmp_path, table)
    with pytest.raises(UserError) as error:
        analyse(path)
    assert str(error.value).splitlines() == [
        f"{path}:3  participant is empty. Allowed: a name.",
        f"{path}:4  content is empty. Allowed: a name.",
        f"{path}:5  condition is empty. Allowed: a name.",
        f"{path}:2  value is 7, of kind correct. Allowed: from 0 to 1.",
    ]


def test_a_data_frame_may_name_things_by_numbers() -> None:
    table = pd.DataFrame({"participant": [1, 2, 1, 2], "content": 1, "condition": [1, 1, 2, 2], "value": [1, 2, 3, 5]})
    actual = conditions(table).table
    assert actual[["condition", "mean"]].to_numpy().tolist() == [["1", 1.5], ["2", 4.0]]


def test_values_of_a_data_frame_that_are_no_numbers_are_told() -> None:
    table = pd.DataFrame({"participant": "p", "content": "c", "condition": "a", "value": [1, "good", math.inf, None]})
    with pytest.raises(UserError) as error:
        conditions(table)
    assert str(error.value).splitlines() == [
        "ratings.loc[1]  value is 'good'. Allowed: a number, or NaN when missing.",
        "ratings.loc[2]  value is inf. Allowed: a number, or NaN when missing.",
    ]
