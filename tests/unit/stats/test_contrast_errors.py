"""Variances drawn together: how far, and where not."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from beholder.stats.contrast_errors import moderated

PAIRS = list(combinations(range(6), 2))


def _variances(spread: float, df: float, rows: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """Return true variances and their estimates; votes of pairs are not shared, so that all are independent."""
    rng = np.random.default_rng(1)
    true = np.exp(spread * rng.normal(size=(rows, len(PAIRS))))
    return true, true * rng.chisquare(df, true.shape) / df


def test_equal_variances_are_drawn_to_one() -> None:
    _, estimates = _variances(0.0, 5)
    result = moderated(estimates, np.full(len(PAIRS), 5.0), PAIRS, are_ratings_shared=False)
    assert np.median(np.abs(result.variance - 1)) < np.median(np.abs(estimates - 1)) / 2
    assert np.median(result.df) > 50


def test_variances_that_differ_keep_their_own() -> None:
    true, estimates = _variances(1.5, 30)
    result = moderated(estimates, np.full(len(PAIRS), 30.0), PAIRS, are_ratings_shared=False)
    assert np.corrcoef(np.log(result.variance).ravel(), np.log(true).ravel())[0, 1] > 0.97
    assert np.median(result.df) < 35


def test_drawn_together_they_are_closer_to_the_truth_than_alone_and_than_all_alike() -> None:
    true, estimates = _variances(0.5, 6)
    result = moderated(estimates, np.full(len(PAIRS), 6.0), PAIRS, are_ratings_shared=False).variance

    def error(guess: np.ndarray) -> float:
        return float(((np.log(guess) - np.log(true)) ** 2).mean())

    pooled = np.broadcast_to(estimates.mean(axis=1, keepdims=True), true.shape)
    assert error(result) < min(error(estimates), error(pooled))


def test_a_condition_that_stands_out_is_left_alone() -> None:
    rng = np.random.default_rng(2)
    estimates = rng.chisquare(10, (50, len(PAIRS))) / 10
    wild = np.array([0 in pair for pair in PAIRS])
    estimates[:, wild] *= 40
    result = moderated(estimates, np.full(len(PAIRS), 10.0), PAIRS)
    np.testing.assert_allclose(result.variance[:, wild], estimates[:, wild])
    assert (result.df[:, wild] == 10).all()


def test_two_conditions_have_nothing_to_be_drawn_to() -> None:
    result = moderated(np.array([[2.0]]), np.array([7.0]), [(0, 1)])
    assert (result.variance.item(), result.df.item()) == (2.0, 7.0)


def test_the_prior_is_worth_no_more_than_what_the_pairs_without_a_condition_know() -> None:
    estimates = np.ones((1, len(PAIRS)))
    result = moderated(estimates, np.full(len(PAIRS), 3.0), PAIRS)
    np.testing.assert_allclose(result.df, 3 + 10 * 3)


def test_controls_are_drawn_together_among_themselves() -> None:
    rng = np.random.default_rng(3)
    df = np.full(len(PAIRS), 5.0)
    estimates = rng.chisquare(5, (50, len(PAIRS))) / 5
    control = np.array([0 in pair for pair in PAIRS])
    shrunk = np.where(control, estimates / 100, estimates)
    rest = [pair for pair in PAIRS if 0 not in pair]
    apart = moderated(shrunk, df, PAIRS, controls=frozenset({0}))
    alone = moderated(estimates[:, ~control], df[~control], rest)
    np.testing.assert_array_equal(apart.variance[:, ~control], alone.variance)
    np.testing.assert_array_equal(apart.df[:, ~control], alone.df)
    assert np.median(apart.df[:, control]) > 5
    same = moderated(estimates, df, PAIRS, controls=frozenset({9}))
    np.testing.assert_array_equal(same.variance, moderated(estimates, df, PAIRS).variance)
