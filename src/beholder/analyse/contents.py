"""contents: one row per content and question."""

from __future__ import annotations

from beholder.analyse.conditions import by_group, interval_citation, unit_note
from beholder.analyse.result import Result
from beholder.analyse.table import Ratings


def contents(ratings: Ratings) -> Result:
    """Return n, participants, mean, sd, median and interval of every content over all its conditions, per question."""
    order = tuple(sorted(set(ratings.votes["content"])))
    note = f"Each content over all its conditions. {unit_note(ratings, 'conditions')}"
    if any(ratings.is_mirrored(question) for question in ratings.questions):
        note += (
            " A comparison of two conditions counts once, with the sign of the condition that stands first in the "
            "study: above zero the earlier ones were preferred."
        )
    return Result(by_group(ratings, ratings.votes, "content", order), note, interval_citation(ratings))
