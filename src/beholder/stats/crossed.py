"""Means of groups beside two crossed random effects, such as participants and contents, by REML."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from scipy import special

from beholder.stats.likelihood import Fit, fit
from beholder.stats.mixed_equations import CITATION as EQUATIONS
from beholder.stats.mixed_equations import Codes, Equations, Factor, Floats, components, equations, factor

CITATION = f"{EQUATIONS}; Patterson and Thompson (1971), Biometrika 58; Satterthwaite (1946), Biometrics Bulletin 2"


class Components(NamedTuple):
    """Variances of two crossed factors and of what is left; NaN where the data cannot tell them apart."""

    one: float
    other: float
    residual: float


class Crossed(NamedTuple):
    """Groups with their means, and where the rest of the differences comes from."""

    mean: Floats
    """Of each group, as all that follows up to `df`."""
    covariance: Floats
    df: Floats
    """Satterthwaite's, from the parts that both factors and the residual have in the variance of a mean."""
    one: float
    """Variance; NaN where this factor is left out, as it cannot be told from the groups or from the residual."""
    other: float
    residual: float
    groups: float
    """Variance between groups, without what chance adds to it; NaN with one group."""
    reml: float
    """Logarithm of the restricted likelihood."""
    llf: float
    """Logarithm of the likelihood by ML, with the groups."""
    llf_null: float
    """The same without them."""

    @property
    def chi2(self) -> float:
        """Twice what the groups add to the log-likelihood, to be held against chi² with groups - 1."""
        return max(0.0, 2 * (self.llf - self.llf_null)) if len(self.mean) > 1 else math.nan

    @property
    def p(self) -> float:
        """The probability of such a `chi2` or a larger one where groups do not differ."""
        return float(special.chdtrc(len(self.mean) - 1, self.chi2)) if len(self.mean) > 1 else math.nan


def variance_components(value: Floats, one: Codes, other: Codes) -> Components:
    """Return the variances of two crossed factors round one common mean; codes are from 0 without gaps."""
    nothing = Components(math.nan, math.nan, math.nan)
    parts = components(one, other)
    sizes = [int(code.max(initial=-1)) + 1 for code in (one, other)]
    if min(sizes) <= parts or len(value) <= sum(sizes) - parts:
        return nothing
    first, second = (factor(code, is_random=True) for code in (one, other))
    common = factor(np.zeros(len(value), np.intp), is_random=False)
    is_turned = second.size > first.size
    if is_turned:
        first, second = second, first
    found = fit(equations(value, first, [second, common]), is_reml=True)
    if found.is_exact:
        return nothing
    variances = found.variances[::-1] if is_turned else found.variances
    return Components(float(variances[0]), float(variances[1]), found.noise)


def crossed(value: Floats, group: Codes, one: Codes, other: Codes) -> Crossed | None:
    """Return the means of groups with both factors random: value ~ group + (1 | one) + (1 | other).

    Codes are from 0 without gaps. A factor that cannot be told from the groups or from the residual is left out; None
    where neither is left, or where the model leaves nothing to chance.
    """
    fixed = factor(group, is_random=False)
    kept = _telling(len(value), fixed, {"one": one, "other": other})
    if not kept:
        return None
    model = equations(value, *_placed(fixed, kept))
    found = fit(model, is_reml=True)
    by_ml = fit(model, is_reml=False, near=found.ratios)
    if found.is_exact or by_ml.is_exact:
        return None
    common = factor(np.zeros(len(value), np.intp), is_random=False)
    null = by_ml if fixed.size == 1 else fit(equations(value, *_placed(common, kept)), is_reml=False, near=by_ml.ratios)
    variance = dict(zip(kept, found.variances, strict=True))
    covariance = found.noise * found.solved.inverse[-fixed.size :, -fixed.size :]
    mean = model.mean + found.solved.effects[-1]
    return Crossed(
        mean, covariance, _df(model, found, fixed), float(variance.get("one", math.nan)),
        float(variance.get("other", math.nan)), found.noise, _between(mean, covariance), found.llf, by_ml.llf, null.llf,
    )  # fmt: skip


def _telling(n: int, fixed: Factor, codes: dict[str, Codes]) -> dict[str, Factor]:
    """Return the factors whose variance the data can tell, the largest first."""
    found = {}
    for name, code in codes.items():
        own = factor(code, is_random=True)
        if components(code, fixed.code) < own.size < n:
            found[name] = own
    ordered = dict(sorted(found.items(), key=lambda item: -item[1].size))
    while ordered and n <= _effects(fixed, ordered.values()):
        del ordered[next(iter(ordered))]
    return ordered


def _effects(fixed: Factor, randoms: Iterable[Factor]) -> int:
    """Return how many effects there are to be told apart."""
    return fixed.size + sum(one.size - 1 for one in randoms)


def _placed(fixed: Factor, kept: dict[str, Factor]) -> tuple[Factor, list[Factor]]:
    """Return the factor to eliminate, and the others with the groups last."""
    first, *others = kept.values()
    return first, [*others, fixed]


def _df(model: Equations, found: Fit, fixed: Factor) -> Floats:
    """Return Satterthwaite's degrees of freedom of every mean.

    The variance of a mean is a sum of what each random factor and the residual have in it, each with its own degrees
    of freedom: groups of the factor minus the parts into which it falls with the fixed ones.
    """
    whole = np.diag(found.solved.inverse)[-fixed.size :]
    parts = model.pulls(found.solved, fixed.size)
    own = [one.size - components(one.code, fixed.code) for one in model.randoms]
    left = model.n - _effects(fixed, model.randoms)
    residual = np.maximum(whole - sum(parts), 0.0)
    spent = residual**2 / left + sum(part**2 / df for part, df in zip(parts, own, strict=True))
    return np.asarray(whole**2 / spent, np.float64)


def _between(mean: Floats, covariance: Floats) -> float:
    """Return the variance of the means without what their errors add to it."""
    groups = len(mean)
    if groups < 2:
        return math.nan
    added = (np.trace(covariance) - covariance.sum() / groups) / (groups - 1)
    return max(0.0, float(mean.var(ddof=1) - added))
