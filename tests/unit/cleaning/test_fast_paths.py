"""What makes cleaning fast says the same as the plain way of doing it."""

from __future__ import annotations

import csv
import io
import math
import statistics
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from beholder.checks.agreement import spearman
from beholder.checks.answer_patterns import variance
from beholder.files import cell, csv_blocks, csv_text, table_bytes, text_blocks
from beholder.methods.contract import Asked, Break, Slot, Target, Trial
from beholder.planning.model import PlannedList
from beholder.planning.serialization import ListReader, list_from_json, list_to_json
from beholder.study.questions import SCALES

TEXT = st.text(alphabet=st.characters(codec="utf-8"), max_size=6) | st.sampled_from(["a\rb", "a\r\nb", '"', ",", "\n"])
NUMBER = st.integers(-(10**6), 10**6) | st.floats(allow_infinity=False)
VALUE = st.none() | st.booleans() | NUMBER | TEXT | st.lists(st.integers(0, 9), max_size=2)
ONE_KIND = st.sampled_from([st.none() | TEXT, st.none() | st.integers(), st.floats(), st.booleans(), VALUE])


@st.composite
def tables(draw: st.DrawFn) -> list[list[Any]]:
    """Return lines of three columns, some of which hold values of one kind only."""
    kinds = [draw(ONE_KIND) for _ in range(3)]
    return [[draw(kind) for kind in kinds] for _ in range(draw(st.integers(0, 6)))]


@pytest.mark.parametrize("odd", ["=1+1", "-x", "''=2", "a\rb", "\0", "\x01=3", "a,b", ""])
def test_in_a_long_column_one_odd_text_among_many_that_are_the_same_is_found(odd: str) -> None:
    lines = [[odd if number == 211 else f"text {number % 7}"] for number in range(400)]
    assert table_bytes(["name"], ({"name": text} for (text,) in lines)).decode() == "name\n" + "".join(
        f"{csv_text([text])}\n" for (text,) in lines
    )


@settings(max_examples=60, deadline=None)
@given(tables())
def test_a_table_is_written_column_by_column_as_it_is_cell_by_cell(lines: list[list[Any]]) -> None:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow("abc")
    writer.writerows([cell(value) for value in line] for line in lines)
    assert b"".join(csv_blocks("abc", lines)) == text.getvalue().encode()


def test_half_a_character_becomes_the_mark_for_one_in_every_kind_of_table() -> None:
    wanted = b"a\n\xef\xbf\xbd\n"
    assert table_bytes(["a"], [{"a": "\ud800"}]) == wanted
    assert b"".join(text_blocks(["a"], ["\ud800\n"])) == wanted


@settings(max_examples=60, deadline=None)
@given(st.lists(TEXT, min_size=4, max_size=4))
def test_parts_of_a_line_make_the_line(values: list[str]) -> None:
    one, two = csv_text(values[:2]), csv_text(values[2:])
    assert f"{one},{two}" == csv_text(values)


def test_a_time_is_written_with_its_zone() -> None:
    at = datetime(2026, 1, 5, 8, tzinfo=UTC)
    assert b"".join(csv_blocks(["at"], [[at], [None]])) == b'at\n2026-01-05T08:00:00+00:00\n""\n'


VALUES = st.lists(st.sampled_from([1.0, 2.0, 2.5, 3.0, 4.0, 5.0]), min_size=3, max_size=20)


@settings(max_examples=60, deadline=None)
@given(VALUES, st.randoms())
def test_rank_correlation_is_that_of_scipy(one: list[float], random: Any) -> None:
    two = [value + random.randint(0, 2) for value in one]
    found = spearman(one, two)
    if len(set(one)) == 1 or len(set(two)) == 1:
        assert found is None
    else:
        assert found == pytest.approx(stats.spearmanr(one, two).statistic, abs=1e-12)


def test_who_agrees_just_as_much_as_is_needed_does() -> None:
    # The squares of the differences of these ranks sum to 392: 1 - 6 * 392 / (15 * 224) is 0.3.
    one = list(range(1, 16))
    two = [1, 9, 8, 3, 7, 6, 15, 11, 10, 5, 12, 4, 14, 2, 13]
    assert sum((a - b) ** 2 for a, b in zip(one, two, strict=True)) == 392
    assert spearman(one, two) == 0.3


@given(st.lists(st.floats(0, 4), min_size=2, max_size=30))
def test_the_spread_of_clicks_is_the_sample_variance(values: list[float]) -> None:
    assert math.isclose(variance(values), statistics.variance(values), rel_tol=1e-9, abs_tol=1e-12)


def planned(number: int, *stimuli: str) -> PlannedList:
    """Return a list with a trial for each stimulus, a break, and one that checks."""
    asked = (Asked("q1", "quality", "ask", "How good is it?", SCALES["acr5"]),)
    trials = [
        Trial(f"trial:{place}", "city", "rate", (Slot("s1", name, "test", None, True, None),), asked)
        for place, name in enumerate(stimuli, 1)
    ]
    gold = Slot("s1", "gold", "gold", None, True, None)
    check = Trial("trial:9", "city", "rate", (gold,), asked, targets={"q1.s1": Target(5.0, 1.0, "")})
    return PlannedList(number, (*trials, Break("break:1"), check))


def test_lists_that_are_read_together_are_those_that_were_written_and_share_their_trials() -> None:
    lists = [planned(1, "a", "b"), planned(2, "a", "c"), planned(3)]
    reader = ListReader()
    read = [reader.read(list_to_json(one)) for one in lists]
    assert read == lists == [list_from_json(list_to_json(one)) for one in lists]
    first, second = read[0].trials, read[1].trials
    assert first[0] is second[0]
    assert first[1] is not second[1]
