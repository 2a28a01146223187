"""contents: one row per content and question."""

from __future__ import annotations

import pandas as pd

from beholder.analyse.groups import Groups, by_group
from beholder.analyse.notes import interval_citation, sign_note, unit_note
from beholder.analyse.plots.scores import scores_chart
from beholder.analyse.result import Result
from beholder.analyse.table import Ratings, as_ratings


def contents(data: pd.DataFrame | Ratings) -> Result:
    """Return n, mean, sd, median, quartiles and intervals of every content over all its conditions, per question."""
    ratings = as_ratings(data)
    names = sorted(ratings.votes["content"].unique())
    groups = Groups("content", names, over="participants", narrower=["ratings"])
    table = by_group(ratings, ratings.votes, groups).drop(columns="contents")
    note = f"Each content over all its conditions. {unit_note(ratings, 'stimulus', 'participants')}{sign_note(ratings)}"
    return Result(table, note, interval_citation(ratings, "participants"), scores_chart)
