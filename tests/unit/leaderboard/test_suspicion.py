"""Suspicious votes on a board: found, told, shown by vote, and counted."""

from __future__ import annotations

import numpy as np

from beholder.checks.ballots import Stuffing
from beholder.leaderboard.fit import fit
from beholder.leaderboard.suspicion import suspicion
from beholder.leaderboard.tables import vote_table
from beholder.leaderboard.votes import Votes
from support.arena_votes import arena

FRIENDS, COPY, SCRIPT = range(6), (10, 11), 20


def odd_votes() -> Votes:
    """Return votes of 60 people: six friends of the weakest of five, one who copied another, and one script."""
    votes = arena(np.random.default_rng(2), [0.6, 0.3, 0.0, -0.3, -0.6], people=60, each=40, taste=0.2, ties=0.1)
    rows = np.arange(votes.size)
    rows[votes.person == COPY[1]] = rows[votes.person == COPY[0]]
    votes = votes.rows(rows)._replace(person=votes.person)
    sign = votes.sign.copy()
    is_friend = np.isin(votes.person, FRIENDS) & ((votes.one == 4) | (votes.other == 4))
    sign[is_friend] = np.where(votes.one[is_friend] == 4, 1.0, -1.0)
    script = votes.person == SCRIPT
    sign[script] = votes.order[script] * np.where(np.arange(script.sum()) % 2, 1.0, -1.0)
    return votes._replace(sign=sign)


def test_friends_copies_and_scripts_are_found_and_their_votes_count() -> None:
    votes = odd_votes()
    found = suspicion(votes, 5)
    assert found.people["stuffing"].tolist() == [*FRIENDS]
    assert found.people["copied"].tolist() == [*COPY]
    assert found.people["side_pattern"].tolist() == [SCRIPT]
    assert found.sentences == (
        "6 people voted for one condition far more often than its strength explains: c4 (6).",
        "6 people gave c4 every vote, 3 or more each, where about 0.0 would: its friends may have voted.",
        "2 people voted on the same pairs just as somebody else did, far more often than others agree.",
        "The choices of 1 person follow a pattern of sides, whatever is shown.",
    )
    assert found.without is not None
    assert found.without[4] < fit(votes, start=5).strength[4] - 0.1, "its friends carry it"
    table = vote_table(votes, found).table
    assert len(table) == votes.size
    assert set(table["flags"][votes.person == SCRIPT]) == {"side_pattern"}
    assert set(table["flags"][votes.person == 40]) == {""}


def test_where_everybody_is_honest_nobody_is_found() -> None:
    votes = arena(np.random.default_rng(3), [0.6, 0.3, 0.0, -0.3], people=60, each=40, taste=0.5, ties=0.1)
    found = suspicion(votes, 4)
    assert (found.sentences, found.without, found.everybody.tolist()) == ((), None, [])
    assert found.looked_at == 60


def test_rules_of_a_study_are_kept_to_and_few_people_tell_nothing() -> None:
    votes = odd_votes()
    strict = {"stuffing": Stuffing(Stuffing.Options(votes=60))}
    assert len(suspicion(votes, 5, strict).people["stuffing"]) == 0
    assert suspicion(votes.of_first(9), 5).looked_at == 0
    assert suspicion(votes._replace(together=3), 5).looked_at == 0, "choices among several depend on each other"
