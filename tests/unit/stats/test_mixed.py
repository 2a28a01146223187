"""Mixed model equations: the same likelihood and effects as with dense matrices."""

from __future__ import annotations

import math
from dataclasses import replace

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


def test_products_of_groups_that_are_alike_give_what_products_of_all_groups_give() -> None:
    rng = np.random.default_rng(7)
    person, content = np.repeat(np.arange(600), 9), np.tile(np.arange(9), 600)
    # Some rated less, and one content several times, so that not all people are alike.
    kept = np.flatnonzero(rng.random(5400) > 0.2 * (person < 12))
    person, content = np.append(person[kept], [3, 3, 20]), np.append(content[kept], [4, 4, 1])
    condition = (content + person) % 3
    value = rng.normal(0, 1, 600)[person] + rng.normal(0, 0.5, 9)[content] + rng.normal(0, 1, len(person))
    nested = np.unique(3 * person + condition, return_inverse=True)[1]
    model = equations(
        value,
        factor(nested, is_random=True),
        [factor(content, is_random=True), factor(condition, is_random=False)],
        outer=factor(person, is_random=True),
    )
    assert model.outer_products is not None
    apart = replace(model, outer_products=None)
    one, other = (some.solve(np.array([0.3, 0.8, 0.2]), is_reml=True) for some in (model, apart))
    assert one.squares == pytest.approx(other.squares, rel=1e-12)
    assert one.logdet == pytest.approx(other.logdet, rel=1e-12)
    assert one.slopes == pytest.approx(other.slopes, rel=1e-10)
    for mine, theirs in zip(one.effects, other.effects, strict=True):
        assert mine == pytest.approx(theirs, rel=1e-9)
