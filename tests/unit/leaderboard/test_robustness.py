"""How far a board rests on few people, on agreement, on how pairs were drawn, and on what stimuli differ in."""

from __future__ import annotations

import numpy as np
import pytest

from beholder.leaderboard.fit import fit
from beholder.leaderboard.ranks import Standings, standings
from beholder.leaderboard.robustness import covariates, draw_weights, fewest_people, rater_weighted, rater_weights
from beholder.leaderboard.votes import Votes
from support.arena_votes import arena, signs, votes_from


def stand_of(votes: Votes) -> Standings:
    size = len(votes.conditions)
    return standings(fit(votes, start=size), claim="these", founders=size)


def test_without_the_people_that_are_named_another_one_leads() -> None:
    votes = arena(np.random.default_rng(1), [0.1, 0.0, -0.8], people=80, taste=0.6)
    stand = stand_of(votes)
    removal = fewest_people(stand, 3)
    assert removal is not None
    assert 0 < removal.people < 40
    pulls = stand.fit.pulls(votes.person, len(votes.people))
    order = np.argsort(-(pulls[:, removal.leader] - pulls[:, removal.rival]))
    there = fit(votes.rows(~np.isin(votes.person, order[: removal.people])), start=3)
    assert int(np.argmax(there.strength)) != removal.leader


def test_more_people_decide_where_the_lead_is_larger() -> None:
    close, clear = (
        fewest_people(stand_of(arena(np.random.default_rng(2), [lead, 0.0, -1.0], people=80, taste=0.5)), 3)
        for lead in (0.15, 0.8)
    )
    assert close is not None
    assert clear is not None
    assert close.people < (clear.people or 80)


def test_people_who_press_at_random_weigh_less() -> None:
    rng = np.random.default_rng(3)
    votes = arena(rng, [1.5, 0.5, -0.5, -1.5], people=60, each=30, taste=0.2)
    is_random = votes.person < 15
    votes = votes._replace(sign=np.where(is_random, rng.choice([-1.0, 1.0], votes.size), votes.sign))
    weight = rater_weights(fit(votes, start=4))
    assert weight.mean() == pytest.approx(1)
    assert weight[:15].mean() < 0.6 < weight[15:].mean()
    plain, weighted = fit(votes, start=4), rater_weighted(fit(votes, start=4), 4)
    assert np.ptp(weighted.strength) > np.ptp(plain.strength)


def test_pairs_that_were_drawn_less_often_weigh_more() -> None:
    rng = np.random.default_rng(4)
    n, chance = 3000, np.array([0.6, 0.3, 0.1])
    pair = rng.choice(3, n, p=chance)
    one, other = np.array([0, 0, 1])[pair], np.array([1, 2, 2])[pair]
    # Who wins goes round in a circle, so that strengths depend on how often each pair is met.
    sign = signs(rng, np.array([0.8, -0.8, 0.8])[pair])
    votes = votes_from(3, one, other, np.zeros(n), sign, np.arange(n) // 10, np.arange(n) % 7)
    assert draw_weights(votes, 3) is None
    drawn = draw_weights(votes._replace(draw=chance[pair]), 3)
    assert drawn is not None
    shares = [drawn.weight[pair == at].sum() / drawn.weight.sum() for at in range(3)]
    assert shares == pytest.approx([1 / 3] * 3, abs=0.02)
    assert 0.4 * n < drawn.effective < n
    plain, even = fit(votes, start=3).strength, fit(votes, start=3, weight=drawn.weight).strength
    assert np.abs(even).max() < 0.1 < np.abs(plain).max()
    assert draw_weights(votes._replace(draw=np.full(n, 1 / 3)), 3) is None


def test_a_covariate_is_a_contrast_and_only_where_conditions_do_not_tell_it() -> None:
    rng = np.random.default_rng(5)
    votes = arena(rng, [0.0, 0.0, 0.0], people=300, contents=12, taste=0.0)
    length = rng.normal(20, 4, (3, 12))
    sides = tuple(length[side, votes.content] for side in (votes.one, votes.other))
    by_condition = tuple(np.array([1.0, 2.0, 3.0])[side] for side in (votes.one, votes.other))
    votes = votes._replace(
        sign=signs(rng, 0.1 * (sides[0] - sides[1])),
        factors={
            "seconds": (sides[0].astype(object), sides[1].astype(object)),
            "version": (by_condition[0].astype(object), by_condition[1].astype(object)),
            "empty": (np.full(votes.size, "", object), np.full(votes.size, "", object)),
        },
    )
    found = covariates(stand_of(votes), 3, "these")
    assert [one.name for one in found] == ["seconds"]
    assert found[0].low < 0.1 < found[0].high
    assert found[0].low > 0
    assert found[0].log_e > 3
    (of_measured,) = covariates(
        stand_of(votes._replace(factors={}, measured={"ms": 1000 * (sides[0] - sides[1])})), 3, "these"
    )
    assert of_measured.effect == pytest.approx(found[0].effect / 1000)
    assert of_measured.log_e == pytest.approx(found[0].log_e), "whatever its units"
    assert of_measured.is_known
