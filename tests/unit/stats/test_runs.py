"""The effect of runs: references, planted numbers, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from beholder.stats.runs import RunEffect, run_effect
from support.data import data_file
from support.run_ratings import Table, five_runs


def codes(table: pd.DataFrame, *columns: str) -> list[Any]:
    return [pd.factorize(table[name], sort=True)[0] for name in columns]


def planted_runs(
    rng: np.random.Generator, runs: int, raters: int, *, stimuli: int = 24, each: int = 12, shift: float = 0.0
) -> Table:
    """Return ratings of several runs, each with raters of its own; the first run is so much above the others."""
    rater = np.repeat(np.arange(runs * raters), each)
    stimulus = np.concatenate([rng.permutation(stimuli)[:each] for _ in range(runs * raters)])
    run = rater // raters
    value = rng.normal(3, 0.8, stimuli)[stimulus] + rng.normal(0, 0.4, runs * raters)[rater] + shift * (run == 0)
    return {"value": value + rng.normal(0, 0.7, len(rater)), "stimulus": stimulus, "run": run, "rater": rater}


def test_run_effect_equals_the_reference() -> None:
    table = five_runs()
    known = pd.read_csv(data_file("ratings/lmm_runs_synth_reference.csv")).set_index("method").loc["profiled_ml"]
    effect = run_effect(table["value"].to_numpy(float), *codes(table, "stimulus", "run", "participant"))
    names = {
        "chi2": "chi2", "df": "df", "p": "p", "residual": "resid_var", "rater": "subject_var", "llf_full": "llf_full",
        "llf_null": "llf_null",
    }  # fmt: skip
    for mine, theirs in names.items():
        assert getattr(effect, mine) == pytest.approx(known[theirs], abs=1e-6)
    assert effect.note == ""
    assert len(effect.differences) == 10


def test_run_effect_whichever_factor_is_larger() -> None:
    """More stimuli than raters are eliminated the other way round; the likelihood is the same function of the data."""
    rng = np.random.default_rng(2)
    few = planted_runs(rng, 2, 6, stimuli=40, each=30, shift=0.3)
    effect = run_effect(**few)
    twice = {**few, "stimulus": few["stimulus"] % 10}
    assert effect.note == run_effect(**twice).note == ""
    pair = effect.differences[0]
    # With everybody on most stimuli the difference is close to that of the raters' own means.
    own = pd.DataFrame(few).assign(value=lambda t: t["value"] - t.groupby("stimulus")["value"].transform("mean"))
    means = own.groupby(["run", "rater"])["value"].mean().groupby("run").mean()
    assert pair.difference == pytest.approx(means[0] - means[1], abs=0.15)
    assert pair.low < pair.difference < pair.high


def test_run_effect_of_a_balanced_design_is_the_t_test_of_rater_means() -> None:
    """Everybody rates everything: run against run is Student's t over the raters' means."""
    rng = np.random.default_rng(3)
    table = planted_runs(rng, 2, 9, stimuli=7, each=7)
    pair = run_effect(**table).differences[0]
    means = pd.DataFrame(table).groupby(["run", "rater"])["value"].mean()
    known = stats.ttest_ind(means[0], means[1])
    assert pair.difference == pytest.approx(means[0].mean() - means[1].mean())
    assert pair.df == known.df == 16
    assert pair.p == pytest.approx(known.pvalue, rel=1e-6)
    assert (pair.low, pair.high) == pytest.approx(tuple(known.confidence_interval()), rel=1e-6)


def test_the_f_test_of_a_balanced_design_is_the_analysis_of_variance_of_rater_means() -> None:
    table = planted_runs(np.random.default_rng(3), 3, 9, stimuli=7, each=7)
    found = run_effect(**table)
    means = pd.DataFrame(table).groupby(["run", "rater"])["value"].mean()
    known = stats.f_oneway(*(group for _, group in means.groupby("run")))
    assert found.test[:3] == pytest.approx((known.statistic, 2, 24), rel=1e-6)
    assert found.test.p == pytest.approx(known.pvalue, rel=1e-6)


def test_one_rater_in_two_runs_is_one_rater() -> None:
    """A difference within people is estimated far more precisely than one between as many people."""
    rng = np.random.default_rng(4)
    rater, run, stimulus = (axis.ravel() for axis in np.indices((10, 2, 8)))
    value = rng.normal(0, 1, 10)[rater] + rng.normal(0, 1, 8)[stimulus] + 0.4 * (run == 0) + rng.normal(0, 0.3, 160)
    within = run_effect(value, stimulus, run, rater)
    between = run_effect(value, stimulus, run, rater * 2 + run)
    assert within.differences[0].difference == pytest.approx(between.differences[0].difference)
    assert within.differences[0].se < between.differences[0].se / 4
    assert within.p < 1e-6 < 0.05 < between.p


@pytest.mark.parametrize(("margin", "said"), [(None, ""), (0.01, "no"), (0.35, "undecided"), (2.0, "yes")])
def test_equivalence_is_said_only_where_it_is_shown(margin: float | None, said: str) -> None:
    effect = run_effect(**planted_runs(np.random.default_rng(5), 2, 40, shift=0.4), margin=margin)
    assert effect.differences[0].equivalent == said


def test_no_clear_difference_is_not_equivalence() -> None:
    effect = run_effect(**planted_runs(np.random.default_rng(6), 2, 4), margin=0.2)
    assert effect.p > 0.05
    assert effect.differences[0].equivalent == "undecided"


def small(value: Any, stimulus: Any, run: Any, rater: Any) -> RunEffect:
    return run_effect(np.asarray(value, float), *(np.asarray(code, np.intp) for code in (stimulus, run, rater)))


@pytest.mark.parametrize(
    ("found", "note"),
    [
        (small([1, 2, 3], [0, 1, 0], [0, 0, 0], [0, 0, 1]), "one run: nothing to compare"),
        (small([], [], [], []), "one run: nothing to compare"),
        (
            small([1, 2, 3, 4], [0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 2, 3]),
            "runs share no stimulus, not even through others: cannot be compared",
        ),
        (
            small([1, 2, 3, 4], [0, 1, 0, 1], [0, 0, 1, 1], [0, 0, 1, 1]),
            "one rater in each run: runs cannot be told from raters",
        ),
        (small([1, 2, 3], [0, 1, 0], [0, 0, 1], [0, 1, 2]), "too few ratings for so many stimuli and runs"),
        (
            small([3] * 12, [0, 1, 2] * 4, [0] * 6 + [1] * 6, [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]),
            "ratings leave nothing to chance: nothing to test",
        ),
    ],
)
def test_run_effect_says_why_there_is_none(found: RunEffect, note: str) -> None:
    assert found.note == note
    assert np.isnan([found.chi2, found.p, found.residual, found.rater, found.llf_full, found.llf_null]).all()
    assert np.isnan(found.test.p)
    assert found.differences == ()


def test_raters_alike_have_no_variance() -> None:
    """Where raters differ less than chance would have them, their variance is zero and the model that without them."""
    rng = np.random.default_rng(7)
    rater, stimulus = (axis.ravel() for axis in np.indices((8, 6)))
    noise = rng.normal(0, 1, (8, 6))
    value = (noise - noise.mean(axis=1, keepdims=True)).ravel() + stimulus
    effect = run_effect(value, stimulus, rater // 4, rater)
    assert effect.rater == 0
    assert effect.chi2 == pytest.approx(0, abs=1e-9)
    centred = value - pd.Series(value).groupby(stimulus).transform("mean")
    assert effect.residual == pytest.approx(float((centred**2).mean()))


@pytest.mark.long
def test_run_effect_keeps_its_level(whole: bool) -> None:
    """Without any difference F finds one in 5 %, the likelihood ratio in 5 to 9, OLS without raters in many more."""
    times = 2_000 if whole else 60
    rng = np.random.default_rng(8)
    actual, plain, held, ratio = 0, 0, 0, 0
    for _ in range(times):
        table = planted_runs(rng, 4, 12)
        effect = run_effect(**table)
        actual += effect.test.p < 0.05
        ratio += effect.p < 0.05
        held += effect.differences[0].low < 0 < effect.differences[0].high
        rest = pd.Series(table["value"]).groupby(table["stimulus"]).transform("mean")
        left = pd.Series(table["value"] - rest).groupby(table["run"])
        plain += stats.f_oneway(*(group for _, group in left)).pvalue < 0.05
    low, high = stats.binom.interval(0.9999, times, 0.05)
    assert low <= actual <= min(high, ratio)
    assert plain > 3 * actual
    assert held >= stats.binom.ppf(0.0001, times, 0.95)
