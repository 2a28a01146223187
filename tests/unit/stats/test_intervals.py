"""Intervals of means and shares, effect sizes, Welch's t."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from beholder.stats.intervals import dz, interval_for, share_interval, t_interval, unanimous_bounds, welch


def test_one_value_has_a_mean_and_no_interval() -> None:
    interval = t_interval([3.0])
    assert (interval.n, interval.mean) == (1, 3.0)
    assert math.isnan(interval.low)
    assert math.isnan(t_interval([]).mean)


def test_intervals_cover_as_often_as_they_claim() -> None:
    rng = np.random.default_rng(11)
    interval = [t_interval(rng.normal(0, 1, 8)) for _ in range(800)]
    assert 0.93 < np.mean([one.low <= 0 <= one.high for one in interval]) < 0.97


RANGES = {"pick": (0.0, 1.0), "correct": (0.0, 1.0), "choice": (-1.0, 1.0)}


ANSWERS = {"pick": [0, 1], "correct": [0, 1], "choice": [-1, 0, 1]}


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(sorted(RANGES)), st.data())
def test_the_interval_of_a_share_stays_in_its_range_and_has_a_width(kind: str, data: st.DataObject) -> None:
    answers = st.lists(st.sampled_from(ANSWERS[kind]), min_size=1, max_size=6)
    people = data.draw(st.lists(answers, min_size=2, max_size=12))
    interval = interval_for(kind, [sum(own) / len(own) for own in people], sum(map(len, people)))
    low, high = RANGES[kind]
    assert low <= interval.low <= interval.mean <= interval.high <= high
    assert interval.high - interval.low > 0.01


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sampled_from([0, 1]), min_size=2, max_size=60))
def test_one_answer_of_everybody_has_the_interval_of_clopper_and_pearson(answers: list[int]) -> None:
    interval = share_interval(answers, len(answers))
    exact = stats.binomtest(sum(answers), len(answers)).proportion_ci(method="exact")
    assert [interval.low, interval.high] == pytest.approx([exact.low, exact.high])
    turned = interval_for("choice", [2 * answer - 1 for answer in answers], len(answers))
    assert [turned.low, turned.high] == pytest.approx([2 * exact.low - 1, 2 * exact.high - 1])


def test_ratings_that_differ_between_people_only_are_worth_less_than_their_number() -> None:
    shares = [1.0, 0.0] * 10
    own, each = share_interval(shares, 20), share_interval(shares, 200)
    assert each.high - each.low == pytest.approx(own.high - own.low, abs=0.05)
    exact = stats.binomtest(100, 200).proportion_ci(method="exact")
    assert each.high - each.low > 2 * (exact.high - exact.low)


def test_one_participant_has_no_interval_of_a_share() -> None:
    interval = share_interval([0.5], 4)
    assert interval.low != interval.low


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 200), st.floats(0, 100))
def test_the_bound_of_unanimous_votes_stays_on_the_scale_and_is_that_of_none_in_n(n: int, value: float) -> None:
    low, high = unanimous_bounds(value, n, 0, 100)
    assert 0 <= low <= value <= high <= 100.000001
    none = stats.binomtest(0, n).proportion_ci(method="exact").high
    assert high - value == pytest.approx(none * (100 - value))


@pytest.mark.parametrize(("n", "size"), [(5, 0.3), (46, -1.2), (200, 0.05), (46, 40.0)])
def test_the_interval_of_dz_holds_the_noncentralities_that_could_give_it(n: int, size: float) -> None:
    plain = np.random.default_rng(n).normal(0, 1, n)
    d = (plain - plain.mean()) / plain.std(ddof=1) + size
    actual = dz(d)
    assert actual.size == pytest.approx(size)
    assert actual.low < size < actual.high
    if abs(size) < 5:
        tails = [stats.nct.cdf(size * math.sqrt(n), n - 1, end * math.sqrt(n)) for end in (actual.low, actual.high)]
        assert tails == pytest.approx([0.975, 0.025], abs=1e-5)
    else:
        assert actual.low == pytest.approx(size * math.sqrt(stats.chi2.ppf(0.025, n - 1) / (n - 1)), rel=1e-3)


def test_welch_is_that_of_scipy() -> None:
    one, other = np.random.default_rng(1).normal(size=(2, 12))
    other = other[:7] * 2
    oracle = stats.ttest_ind(one, other, equal_var=False)
    ends = oracle.confidence_interval()
    errors = [some.std(ddof=1) / math.sqrt(len(some)) for some in (one, other)]
    test = welch(one.mean(), errors[0], 11, other.mean(), errors[1], 6)
    mine = [float(value[0]) for value in (test.statistic, test.df, test.p, test.low, test.high)]
    assert mine == pytest.approx([oracle.statistic, oracle.df, oracle.pvalue, ends.low, ends.high], abs=1e-12)


@pytest.mark.parametrize(("se", "other_se"), [(math.nan, 0.1), (0.1, math.nan), (0.0, 0.0)])
def test_without_an_error_there_is_no_test(se: float, other_se: float) -> None:
    test = welch(1, se, 5, 2, other_se, 5)
    assert test.difference[0] == -1
    assert math.isnan(test.p[0])
    assert math.isnan(test.low[0])
