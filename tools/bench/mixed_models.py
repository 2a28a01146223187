"""How long mixed models take: the run effect beside statsmodels, and crossed random effects of a million ratings."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd

from beholder.stats.crossed import fit_crossed
from beholder.stats.runs import run_effect
from bench.table import Row, below

_RUNS, _PER_RUN, _STIMULI, _EACH = 5, 63, 72, 24
_LIMIT_S, _LIMIT_CROSSED_S = 0.5, 10


def measure_mixed(*, ratings: int = 1_000_000) -> list[Row]:
    """Return the time of the run effect on 7,560 ratings, and of the mixed model of conditions on so many."""
    return [_runs(), _crossed(ratings)]


def _runs() -> Row:
    table = five_runs()
    codes = [table[name].to_numpy() for name in ("stimulus", "run", "rater")]
    ours = min(_seconds(lambda: run_effect(table["value"].to_numpy(), *codes)) for _ in range(5))
    theirs = _seconds(lambda: statsmodels_chi2(table))
    what = f"Run effect on {len(table):,} ratings, {_RUNS} runs, {_STIMULI} stimuli, {_RUNS * _PER_RUN} raters"
    return below(what, ours, _LIMIT_S, "s", f" (statsmodels {theirs:.1f} s)")


def five_runs() -> pd.DataFrame:
    """Return ratings of five runs that do not differ, each with raters of its own."""
    rng = np.random.default_rng(1)
    raters = _RUNS * _PER_RUN
    rater = np.repeat(np.arange(raters), _EACH)
    stimulus = np.concatenate([rng.permutation(_STIMULI)[:_EACH] for _ in range(raters)])
    felt = rng.uniform(1.5, 4.5, _STIMULI)[stimulus] + rng.normal(0, 0.32, raters)[rater]
    value = np.clip(np.round(felt + rng.normal(0, 0.65, len(rater))), 1, 5)
    return pd.DataFrame({"value": value, "stimulus": stimulus, "run": rater // _PER_RUN, "rater": rater})


def statsmodels_chi2(table: pd.DataFrame) -> float:
    """Return the same likelihood ratio by statsmodels."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from statsmodels.formula.api import mixedlm

        # Its usual methods stop below the maximum here and say that they converged; this is the fastest that does not.
        full, null = (
            mixedlm(f"value ~ C(stimulus){run}", table, groups="rater").fit(reml=False, method="cg")
            for run in (" + C(run)", "")
        )
    return float(2 * (full.llf - null.llf))


def _crossed(ratings: int) -> Row:
    conditions, contents, each = 10, 100, 100
    rng = np.random.default_rng(1)
    people = max(2, ratings // each)
    person = np.repeat(np.arange(people), each)
    cell = rng.integers(0, conditions * contents, len(person))
    condition, content = cell % conditions, cell // conditions
    value = 0.3 * condition + rng.normal(0, 0.5, people)[person] + rng.normal(0, 0.5, contents)[content]
    value += rng.normal(0, 0.7, len(person))
    spent = _seconds(lambda: fit_crossed(value, condition, person, content))
    what = (
        f"Mixed model of {ratings:,} ratings, {conditions} conditions, {people:,} people and {contents} contents random"
    )
    return below(what, spent, _LIMIT_CROSSED_S, "s")


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
