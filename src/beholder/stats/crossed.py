"""Linear mixed models with two crossed random effects, such as participants and contents.

Both may also interact with the groups whose means are sought: a person, or a content, favours one of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy
from scipy import linalg

from beholder.stats.mixed import CITATION as EQUATIONS
from beholder.stats.mixed import (
    Codes,
    Equations,
    Factor,
    Floats,
    MixedModelFit,
    Solution,
    count_components,
    equations,
    factor,
    fit,
)

CITATION = (
    f"{EQUATIONS}; Patterson and Thompson (1971), Biometrika 58; Satterthwaite (1946), Biometrics Bulletin 2; "
    "Kuznetsova, Brockhoff and Christensen (2017), Journal of Statistical Software 82"
)


class VarianceComponents(NamedTuple):
    """Variances of two crossed factors and of the residual; NaN where the data do not identify them."""

    one: float
    other: float
    residual: float


class FTest(NamedTuple):
    """Whether several numbers are all zero."""

    statistic: float
    df: int
    df_error: float
    """Satterthwaite's, as lmerTest has them; infinite where the error is taken for known."""
    p: float


NO_TEST = FTest(math.nan, 0, math.nan, math.nan)


class CrossedModel(NamedTuple):
    """Groups with their means, and where the rest of the differences comes from."""

    mean: Floats
    """Of each group, as all that follows up to `df`."""
    covariance: Floats
    df: Floats
    """Satterthwaite's, from the gradient of a variance and the curvature of the likelihood, as lmerTest has them."""
    one: float
    """Variance, as all that follow; NaN where it is confounded with another source, and left out."""
    other: float
    one_group: float
    """Of what one level of a factor adds to one group; NaN also where it was not asked for."""
    other_group: float
    residual: float
    groups: float
    """Variance between groups, without what chance adds to it; NaN with one group."""
    reml: float
    """Logarithm of the restricted likelihood."""
    test: FTest
    """Of no difference between groups."""


class GroupMeans(NamedTuple):
    """Means with their errors."""

    mean: Floats
    covariance: Floats
    df: Floats
    test: FTest


def variance_components(value: Floats, one: Codes, other: Codes) -> VarianceComponents:
    """Return the variances of two crossed factors round one common mean; codes are from 0 without gaps."""
    nothing = VarianceComponents(math.nan, math.nan, math.nan)
    parts = count_components(one, other)
    sizes = [int(code.max(initial=-1)) + 1 for code in (one, other)]
    if min(sizes) <= parts or len(value) <= sum(sizes) - parts:
        return nothing
    first, second = (factor(code, is_random=True) for code in (one, other))
    common = factor(np.zeros(len(value), np.intp), is_random=False)
    is_turned = second.size > first.size
    if is_turned:
        first, second = second, first
    model = fit(equations(value, first, [second, common]), is_reml=True)
    if model.is_exact:
        return nothing
    variances = model.variances[::-1] if is_turned else model.variances
    return VarianceComponents(float(variances[0]), float(variances[1]), model.noise)


def fit_crossed(
    value: Floats, group: Codes, one: Codes, other: Codes, *, has_interactions: bool = False
) -> CrossedModel | None:
    """Return the means of groups with both factors random: value ~ group + (1 | one) + (1 | other).

    With interactions also + (1 | one:group) + (1 | other:group). Codes are from 0 without gaps. What is confounded with
    the groups, with another factor or with the residual is left out; None where nothing is left, or where the model
    leaves nothing to chance.
    """
    fixed = factor(group, is_random=False)
    codes = dict(zip(_SIDES, (one, other), strict=True))
    if has_interactions:
        codes |= {f"{name}{_INTERACTION}": cell_codes(code, group) for name, code in codes.items()}
    kept = _estimable_factors(len(value), fixed, codes)
    if not kept:
        return None
    model, names = _equations(value, fixed, kept)
    fitted = fit(model, is_reml=True)
    if fitted.is_exact:
        return None
    means = _group_means(model, fitted, np.eye(fixed.size))
    variance = {name: float(own) for name, own in zip(names, fitted.variances, strict=True)}
    own, others, own_group, others_group = (variance.get(name, math.nan) for name in _SOURCES)
    return CrossedModel(
        means.mean, means.covariance, means.df, own, others, own_group, others_group, fitted.noise,
        _between(means.mean, means.covariance), fitted.llf, means.test,
    )  # fmt: skip


_SIDES, _INTERACTION = ("one", "other"), "_group"
_SOURCES = (*_SIDES, *(f"{side}{_INTERACTION}" for side in _SIDES))


def fit_fixed_contents(value: Floats, group: Codes, one: Codes, other: Codes) -> GroupMeans | None:
    """Return the means of groups over the levels of `other` that they have, every level counting alike.

    value ~ other:group + (1 | one) + (1 | one:group): the levels of `other` are just these, and only those of `one` are
    a sample. None where the values leave nothing to chance, or no value to spare, or where it would take minutes.
    """
    cells = factor(cell_codes(other, group), is_random=False)
    if _work(cells.size, int(one.max(initial=-1)) + 1) > _MAX_WORK:
        return None
    first = np.unique(cells.code, return_index=True)[1]
    weights = (np.arange(int(group.max()) + 1)[:, None] == group[first]).astype(float)
    weights /= weights.sum(axis=1, keepdims=True)
    if len(value) <= cells.size:
        return None
    kept = _estimable_factors(len(value), cells, {"one": one, "one_group": cell_codes(one, group)})
    if not kept:
        return _independent_means(value, cells, weights)
    model, _ = _equations(value, cells, kept)
    fitted = fit(model, is_reml=True)
    return None if fitted.is_exact else _group_means(model, fitted, weights)


def is_too_large(group: Codes, one: Codes, other: Codes) -> bool:
    """Return whether the model with interactions would take minutes: too many levels on both sides."""
    sides = []
    for code in (one, other):
        levels, cells = (int(codes.max(initial=-1)) + 1 for codes in (code, cell_codes(code, group)))
        # With one group to each level there is no interaction to solve for.
        sides.append((levels + cells * (cells > levels), levels))
    (solved, _), (_, eliminated) = sorted(sides)
    return _work(solved + int(group.max(initial=-1)) + 1, eliminated) > _MAX_WORK


def _work(solved: int, eliminated: int) -> int:
    return solved**2 * (solved + eliminated)


_MAX_WORK = 10**9
"""Multiplications in a step of the likelihood: a model takes some 30 of them, 5 to 10 seconds."""


def cell_codes(one: Codes, other: Codes) -> Codes:
    """Return a code for each combination of two that is there."""
    joint = one * (int(other.max(initial=0)) + 1) + other
    return np.asarray(np.unique(joint, return_inverse=True)[1], np.intp)


def _estimable_factors(n: int, fixed: Factor, codes: dict[str, Codes]) -> dict[str, Factor]:
    """Return the factors whose variance can be estimated."""
    kept: dict[str, Factor] = {}
    for name, code in codes.items():
        own = factor(code, is_random=True)
        is_apart = count_components(code, fixed.code) < own.size < n
        if is_apart and not any(_is_same(own, other) for other in kept.values()):
            kept[name] = own
    while kept and n <= _rank(fixed, kept):
        del kept[max(kept, key=lambda name: kept[name].size)]
    return kept


def _is_same(one: Factor, other: Factor) -> bool:
    return one.size == other.size == count_components(one.code, other.code)


def _rank(fixed: Factor, kept: dict[str, Factor]) -> int:
    """Return how many effects the values could be fitted with, at most."""
    sides = [[one for name, one in kept.items() if name.startswith(side)] for side in _SIDES]
    finest = [max(side, key=lambda one: one.size) for side in sides if side]
    if not any(name.endswith(_INTERACTION) for name in kept):
        return fixed.size + sum(one.size - 1 for one in finest)
    first, second = (*finest, fixed)[:2]
    rank = first.size + second.size - count_components(first.code, second.code)
    return max(rank, fixed.size)


def _equations(value: Floats, fixed: Factor, kept: dict[str, Factor]) -> tuple[Equations, list[str]]:
    """Return the equations with the side eliminated that has more levels, and the names of the random factors."""
    sides = [sorted((name for name in kept if name.startswith(side)), key=lambda n: -kept[n].size) for side in _SIDES]
    first, second = sorted(sides, key=lambda names: -sum(kept[name].size for name in names))
    inner, *outer = first
    others = [kept[name] for name in second]
    model = equations(value, kept[inner], [*others, fixed], outer=kept[outer[0]] if outer else None)
    return model, [*first, *second]


# Errors of means, and Satterthwaite's degrees of freedom as lmerTest has them


_LOG_STEP = 1e-4
_FLAT = 1e-8
"""Curvature of the likelihood below which it says nothing."""


def _group_means(model: Equations, fitted: MixedModelFit, weights: Floats) -> GroupMeans:
    """Return weighted sums of the last effects with their errors, and the test of no difference between them."""
    size = weights.shape[1]
    effects = model.mean + fitted.solution.effects[-1]
    covariance = fitted.noise * weights @ fitted.solution.inverse[-size:, -size:] @ weights.T
    shares = [fitted.noise * share for share in model.variance_shares(fitted.solution, weights)]
    # By how much the covariance grows with the logarithm of each ratio, and of the noise.
    gradients = [share for share, ratio in zip(shares, fitted.ratios, strict=True) if ratio > 0] + [covariance]
    spread = _spread_of_parameters(model, fitted)
    mean = weights @ effects
    df = np.array([_df(unit, covariance, gradients, spread) for unit in np.eye(len(mean))])
    return GroupMeans(mean, covariance, df, _f_test(mean, covariance, gradients, spread))


def _spread_of_parameters(model: Equations, fitted: MixedModelFit) -> Floats:
    """Return the covariance of the logarithms of the ratios above zero and of the noise, from the curvature there."""
    above = np.flatnonzero(fitted.ratios > 0)
    hessian = np.empty((len(above) + 1, len(above) + 1))
    for row, place in enumerate(above):
        step = _LOG_STEP * (np.arange(len(fitted.ratios)) == place)
        ahead, behind = (_slopes(model, fitted, fitted.ratios * np.exp(sign * step)) for sign in (1, -1))
        hessian[row, :-1] = ((ahead - behind) / (2 * _LOG_STEP))[above]
    solution = fitted.solution
    hessian[-1, :-1] = hessian[:-1, -1] = _own_squares(model, solution)[above] / fitted.noise
    hessian[-1, -1] = solution.squares / fitted.noise
    values, axes = np.linalg.eigh((hessian + hessian.T) / 2)
    known = values > _FLAT
    return np.asarray(2 * (axes[:, known] / values[known]) @ axes[:, known].T, np.float64)


def _slopes(model: Equations, fitted: MixedModelFit, ratios: Floats) -> Floats:
    """Return how minus twice the restricted log-likelihood grows with the logarithm of each ratio at the same noise."""
    solution = model.solve(ratios, is_reml=True)
    return solution.slopes - _own_squares(model, solution) / fitted.noise


def _own_squares(model: Equations, solution: Solution) -> Floats:
    both = zip(model.factors, solution.effects, strict=True)
    return np.array([np.square(effects).sum() for one, effects in both if one.is_random])


def _df(row: Floats, covariance: Floats, gradients: Sequence[Floats], spread: Floats) -> float:
    """Return the degrees of freedom of the variance of a weighted sum: twice its square over its own variance."""
    slope = np.array([row @ one @ row for one in gradients])
    noise = float(slope @ spread @ slope)
    return 2 * float(row @ covariance @ row) ** 2 / noise if noise > 0 else math.inf


def _f_test(mean: Floats, covariance: Floats, gradients: Sequence[Floats], spread: Floats) -> FTest:
    """Return the F test of equal means."""
    df = len(mean) - 1
    if not df:
        return NO_TEST
    # Orthonormal, so that the order of the groups does not matter.
    contrasts = linalg.helmert(len(mean))
    variances, axes = np.linalg.eigh(contrasts @ covariance @ contrasts.T)
    rows = axes.T @ contrasts
    statistic = float(np.mean((rows @ mean) ** 2 / variances))
    own = np.array([_df(row, covariance, gradients, spread) for row in rows])
    if own.min() <= 2:
        df_error = float(own.min()) if df == 1 else 2.0
    elif np.ptp(own) < _FLAT or np.isinf(own).any():
        df_error = float(own.min())
    else:
        sum_of_means = float((own / (own - 2)).sum())
        df_error = 2 * sum_of_means / (sum_of_means - df)
    return FTest(statistic, df, df_error, float(scipy.stats.f.sf(statistic, df, df_error)))


def _independent_means(value: Floats, cells: Factor, weights: Floats) -> GroupMeans | None:
    """Return the means where every value is another person's: the error is that of values of one cell."""
    counts = np.bincount(cells.code)
    mean = np.bincount(cells.code, value) / counts
    left = len(value) - cells.size
    noise = float(np.square(value - mean[cells.code]).sum()) / left
    if noise <= 0:
        return None
    covariance = noise * (weights / counts) @ weights.T
    spread = np.array([[2 / left]])
    test = _f_test(weights @ mean, covariance, [covariance], spread)
    return GroupMeans(weights @ mean, covariance, np.full(len(weights), float(left)), test)


def _between(mean: Floats, covariance: Floats) -> float:
    """Return the variance of the means without what their errors add to it."""
    groups = len(mean)
    if groups < 2:
        return math.nan
    added = (np.trace(covariance) - covariance.sum() / groups) / (groups - 1)
    return max(0.0, float(mean.var(ddof=1) - added))
