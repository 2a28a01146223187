"""questions: one row per question, over everything that was rated."""

from __future__ import annotations

import pandas as pd

from beholder.analyse.groups import Groups, by_group
from beholder.analyse.notes import interval_citation, sign_note, unit_note
from beholder.analyse.result import Result
from beholder.analyse.table import Ratings, as_ratings


def questions(data: pd.DataFrame | Ratings) -> Result:
    """Return n, mean, sd, median, quartiles and intervals of every question over all its stimuli."""
    ratings = as_ratings(data)
    table = by_group(ratings, ratings.votes.assign(all=""), Groups("all", [""])).drop(columns="all")
    note = f"Each question over all stimuli. {unit_note(ratings, 'stimulus', 'both')}{sign_note(ratings)}"
    return Result(table, note, interval_citation(ratings, "both"))
