"""Items: whether questions measure one thing."""

from __future__ import annotations

import pytest

from beholder.analysis.items import item_consistency
from support.dimensions_page import answers


def test_every_study_with_three_questions_says_whether_they_go_together() -> None:
    result = item_consistency(answers(8, ("real", "trust", "warm")))
    assert result is not None
    row = result.table.iloc[0]
    assert (row["questions"], row["n"], row["stimuli"], row["components"]) == (3, 96, 12, 1)
    assert 0.6 < row["alpha_low"] < row["alpha"] < row["alpha_high"] < 1
    assert row["alpha"] == pytest.approx(row["omega"], abs=0.02)


def test_fewer_questions_or_none_that_vary_say_nothing() -> None:
    assert item_consistency(answers(8, ("real", "trust"))) is None
    assert item_consistency(answers(8, ("real", "trust", "warm")).assign(value=3.0)) is None
    alone = answers(8, ("real", "trust", "warm"))
    alone = alone[(alone["condition"] == "c0") & (alone["content"] == "k0")]
    result = item_consistency(alone)
    assert result is not None
    assert result.table.iloc[0]["note"] == "too few stimuli, or they do not differ: no components"
