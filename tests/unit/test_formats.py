"""Numbers, dates and lists as figures and reports show them."""

from __future__ import annotations

import math
from datetime import UTC, datetime

from beholder.formats import (
    NONE,
    count,
    date,
    decimals_for,
    first_names,
    interval,
    join_names,
    listed,
    nonzero_percent,
    number,
    p_value,
    percent,
    percent_half_up,
    plain,
    plain_count,
    plural,
    precise_percent,
    signed,
    span,
    typical,
    up_to,
    whole_percents,
)


def test_numbers_have_a_true_minus_sign_and_a_dash_where_missing() -> None:
    assert [number(-1.25, 1), number(-0.001, 2), number(3.975, 2), number(math.nan, 1)] == [
        "−1.3",
        "0.00",
        "3.98",
        NONE,
    ]
    assert [signed(1, 1), signed(-1, 1), plain(-0.5)] == ["+1.0", "−1.0", "−0.5"]


def test_intervals_shares_and_p_values_are_written_as_papers_do() -> None:
    assert interval(61.34, 65.52, 1) == "61.3 to 65.5"
    assert interval(math.nan, 1, 1) == NONE
    assert [percent(0.243), percent(math.nan)] == ["24 %", NONE]
    assert [p_value(0.0004), p_value(0.0312), p_value(math.nan)] == ["< 0.001", "0.031", NONE]
    assert [p_value(p) for p in (0.0494, 0.0496, 0.049999, 0.05, 0.0504)] == [
        "0.049", "0.0496", "0.0499", "0.050", "0.050",
    ]  # fmt: skip
    assert [decimals_for(0, 100), decimals_for(1, 5)] == [1, 2]
    assert span(-3, 3) == "−3 to 3"


def test_counts_lists_and_dates_are_english() -> None:
    assert [count(1, "person", "people"), count(2000, "person", "people"), count(0, "list")] == [
        "1 person", "2,000 people", "0 lists",
    ]  # fmt: skip
    assert [join_names(["a"]), join_names(["a", "b"]), join_names(["a", "b", "c"])] == ["a", "a and b", "a, b and c"]
    assert date(datetime(2026, 11, 15, tzinfo=UTC)) == "15 November 2026"


def test_words_follow_their_number() -> None:
    assert [plural(1, "is", "are"), plural(0, "is", "are"), plural(2, "vote"), plural(1.0, "vote")] == [
        "is",
        "are",
        "votes",
        "vote",
    ]
    assert [count(2000, "person", "people"), plain_count(2000, "person", "people")] == ["2,000 people", "2000 people"]
    assert [plain_count(1, "session"), plain_count(0, "session")] == ["1 session", "0 sessions"]


def test_long_lists_name_the_first_and_count_the_others() -> None:
    assert first_names(["a"], 2) == "a"
    assert first_names(["a", "b"], 2) == "a, b"
    assert first_names(["a", "b", "c", "d"], 2) == "a, b and 2 more"
    assert first_names(["a", "b"], 2, total=9) == "a, b and 7 more"
    assert [up_to(0), up_to(1), up_to(5)] == ["", "1", "1 to 5"]


def test_shares_are_rounded_as_their_place_needs() -> None:
    assert [percent(0.125), percent_half_up(0.125), percent_half_up(-0.125)] == ["12 %", "13 %", "−13 %"]
    assert [nonzero_percent(0.004), nonzero_percent(0.0), nonzero_percent(0.24)] == ["< 1 %", "0 %", "24 %"]
    assert [precise_percent(0.025), precise_percent(0.5)] == ["2.5 %", "50 %"]


def test_whole_percents_of_a_whole_add_up() -> None:
    assert whole_percents([0.5872, 0.0959, 0.0051, 0.0277, 0.0886, 0.1955]) == [59, 10, 0, 3, 9, 19]
    assert whole_percents([1 / 3, 1 / 3, 1 / 3]) == [34, 33, 33]
    assert whole_percents([0.0, 1.0]) == [0, 100]


def test_words_are_listed_as_people_write_them() -> None:
    assert [listed([]), listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"], "and")] == [
        "", "a", "a or b", "a, b and c",
    ]  # fmt: skip


def test_one_to_three_people_are_listed_and_more_have_a_median() -> None:
    assert typical([4.0], 1, "minutes") == "4.0 minutes"
    assert typical([9.0, 4.25, 5.0], 1, "minutes") == "4.3, 5.0 and 9.0 minutes"
    assert typical([9.0, 4.0, 5.0, 6.0], 1, "minutes") == "5.5 minutes (median)"
