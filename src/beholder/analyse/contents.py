"""contents: one row per content and question."""

from __future__ import annotations

from beholder.analyse.conditions import CITATION, by_group, unit_note
from beholder.analyse.result import Result
from beholder.analyse.table import Ratings


def contents(ratings: Ratings) -> Result:
    """Return n, participants, mean, sd, median and interval of every content over all its conditions, per question."""
    order = tuple(sorted(set(ratings.table["content"])))
    return Result(
        by_group(ratings, "content", order),
        f"Each content over all its conditions. {unit_note('conditions')}",
        CITATION,
    )
