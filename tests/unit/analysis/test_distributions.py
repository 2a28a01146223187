"""Distributions and medians."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from beholder.analysis.distributions import distributions, median_interval, medians
from support.rating_frames import ratings_frame, table_of
from support.stimulus_ratings import noisy, rated, row


def test_a_scale_of_few_whole_values_has_a_row_for_each_also_for_those_that_nobody_gave() -> None:
    data = ratings_frame([("p1", "x", "a", 1.0), ("p2", "x", "a", 5.0), ("p3", "x", "a", 5.0), ("p1", "x", "b", 4.0)])
    table = table_of(distributions(data.assign(scale_min=1.0, scale_max=5.0)))
    assert list(table["band"]) == ["1", "2", "3", "4", "5"] * 2
    assert list(table[table["condition"] == "a"]["n"]) == [1, 0, 0, 0, 2]
    assert table.groupby("condition")["share"].sum().tolist() == pytest.approx([1, 1])


def test_a_long_scale_is_cut_into_twenty_bands_and_its_end_is_in_the_last() -> None:
    data = ratings_frame([("p1", "x", "a", 0.0), ("p2", "x", "a", 5.0), ("p3", "x", "a", 100.0)])
    table = table_of(distributions(data.assign(scale_min=0.0, scale_max=100.0)))
    assert list(table["band"])[:2] == ["0 to 5", "5 to 10"]
    assert list(table[table["n"] > 0]["low"]) == [0, 5, 95]


def test_grades_between_two_conditions_count_for_both_with_opposite_signs() -> None:
    data = ratings_frame([("p1", "x", "a", 2.0, "b"), ("p2", "x", "a", -1.0, "b")], "other_condition")
    table = table_of(distributions(data.assign(kind="diff", scale_min=-3.0, scale_max=3.0)))
    given = table[table["n"] > 0]
    assert list(zip(given["condition"], given["band"], strict=True)) == [
        ("a", "−1"),
        ("a", "2"),
        ("b", "−2"),
        ("b", "1"),
    ]


def test_choices_have_no_distribution() -> None:
    assert distributions(ratings_frame([("p1", "x", "a", 1.0, "b")], "other_condition").assign(kind="choice")) is None


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 100), min_size=1, max_size=60))
def test_the_interval_of_a_median_is_that_of_the_quantile_test(values: list[int]) -> None:
    interval = median_interval(values)
    assert interval.median == np.median(values)
    if len(values) < 6:
        assert math.isnan(interval.low)
        return
    known = stats.quantile_test(np.asarray(values, float), p=0.5).confidence_interval(confidence_level=0.95)
    assert (interval.low, interval.high) == (known.low, known.high)
    assert interval.coverage >= 0.95


def test_the_interval_of_a_median_covers_as_often_as_it_says() -> None:
    draws = np.random.default_rng(4).normal(0, 1, (600, 12))
    ends = [median_interval(one) for one in draws]
    covered = np.mean([one.low <= 0 <= one.high for one in ends])
    assert covered == pytest.approx(ends[0].coverage, abs=0.04)


def test_medians_of_conditions_are_of_each_participants_own_median() -> None:
    values = noisy(7, 3, 2) * 20
    result = medians(rated(values, method="mushra"))
    actual = row(result, level="condition", condition="no")
    known = median_interval(np.median(values[:, :, 0], axis=1))
    assert (actual["n"], actual["median"], actual["ci_low"], actual["ci_high"]) == (
        7,
        known.median,
        known.low,
        known.high,
    )
    assert actual["metric"] == "MUSHRA median"
    assert row(result, stimulus="01/c2")["median"] == np.median(values[:, 2, 1])


def test_medians_of_other_scores_come_when_asked_for() -> None:
    table = rated(noisy(4))
    assert medians(table) is None
    actual = row(medians(table, questions=["rating"]), level="condition", condition="no")
    assert (actual["metric"], actual["note"]) == ("Median", "fewer than six participants: no interval")
