"""Distributions and medians."""

from __future__ import annotations

import pytest

from beholder.analysis.distributions import distributions
from support.rating_frames import ratings_frame, table_of


def test_a_scale_of_few_whole_values_has_a_row_for_each_also_for_those_that_nobody_gave() -> None:
    data = ratings_frame([("p1", "x", "a", 1.0), ("p2", "x", "a", 5.0), ("p3", "x", "a", 5.0), ("p1", "x", "b", 4.0)])
    table = table_of(distributions(data.assign(scale_min=1.0, scale_max=5.0)))
    assert list(table["band"]) == ["1", "2", "3", "4", "5"] * 2
    assert list(table[table["condition"] == "a"]["n"]) == [1, 0, 0, 0, 2]
    assert table.groupby("condition")["share"].sum().tolist() == pytest.approx([1, 1])


def test_a_long_scale_is_cut_into_twenty_bands_and_its_end_is_in_the_last() -> None:
    data = ratings_frame([("p1", "x", "a", 0.0), ("p2", "x", "a", 5.0), ("p3", "x", "a", 100.0)])
    table = table_of(distributions(data.assign(scale_min=0.0, scale_max=100.0)))
    assert list(table["band"])[:2] == ["0 to 5", "5 to 10"]
    assert list(table[table["n"] > 0]["low"]) == [0, 5, 95]


def test_grades_between_two_conditions_count_for_both_with_opposite_signs() -> None:
    data = ratings_frame([("p1", "x", "a", 2.0, "b"), ("p2", "x", "a", -1.0, "b")], "other_condition")
    table = table_of(distributions(data.assign(kind="diff", scale_min=-3.0, scale_max=3.0)))
    given = table[table["n"] > 0]
    assert list(zip(given["condition"], given["band"], strict=True)) == [
        ("a", "−1"),
        ("a", "2"),
        ("b", "−2"),
        ("b", "1"),
    ]


def test_choices_have_no_distribution() -> None:
    assert distributions(ratings_frame([("p1", "x", "a", 1.0, "b")], "other_condition").assign(kind="choice")) is None
