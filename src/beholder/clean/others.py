"""What the others say: means over everybody else whose ratings are used."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from beholder.checks.agreement import Vote, voted
from beholder.checks.verdict import Others
from beholder.clean.ratings import Rating
from beholder.clean.sessions import Judged


class Votes:
    """All votes on each stimulus and question, and how many of them each person gave."""

    def __init__(self, ratings: Iterable[Rating]) -> None:
        self._all: dict[Vote, list[float]] = {}
        self._own: dict[str, dict[Vote, list[float]]] = defaultdict(dict)
        for rating in ratings:
            vote = _vote(rating)
            if vote is not None and rating.value is not None:
                for sums in (self._all, self._own[rating.participant]):
                    known = sums.setdefault(vote, [0.0, 0])
                    known[0] += rating.value
                    known[1] += 1

    def others(self, one: Judged) -> Others:
        """Return the means of everybody else on what was judged in a session."""
        own = self._own.get(one.visit.participant, {})
        found = {}
        for vote in {vote for rating in one.ratings if (vote := _vote(rating)) is not None}:
            whole, count = self._all.get(vote, (0.0, 0))
            mine, times = own.get(vote, (0.0, 0))
            if count > times:
                found[vote] = (whole - mine) / (count - times)
        return found


def _vote(rating: Rating) -> Vote | None:
    judged = voted(rating.kind, rating.stimulus, rating.other_stimulus)
    return None if judged is None else (judged, rating.question)
