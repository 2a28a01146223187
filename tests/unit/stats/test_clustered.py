"""Errors clustered by participant and content, and two-way residuals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import ArrayLike
from scipy import stats

from beholder.stats.clustered import Cells, column_sums, difference_of, mean_of, sums_by, two_way_residuals


def cells(values: ArrayLike, people: ArrayLike, contents: ArrayLike) -> Cells:
    return Cells(np.asarray(values, float), np.asarray(people, np.intp), np.asarray(contents, np.intp))


def test_one_content_gives_the_t_test_over_participants() -> None:
    d = np.random.default_rng(1).normal(1, 2, 15)
    actual, known = mean_of(cells(d, range(15), [0] * 15)), stats.ttest_1samp(d, 0)
    assert actual.over == "participants"
    assert (actual.statistic, actual.p, actual.df) == pytest.approx((known.statistic, known.pvalue, 14))


def test_the_error_of_both_is_that_of_cells_and_what_either_adds() -> None:
    rng = np.random.default_rng(3)
    people, contents = np.repeat(np.arange(6), 5), np.tile(np.arange(5), 6)
    d = rng.normal(0, 1, 30) + rng.normal(0, 2, 6)[people]
    off = (d - d.mean()).reshape(6, 5) / 30
    people_part, contents_part = 6 / 5 * (off.sum(axis=1) ** 2).sum(), 5 / 4 * (off.sum(axis=0) ** 2).sum()
    cells_part = 30 / 29 * (off**2).sum()
    # Contents do not matter here: what they add is nothing, and not below it.
    assert contents_part < cells_part
    wanted = cells_part + (people_part - cells_part)
    actual = mean_of(cells(d, people, contents))
    assert (actual.df, actual.over) == (4, "both")
    assert actual.se**2 == pytest.approx(wanted)


def test_two_groups_of_people_give_welchs_error_and_the_smaller_degrees_of_freedom() -> None:
    rng = np.random.default_rng(4)
    a, b = rng.normal(0, 1, 20), rng.normal(0, 3, 9)
    actual = difference_of(cells(a, range(20), [0] * 20), cells(b, range(20, 29), [0] * 9))
    assert actual.statistic == pytest.approx(stats.ttest_ind(a, b, equal_var=False).statistic)
    assert (actual.df, actual.participants) == (8, 29)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(-9, 9), min_size=6, max_size=24), st.integers(2, 5))
def test_a_difference_of_the_same_cells_is_the_paired_one(values: list[float], contents: int) -> None:
    n = len(values)
    people, shown = [place // contents for place in range(n)], [place % contents for place in range(n)]
    other = np.random.default_rng(n).normal(0, 1, n)
    paired = mean_of(cells(np.asarray(values) - other, people, shown))
    apart = difference_of(cells(values, people, shown), cells(other, people, shown))
    assert apart.mean == pytest.approx(paired.mean, abs=1e-9)
    assert (apart.se, apart.df) == pytest.approx((paired.se, paired.df), abs=1e-9, nan_ok=True)


def test_where_nothing_varies_p_is_that_of_a_sign_test() -> None:
    same = mean_of(cells([2.0] * 8, range(8), [0] * 8))
    assert (same.se, same.p, same.low, same.high) == (0, 2**-7, 2, 2)
    assert mean_of(cells([0.0] * 8, range(8), [0] * 8)).p == 1


def test_centring_of_a_full_table_takes_both_means_off() -> None:
    table = np.random.default_rng(1).normal(size=(4, 3))
    one, other = np.divmod(np.arange(12), 3)
    fitted = two_way_residuals(table.reshape(-1, 1), one, other)
    expected = table - table.mean(axis=0) - table.mean(axis=1, keepdims=True) + table.mean()
    assert fitted.residual.reshape(4, 3) == pytest.approx(expected, abs=1e-9)
    assert fitted.df_used == 4 + 3 - 1


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 40))
def test_centring_with_holes_is_the_least_squares_residual(seed: int, rows: int) -> None:
    rng = np.random.default_rng(seed)
    one, other = rng.integers(0, 5, rows), rng.integers(0, 4, rows)
    value = rng.normal(size=(rows, 2))
    design = np.hstack([np.eye(5)[one], np.eye(4)[other]])
    expected = value - design @ np.linalg.lstsq(design, value, rcond=None)[0]
    fitted = two_way_residuals(value, one, other)
    assert fitted.residual == pytest.approx(expected, abs=1e-7)
    assert fitted.df_used == np.linalg.matrix_rank(design)


def test_centring_that_leaves_only_rounding_errors_gives_no_warning() -> None:
    value = np.array([[0.3], [0.1], [-0.7]])
    alone = np.arange(3)
    assert two_way_residuals(value, alone, alone).residual == pytest.approx(np.zeros((3, 1)), abs=1e-12)
    rng = np.random.default_rng(2025)
    one, other = rng.integers(0, 5, 3), rng.integers(0, 4, 3)
    assert np.isfinite(two_way_residuals(rng.normal(size=(3, 2)), one, other).residual).all()


def test_centring_of_nothing_is_nothing() -> None:
    none = np.empty(0, np.intp)
    assert two_way_residuals(np.empty((0, 2)), none, none).residual.shape == (0, 2)


def test_sums_of_columns_are_those_of_rows_to_the_last_bit() -> None:
    rng = np.random.default_rng(5)
    codes, values = rng.integers(0, 30, 1000), rng.normal(0, 1, (4, 1000)) * 10.0 ** rng.integers(-6, 6, 1000)
    assert np.array_equal(column_sums(codes, values.T, 31), sums_by(codes, values, 31))
