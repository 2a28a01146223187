"""What goes into a column comes out of it."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beholder.store.contract import Answer
from beholder.store.tables import EncodedList, encode_finite, fact_row, from_json, read_answer, to_iso, to_json, to_text
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


def test_a_number_that_is_not_json_is_found_beside_values_that_are_not_there() -> None:
    assert to_json([None, 1.5]) == "[null,1.5]"
    with pytest.raises(ValueError):
        to_json([None, math.nan])


@given(ANY_JSON)
def test_what_is_encoded_already_is_stored_as_it_is(value: Json) -> None:
    assert encode_finite(value) == to_json(value)
    assert to_json(EncodedList(encode_finite([value]))) == to_json([value])
    assert list(EncodedList(encode_finite([value]))) == from_json(to_json([value]))


def test_frozen_values_are_json_too() -> None:
    assert from_json(to_json(MappingProxyType({"a": (1, MappingProxyType({}))}))) == {"a": [1, {}]}


def test_an_answer_comes_back_as_it_was_though_its_playback_is_decoded_only_when_looked_at() -> None:
    played: dict[str, Json] = {"s1": {"plays": 1, "coverage": 0.5}, "page": {"first_ms": None}}
    answer = Answer("session", "trial:1", {"scores": {}}, played, 1.5, 2.5, "mouse", "tab", datetime.now(UTC))
    read = read_answer(fact_row(answer)[1])
    assert read == answer
    assert answer == read
    assert read.playback["s1"] == {"plays": 1, "coverage": 0.5}
    assert (list(read.playback), len(read.playback), "s2" in read.playback) == (["s1", "page"], 2, False)
    assert to_json(read.playback) == to_json(played)
    assert repr(read.playback) == repr(played)
