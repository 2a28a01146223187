"""Conditions of several studies on one scale: planted lines come back, and what cannot be merged is said."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from beholder.analysis.sides import CONDITIONS, Side
from beholder.comparison.merged_scale import MergedScale, mapping_table, merged_scales, merged_table, merged_words
from beholder.comparison.text import mapping_sheet, merged_sheet
from support.compared_sides import found_of, ratings

TRUTH = {"a": 20.0, "b": 35.0, "c": 50.0, "d": 65.0, "e": 80.0, "f": 90.0}


def side(name: str, conditions: str, slope: float, offset: float, rng: np.random.Generator, se: float = 1.0) -> Side:
    rows = [
        ("quality", one, 24, offset + slope * TRUTH[one] + rng.normal(0, se), 5.0, 0.0, 0.0, se, 23.0)
        for one in conditions
    ]
    return Side(name, pd.DataFrame(columns=["question", "stimulus"]), pd.DataFrame(rows, columns=CONDITIONS))


def merged(sides: Sequence[Side]) -> MergedScale:
    (scale,) = merged_scales(sides, ["quality"])
    return scale


def test_a_planted_line_comes_back_and_intervals_hold_as_often_as_they_say() -> None:
    held = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        one = merged([side("one", "abcd", 1, 0, rng), side("two", "bcdef", 1.3, -30, rng)])
        assert abs(one.lines[1, 0, 0] - 1.3) < 0.3
        truth = np.array([TRUTH[name] for name in one.conditions])
        held += [*((one.low <= truth) & (truth <= one.high)), one.lines[1, 0, 1] <= 1.3 <= one.lines[1, 0, 2]]
    assert 0.90 <= np.mean(held) <= 0.99


def test_what_lies_beyond_the_common_conditions_is_marked(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    scales = [merged([side("one", "abcd", 1, 0, rng), side("two", "cdef", 1.3, -30, rng)])]
    result, lines = merged_table(scales), mapping_table(scales)
    assert result is not None
    assert lines is not None
    table = result.table.set_index("condition")
    assert list(table.index) == ["f", "e", "d", "c", "b", "a"]
    assert [name for name, row in table.iterrows() if row["is_beyond"]] == ["f", "e"]
    assert [name for name, row in table.iterrows() if row["is_common"]] == ["d", "c"]
    assert list(lines.table["common"]) == [2, 2]
    assert merged_sheet(result.table, {"f": "F!"}).rows[0][:3] == ("F!", "quality", "beyond the common ones")
    assert mapping_sheet(lines.table).rows[0][4] == "1.00 (1.00 to 1.00)"
    (words,) = merged_words(lines)
    assert words.startswith(
        "quality, merged: 2 sides on the scale of one, over at least 2 common conditions; slope: two x"
    )


def test_with_one_common_condition_only_the_level_is_brought_together() -> None:
    rng = np.random.default_rng(2)
    one = merged([side("one", "abc", 1, 0, rng), side("two", "cde", 1, 7, rng)])
    assert one.lines[1, 0].tolist() == [1.0, 1.0, 1.0]
    assert abs(one.lines[1, 1, 0] - 7) < 5


def test_a_side_is_joined_through_another_one_and_one_without_common_conditions_is_left_out() -> None:
    rng = np.random.default_rng(3)
    chain = merged([side("one", "ab", 1, 0, rng), side("two", "bcd", 1, 3, rng), side("three", "cdef", 1, -3, rng)])
    assert chain.names == ("one", "two", "three")
    apart = merged([side("one", "ab", 1, 0, rng), side("two", "bc", 1, 0, rng), side("three", "ef", 1, 0, rng)])
    assert apart.names == ("one", "two")
    assert merged_scales([side("one", "ab", 1, 0, rng), side("two", "ef", 1, 0, rng)], ["quality"]) == []


def test_sides_that_disagree_on_the_common_conditions_are_not_to_be_read_as_one_scale() -> None:
    rng = np.random.default_rng(4)
    other = side("two", "abcdf", 1, 0, rng)
    turned = other.conditions.assign(mean=[40.0, 15.0, 70.0, 50.0, 90.0])
    two = Side("two", other.stimuli, turned)
    (words,) = merged_words(mapping_table([merged([side("one", "abcde", 1, 0, rng), two])]))
    assert words.endswith("do not read it as one scale.")


def test_sides_with_the_same_conditions_need_no_merging(tmp_path: Path) -> None:
    found = found_of(ratings(tmp_path / "one.csv", 1), ratings(tmp_path / "two.csv", 2))
    assert not {"merged", "mappings"} & set(found.results)
    assert merged_table([]) is None
    assert mapping_table([]) is None
    assert merged_words(None) == ()
