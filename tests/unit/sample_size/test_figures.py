"""Figures of a power analysis: which lines are drawn."""

from __future__ import annotations

import pandas as pd

from beholder.sample_size.figures import shown_lines


def table(target: str, differences: list[float]) -> pd.DataFrame:
    pair = ("one", "two") if target == "contrast" else ("", "")
    rows = [(target, *pair, difference, size) for difference in differences for size in (10, 20)]
    return pd.DataFrame(rows, columns=["target", "condition", "other_condition", "difference", "participants"])


def test_few_named_contrasts_are_drawn_in_place_of_differences() -> None:
    power = pd.concat([table("difference", [5.0, 10.0]), table("contrast", [-5.0])])
    assert shown_lines(power) == [("one two", -5.0)]
    assert shown_lines(table("difference", [10.0, 5.0])) == [("", 5.0), ("", 10.0)]


def test_of_many_differences_some_are_drawn_from_the_smallest_to_the_largest() -> None:
    lines = shown_lines(table("difference", [float(n) for n in range(1, 12)]))
    assert [difference for _, difference in lines] == [1.0, 3.0, 5.0, 7.0, 9.0, 11.0]
