"""Mixed model equations: the same likelihood and effects as with dense matrices."""

from __future__ import annotations

import math

import numpy as np
import pytest

from beholder.stats.mixed import count_components, equations, factor, fit


def test_the_likelihood_and_the_means_are_those_of_generalised_least_squares() -> None:
    rng = np.random.default_rng(4)
    rater, group = rng.integers(0, 9, 60), rng.integers(0, 3, 60)
    value = rng.normal(0, 1, 9)[rater] + 0.5 * group + rng.normal(0, 0.6, 60)
    model = equations(value, factor(rater, is_random=True), [factor(group, is_random=False)])
    fitted = fit(model, is_reml=False)
    z, x = np.eye(9)[rater], np.eye(3)[group]
    covariance = fitted.noise * np.eye(60) + fitted.variances[0] * z @ z.T
    inverse = np.linalg.inv(covariance)
    means = np.linalg.solve(x.T @ inverse @ x, x.T @ inverse @ value)
    residual = value - x @ means
    log_det = np.linalg.slogdet(covariance)[1]
    assert model.mean + fitted.solution.effects[-1] == pytest.approx(means)
    assert fitted.llf == pytest.approx(-0.5 * (60 * math.log(2 * math.pi) + log_det + residual @ inverse @ residual))


def test_reml_of_a_balanced_one_way_design_is_the_analysis_of_variance() -> None:
    rng = np.random.default_rng(2)
    group = np.repeat(np.arange(12), 5)
    value = rng.normal(0, 1.5, 12)[group] + rng.normal(0, 1, 60)
    common = factor(np.zeros(60, np.intp), is_random=False)
    fitted = fit(equations(value, factor(group, is_random=True), [common]), is_reml=True)
    table = value.reshape(12, 5)
    within = float(table.var(axis=1, ddof=1).mean())
    assert fitted.noise == pytest.approx(within, rel=1e-5)
    assert fitted.variances[0] == pytest.approx(float(table.mean(axis=1).var(ddof=1)) - within / 5, rel=1e-5)


def test_components_count_what_shares_no_group() -> None:
    assert count_components(np.array([0, 0, 1]), np.array([0, 1, 1])) == 1
    assert count_components(np.array([0, 0, 1]), np.array([0, 1, 2])) == 2
