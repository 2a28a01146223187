"""Whether runs of one test differ: the likelihood ratio of run beside stimulus and rater, and equivalence."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from scipy import special

from beholder.stats.interval import LEVEL
from beholder.stats.likelihood import Fit, fit
from beholder.stats.mixed_equations import CITATION as EQUATIONS
from beholder.stats.mixed_equations import Codes, Equations, Floats, components, equations, factor

CITATION = f"{EQUATIONS}; Schuirmann (1987), Journal of Pharmacokinetics and Biopharmaceutics 15"
MARGIN = 0.05
"""What two runs may differ by and still be called equivalent, as a share of the width of the scale."""
ALPHA = 0.05
Equivalent: TypeAlias = Literal["yes", "no", "undecided", ""]
_ONE_RUN = "one run: nothing to compare"
_APART = "runs share no stimulus, not even through others: cannot be compared"
_ALONE = "one rater in each run: runs cannot be told from raters"
_FEW = "too few ratings for so many stimuli and runs"
_STILL = "ratings leave nothing to chance: nothing to test"


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
    """The likelihood ratio test of run, ML; every number is NaN, and `note` says why, where there is none."""

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
    note = _refused(len(value), stimulus, run, rater)
    if note:
        return _nothing(runs, note)
    full, null = _model(value, stimulus, run, rater), _model(value, stimulus, None, rater)
    with_runs = fit(full, is_reml=False)
    if with_runs.is_exact:
        return _nothing(runs, _STILL)
    without = fit(null, is_reml=False, near=with_runs.ratios)
    chi2 = max(0.0, 2 * (with_runs.llf - without.llf))
    df = int(rater.max()) + 1 - components(rater, run)
    differences = _differences(full, fit(full, is_reml=True, near=with_runs.ratios), runs, df, margin)
    return RunEffect(
        chi2, runs - 1, float(special.chdtrc(runs - 1, chi2)), with_runs.noise, float(with_runs.variances[0]),
        with_runs.llf, without.llf, differences,
    )  # fmt: skip


def _refused(n: int, stimulus: Codes, run: Codes, rater: Codes) -> str:
    """Return why there is nothing to test, or nothing."""
    runs, raters = int(run.max(initial=-1)) + 1, int(rater.max(initial=-1)) + 1
    if runs < 2:
        return _ONE_RUN
    if components(stimulus, run) > 1:
        return _APART
    if raters == components(rater, run):
        return _ALONE
    return _FEW if n <= int(stimulus.max()) + runs + 1 else ""


def _nothing(runs: int, note: str) -> RunEffect:
    return RunEffect(math.nan, max(0, runs - 1), *(math.nan,) * 5, note=note)


def _model(value: Floats, stimulus: Codes, run: Codes | None, rater: Codes) -> Equations:
    """Return the equations with stimulus and, unless it is None, run fixed; the first run is what others are above."""
    first, second = factor(rater, is_random=True), factor(stimulus, is_random=False)
    if second.size > first.size:
        first, second = second, first
    runs = [] if run is None else [factor(run - 1, is_random=False)]
    return equations(value, first, [second, *runs])


def _differences(
    model: Equations, found: Fit, runs: int, df: int, margin: float | None
) -> tuple[RunDifference, ...]:  # fmt: skip
    """Return every two runs; the model has the runs last, the first of them at zero."""
    above = np.zeros(runs)
    above[1:] = found.solved.effects[-1]
    covariance = np.zeros((runs, runs))
    covariance[1:, 1:] = found.noise * found.solved.inverse[1 - runs :, 1 - runs :]
    rows = []
    for one, other in combinations(range(runs), 2):
        difference = float(above[one] - above[other])
        se = math.sqrt(covariance[one, one] + covariance[other, other] - 2 * covariance[one, other])
        half, inner = (float(special.stdtrit(df, share)) * se for share in ((1 + LEVEL) / 2, 1 - ALPHA))
        p = float(2 * special.stdtr(df, -abs(difference / se)))
        judged = _judged(abs(difference), half, inner, margin)
        rows.append(RunDifference(one, other, difference, se, df, difference - half, difference + half, p, judged))
    return tuple(rows)


def _judged(distance: float, half: float, inner: float, margin: float | None) -> Equivalent:
    if margin is None:
        return ""
    if distance + inner < margin:
        return "yes"
    return "no" if distance - half > margin else "undecided"
