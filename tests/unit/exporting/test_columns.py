"""Columns of the export: values are converted by kind, the same for CSV and Parquet."""

from __future__ import annotations

import math
from datetime import UTC, datetime

from beholder.exporting.columns import as_cells, convert, factor_columns


def test_values_are_converted_by_kind_and_missing_ones_are_none() -> None:
    time = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert convert("text", ["a", "", None]) == ["a", None, None]
    assert convert("text", [["b", 1], "NUL\0"]) == ['["b", 1]', "NUL\ufffd"]
    assert convert("integer", [1.0, None]) == [1, None]
    assert convert("number", [1, math.nan, None]) == [1.0, None, None]
    assert convert("boolean", [True, None]) == [True, None]
    assert convert("time", [time, None]) == [time, None]


def test_cells_of_csv_are_texts_of_the_same_values() -> None:
    time = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert list(as_cells("boolean", [True, False, None])) == ["true", "false", ""]
    assert list(as_cells("number", [0.5, None])) == ["0.5", ""]
    assert str(as_cells("time", [time])[0]).startswith("2026-01-02T03:04:05")


def test_further_columns_of_the_manifest_are_factors() -> None:
    assert [column.name for column in factor_columns(("codec",))] == ["factor_codec"]
