"""The effect of runs of a study on its scores, and whether runs are equivalent."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import scipy
from scipy import special

from beholder.stats.crossed import NO_TEST, FTest
from beholder.stats.intervals import LEVEL
from beholder.stats.mixed import CITATION as EQUATIONS
from beholder.stats.mixed import Codes, Equations, Floats, MixedModelFit, count_components, equations, factor, fit

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
    """Tests of run; where they are impossible, numbers are NaN and `note` says why.

    The likelihood ratio (`chi2`, `df`, `p`, by ML) is what others compute. With few raters it finds runs that do not
    differ too often; `test` does not.
    """

    chi2: float
    df: int
    p: float
    residual: float
    """Variance of the noise, in the model with runs."""
    rater: float
    """Variance of raters."""
    llf_full: float
    llf_null: float
    test: FTest = NO_TEST
    """Of no difference between runs, by REML; its error has the degrees of freedom of the differences."""
    differences: tuple[RunDifference, ...] = ()
    """Every two runs, by REML, with t over raters."""
    note: str = ""


def run_effect(value: Floats, stimulus: Codes, run: Codes, rater: Codes, *, margin: float | None = None) -> RunEffect:
    """Return whether runs differ: score ~ stimulus + run + (1 | rater) against the same without run.

    Codes are from 0 without gaps; a rater of several runs has one code. `margin` is in points of the scale; without it
    nothing is called equivalent. Degrees of freedom of error are raters minus the groups of runs that share some.
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
    by_reml = fit(full, is_reml=True, near=with_runs.ratios)
    above, covariance = _above_first(by_reml, runs)
    return RunEffect(
        chi2, runs - 1, float(special.chdtrc(runs - 1, chi2)), with_runs.noise, float(with_runs.variances[0]),
        with_runs.llf, without.llf, _test(above[1:], covariance[1:, 1:], df),
        _differences(above, covariance, df, margin),
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


def _above_first(fitted: MixedModelFit, runs: int) -> tuple[Floats, Floats]:
    """Return how far each run is above the first, which is last in the model, and the covariance of this."""
    above, covariance = np.zeros(runs), np.zeros((runs, runs))
    above[1:] = fitted.solution.effects[-1]
    covariance[1:, 1:] = fitted.noise * fitted.solution.inverse[1 - runs :, 1 - runs :]
    return above, covariance


def _test(above: Floats, covariance: Floats, df: int) -> FTest:
    """Return the F test that no run is above the first; in a balanced design that of the raters' means."""
    statistic = float(above @ np.linalg.solve(covariance, above)) / len(above)
    return FTest(statistic, len(above), df, float(scipy.stats.f.sf(statistic, len(above), df)))


def _differences(above: Floats, covariance: Floats, df: int, margin: float | None) -> tuple[RunDifference, ...]:
    """Return every two runs."""
    rows = []
    for one, other in combinations(range(len(above)), 2):
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
