"""Columns that many analyses share."""

from __future__ import annotations

from beholder.analysis import columns
from beholder.analysis.columns import bounds
from beholder.columns import Column


def test_an_interval_has_two_ends() -> None:
    assert bounds("win", "its 95 % interval") == (
        Column("win_low", "number", "Lower end of its 95 % interval."),
        Column("win_high", "number", "Upper end of its 95 % interval."),
    )


def test_every_shared_column_has_a_meaning() -> None:
    shared = [value for value in vars(columns).values() if isinstance(value, Column)]
    assert shared
    assert all(column.text.endswith(".") for column in shared)
