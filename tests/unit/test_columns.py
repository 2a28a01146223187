"""Columns: name, kind and meaning."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, NamedTuple

import pytest

from beholder.cleaning.columns import SESSION
from beholder.columns import Column, columns_of, names_of, pick


class Row(NamedTuple):
    session: Annotated[str, SESSION]
    plays: Annotated[int | None, "How often."]
    value: Annotated[float, "What was chosen."]
    kind: Annotated[str, "What it is.", ("score", "pick")]
    use: Annotated[bool, "Whether it is analysed."]
    answered_at: Annotated[datetime, "When."]
    factors: Mapping[str, str]


class Misnamed(NamedTuple):
    visit: Annotated[str, SESSION]


def test_a_column_allows_everything_unless_it_says_otherwise() -> None:
    assert Column("value", "number", "The answer as a number.").allowed == ()


def test_columns_follow_from_the_fields_of_a_row() -> None:
    assert columns_of(Row) == (
        SESSION,
        Column("plays", "integer", "How often."),
        Column("value", "number", "What was chosen."),
        Column("kind", "text", "What it is.", ("score", "pick")),
        Column("use", "boolean", "Whether it is analysed."),
        Column("answered_at", "time", "When."),
    )


def test_a_field_with_the_column_of_another_name_or_kind_is_an_error() -> None:
    with pytest.raises(TypeError, match="Misnamed"):
        columns_of(Misnamed)


def test_columns_are_picked_by_name_in_the_order_of_the_names() -> None:
    columns = columns_of(Row)
    assert names_of(pick(columns, "use", "plays")) == ("use", "plays")
