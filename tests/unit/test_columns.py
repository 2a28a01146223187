"""Columns: name, kind and meaning."""

from __future__ import annotations

from beholder.columns import Column


def test_a_column_allows_everything_unless_it_says_otherwise() -> None:
    assert Column("value", "number", "The answer as a number.").allowed == ()
