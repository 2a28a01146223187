"""Contrasts of two sides: the same differences, in the same direction."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder.comparison.result import ComparisonTables
from support.compared_sides import found_of, row_of


def test_a_plain_shift_differs_as_a_whole_and_not_in_what_it_says_of_conditions(compared: ComparisonTables) -> None:
    effects = compared.table("effects")
    same, shifted = (row_of(effects, side="a", other_side=name) for name in "bc")
    assert same["ci_low"] < 0 < same["ci_high"]
    assert shifted["ci_high"] < 0
    assert same["margin"] == pytest.approx(0.2)
    counts = row_of(compared.table("contrast_counts"), side="a", other_side="c")
    assert counts["both_clear"] >= 5
    assert counts["opposite_clear"] == 0
    wide = found_of(*(Path(side.study) for side in compared.sides.sides), margin=3.0)
    assert set(wide.table("effects")["equivalent"]) == {"yes"}
