"""Sanity: doubled rows, people who answered alike, and means and deviations that cannot be."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pytest

from beholder.analysis.ratings_table import fill_columns
from beholder.analysis.sanity import rating_findings
from beholder.analysis.score_tables import read_scores


def ratings(rows: list[tuple[str, str, float]]) -> pd.DataFrame:
    return fill_columns(pd.DataFrame(rows, columns=["participant", "condition", "value"]).assign(content="all"))


def plain(count: int) -> list[tuple[str, str, float]]:
    """Return ratings of two people who differ, so that nothing is odd."""
    return [(name, f"c{at}", 1.0 + (at + shift) % 5) for name, shift in (("p", 0), ("q", 2)) for at in range(count)]


def names(rows: list[tuple[str, str, float]]) -> list[str]:
    return [finding.name for finding in rating_findings(ratings(rows))]


def test_nothing_is_odd_in_plain_ratings() -> None:
    assert names(plain(9)) == []


def test_one_person_under_two_names_is_found() -> None:
    rows = plain(9)
    twin = [("twin", condition, value) for who, condition, value in rows if who == "p"]
    found = rating_findings(ratings([*rows, *twin]))
    assert [str(one) for one in found] == [
        "2 participants answered everything as another did (p and twin). One person under two names, or copied rows?"
    ]


def test_second_values_are_told_from_doubled_rows_and_repetitions() -> None:
    assert names([*plain(9), ("p", "c0", 1.0)]) == ["Doubled rows"]
    assert names([*plain(9), ("p", "c0", 4.0)]) == ["Second values"]
    table = ratings([*plain(9), ("p", "c0", 4.0)])
    assert rating_findings(table.assign(repetition=[1] * 18 + [2])) == []


def test_a_stimulus_without_variance_is_named() -> None:
    rows = [*plain(9), *((name, "flat", 3.0) for name in "pqr")]
    found = rating_findings(ratings(rows))
    assert str(found[0]).startswith("1 of 10 stimuli has the same value from everybody, always 3 (flat).")


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ("a,3.45,0.9,20\nb,2.10,0.8,20\n", []),
        ("a,3.45,0.9,20\nb,2.13,0.8,20\n", [
            "1 of 2 means no whole votes can give (b: 2.13 of 20 votes). Fine if votes had decimals or people were "
            "weighted; else a wrong n or a slip of the pen (GRIM).",
        ]),
        ("a,4.50,1.9,20\nb,2.10,0.8,20\n", [
            "1 deviation is larger than 1 to 5 allows with the mean (a: 1.90 where at most 1.36 is possible). Is it of "
            "another scale, or no standard deviation?",
        ]),
        ("a,3.4512345,0.9,20\nb,2.1034567,0.8,20\n", []),
    ],
)  # fmt: skip
def test_means_and_deviations_that_cannot_be(tmp_path: Path, rows: str, told: list[str]) -> None:
    path = tmp_path / "means.csv"
    path.write_text(f"System,MOS,Std,Votes\n{rows}", "utf-8")
    table = read_scores(path)
    assert [str(one) for one in table.findings] == told
    assert table.notes == ("MOS is the mean, System is the condition, Std is the sd and Votes is the n",)


def pages_of(places: Sequence[Sequence[float]]) -> pd.DataFrame:
    """Return ratings of one content, a row of values for each person."""
    return pd.DataFrame(
        [(f"p{person}", "rating", name, "all", float(value)) for person, row in enumerate(places)
         for name, value in zip("ABC", row, strict=False)],
        columns=["participant", "question", "condition", "content", "value"],
    )  # fmt: skip


def test_numbers_that_everybody_gave_once_may_be_ranks() -> None:
    table = pages_of([(1, 2, 3), (2, 1, 3), (1, 3, 2), (1, 2, 3)])
    assert str(rating_findings(table)[0]) == (
        "Everybody gave each number from 1 to 3 once: these may be ranks. Here the highest counts as the best. Where 1 "
        "is the best, call a column of them rank, and not value."
    )
    assert rating_findings(table.assign(method="rank")) == []
    fewer = pages_of([(1, 2, 3), (2, 1, 3), (1, 2), (1, 2, 3)])
    assert "Ranks" in [one.name for one in rating_findings(fewer)], "whoever rated two has two places"


@pytest.mark.parametrize("last", [(1, 2, 2), (1, 2, 4), (0, 1, 2), (1, 1.5, 3), (1, 3), (2, 3, -1)])
def test_a_page_with_other_numbers_says_that_they_are_no_ranks(last: tuple[float, ...]) -> None:
    table = pages_of([(1, 2, 3), (2, 1, 3), (1, 3, 2), last])
    assert "Ranks" not in [one.name for one in rating_findings(table)]


def test_a_table_without_any_value_is_odd() -> None:
    table = pd.DataFrame({"participant": ["p"], "question": "q", "condition": "A", "content": "c", "value": math.nan})
    words = "No row has a value: every cell is empty or stands for a missing answer. Is another column the value?"
    assert [str(one) for one in rating_findings(table)] == [words]
