"""Crossed random effects: closed forms of balanced designs, planted numbers, what cannot be told apart."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from beholder.stats.crossed import fit_crossed, fit_fixed_contents, is_too_large, variance_components
from support.run_ratings import balanced, interacting

LMERTEST_REML = -139.908288
LMERTEST_VARIANCES = (0.2194472, 0.4013637, 0.05382108, 0.09012257, 0.3895792)
LMERTEST_MEANS = [2.763779, 3.248187, 3.372228, 3.441648, 3.734724]
LMERTEST_ERRORS = [0.4102138, 0.4055832, 0.4119641, 0.4173533, 0.4097814]
LMERTEST_DF = [6.8411, 6.53983, 6.95487, 7.32284, 6.81394]
LMERTEST_F = (2.72513, 10.62249, 0.08673269)


def test_balanced_components_are_those_of_the_analysis_of_variance() -> None:
    table = balanced(12, 9, 1)
    grid = table["value"].reshape(12, 9)
    rows, columns, grand = grid.mean(axis=1), grid.mean(axis=0), grid.mean()
    left = grid - rows[:, None] - columns + grand
    residual = (left**2).sum() / (11 * 8)
    one = (rows.var(ddof=1) * 9 - residual) / 9
    other = (columns.var(ddof=1) * 12 - residual) / 12
    actual = variance_components(table["value"], table["one"], table["other"])
    assert tuple(actual) == pytest.approx((one, other, residual), rel=1e-7)
    turned = variance_components(table["value"], table["other"], table["one"])
    assert (turned.other, turned.one, turned.residual) == pytest.approx(tuple(actual), rel=1e-7)


def test_balanced_means_are_plain_and_their_errors_known() -> None:
    table = balanced(10, 6, 3)
    fitted = fit_crossed(**table)
    assert fitted is not None
    assert fitted.mean == pytest.approx(pd.Series(table["value"]).groupby(table["group"]).mean().to_numpy())
    shared = fitted.one / 10 + fitted.other / 6
    assert np.diag(fitted.covariance) == pytest.approx(shared + fitted.residual / 60, rel=1e-7)
    assert fitted.covariance[0, 1] == pytest.approx(shared, rel=1e-7)
    # Where all variances are above zero these are mean squares, whose parts in the variance of a mean are independent.
    spread = fitted.residual / 180
    squares = ((fitted.one / 10 + spread, 9), (fitted.other / 6 + spread, 5), (spread, 180 - 17))
    parts = [square**2 / df for square, df in squares]
    assert fitted.df == pytest.approx((shared + fitted.residual / 60) ** 2 / sum(parts), rel=1e-6)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000), scale=st.floats(0.01, 100), shift=st.floats(-1000, 1000),
    sd=st.tuples(st.sampled_from([0.0, 0.5]), st.sampled_from([0.0, 0.4])),
)  # fmt: skip
def test_other_units_change_nothing_but_the_units(
    seed: int, scale: float, shift: float, sd: tuple[float, float]
) -> None:
    table = balanced(8, 5, 3, seed, sd)
    kept = np.random.default_rng(seed).random(len(table["value"])) < 0.7
    kept[: 3 * 5] = True
    part = {name: column[kept] for name, column in table.items()}
    part["one"] = np.unique(part["one"], return_inverse=True)[1]
    actual, other = fit_crossed(**part), fit_crossed(**{**part, "value": scale * part["value"] + shift})
    assert actual is not None
    assert other is not None
    np.testing.assert_allclose(other.mean, scale * actual.mean + shift, rtol=1e-6, atol=1e-5 * scale)
    for name in ("one", "other", "residual"):
        assert getattr(other, name) == pytest.approx(scale**2 * getattr(actual, name), rel=1e-4, abs=1e-6 * scale**2)
    assert other.test.statistic == pytest.approx(actual.test.statistic, rel=1e-4, abs=1e-6)
    assert actual.residual > 0
    assert min(actual.one, actual.other) >= 0


def test_components_that_cannot_be_told_apart_are_none() -> None:
    def none(one: list[int], other: list[int]) -> bool:
        value = np.arange(len(one)) % 3 + 0.1 * np.arange(len(one))
        return bool(np.isnan(variance_components(value, np.array(one), np.array(other))).all())

    assert none([0, 0, 0], [0, 1, 2])
    assert none([0, 1, 2, 3], [0, 0, 1, 1])
    assert none([0, 0, 1, 1], [0, 0, 1, 1])
    assert np.isnan(variance_components(np.full(12, 3.0), *(a.ravel() for a in np.indices((3, 4))))).all()


def test_interactions_equal_lmertest() -> None:
    """Of `interacting()`; tests/proofs/test_mixed_oracle.py asks R itself."""
    fitted = fit_crossed(**interacting(), has_interactions=True)
    assert fitted is not None
    assert fitted.reml == pytest.approx(LMERTEST_REML, abs=1e-5)
    found = (fitted.one, fitted.other, fitted.one_group, fitted.other_group, fitted.residual)
    assert found == pytest.approx(LMERTEST_VARIANCES, rel=1e-4)
    assert fitted.mean == pytest.approx(LMERTEST_MEANS, rel=1e-5)
    assert np.sqrt(np.diag(fitted.covariance)) == pytest.approx(LMERTEST_ERRORS, rel=1e-4)
    assert fitted.df == pytest.approx(LMERTEST_DF, rel=1e-3)
    assert (fitted.test.statistic, fitted.test.df_error, fitted.test.p) == pytest.approx(LMERTEST_F, rel=1e-3)


def test_balanced_interactions_are_those_of_the_analysis_of_variance() -> None:
    """The error of F is that of Satterthwaite's approximate F' over mean squares of both interactions."""
    table = balanced(12, 6, 3)
    cells = np.random.default_rng(5).normal(0, 0.4, (2, 12, 3))
    value = table["value"] + cells[0][table["one"], table["group"]] + cells[1][table["other"], table["group"]]
    fitted = fit_crossed(value, table["group"], table["one"], table["other"], has_interactions=True)
    assert fitted is not None
    grid = value.reshape(12, 6, 3)
    by_one = grid.mean(axis=1)
    between = by_one - by_one.mean(axis=1, keepdims=True) - by_one.mean(axis=0) + by_one.mean()
    square = 6 * float((between**2).sum()) / (11 * 2)
    by_other = grid.mean(axis=0)
    between = by_other - by_other.mean(axis=1, keepdims=True) - by_other.mean(axis=0) + by_other.mean()
    other_square = 12 * float((between**2).sum()) / (5 * 2)
    left = fitted.residual
    assert fitted.one_group == pytest.approx((square - left) / 6, rel=1e-5)
    assert fitted.other_group == pytest.approx((other_square - left) / 12, rel=1e-5)
    error = square + other_square - left
    assert fitted.test.statistic == pytest.approx(72 * float(grid.mean(axis=(0, 1)).var(ddof=1)) / error, rel=1e-5)
    spent = square**2 / 22 + other_square**2 / 10 + left**2 / (216 - 36 - 18 + 3)
    assert fitted.test.df_error == pytest.approx(error**2 / spent, rel=1e-4)


def test_the_order_of_the_groups_does_not_matter() -> None:
    table = interacting(2)
    turned = {**table, "group": 4 - table["group"]}
    one, other = (fit_crossed(**some, has_interactions=True) for some in (table, turned))
    assert one is not None
    assert other is not None
    assert one.test == pytest.approx(other.test, rel=1e-6)
    assert one.df == pytest.approx(other.df[::-1], rel=1e-6)


def test_these_contents_of_a_balanced_design_are_paired_over_people() -> None:
    table = balanced(9, 4, 2)
    taste = np.random.default_rng(5).normal(0, 0.8, (9, 2))[table["one"], table["group"]]
    table = {**table, "value": table["value"] + taste}
    these = fit_fixed_contents(**table)
    assert these is not None
    means = table["value"].reshape(9, 4, 2).mean(axis=1)
    known = stats.ttest_rel(means[:, 0], means[:, 1])
    assert these.test.statistic == pytest.approx(known.statistic**2, rel=1e-6)
    assert (these.test.df_error, these.test.p) == pytest.approx((8, known.pvalue), rel=1e-4)
    # As much between contents as one likes changes nothing.
    far = fit_fixed_contents(**{**table, "value": table["value"] + 10 * table["other"] * (table["group"] - 0.5)})
    assert far is not None
    assert np.diag(far.covariance) == pytest.approx(np.diag(these.covariance), rel=1e-6)


def test_these_contents_rated_once_by_each_have_the_error_of_single_ratings() -> None:
    rng = np.random.default_rng(3)
    group, other = np.arange(40) % 2, np.arange(40) // 2 % 2
    value = rng.normal(0, 1, 40) + other
    these = fit_fixed_contents(value, group, np.arange(40), other)
    assert these is not None
    noise = np.mean([value[(group == g) & (other == o)].var(ddof=1) for g in (0, 1) for o in (0, 1)])
    assert np.diag(these.covariance) == pytest.approx(noise / 20)
    assert these.df == pytest.approx(36)
    assert fit_fixed_contents(value[:4], group[:4], np.arange(4), other[:4]) is None
    assert fit_fixed_contents(np.ones(40), group, np.arange(40), other) is None


def test_what_would_take_minutes_is_known_before() -> None:
    many = np.arange(2_000)
    assert is_too_large(many % 2, many, many)
    assert not is_too_large(many % 2, many, many % 20)
    assert not is_too_large(many % 2, many % 20, many)
    # Without an interaction there is less to solve for.
    assert is_too_large(many % 3, many % 500, many // 2 % 700)
    assert not is_too_large(many * 0, many % 500, many // 2 % 700)
    rng = np.random.default_rng(1)
    assert (
        fit_fixed_contents(rng.normal(size=4_000), np.repeat(many % 2, 2), np.arange(4_000) % 3, np.repeat(many, 2))
        is None
    )
