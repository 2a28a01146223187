"""Rater models agree with sureal on random votes, and their intervals cover a planted truth."""

from __future__ import annotations

import numpy as np
import pytest

from beholder.stats.rater_models import Floats, RaterVotes, p910, p913, t_means
from beholder.stats.shrinkage import shrunken
from support.rater_votes import coded, table
from support.variants import variant

STIMULI, VOTES_EACH, CARELESS = 200, 20, 0.05


@pytest.mark.parametrize("seed", range(3))
def test_annex_e_equals_sureal_on_random_sparse_votes(seed: int) -> None:
    from bench.rater_models import sureal_p910, sureal_reader

    rng = np.random.default_rng(seed)
    raters, stimuli = 25, 40
    shown = [rng.permutation(stimuli)[: rng.integers(20, 40)] for _ in range(raters)]
    rater = np.repeat(np.arange(raters), [len(some) for some in shown])
    stimulus = np.concatenate(shown)
    felt = rng.uniform(1.5, 4.5, stimuli)[stimulus] + rng.normal(0, 0.4, raters)[rater]
    value = np.clip(np.round(felt + rng.uniform(0.4, 1.2, raters)[rater] * rng.standard_normal(len(rater))), 1, 5)
    votes = RaterVotes(value, rater, stimulus, raters, stimuli)
    reader = sureal_reader(votes)
    known, fitted = sureal_p910(reader), p910(votes)
    at = np.array(reader._get_list_observers(), dtype=int)
    np.testing.assert_allclose(fitted.quality, known["quality_scores"], atol=1e-6)
    np.testing.assert_allclose(fitted.se, known["quality_scores_std"], atol=1e-6)
    np.testing.assert_allclose(fitted.bias[at], known["observer_bias"], atol=1e-6)
    np.testing.assert_allclose(fitted.inconsistency[at], known["observer_inconsistency"], atol=1e-6)


def planted(rng: np.random.Generator, each: int) -> tuple[RaterVotes, Floats]:
    """Return rounded votes of raters with `each` votes, 20 on every stimulus, and the true qualities."""
    raters = STIMULI * VOTES_EACH // each
    stimulus = np.concatenate([rng.permutation(STIMULI) for _ in range(VOTES_EACH)])
    rater = np.repeat(np.arange(raters), each)
    truth = rng.uniform(1.5, 4.5, STIMULI)
    inconsistency = np.exp(rng.normal(np.log(0.6), 0.35, raters))
    felt = truth[stimulus] + rng.normal(0, 0.35, raters)[rater] + inconsistency[rater] * rng.standard_normal(len(rater))
    is_careless = (rng.random(raters) < CARELESS)[rater]
    value = np.where(is_careless, rng.integers(1, 6, len(rater)), np.clip(np.round(felt), 1, 5))
    return RaterVotes(value.astype(float), rater, stimulus, raters, STIMULI), truth


def measured(each: int, times: int) -> dict[str, tuple[float, float]]:
    """Return RMSE and coverage of each model over planted studies."""
    rng = np.random.default_rng(each)
    sums: dict[str, list[tuple[float, float]]] = {}
    for _ in range(times):
        votes, truth = planted(rng, each)
        plain = t_means(votes)
        intervals = {"mos": (plain.quality, plain.low, plain.high)}
        for model in (p913, p910, shrunken):
            fitted = model(votes)
            intervals[model.__name__] = (fitted.quality, fitted.low, fitted.high)
        for name, (quality, low, high) in intervals.items():
            holds = (low <= truth) & (truth <= high)
            sums.setdefault(name, []).append((float(((quality - truth) ** 2).mean()), float(holds.mean())))
    means = {name: np.mean(some, axis=0) for name, some in sums.items()}
    return {name: (float(square) ** 0.5, float(share)) for name, (square, share) in means.items()}


@pytest.mark.variant
@pytest.mark.long
@pytest.mark.parametrize("each", [5, 50, *map(variant, (10, 20))])
def test_shrunken_intervals_hold_the_truth_in_sessions_of_any_length(each: int, whole: bool) -> None:
    errors = measured(each, 100 if whole else 3)
    error, share = errors["shrunken"]
    assert 0.92 <= share <= 0.98
    assert error <= min(some for name, (some, _) in errors.items() if name != "shrunken") + 0.005
    if each == 5:
        assert 0.6 < errors["p910"][1] < 0.78
        assert errors["p910"][0] > errors["mos"][0]
    if each == 50:
        assert 0.92 <= errors["p910"][1] <= 0.97


@pytest.mark.long
def test_held_out_ratings_of_vqeg_hd3_are_foretold_best_without_plain_annex_e(whole: bool) -> None:
    votes, _, _ = coded(table("vqeghd3_raw.csv"))
    raters, kept, each = votes.raters, 40, 10
    matrix = np.zeros((raters, votes.stimuli))
    matrix[votes.rater, votes.stimulus] = votes.value
    rng = np.random.default_rng(1)
    by_model: dict[str, list[tuple[float, float]]] = {}
    for _ in range(60 if whole else 6):
        some = matrix[:, rng.permutation(votes.stimuli)[:kept]]
        is_seen = np.zeros(some.shape, dtype=bool)
        shown = np.concatenate([rng.permutation(kept) for _ in range(raters * each // kept)])
        is_seen[np.repeat(np.arange(raters), each), shown] = True
        rater, stimulus = np.nonzero(is_seen)
        training = RaterVotes(some[rater, stimulus], rater, stimulus, raters, kept)
        hidden = np.nanmean(np.where(is_seen, np.nan, some), axis=0)
        hidden_se = np.nanstd(np.where(is_seen, np.nan, some), axis=0, ddof=1) / np.sqrt((~is_seen).sum(axis=0))
        for name, model in {"p910": p910, "shrunken": shrunken}.items():
            fitted = model(training)
            off = np.abs(fitted.quality - hidden)
            holds = off <= 1.96 * np.hypot(fitted.se, hidden_se)
            by_model.setdefault(name, []).append((float(np.sqrt((off**2).mean())), float(holds.mean())))
    errors = {name: np.mean(some, axis=0) for name, some in by_model.items()}
    np.testing.assert_allclose(errors["shrunken"], [0.31, 0.95], atol=0.03)
    np.testing.assert_allclose(errors["p910"], [0.43, 0.79], atol=0.06)
