"""Measures of reliability: equal to other implementations."""

from __future__ import annotations

import warnings
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from beholder.stats.crossed import variance_components
from beholder.stats.rater_models import Floats, RaterVotes
from beholder.stats.reliability import (
    ValueCounts,
    icc_complete,
    icc_sparse,
    kendall_w,
    krippendorff_alpha,
    leave_one_out,
    moment_components,
    sos,
    sos_terms,
)
from support.rated_tables import ICCS, frame, measured, rated


def votes_of(table: Floats) -> RaterVotes:
    """Return a table of things by raters, with NaN for gaps, as votes."""
    thing, rater = np.nonzero(~np.isnan(table))
    return RaterVotes(table[thing, rater], rater, thing, table.shape[1], table.shape[0])


@pytest.mark.parametrize(("things", "raters", "seed"), [(30, 6, 1), (8, 20, 2), (5, 3, 3), (3, 2, 8)])
def test_correlations_and_intervals_equal_those_of_pingouin(things: int, raters: int, seed: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pingouin import intraclass_corr

        table = rated(things, raters, seed)
        theirs = intraclass_corr(frame(table), targets="content", raters="participant", ratings="value")
    ends = next(name for name in theirs.columns if "95" in name)
    mine = icc_complete(table)
    # Rows by place: one-way, absolute, consistent, of one rater and then of the mean; their names have changed before.
    for place, name in enumerate(ICCS):
        assert mine[name].value == pytest.approx(theirs["ICC"].iloc[place], abs=1e-9)
        np.testing.assert_allclose(mine[name][1:], theirs[ends].iloc[place], atol=0.0051)


@pytest.mark.parametrize("gaps", [0.0, 0.3, 0.8])
@pytest.mark.parametrize("level", ["ordinal", "interval"])
def test_alpha_equals_that_of_krippendorff(gaps: float, level: Literal["ordinal", "interval"]) -> None:
    import krippendorff

    for seed in range(5):
        table = rated(40, 12, seed, gaps)
        mine = krippendorff_alpha(ValueCounts(votes_of(table)), is_ordinal=level == "ordinal")[0]
        theirs = krippendorff.alpha(reliability_data=table.T, level_of_measurement=level)
        assert mine == pytest.approx(theirs, abs=1e-9)


def test_an_alpha_of_drawn_things_is_that_of_a_table_with_them() -> None:
    table = rated(12, 7, gaps=0.2)
    times = np.array([0, 2, 1, 0, 1, 3, 1, 0, 1, 1, 1, 1])
    drawn = np.repeat(table, times, axis=0)
    for is_ordinal in (True, False):
        mine = krippendorff_alpha(ValueCounts(votes_of(table)), times[None].astype(float), is_ordinal=is_ordinal)
        assert mine == pytest.approx(krippendorff_alpha(ValueCounts(votes_of(drawn)), is_ordinal=is_ordinal), abs=1e-12)


def test_concordance_is_the_test_of_friedman() -> None:
    table = rated(9, 14)
    actual = kendall_w(table)
    assert actual is not None
    theirs = stats.friedmanchisquare(*table)
    assert actual.chi2 == pytest.approx(theirs.statistic)
    assert actual.p == pytest.approx(theirs.pvalue)
    assert actual.w == pytest.approx(theirs.statistic / (14 * 8))


def test_agreement_leaves_the_rater_out() -> None:
    table = rated(20, 5, gaps=0.1)
    mine = leave_one_out(votes_of(table), 10)
    for rater in range(5):
        others = np.nanmean(np.delete(table, rater, axis=1), axis=1)
        both = ~np.isnan(table[:, rater])
        assert mine[rater] == pytest.approx(stats.spearmanr(table[both, rater], others[both]).statistic, abs=1e-9)
    assert np.isnan(leave_one_out(votes_of(table), 21)).all()


def test_spread_follows_from_the_mean() -> None:
    rng = np.random.default_rng(1)
    shares = rng.uniform(0.1, 0.9, (400, 1))
    votes = votes_of((rng.random((400, 200)) < shares).astype(float))
    # With two values only, the variance is all that there can be: a is 1, but for n - 1.
    assert sos(sos_terms(votes, 0, 1))[0] == pytest.approx(200 / 199)


@settings(max_examples=40)
@given(st.integers(2, 8), st.integers(2, 6), st.integers(0, 999), st.floats(0.1, 50), st.integers(-90, 90))
def test_no_measure_knows_the_unit_of_the_scale(n: int, k: int, seed: int, unit: float, zero: int) -> None:
    table = np.random.default_rng(seed).integers(1, 6, (n, k)).astype(float)
    moved = table * unit + zero
    for mine, theirs in zip(icc_complete(table).values(), icc_complete(moved).values(), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-6)
    for is_ordinal in (True, False):
        one, other = (krippendorff_alpha(ValueCounts(votes_of(some)), is_ordinal=is_ordinal) for some in (table, moved))
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)


def test_raters_who_agree_have_ones_everywhere() -> None:
    table = np.repeat(np.array([[1.0], [2], [4], [5]] * 3), 6, axis=1)
    actual = measured(frame(table))
    ones = actual.drop(index="SOS a")["value"]
    np.testing.assert_allclose(ones.astype(float), 1.0)
    assert actual["value"]["SOS a"] == 0


def test_a_level_of_ones_own_costs_absolute_agreement_alone() -> None:
    table = np.array([[1.0], [2], [4], [5]] * 3) + np.arange(6) / 10
    actual = measured(frame(table).assign(scale_max=6))["value"]
    assert actual["ICC(C,1)"] == pytest.approx(1)
    assert actual["Kendall's W"] == pytest.approx(1)
    assert actual["ICC(A,1)"] < 1


@pytest.mark.parametrize("gaps", [0.2, 0.9])
def test_correlations_of_sparse_ratings_are_near_those_of_all(gaps: float) -> None:
    rng = np.random.default_rng(3)
    whole = rng.normal(0, 1, (150, 1)) + rng.normal(0, 0.5, 120) + rng.normal(0, 0.8, (150, 120))
    table = np.where(rng.random(whole.shape) < gaps, np.nan, whole)
    votes = votes_of(table)
    known = icc_complete(whole)
    sparse = icc_sparse(votes, variance_components(votes.value, votes.stimulus, votes.rater))
    by_moments = icc_sparse(votes, moment_components(votes))
    for name in ("ICC(1,1)", "ICC(A,1)", "ICC(C,1)"):
        assert sparse[name].value == pytest.approx(known[name].value, abs=0.03)
        assert by_moments[name].value == pytest.approx(known[name].value, abs=0.04)


def test_without_gaps_components_and_mean_squares_say_the_same() -> None:
    table = rated(30, 10)
    votes, known = votes_of(table), icc_complete(table)
    for components in (variance_components(votes.value, votes.stimulus, votes.rater), moment_components(votes)):
        actual = icc_sparse(votes, components)
        for name in ICCS:
            assert actual[name].value == pytest.approx(known[name].value, abs=1e-5)


def test_moments_are_near_reml_where_a_few_things_have_most_votes() -> None:
    rng = np.random.default_rng(0)
    things, raters = 120, 150
    often = 1 / np.arange(1, things + 1)
    chosen = [rng.choice(things, 15, replace=False, p=often / often.sum()) for _ in range(raters)]
    _, thing = np.unique(np.concatenate(chosen), return_inverse=True)
    rater = np.repeat(np.arange(raters), 15)
    felt = rng.normal(3, 1, things)[thing] + rng.normal(0, 0.4, raters)[rater] + rng.normal(0, 0.6, len(rater))
    votes = RaterVotes(felt, rater, thing, raters, int(thing.max()) + 1)
    by_moments, by_reml = (
        icc_sparse(votes, actual) for actual in (moment_components(votes), variance_components(felt, thing, rater))
    )
    for name in ("ICC(A,1)", "ICC(C,1)"):
        assert by_moments[name].value == pytest.approx(by_reml[name].value, abs=0.01)


def test_moments_know_what_one_vote_of_each_rater_cannot_tell() -> None:
    rng = np.random.default_rng(1)
    votes = RaterVotes(rng.integers(1, 6, 90).astype(float), np.arange(90), np.arange(90) % 9, 90, 9)
    assert np.isnan(moment_components(votes)).all()
    assert list(icc_sparse(votes, moment_components(votes))) == ["ICC(1,1)", "ICC(1,k)"]
