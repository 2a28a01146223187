"""What goes into a column comes out of it."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beholder.store.tables import from_json, to_iso, to_json, to_text
from beholder.types import Json

ANY_TEXT = st.text(st.characters(exclude_categories=()))
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | ANY_TEXT,
    lambda inner: st.lists(inner) | st.dictionaries(ANY_TEXT, inner),
    max_leaves=10,
)


@given(ANY_JSON)
def test_json_comes_back_as_it_was(value: Json) -> None:
    assert from_json(to_json(value)) == value
    assert "\0" not in to_json(value)


@given(ANY_TEXT)
def test_text_is_safe_for_every_database(value: str) -> None:
    safe = to_text(value)
    assert "\0" not in safe
    assert safe.encode().decode() == safe
    assert to_text(safe) == safe


@given(st.datetimes(timezones=st.timezones()), st.datetimes(timezones=st.timezones()))
def test_times_compare_as_texts_do(one: datetime, two: datetime) -> None:
    try:
        first, second = one.astimezone(UTC), two.astimezone(UTC)
    except OverflowError:
        return
    assert (to_iso(one) < to_iso(two)) == (first < second)
    assert datetime.fromisoformat(to_iso(one)) == first


@pytest.mark.parametrize("value", [math.nan, [math.inf], {"x": -math.inf}])
def test_a_number_that_is_not_json_is_refused(value: Json) -> None:
    with pytest.raises(ValueError):
        to_json(value)


def test_frozen_values_are_json_too() -> None:
    assert from_json(to_json(MappingProxyType({"a": (1, MappingProxyType({}))}))) == {"a": [1, {}]}
