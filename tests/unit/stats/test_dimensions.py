"""Components, consistency and centring: against hand-computed numbers, oracles and what has to hold always."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from beholder.stats.dimensions import (
    alpha_without_each,
    cronbach_alpha,
    mcdonald_omega,
    one_factor_loadings,
    parallel_analysis,
    principal_components,
    retained_components,
    varimax,
)


def correlations_of(loadings: np.ndarray) -> np.ndarray:
    matrix: np.ndarray = loadings @ loadings.T
    np.fill_diagonal(matrix, 1.0)
    return matrix


def draw(rng: np.random.Generator, loadings: np.ndarray, rows: int) -> np.ndarray:
    own = np.sqrt(1 - np.square(loadings).sum(axis=1))
    shared = rng.standard_normal((rows, loadings.shape[1])) @ loadings.T
    return np.asarray(shared + rng.standard_normal((rows, len(own))) * own)


TWO = np.array([[0.8, 0], [0.7, 0], [0.75, 0], [0.8, 0], [0, 0.8], [0, 0.7], [0, 0.75]])


def test_two_questions_have_eigenvalues_of_one_plus_and_minus_their_correlation() -> None:
    fitted = principal_components(np.array([[1, 0.6], [0.6, 1]]))
    assert fitted.eigenvalues == pytest.approx([1.6, 0.4])
    assert fitted.loadings[:, 0] == pytest.approx([math.sqrt(0.8)] * 2)
    assert np.square(fitted.loadings).sum(axis=1) == pytest.approx([1, 1])


def test_loadings_of_all_components_give_the_correlations_back() -> None:
    matrix = correlations_of(TWO)
    fitted = principal_components(matrix)
    assert fitted.loadings @ fitted.loadings.T == pytest.approx(matrix)
    assert fitted.eigenvalues.sum() == pytest.approx(len(matrix))


@pytest.mark.parametrize("rows", [60, 300])
def test_parallel_analysis_finds_two_planted_components(rows: int) -> None:
    rng = np.random.default_rng(5)
    actual = []
    for _ in range(20):
        matrix = np.atleast_2d(np.corrcoef(draw(rng, TWO, rows), rowvar=False))
        actual.append(
            retained_components(principal_components(matrix).eigenvalues, parallel_analysis(rows, 7, rng, draws=200))
        )
    assert actual.count(2) >= 19


def test_parallel_analysis_keeps_noise_in_one_case_of_twenty() -> None:
    rng = np.random.default_rng(6)
    limits = parallel_analysis(40, 6, rng)
    noise = [np.atleast_2d(np.corrcoef(rng.standard_normal((40, 6)), rowvar=False)) for _ in range(400)]
    share = np.mean([retained_components(principal_components(matrix).eigenvalues, limits) > 0 for matrix in noise])
    assert 0.02 < share < 0.09


def test_chance_is_the_same_with_drawn_rows_and_without_them() -> None:
    short = parallel_analysis(7, 6, np.random.default_rng(1), draws=4000)
    noise = np.random.default_rng(2).standard_normal((4000, 7, 6))
    values = np.linalg.eigvalsh(np.array([np.corrcoef(one, rowvar=False) for one in noise]))[:, ::-1]
    assert short == pytest.approx(np.quantile(values, 0.95, axis=0), abs=0.06)


def test_fewer_rows_than_questions_span_fewer_dimensions() -> None:
    limits = parallel_analysis(5, 8, np.random.default_rng(1), draws=50)
    assert (limits[:4] > 0).all()
    assert limits[4:] == pytest.approx(np.zeros(4))


@settings(max_examples=40, deadline=None)
@given(arrays(float, (6, 3), elements=st.floats(-1, 1)))
def test_varimax_leaves_communalities_as_they_are_and_never_loads_less_simply(loadings: np.ndarray) -> None:
    turned = varimax(loadings)
    assert np.square(turned).sum(axis=1) == pytest.approx(np.square(loadings).sum(axis=1), abs=1e-9)
    assert turned @ turned.T == pytest.approx(loadings @ loadings.T, abs=1e-9)
    assert _simplicity(turned) >= _simplicity(loadings) - 1e-9


def _simplicity(loadings: np.ndarray) -> float:
    return float(np.square(loadings).var(axis=0).sum())


def test_varimax_finds_the_simple_structure_behind_a_turn() -> None:
    angle = 0.6
    turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    assert varimax(TWO @ turn) == pytest.approx(TWO, abs=1e-6)


def test_alpha_of_a_small_table_by_hand() -> None:
    rows = np.array([[1, 2, 1], [2, 3, 3], [3, 3, 4], [4, 5, 5]], float)
    matrix = np.cov(rows, rowvar=False)
    by_hand = 3 / 2 * (1 - np.var(rows, axis=0, ddof=1).sum() / np.var(rows.sum(axis=1), ddof=1))
    assert cronbach_alpha(matrix, 4).value == pytest.approx(by_hand)
    assert alpha_without_each(matrix)[2] == pytest.approx(cronbach_alpha(matrix[:2, :2], 4).value)


@pytest.mark.variant
def test_alpha_is_what_pingouin_gives() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pingouin

    rng = np.random.default_rng(3)
    for loadings, rows in ((TWO, 40), (TWO[:4], 12), (TWO[4:], 200)):
        values = draw(rng, loadings, rows)
        expected, ends = pingouin.cronbach_alpha(data=pd.DataFrame(values))
        actual = cronbach_alpha(np.cov(values, rowvar=False), rows)
        assert actual.value == pytest.approx(expected)
        assert [actual.low, actual.high] == pytest.approx(ends, abs=5e-4)


def test_omega_of_one_planted_factor_is_exact() -> None:
    loadings, sd = np.array([0.9, 0.7, 0.6, 0.5]), np.array([1.0, 2.0, 0.5, 1.5])
    matrix = correlations_of(loadings[:, None]) * np.outer(sd, sd)
    shared = (loadings * sd).sum() ** 2
    assert one_factor_loadings(correlations_of(loadings[:, None])) == pytest.approx(loadings, abs=1e-6)
    assert mcdonald_omega(matrix) == pytest.approx(shared / matrix.sum(), abs=1e-6)


def test_omega_is_alpha_where_all_questions_load_alike_and_above_it_elsewhere() -> None:
    alike = correlations_of(np.full((5, 1), 0.7))
    assert mcdonald_omega(alike) == pytest.approx(cronbach_alpha(alike, 100).value, abs=1e-6)
    unlike = correlations_of(np.array([0.9, 0.9, 0.3, 0.3])[:, None])
    assert mcdonald_omega(unlike) > cronbach_alpha(unlike, 100).value


def test_what_cannot_be_known_is_nan() -> None:
    assert all(math.isnan(one) for one in cronbach_alpha(np.eye(1), 10))
    assert all(math.isnan(one) for one in cronbach_alpha(np.zeros((3, 3)), 10))
    assert math.isnan(mcdonald_omega(np.array([[1, 0.5], [0.5, 1]])))
    assert math.isnan(mcdonald_omega(np.zeros((3, 3))))
