"""Votes on a board that may not be somebody's own: for one condition, copied, or by a pattern of sides.

The rules are those of `stuffing`, `copied` and `side_pattern` (beholder.checks.ballots), over the votes that count.
What they find is shown, with the strengths as they would be without it; it goes on to count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from beholder.checks.ballots import FEWEST_OF_FRIEND, FEWEST_PEOPLE, SURE, BallotRule, Copied, SidePattern, Stuffing
from beholder.formats import count, join_names
from beholder.leaderboard.fit import fit
from beholder.leaderboard.votes import Votes
from beholder.stats.ballots import Ballots, copies, favours, side_pattern, unanimous
from beholder.stats.clustered import Codes, Floats
from beholder.stats.tests import benjamini_hochberg

RULES: tuple[type[BallotRule], ...] = (Stuffing, Copied, SidePattern)


class Suspicion(NamedTuple):
    """Who was found by each rule, what is said of it, and the strengths without the votes of all of them."""

    people: Mapping[str, Codes]
    """By the name of the rule, the numbers of people."""
    sentences: tuple[str, ...]
    without: Floats | None
    """None where nobody was found, or nobody else is left."""
    looked_at: int
    """People whose votes were enough for any of the rules."""

    @property
    def everybody(self) -> Codes:
        """All who were found, by any rule."""
        found = [numbers for numbers in self.people.values() if len(numbers)]
        return np.unique(np.concatenate(found)) if found else np.zeros(0, np.intp)

    def flags(self, votes: Votes) -> list[str]:
        """Return for each vote the rules that found who gave it, with spaces between."""
        words = [""] * len(votes.people)
        for name, numbers in self.people.items():
            for person in numbers.tolist():
                words[person] = f"{words[person]} {name}".strip()
        return [words[person] for person in votes.person.tolist()]


def suspicion(votes: Votes, start: int, rules: Mapping[str, BallotRule] | None = None) -> Suspicion:
    """Return whose votes may not be their own; `rules` are those of a study, by name, in place of the usual ones."""
    if len(np.unique(votes.person)) < FEWEST_PEOPLE or votes.together > 2:  # choices among several depend on each other
        return Suspicion({}, (), None, 0)
    asked = {kind.name: (rules or {}).get(kind.name, kind(kind.Options())).options for kind in RULES}
    ballots = _ballots(votes)
    sentences: list[str] = []
    option = asked[Stuffing.name]
    favoured = favours(ballots, option.votes, option.false_share)
    stuffed = np.flatnonzero(favoured.q.min(axis=1, initial=1.0) <= option.false_share)
    of = Counter(votes.name[at] for at in favoured.q[stuffed].argmin(axis=1).tolist())
    if len(stuffed):
        whom = join_names([f"{name} ({people})" for name, people in of.most_common()])
        people = count(len(stuffed), "person", "people")
        sentences.append(f"{people} voted for one condition far more often than its strength explains: {whom}.")
    groups = unanimous(favoured, FEWEST_OF_FRIEND)
    for at in np.flatnonzero(groups.p <= SURE).tolist():
        sentences.append(
            f"{groups.people[at]:,} people gave {votes.name[at]} every vote, {FEWEST_OF_FRIEND} or more each, where "
            f"about {groups.expected[at]:.1f} would: its friends may have voted."
        )
    option = asked[Copied.name]
    found = copies(ballots, option.votes)
    is_copy = found.q <= option.false_share
    copied = np.unique(np.concatenate([found.one[is_copy], found.other[is_copy]]))
    if len(copied):
        sentences.append(
            f"{count(len(copied), 'person', 'people')} voted on the same pairs just as somebody else did, far "
            "more often than others agree."
        )
    option = asked[SidePattern.name]
    by_side, enough = _by_side(votes, option.votes, option.false_share)
    if len(by_side):
        people = count(len(by_side), "person", "people")
        sentences.append(f"The choices of {people} follow a pattern of sides, whatever is shown.")
    many = np.flatnonzero((favoured.votes >= asked[Stuffing.name].votes).any(axis=1))
    looked_at = len(np.unique(np.concatenate([many, found.one, found.other, enough])))
    people_of = {Stuffing.name: stuffed, Copied.name: copied, SidePattern.name: by_side}
    told = Suspicion(people_of, tuple(sentences), None, looked_at)
    kept = votes.rows(~np.isin(votes.person, told.everybody))
    if not len(told.everybody) or not kept.size:
        return told
    return told._replace(without=fit(kept, start=start).strength)


def _ballots(votes: Votes) -> Ballots:
    """Return the votes with the earlier condition of each pair first, so that the same comparison is one task."""
    is_turned = votes.one > votes.other
    first, second = np.where(is_turned, (votes.other, votes.one), (votes.one, votes.other))
    size = len(votes.conditions)
    task = np.unique((first * size + second) * max(1, len(votes.contents)) + votes.content, return_inverse=True)[1]
    won = 0.5 * (1 + np.where(is_turned, -votes.sign, votes.sign))
    return Ballots(votes.person, first, second, task.astype(np.intp), won, len(votes.people), size)


def _by_side(votes: Votes, fewest: int, share: float) -> tuple[Codes, Codes]:
    """Return who chose by a pattern of sides, and whose choices were enough to tell."""
    is_choice = votes.order * votes.sign != 0
    side = np.where(votes.order * votes.sign > 0, 0, 1)[is_choice]
    person = votes.person[is_choice]
    counts = np.bincount(person, minlength=len(votes.people))
    enough = np.flatnonzero(counts >= fewest)
    if not len(enough):
        return enough, enough
    order = np.argsort(person, kind="stable")
    own = np.split(side[order], counts.cumsum()[:-1])
    usual = float(np.mean(side == 0))
    q = benjamini_hochberg([side_pattern([own[at]], usual).p for at in enough.tolist()])
    return enough[np.asarray(q) <= share], enough
