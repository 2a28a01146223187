"""What a rank rests on, and warnings where that is little."""

from __future__ import annotations

import numpy as np

from beholder.leaderboard.coverage import coverage
from beholder.leaderboard.fit import fit
from beholder.leaderboard.ranks import Standings, standings
from beholder.leaderboard.votes import Votes
from support.arena_votes import votes_from


def stand_of(votes: Votes) -> Standings:
    size = len(votes.conditions)
    return standings(fit(votes, start=size), claim="these", founders=size)


def test_what_rests_on_little_is_said() -> None:
    one = np.array([0, 0, 1, 3, 0] * 40)
    other = np.array([1, 2, 2, 4, 1] * 40)
    n = len(one)
    rng = np.random.default_rng(6)
    sign, person = rng.choice([-1.0, 1.0], n), np.arange(n) // 4
    votes = votes_from(6, one, other, np.zeros(n), sign, person, np.arange(n) % 6)
    warnings = coverage(stand_of(votes), None).warnings
    assert warnings == (
        "c5 has no votes yet.",
        "c3 and c4 were never compared with the others, not even through others, and have no rank.",
        "c3 was compared with c4 only: its place rests on that one pair.",
        "c4 was compared with c3 only: its place rests on that one pair.",
    )
    few = votes.rows(np.arange(60))
    assert (
        "Few votes: c2 (24), c3 (12) and c4 (12). Below 30 votes a strength says little."
        in coverage(stand_of(few), None).warnings
    )


def test_one_person_with_many_votes_is_said_and_a_weak_bridge_too() -> None:
    rng = np.random.default_rng(7)
    one = np.concatenate([np.tile([0, 2], 100), np.full(6, 1)])
    other = np.concatenate([np.tile([1, 3], 100), np.full(6, 2)])
    n = len(one)
    person = np.concatenate([np.repeat(np.arange(50), 4), np.arange(6)])
    votes = votes_from(4, one, other, np.zeros(n), rng.choice([-1.0, 1.0], n), person, np.arange(n) % 5)
    cover = coverage(stand_of(votes), None)
    assert cover.across == 6
    assert "6 votes alone hold c0 and c1 together with the others." in cover.warnings or (
        "6 votes alone hold c2 and c3 together with the others." in cover.warnings
    )
    heavy = votes._replace(person=np.where(votes.one == 2, 0, votes.person))
    assert any(
        "One person gave a large share of the votes of" in one for one in coverage(stand_of(heavy), None).warnings
    )
