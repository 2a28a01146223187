"""Comparing: correlations with intervals, and tests between correlations, means and p-values."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from beholder.stats.correlation import (
    agreement,
    bootstrap_counts,
    bootstrap_pearson,
    bootstrap_tau_b,
    compare_correlations,
    compare_dependent,
    correlations,
    linear_mapping,
    mean_correlation,
)
from support.data import data_file

SCORES = st.lists(st.integers(0, 20), min_size=5, max_size=12)


def two(n: int = 40, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    return x, x + 0.5 * rng.normal(size=n)


# Correlations


def test_values_and_p_are_those_of_scipy() -> None:
    x, y = (np.round(one, 1) for one in two())
    actual = correlations(x, y)
    oracles = (stats.pearsonr(x, y), stats.spearmanr(x, y), stats.kendalltau(x, y))
    for mine, oracle in zip((actual.pearson, actual.spearman, actual.tau_b), oracles, strict=True):
        assert mine.value == pytest.approx(oracle.statistic, abs=1e-12)
        assert mine.p == pytest.approx(oracle.pvalue, rel=1e-9)
    ends = stats.pearsonr(x, y).confidence_interval()
    assert (actual.pearson.low, actual.pearson.high) == pytest.approx((ends.low, ends.high), abs=1e-12)


def test_the_interval_of_spearman_is_wider_than_that_of_pearson_would_be() -> None:
    actual = correlations(*two()).spearman
    half = 1.959963984540054 * math.sqrt((1 + actual.value**2 / 2) / 37)
    assert math.atanh(actual.high) - math.atanh(actual.value) == pytest.approx(half, abs=1e-12)


def test_samples_that_are_drawn_have_the_correlations_of_scipy() -> None:
    x, y = (np.round(one, 1) for one in two(15))
    counts = bootstrap_counts(15, seed=3, draws=40)
    samples = [np.repeat(np.arange(15), row.astype(int)) for row in counts]
    tau = [stats.kendalltau(x[rows], y[rows]).statistic for rows in samples]
    np.testing.assert_allclose(bootstrap_tau_b(x, y, seed=3, draws=40), tau, atol=1e-12)
    r = [np.corrcoef(x[rows], y[rows])[0, 1] for rows in samples]
    np.testing.assert_allclose(bootstrap_pearson(x, y, counts), r, atol=1e-9)


def test_many_things_have_the_interval_of_a_formula() -> None:
    actual = correlations(*two(2001)).tau_b
    half = 1.959963984540054 * math.sqrt(0.437 / 1997)
    assert math.atanh(actual.high) - math.atanh(actual.value) == pytest.approx(half, abs=1e-12)


@pytest.mark.long
def test_intervals_of_tau_b_cover(whole: bool) -> None:
    rng, n, replicates = np.random.default_rng(5), 20, 2000 if whole else 60
    truth, hits = 2 / math.pi * math.asin(0.9), 0
    for _ in range(replicates):
        x = rng.normal(size=n)
        actual = correlations(x, 0.9 * x + math.sqrt(1 - 0.81) * rng.normal(size=n)).tau_b
        hits += actual.low <= truth <= actual.high
    assert hits / replicates >= (0.94 if whole else 0.88)


@given(SCORES, st.randoms(use_true_random=False))
@settings(max_examples=25, deadline=None)
def test_correlations_and_rmse_are_symmetric_and_the_mapped_error_is_what_r_leaves(
    x: list[int], chance: object
) -> None:
    y = list(x)
    chance.shuffle(y)  # type: ignore[attr-defined]
    there, back = correlations(x, y), correlations(y, x)
    for one, other in zip(there[1:], back[1:], strict=True):
        assert one == pytest.approx(other, abs=1e-9, nan_ok=True)
    actual = agreement(x, y)
    assert actual.rmse == agreement(y, x).rmse
    if not math.isnan(actual.pearson):
        assert -1 - 1e-12 <= there.tau_b.low <= there.tau_b.high <= 1 + 1e-12
        left = float(np.std(x)) * math.sqrt(max(0.0, 1 - actual.pearson**2))
        assert linear_mapping(y, x).rmse == pytest.approx(left, abs=1e-6)
        assert linear_mapping(y, x).rmse <= actual.rmse + 1e-9


def test_the_mapped_error_has_a_direction() -> None:
    assert linear_mapping([1, 2, 3, 5], [10, 22, 29, 52]).rmse != pytest.approx(
        linear_mapping([10, 22, 29, 52], [1, 2, 3, 5]).rmse
    )


@pytest.mark.parametrize(
    ("x", "y"),
    [([], []), ([1], [2]), ([1, 2], [2, 1]), ([1, 1, 1, 1], [1, 2, 3, 4]), ([0.1 + 0.2, 0.3, 0.3], [1, 2, 3])],
)
def test_what_has_no_correlation_has_none(x: list[float], y: list[float]) -> None:
    actual = correlations(x, y)
    assert actual.n == len(x)
    assert all(math.isnan(value) for one in actual[1:] for value in one)


def test_a_perfect_line_has_an_interval_without_width_and_no_infinity() -> None:
    actual = correlations([1, 2, 3, 4, 5, 6], [2, 4, 6, 8, 10, 12])
    for one in (actual.pearson, actual.tau_b):
        assert (one.value, one.low, one.high) == pytest.approx((1, 1, 1))
    # Six things often have the same order by chance.
    assert actual.spearman.value == 1
    assert math.isnan(actual.spearman.low)
    assert math.isfinite(mean_correlation([1.0, 0.5]))
    assert math.isnan(mean_correlation([math.nan]))
    assert math.isfinite(compare_dependent(1.0, 0.9, 0.9, 20).z)
    assert compare_dependent(1.0, 1.0, 1.0, 20).p == 1


# Between correlations


@pytest.mark.long
def test_two_correlations_with_the_same_scores_differ_by_chance_as_often_as_they_should(whole: bool) -> None:
    rng, replicates = np.random.default_rng(2), 5000 if whole else 1000
    factor = rng.normal(size=(replicates, 30))
    scores = factor + 0.4 * rng.normal(size=(3, replicates, 30))
    hits = 0
    for place in range(replicates):
        r = np.asarray(np.corrcoef(scores[:, place]))
        hits += compare_dependent(r[0, 1], r[0, 2], r[1, 2], 30).p < 0.05
    assert 0.03 <= hits / replicates <= 0.07


def test_dependent_correlations_are_told_apart_better_than_independent_ones() -> None:
    dependent, independent = compare_dependent(0.95, 0.90, 0.9, 100), compare_correlations(0.95, 0.90, 100, 100)
    assert dependent.p < independent.p
    assert dependent.p == pytest.approx(2 * dependent.p_one_sided)
    assert compare_dependent(0.90, 0.95, 0.9, 100).z == pytest.approx(-dependent.z)


def test_dependent_z_by_hand() -> None:
    """Both correlations 0.8 and 0.6, 0.5 between the sets, 23 things."""
    mean_square = (0.64 + 0.36) / 2
    share = (1 - 0.5) / (2 * (1 - mean_square))
    factor = (1 - share * mean_square) / (1 - mean_square)
    z = (math.atanh(0.8) - math.atanh(0.6)) * math.sqrt(20 / (2 * 0.5 * factor))
    assert compare_dependent(0.8, 0.6, 0.5, 23).z == pytest.approx(z, abs=1e-12)


def test_published_means_on_fishers_scale() -> None:
    """The avatar paper's Table 8, ten questions between every two of five runs: .952 as they stand, .958 by z."""
    thousandths = """
        952 949 952 960 950 940 953 950 849 962   966 964 968 971 966 951 969 967 863 963
        941 937 946 940 942 930 946 942 828 954   954 954 955 959 954 952 957 954 835 960
        974 976 974 976 974 973 976 975 921 963   957 956 955 948 956 951 959 955 892 953
        973 973 971 969 972 972 974 971 849 957   958 956 958 952 958 957 957 957 919 960
        980 978 981 980 982 982 979 979 875 961   966 965 964 966 967 966 970 966 870 951
    """
    published = np.asarray(thousandths.split(), float) / 1000
    assert published.mean() == pytest.approx(0.952, abs=5e-4)
    assert mean_correlation(published) == pytest.approx(0.958, abs=5e-4)


def test_published_mapped_errors_are_divided_by_n() -> None:
    """Of the crowd paper's Tables 2 and 3: the error that is left of one laboratory's spread is sqrt(1 - r²)."""
    table = pd.read_csv(data_file("tables/crowdp910_table2_3.csv"))
    for _, part in table[table["dataset"].str.startswith("run")].groupby("table"):
        spread = part["rmse_fom"] / np.sqrt(1 - part["pcc"] ** 2)
        assert spread.max() - spread.min() < 0.02


# Means and p-values


def test_a_perfect_correlation_does_not_outweigh_the_others() -> None:
    assert mean_correlation([1.0, 0.8, 0.9]) == pytest.approx(0.9)
    assert mean_correlation([0.8, 0.9]) == pytest.approx(float(np.tanh(np.mean(np.arctanh([0.8, 0.9])))))
