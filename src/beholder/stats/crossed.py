"""Linear mixed models with two crossed random effects, such as participants and contents, and the effect of runs."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import combinations
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from scipy import special

from beholder.stats.intervals import LEVEL
from beholder.stats.mixed import CITATION as EQUATIONS
from beholder.stats.mixed import (
    Codes,
    Equations,
    Factor,
    Floats,
    MixedModelFit,
    count_components,
    equations,
    factor,
    fit,
)

CITATION = f"{EQUATIONS}; Patterson and Thompson (1971), Biometrika 58; Satterthwaite (1946), Biometrics Bulletin 2"


class VarianceComponents(NamedTuple):
    """Variances of two crossed factors and of the residual; NaN where the data do not identify them."""

    one: float
    other: float
    residual: float


class CrossedModel(NamedTuple):
    """Groups with their means, and where the rest of the differences comes from."""

    mean: Floats
    """Of each group, as all that follows up to `df`."""
    covariance: Floats
    df: Floats
    """Satterthwaite's, from the parts that both factors and the residual have in the variance of a mean."""
    one: float
    """Variance; NaN where this factor is confounded with the groups or with the residual, and left out."""
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
        """The likelihood ratio statistic of the groups, chi² with groups - 1 degrees of freedom."""
        return max(0.0, 2 * (self.llf - self.llf_null)) if len(self.mean) > 1 else math.nan

    @property
    def p(self) -> float:
        """The probability of such a `chi2` or a larger one where groups do not differ."""
        return float(special.chdtrc(len(self.mean) - 1, self.chi2)) if len(self.mean) > 1 else math.nan


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


def fit_crossed(value: Floats, group: Codes, one: Codes, other: Codes) -> CrossedModel | None:
    """Return the means of groups with both factors random: value ~ group + (1 | one) + (1 | other).

    Codes are from 0 without gaps. A factor that is confounded with the groups or the residual is left out; None
    where neither is left, or where the model leaves nothing to chance.
    """
    fixed = factor(group, is_random=False)
    kept = _estimable_factors(len(value), fixed, {"one": one, "other": other})
    if not kept:
        return None
    model = equations(value, *_elimination_order(fixed, kept))
    by_reml = fit(model, is_reml=True)
    by_ml = fit(model, is_reml=False, near=by_reml.ratios)
    if by_reml.is_exact or by_ml.is_exact:
        return None
    common = factor(np.zeros(len(value), np.intp), is_random=False)
    null = (
        by_ml
        if fixed.size == 1
        else fit(equations(value, *_elimination_order(common, kept)), is_reml=False, near=by_ml.ratios)
    )
    variance = dict(zip(kept, by_reml.variances, strict=True))
    covariance = by_reml.noise * by_reml.solution.inverse[-fixed.size :, -fixed.size :]
    mean = model.mean + by_reml.solution.effects[-1]
    return CrossedModel(
        mean, covariance, _df(model, by_reml, fixed), float(variance.get("one", math.nan)),
        float(variance.get("other", math.nan)), by_reml.noise, _between(mean, covariance), by_reml.llf, by_ml.llf,
        null.llf,
    )  # fmt: skip


def _estimable_factors(n: int, fixed: Factor, codes: dict[str, Codes]) -> dict[str, Factor]:
    """Return the factors whose variance can be estimated, the largest first."""
    estimable = {}
    for name, code in codes.items():
        own = factor(code, is_random=True)
        if count_components(code, fixed.code) < own.size < n:
            estimable[name] = own
    ordered = dict(sorted(estimable.items(), key=lambda item: -item[1].size))
    while ordered and n <= _effect_count(fixed, ordered.values()):
        del ordered[next(iter(ordered))]
    return ordered


def _effect_count(fixed: Factor, randoms: Iterable[Factor]) -> int:
    """Return the number of effects to estimate."""
    return fixed.size + sum(one.size - 1 for one in randoms)


def _elimination_order(fixed: Factor, kept: dict[str, Factor]) -> tuple[Factor, list[Factor]]:
    """Return the factor to eliminate, and the others with the groups last."""
    first, *others = kept.values()
    return first, [*others, fixed]


def _df(model: Equations, fitted: MixedModelFit, fixed: Factor) -> Floats:
    """Return Satterthwaite's degrees of freedom of every mean.

    The variance of a mean is a sum of what each random factor and the residual have in it, each with its own degrees
    of freedom: groups of the factor minus the parts into which it falls with the fixed ones.
    """
    whole = np.diag(fitted.solution.inverse)[-fixed.size :]
    parts = model.variance_shares(fitted.solution, fixed.size)
    own = [one.size - count_components(one.code, fixed.code) for one in model.randoms]
    left = model.n - _effect_count(fixed, model.randoms)
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


# The effect of runs, and their equivalence


RUN_EFFECT_CITATION = f"{EQUATIONS}; Schuirmann (1987), Journal of Pharmacokinetics and Biopharmaceutics 15"
EQUIVALENCE_MARGIN = 0.05
"""What two runs may differ by and still be called equivalent, as a share of the width of the scale."""
_ALPHA = 0.05
Equivalent: TypeAlias = Literal["yes", "no", "undecided", ""]
_ONE_RUN = "one run: nothing to compare"
_UNCONNECTED = "runs share no stimulus, not even through others: cannot be compared"
_ONE_RATER = "one rater in each run: runs cannot be told from raters"
_TOO_FEW = "too few ratings for so many stimuli and runs"
_NO_RESIDUAL = "ratings leave nothing to chance: nothing to test"


class RunDifference(NamedTuple):
    """How far one run is above another on the same stimuli."""

    run: int
    other: int
    difference: float
    se: float
    df: float
    low: float
    high: float
    p: float
    equivalent: Equivalent
    """yes: the 90 % interval is within ± margin (two one-sided tests at 5 %); no: the 95 % interval is beyond it."""


class RunEffect(NamedTuple):
    """The likelihood ratio test of run, by ML; where it is impossible, numbers are NaN and `note` says why."""

    chi2: float
    df: int
    p: float
    residual: float
    """Variance of the noise, in the model with runs."""
    rater: float
    """Variance of raters."""
    llf_full: float
    llf_null: float
    differences: tuple[RunDifference, ...] = ()
    """Every two runs, by REML, with t over raters."""
    note: str = ""


def run_effect(value: Floats, stimulus: Codes, run: Codes, rater: Codes, *, margin: float | None = None) -> RunEffect:
    """Return whether runs differ: score ~ stimulus + run + (1 | rater), by ML, against the same without run.

    Codes are from 0 without gaps; a rater of several runs has one code. `margin` is in points of the scale; without it
    nothing is called equivalent. Degrees of freedom of differences are raters minus the groups of runs that share some.
    """
    runs = int(run.max(initial=-1)) + 1
    note = _why_untestable(len(value), stimulus, run, rater)
    if note:
        return _untested(runs, note)
    full, null = _model(value, stimulus, run, rater), _model(value, stimulus, None, rater)
    with_runs = fit(full, is_reml=False)
    if with_runs.is_exact:
        return _untested(runs, _NO_RESIDUAL)
    without = fit(null, is_reml=False, near=with_runs.ratios)
    chi2 = max(0.0, 2 * (with_runs.llf - without.llf))
    df = int(rater.max()) + 1 - count_components(rater, run)
    differences = _differences(full, fit(full, is_reml=True, near=with_runs.ratios), runs, df, margin)
    return RunEffect(
        chi2, runs - 1, float(special.chdtrc(runs - 1, chi2)), with_runs.noise, float(with_runs.variances[0]),
        with_runs.llf, without.llf, differences,
    )  # fmt: skip


def _why_untestable(n: int, stimulus: Codes, run: Codes, rater: Codes) -> str:
    """Return why runs cannot be tested; empty where they can."""
    runs, raters = int(run.max(initial=-1)) + 1, int(rater.max(initial=-1)) + 1
    if runs < 2:
        return _ONE_RUN
    if count_components(stimulus, run) > 1:
        return _UNCONNECTED
    if raters == count_components(rater, run):
        return _ONE_RATER
    return _TOO_FEW if n <= int(stimulus.max()) + runs + 1 else ""


def _untested(runs: int, note: str) -> RunEffect:
    return RunEffect(math.nan, max(0, runs - 1), *(math.nan,) * 5, note=note)


def _model(value: Floats, stimulus: Codes, run: Codes | None, rater: Codes) -> Equations:
    """Return the equations with stimulus and, unless it is None, run fixed; the first run is what others are above."""
    first, second = factor(rater, is_random=True), factor(stimulus, is_random=False)
    if second.size > first.size:
        first, second = second, first
    runs = [] if run is None else [factor(run - 1, is_random=False)]
    return equations(value, first, [second, *runs])


def _differences(
    model: Equations, fitted: MixedModelFit, runs: int, df: int, margin: float | None
) -> tuple[RunDifference, ...]:  # fmt: skip
    """Return every two runs; the model has the runs last, the first of them at zero."""
    above = np.zeros(runs)
    above[1:] = fitted.solution.effects[-1]
    covariance = np.zeros((runs, runs))
    covariance[1:, 1:] = fitted.noise * fitted.solution.inverse[1 - runs :, 1 - runs :]
    rows = []
    for one, other in combinations(range(runs), 2):
        difference = float(above[one] - above[other])
        se = math.sqrt(covariance[one, one] + covariance[other, other] - 2 * covariance[one, other])
        half, inner = (float(special.stdtrit(df, share)) * se for share in ((1 + LEVEL) / 2, 1 - _ALPHA))
        p = float(2 * special.stdtr(df, -abs(difference / se)))
        judged = _equivalence(abs(difference), half, inner, margin)
        rows.append(RunDifference(one, other, difference, se, df, difference - half, difference + half, p, judged))
    return tuple(rows)


def _equivalence(distance: float, half: float, inner: float, margin: float | None) -> Equivalent:
    if margin is None:
        return ""
    if distance + inner < margin:
        return "yes"
    return "no" if distance - half > margin else "undecided"
