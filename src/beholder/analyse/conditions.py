"""conditions: one row per condition and question (reference: statistics 2.2)."""

from __future__ import annotations

import pandas as pd

from beholder.analyse.groups import Groups, by_group
from beholder.analyse.notes import interval_citation, kind_note, unit_note
from beholder.analyse.plots.scores import scores_chart
from beholder.analyse.result import Result
from beholder.analyse.table import Ratings, as_ratings


def conditions(data: pd.DataFrame | Ratings) -> Result:
    """Return n, mean, sd, median, quartiles and intervals of every condition, per question.

    Every content weighs the same. The interval generalises over participants and contents; the other kinds beside
    it over one of the two, or (too narrow, for comparison with others only) over single ratings.
    """
    ratings = as_ratings(data)
    table = by_group(ratings, ratings.table, Groups("condition", ratings.conditions, equal="content"))
    note = unit_note(ratings, "content", "both") + kind_note(ratings)
    return Result(table.drop(columns="stimuli"), note, interval_citation(ratings, "both"), scores_chart)
