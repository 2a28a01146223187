"""Differences of an arena: errors over people and contents, intervals for every look, e-values and sets of ranks."""

from __future__ import annotations

import numpy as np
import pytest

from beholder.analysis.bradley_terry import fit_strengths
from beholder.analysis.comparisons import BRADLEY_TERRY
from beholder.leaderboard.fit import fit
from beholder.leaderboard.ranks import Standings, difference_errors, standings
from beholder.leaderboard.votes import Votes
from beholder.stats.sequential import ALPHA, accumulated, sequence_log_e, sequence_quantile
from support.arena_votes import arena, votes_from


def stand_of(votes: Votes, **options: object) -> Standings:
    size = len(votes.conditions)
    return standings(fit(votes, start=size), claim="beyond", founders=size, **options)  # type: ignore[arg-type]


def test_errors_over_people_are_near_those_of_the_analysis_of_comparisons() -> None:
    votes = arena(np.random.default_rng(1), [0.5, 0.2, 0.0, -0.3], people=150, taste=0.8, content_sd=0.3)
    theirs = fit_strengths(votes.tally(), BRADLEY_TERRY)
    inner = np.ix_(range(4), range(4))
    upper = np.triu_indices(4, 1)
    for claim, errors in (("these", theirs.these), ("beyond", theirs.beyond)):
        mine = difference_errors(fit(votes, start=4), claim).se[inner][upper]  # type: ignore[arg-type]
        assert mine == pytest.approx(np.sqrt(errors.variance[inner][upper]), rel=0.25)


def test_votes_of_the_same_person_are_worth_less_than_votes_of_others() -> None:
    rng = np.random.default_rng(2)
    votes = arena(rng, [0.3, 0.0], people=60, contents=1, taste=1.5)
    alone = votes._replace(person=np.arange(votes.size), people=tuple(map(str, range(votes.size))))
    few, many = (float(difference_errors(fit(one, start=2), "these").se[0, 1]) for one in (votes, alone))
    assert few > 1.5 * many


def test_an_interval_leaves_out_zero_exactly_where_the_e_value_is_above_twenty() -> None:
    for seed in range(20):
        rng = np.random.default_rng([3, seed])
        stand = stand_of(arena(rng, [0.25, 0.0, -0.1], people=60, taste=0.3))
        mine = stand.differences
        is_out = (mine.low > 0) | (mine.high < 0)
        assert np.array_equal(is_out, mine.log_e >= -np.log(ALPHA))
        assert (mine.sure_low <= mine.low)[np.triu_indices(3, 1)].all()


def test_the_sequence_is_above_twenty_exactly_beyond_its_quantile() -> None:
    for se in (0.02, 0.15, 0.6):
        progress = accumulated(se)
        z = sequence_quantile(progress)
        assert float(sequence_log_e(z, progress)) == pytest.approx(-np.log(ALPHA))
        assert 3.0 < float(z) < 4.5


def test_a_unanimous_winner_is_clear_and_dissent_never_adds_evidence() -> None:
    n, evidence, low = 400, [], []
    for dissent in (0, 1, 4, 20, 60):
        sign = np.ones(n)
        sign[np.linspace(0, n - 1, dissent).astype(int)] = -1.0
        votes = votes_from(2, np.zeros(n, np.intp), np.ones(n, np.intp), np.zeros(n), sign, np.arange(n) // 10,
                           np.zeros(n, np.intp))  # fmt: skip
        stand = stand_of(votes)
        evidence.append(float(stand.differences.log_e[0, 1]))
        low.append(float(stand.differences.sure_low[0, 1]))
        assert stand.ranks.best.tolist() == [1, 2]
    assert evidence == sorted(evidence, reverse=True)
    assert low == sorted(low, reverse=True)
    assert low[-1] > 0


def test_ends_of_a_large_difference_are_those_of_its_likelihood() -> None:
    n = 300
    sign = np.where(np.arange(n) % 15 == 0, -1.0, 1.0)
    votes = votes_from(
        2, np.zeros(n, np.intp), np.ones(n, np.intp), np.zeros(n), sign, np.arange(n), np.zeros(n, np.intp)
    )
    stand = stand_of(votes)
    difference, low = (float(each[0, 1]) for each in (stand.differences.difference, stand.differences.low))
    p = 1 / (1 + np.exp(-np.array([difference, low])))
    height = n * ((14 / 15) * np.log(p) + (1 / 15) * np.log(1 - p))
    root = np.sqrt(2 * (height[0] - height[1]))
    assert difference > 2
    assert root == pytest.approx(float(sequence_quantile(accumulated(2 / np.sqrt(n)))), rel=0.1)


def test_a_condition_has_no_rank_below_the_least_number_of_people() -> None:
    votes = arena(np.random.default_rng(4), [1.5, 0.0, -1.5], people=40, taste=0.2)
    early = stand_of(votes.of_first(19))
    assert not early.is_ranked.any()
    assert np.isnan(early.low).all()
    assert not early.differences.is_found.any()
    assert stand_of(votes, minimum=45).is_ranked.sum() == 0
    late = stand_of(votes)
    assert late.is_ranked.all()
    assert late.ranks.best.tolist() == late.ranks.worst.tolist() == [1, 2, 3]


def test_a_retired_condition_keeps_its_strength_and_loses_its_rank() -> None:
    votes = arena(np.random.default_rng(5), [1.5, 0.0, -1.5], people=60, taste=0.2)._replace(retired=frozenset({"c0"}))
    stand = stand_of(votes)
    assert stand.fit.strength[0] > 1
    assert stand.ranks.best.tolist() == [0, 1, 2]
    assert stand.order == [1, 2, 0]


def test_what_nothing_joins_with_the_others_has_no_rank() -> None:
    one = np.array([0, 0, 1, 3] * 30)
    other = np.array([1, 2, 2, 4] * 30)
    rng = np.random.default_rng(6)
    votes = votes_from(5, one, other, np.zeros(120), rng.choice([-1.0, 1.0], 120), np.arange(120) // 4,
                       np.arange(120) % 6)  # fmt: skip
    stand = stand_of(votes)
    assert stand.is_ranked.tolist() == [True, True, True, False, False]
    assert np.isnan(stand.differences.low[0, 3])


def test_whoever_votes_for_all_is_no_evidence_beyond_that_person() -> None:
    sign = np.ones(200)
    votes = votes_from(2, np.zeros(200, np.intp), np.ones(200, np.intp), np.zeros(200), sign,
                       np.zeros(200, np.intp), np.arange(200) % 5)  # fmt: skip
    stand = stand_of(votes, minimum=1)
    assert np.isnan(stand.low).all()
    assert not stand.differences.is_found.any()
