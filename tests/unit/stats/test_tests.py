"""Signed rank and sign tests, tests against a margin, Holm's and Benjamini and Hochberg's corrections."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from beholder.stats.tests import Zeros, benjamini_hochberg, holm, margin_tests, sign_test, signed_rank
from support.data import data_file


def test_a_margin_is_tested_from_both_sides_as_by_one_sample_t_tests() -> None:
    d = np.random.default_rng(3).normal(0.4, 1, 30)
    tested = margin_tests(d.mean(), d.std(ddof=1) / math.sqrt(30), 29, 0.8)
    below = stats.ttest_1samp(d, -0.8, alternative="greater").pvalue
    above = stats.ttest_1samp(d, 0.8, alternative="less").pvalue
    assert tested == pytest.approx((below, above))
    assert tested.within == pytest.approx(max(below, above))


def test_holm_gives_the_published_values() -> None:
    known = json.loads(data_file("tables/unit_values.json").read_text())["holm"]
    np.testing.assert_allclose(holm(known["p"]), known["adj"])


def test_the_signed_rank_test_with_zeros_gives_the_published_value() -> None:
    known = json.loads(data_file("tables/unit_values.json").read_text())["wilcoxon"]
    test = signed_rank(known["d"])
    assert (test.statistic, test.p) == pytest.approx(tuple(known["pratt_corrFalse"]))
    assert test.method == "Wilcoxon (Pratt), asymptotic"


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_holm_never_lowers_a_p_value_and_keeps_the_order(p: list[float]) -> None:
    adjusted = holm(p)
    assert (adjusted >= np.asarray(p)).all()
    assert (adjusted <= 1).all()
    order = np.argsort(p, kind="stable")
    assert (np.diff(adjusted[order]) >= 0).all()


def test_holm_leaves_out_tests_that_were_not_made() -> None:
    np.testing.assert_allclose(holm([0.01, math.nan, 0.04]), [0.02, math.nan, 0.04])
    assert len(holm([])) == 0


def test_small_samples_without_ties_are_exact() -> None:
    test = signed_rank([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    assert test.p == pytest.approx(2 / 2**6)
    assert test.method == "Wilcoxon (Pratt), exact"


def test_small_samples_with_ties_try_every_sign_pattern() -> None:
    test = signed_rank([1, 1, 2, 2, 0])
    assert test.p == pytest.approx(2 / 2**4)
    assert test.method == "Wilcoxon (Pratt), all sign patterns"


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(-5, 5), min_size=2, max_size=8))
def test_the_sign_patterns_agree_with_an_exhaustive_permutation_test(d: list[int]) -> None:
    if not any(d) or (len({abs(one) for one in d}) == len(d) and all(d)):
        return
    ranks = stats.rankdata(np.abs(d))

    def centred(x: Any, axis: int) -> Any:
        return np.sum(np.sign(x) * ranks, axis=axis)

    wanted = stats.permutation_test(
        (np.asarray(d, dtype=float),), centred, permutation_type="samples", n_resamples=np.inf, vectorized=True
    )
    assert signed_rank(d).p == pytest.approx(min(1.0, wanted.pvalue))


@pytest.mark.parametrize("zeros", ["pratt", "wilcox", "zsplit"])
@pytest.mark.parametrize("d", [(3, -1, -2, 3, -2, -1), (0, 0, 4, 1, -2, 1), (5, 4, -1, 2), (1, 1, -1, 0) * 5])
def test_the_signed_rank_test_is_that_of_scipy_by_every_rule_for_zeros(d: tuple[int, ...], zeros: Zeros) -> None:
    """Small samples with ties go through every sign pattern without scipy, as its way takes seconds."""
    wanted = stats.wilcoxon(d, zero_method=zeros)
    test = signed_rank(d, zeros=zeros)
    assert (test.statistic, test.p) == pytest.approx((wanted.statistic, wanted.pvalue))


def test_differences_that_are_all_zero_give_p_one() -> None:
    assert signed_rank([0.0, 0.0, 0.0]).p == 1


def test_float_noise_does_not_break_ties() -> None:
    assert signed_rank([0.1 + 0.2 - 0.3, 0.0]).p == 1


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(-100, 100), min_size=2, max_size=30))
def test_p_is_the_same_for_both_directions(d: list[float]) -> None:
    assert signed_rank(d).p == pytest.approx(signed_rank([-one for one in d]).p)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(-6, 6), min_size=2, max_size=40))
def test_the_rank_biserial_correlation_is_the_share_of_ranks_up_minus_down(d: list[int]) -> None:
    kept = np.asarray([one for one in d if one])
    test = signed_rank(d).biserial
    if not len(kept):
        assert math.isnan(test)
        return
    ranks = stats.rankdata(np.abs(kept))
    assert test == pytest.approx((ranks[kept > 0].sum() - ranks[kept < 0].sum()) / ranks.sum())
    assert -1 <= test <= 1


def test_signs_ignore_ties_and_float_noise() -> None:
    test = sign_test([0.1 + 0.2 - 0.3, 1.0, 2.0, -1.0])
    assert (test.above, test.below, test.ties) == (2, 1, 1)
    assert test.proportion.share == pytest.approx(2 / 3)
    assert math.isnan(sign_test([0.0]).proportion.p)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=10))
def test_false_discovery_is_that_of_scipy_and_leaves_out_what_was_not_tested(p: list[float]) -> None:
    np.testing.assert_allclose(benjamini_hochberg(p), stats.false_discovery_control(p), atol=1e-12)
    np.testing.assert_allclose(benjamini_hochberg([*p, math.nan])[:-1], stats.false_discovery_control(p), atol=1e-12)
