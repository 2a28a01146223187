"""Strengths of an arena: those of the analyses, with weights, covariates, position and ties; joins move nobody."""

from __future__ import annotations

import choix
import numpy as np
import pytest

from beholder.analysis.bradley_terry import fit_strengths
from beholder.analysis.comparisons import BRADLEY_TERRY
from beholder.leaderboard.fit import fit, founders
from support.arena_votes import arena, votes_from

QUALITY = [0.8, 0.3, 0.0, -0.4, -0.9]


def test_strengths_are_those_of_the_analysis_of_comparisons() -> None:
    votes = arena(np.random.default_rng(1), QUALITY, ties=0.15, position=0.3)
    mine, theirs = fit(votes, start=5), fit_strengths(votes.tally(), BRADLEY_TERRY)
    # The prior on position and ties, which only holds what votes say nothing about, moves the fourth digit.
    assert mine.strength == pytest.approx(theirs.quality, abs=2e-3)
    assert theirs.position is not None
    assert theirs.ties is not None
    assert mine.effect["position"] == pytest.approx(theirs.position.value, abs=2e-3)
    assert mine.place[-1] == pytest.approx(theirs.ties.value, abs=5e-3)


def test_strengths_without_ties_are_those_of_choix() -> None:
    votes = arena(np.random.default_rng(2), QUALITY)
    votes = votes._replace(order=np.zeros(votes.size))
    won = np.where(votes.sign > 0, votes.one, votes.other)
    lost = np.where(votes.sign > 0, votes.other, votes.one)
    theirs = choix.opt_pairwise(5, list(zip(won.tolist(), lost.tolist(), strict=True)))
    assert fit(votes, start=5).strength == pytest.approx(theirs - theirs.mean(), abs=1e-4)


def test_a_weight_of_two_is_the_same_vote_twice() -> None:
    votes = arena(np.random.default_rng(3), QUALITY, people=30, ties=0.1)
    weight = np.where(np.arange(votes.size) % 3 == 0, 2.0, 1.0)
    twice = votes.rows(np.repeat(np.arange(votes.size), weight.astype(int)))
    weighted, repeated = fit(votes, start=5, weight=weight), fit(twice, start=5)
    assert weighted.strength == pytest.approx(repeated.strength, abs=1e-7)


def test_a_factor_that_people_follow_is_found_beside_the_conditions() -> None:
    rng = np.random.default_rng(4)
    votes = arena(rng, [0.0, 0.0, 0.0], people=400, taste=0.0)
    louder = rng.normal(0, 1, votes.size)
    sign = np.where(rng.random(votes.size) < 1 / (1 + np.exp(-0.5 * louder)), 1.0, -1.0)
    there = fit(votes._replace(sign=sign), start=3, covariates={"loudness": louder})
    assert there.effect["loudness"] == pytest.approx(0.5, abs=0.1)
    assert np.abs(there.strength).max() < 0.15


def test_zero_is_the_mean_of_those_who_were_there_from_the_start() -> None:
    votes = arena(np.random.default_rng(5), [0.3, 0.0, -0.3, 2.0], people=200, taste=0.0, joins=(0, 0, 0, 100))
    assert founders(votes, 20) == 3
    before, after = fit(votes.of_first(100), start=3).strength, fit(votes, start=3).strength
    assert np.isnan(before[3])
    assert after[:3].mean() == pytest.approx(0, abs=1e-12)
    assert after[:3] == pytest.approx(before[:3], abs=0.2)
    assert after[3] == pytest.approx(2.0, abs=0.4)


def test_one_that_always_wins_has_a_finite_strength() -> None:
    one, other = np.array([0, 0, 1, 1] * 10), np.array([1, 2, 2, 2] * 10)
    sign = np.array([1.0, 1.0, 1.0, -1.0] * 10)
    votes = votes_from(3, one, other, np.zeros(40), sign, np.arange(40) // 4, np.zeros(40, np.intp))
    strength = fit(votes, start=3).strength
    assert np.isfinite(strength).all()
    assert strength[0] > strength[1:].max() + 1


def test_groups_that_never_met_have_each_their_zero() -> None:
    one, other = np.array([0, 2] * 20), np.array([1, 3] * 20)
    sign = np.random.default_rng(6).choice([-1.0, 1.0], 40)
    votes = votes_from(4, one, other, np.zeros(40), sign, np.arange(40) // 4, np.zeros(40, np.intp))
    strength = fit(votes, start=4).strength
    assert strength[:2].sum() == pytest.approx(0, abs=1e-12)
    assert strength[2:].sum() == pytest.approx(0, abs=1e-12)
