"""Rater models: equal to what others computed, and sane on every odd set of votes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beholder.stats.rater_models import RaterModelFit, RaterVotes, bt500, p910, p913, stimulus_components
from beholder.stats.shrinkage import shrunken
from support.rater_votes import coded, table

MODELS = {"p913": p913, "bt500": bt500, "p910": p910, "shrunken": shrunken}
every_model = pytest.mark.parametrize("fit", MODELS.values(), ids=MODELS)
Model = Callable[[RaterVotes], RaterModelFit]


def votes_of(rows: list[tuple[float, int, int]]) -> RaterVotes:
    """Return votes from rows of value, rater and stimulus."""
    values = np.array(rows, float).reshape(-1, 3)
    codes = values[:, 1:].astype(np.intp)
    raters, stimuli = (int(column.max(initial=-1)) + 1 for column in codes.T)
    return RaterVotes(values[:, 0], codes[:, 0], codes[:, 1], raters, stimuli)


def crowd(rng: np.random.Generator, raters: int = 30, stimuli: int = 12, each: int = 8) -> RaterVotes:
    """Return votes on five points; everybody rates `each` stimuli."""
    stimulus = np.concatenate([rng.permutation(stimuli)[:each] for _ in range(raters)])
    rater = np.repeat(np.arange(raters), each)
    felt = np.linspace(1.5, 4.5, stimuli)[stimulus] + rng.normal(0, 0.4, raters)[rater]
    value = np.clip(np.round(felt + rng.uniform(0.3, 1, raters)[rater] * rng.standard_normal(len(rater))), 1, 5)
    return RaterVotes(value, rater, stimulus, raters, stimuli)


@pytest.mark.parametrize(
    ("fit", "model"), [(p910, "P910"), (p913, "BR_MOS"), (bt500, "BT500")], ids=["p910", "p913", "bt500"]
)
def test_vqeg_hd3_equals_another_implementation(fit: Model, model: str) -> None:
    votes, raters, stimuli = coded(table("vqeghd3_raw.csv"))
    known = table("vqeghd3_sureal_quality.csv")
    known = known[known["model"] == model].set_index("stimulus").loc[list(stimuli)]
    fitted = fit(votes)
    np.testing.assert_allclose(fitted.quality, known["quality"], atol=1e-8)
    np.testing.assert_allclose(fitted.se, known["quality_se"], atol=1e-8)
    people = table("vqeghd3_sureal_subjects.csv")
    people = people[people["model"] == model].set_index("subject").loc[list(raters)]
    if model == "BT500":
        assert list(raters[fitted.is_rejected]) == ["s13"] == list(people.index[people["rejected"].astype(bool)])
    else:
        np.testing.assert_allclose(fitted.bias, people["bias"], atol=1e-8)
    if model == "P910":
        np.testing.assert_allclose(fitted.inconsistency, people["inconsistency"], atol=1e-8)
        below, above = people["inconsistency_ci_lo"], people["inconsistency_ci_hi"]
        np.testing.assert_allclose(fitted.inconsistency - fitted.inconsistency_low, below, atol=1e-8)
        np.testing.assert_allclose(fitted.inconsistency_high - fitted.inconsistency, above, atol=1e-8)


def test_the_sparse_synthetic_set_equals_another_implementation() -> None:
    votes, _, stimuli = coded(table("synth_1000x500_raw.csv"))
    known = table("synth_1000x500_sureal_quality.csv")
    known = known[known["model"] == "P910"].set_index("stimulus").loc[list(stimuli)]
    fitted = p910(votes)
    np.testing.assert_allclose(fitted.quality, known["quality"], atol=1e-7)
    np.testing.assert_allclose(fitted.se, known["quality_se"], atol=1e-7)


def test_bias_removal_is_the_least_squares_solution_where_raters_saw_different_stimuli() -> None:
    votes = crowd(np.random.default_rng(4))
    design = np.zeros((len(votes.value), votes.stimuli + votes.raters))
    design[np.arange(len(design)), votes.stimulus] = 1
    design[np.arange(len(design)), votes.stimuli + votes.rater] = 1
    solved = np.linalg.lstsq(design, votes.value, rcond=None)[0][votes.stimuli :]
    fitted = p913(votes)
    np.testing.assert_allclose(fitted.bias, solved - solved.mean(), atol=1e-9)
    unbiased = pd.Series(votes.value - fitted.bias[votes.rater]).groupby(votes.stimulus)
    np.testing.assert_allclose(fitted.quality, unbiased.mean(), atol=1e-12)
    np.testing.assert_allclose(fitted.se, unbiased.sem(), atol=1e-12)


def test_the_rule_of_bt500_counts_own_ratings_and_skips_unanimous_stimuli() -> None:
    spread = (2.0, 3.0, 3.0, 3.0, 4.0)
    rows = [(spread[(rater + stimulus) % 5], rater, stimulus) for rater in range(20) for stimulus in range(20)]
    careless = [(1.0, 20, 0), (5.0, 20, 1)]
    fitted = bt500(votes_of([*rows, *careless]))
    assert fitted.above is not None
    assert fitted.below is not None
    assert (fitted.above[20], fitted.below[20]) == (1, 1)
    assert list(np.flatnonzero(fitted.is_rejected)) == [20]
    np.testing.assert_allclose(fitted.quality, 3)
    unanimous = bt500(votes_of([(3.0, rater, stimulus) for rater in range(20) for stimulus in range(20)]))
    assert not unanimous.outliers.any()
    assert not unanimous.is_rejected.any()
    one_sided = bt500(votes_of([*rows, (5.0, 20, 0), (5.0, 20, 1)]))
    assert one_sided.outliers[20] == 2
    assert not one_sided.is_rejected.any()


ODD: dict[str, list[tuple[float, int, int]]] = {
    "nothing": [],
    "one vote": [(3, 0, 0)],
    "one rater": [(3, 0, 0), (4, 0, 1), (2, 0, 2)],
    "one stimulus": [(3, 0, 0), (4, 1, 0), (2, 2, 0)],
    "all equal": [(3, rater, stimulus) for rater in range(4) for stimulus in range(3)],
    "exact": [(rater + stimulus, rater, stimulus) for rater in range(4) for stimulus in range(3)],
    "two parts": [(3, 0, 0), (4, 0, 1), (2, 1, 0), (3, 1, 1), (5, 2, 2), (4, 2, 3), (4, 3, 2), (2, 3, 3)],
    "each their own": [(rater % 5 + 1, rater, rater) for rater in range(6)],
    "gaps": [(3, 1, 1), (4, 1, 3), (2, 2, 1), (5, 2, 3), (4, 3, 3)],
}


@every_model
@pytest.mark.parametrize("rows", ODD.values(), ids=ODD)
def test_odd_votes_give_numbers_or_nothing(fit: Model, rows: list[tuple[float, int, int]]) -> None:
    votes = votes_of(rows)
    fitted = fit(votes)
    has_votes = votes.sum_by_stimulus() > 0
    assert np.isfinite(fitted.quality[has_votes]).all()
    assert np.isnan(fitted.quality[~has_votes]).all()
    for numbers in fitted[:8]:
        assert not np.isinf(numbers).any()
    assert len(fitted.quality) == len(fitted.component) == votes.stimuli
    assert len(fitted.bias) == len(fitted.is_rejected) == votes.raters
    known = ~np.isnan(fitted.se)
    assert (fitted.low[known] <= fitted.quality[known]).all()
    assert (fitted.quality[known] <= fitted.high[known]).all()


@pytest.mark.parametrize("fit", [p913, p910, shrunken])
def test_bias_is_counted_within_what_hangs_together(fit: Model) -> None:
    votes = votes_of(ODD["two parts"])
    assert list(stimulus_components(votes)) == [0, 0, 1, 1]
    fitted = fit(votes)
    assert list(fitted.component) == [0, 0, 1, 1]
    np.testing.assert_allclose([fitted.bias[:2].sum(), fitted.bias[2:].sum()], 0, atol=1e-12)
    means = [votes.value[votes.stimulus == stimulus].mean() for stimulus in range(4)]
    np.testing.assert_allclose(fitted.quality, means, atol=1e-9)


def test_neither_one_vote_nor_always_the_same_answer_captures_a_stimulus() -> None:
    rng = np.random.default_rng(8)
    votes = crowd(rng, raters=60, stimuli=12, each=8)
    plain = shrunken(votes)
    value = np.concatenate([votes.value, [5.0], np.full(12, 3.0)])
    rater = np.concatenate([votes.rater, [60], np.full(12, 61)])
    stimulus = np.concatenate([votes.stimulus, [0], np.arange(12)])
    fitted = shrunken(RaterVotes(value, rater, stimulus, 62, 12))
    assert np.abs(fitted.quality - plain.quality).max() < 0.15
    assert fitted.inconsistency[60] > 0.5 * np.median(plain.inconsistency)
    assert fitted.inconsistency[61] > np.median(plain.inconsistency)
    # Annex E, as it is written, gives the one vote all the weight.
    assert p910(RaterVotes(value, rater, stimulus, 62, 12)).inconsistency[60] < 1e-6


seeds = st.integers(0, 10_000)
few = settings(max_examples=8, deadline=None)


@every_model
@few
@given(seeds)
def test_moving_all_votes_moves_quality_alone(fit: Model, seed: int) -> None:
    votes = crowd(np.random.default_rng(seed), raters=16)
    one, other = fit(votes), fit(votes._replace(value=votes.value + 10))
    np.testing.assert_allclose(other.quality, one.quality + 10, atol=1e-4)
    np.testing.assert_allclose(other.se, one.se, atol=1e-4)
    np.testing.assert_allclose(other.bias, one.bias, atol=1e-4)
    assert (other.is_rejected == one.is_rejected).all()


@pytest.mark.parametrize("fit", [p913, bt500, shrunken])
@few
@given(seeds)
def test_another_unit_changes_the_unit_alone(fit: Model, seed: int) -> None:
    votes = crowd(np.random.default_rng(seed), raters=16)
    one, other = fit(votes), fit(votes._replace(value=votes.value * 8))
    np.testing.assert_allclose(other.quality, 8 * one.quality, atol=1e-6)
    np.testing.assert_allclose(other.high, 8 * one.high, atol=1e-6)
    np.testing.assert_allclose(other.inconsistency, 8 * one.inconsistency, atol=1e-6)


@every_model
@few
@given(seeds)
def test_the_order_of_votes_and_names_does_not_matter(fit: Model, seed: int) -> None:
    rng = np.random.default_rng(seed)
    votes = crowd(rng, raters=16)
    order, raters, stimuli = (rng.permutation(n) for n in (len(votes.value), votes.raters, votes.stimuli))
    shuffled = RaterVotes(
        votes.value[order], raters[votes.rater][order], stimuli[votes.stimulus][order], votes.raters, votes.stimuli
    )
    one, other = fit(votes), fit(shuffled)
    np.testing.assert_allclose(other.quality[stimuli], one.quality, atol=1e-5)
    np.testing.assert_allclose(other.bias[raters], one.bias, atol=1e-5)


@pytest.mark.parametrize("fit", [p913, p910, shrunken])
def test_somebody_who_scores_higher_changes_bias_and_not_the_differences(fit: Model) -> None:
    votes = crowd(np.random.default_rng(2), raters=40, each=12)
    one = fit(votes)
    other = fit(votes._replace(value=votes.value + (votes.rater == 7)))
    moved = other.quality - one.quality
    assert np.ptp(moved) < 0.01
    assert other.bias[7] - one.bias[7] == pytest.approx(1, abs=0.2)
    assert other.inconsistency[7] == pytest.approx(one.inconsistency[7], abs=0.1, nan_ok=True)
