"""scores: one row per stimulus and question (reference: statistics 2.1)."""

from __future__ import annotations

import pandas as pd

from beholder.analyse.interval import t_interval
from beholder.analyse.result import Result
from beholder.analyse.table import Ratings

COLUMNS = ["stimulus", "content", "condition", "question", "n", "mean", "sd", "median", "ci_low", "ci_high"]


def scores(ratings: Ratings) -> Result:
    """Return n, mean, sd, median and interval of every stimulus. A vote is one person's, repetitions averaged."""
    rows = []
    for (question, stimulus, content, condition), votes in ratings.table.groupby(
        ["question", "stimulus", "content", "condition"], sort=True
    )["value"]:
        found = t_interval(votes)
        rows.append(
            (
                stimulus,
                content,
                condition,
                question,
                found.n,
                found.mean,
                found.sd,
                votes.median(),
                found.low,
                found.high,
            )
        )
    table = pd.DataFrame(rows, columns=COLUMNS)
    unanimous = int(((table["n"] > 1) & (table["sd"] == 0)).sum())
    note = (
        "Mean opinion score of each stimulus. n counts participants, the repetitions of one participant are averaged "
        "first. Interval: 95 % Student t over participants (n - 1 degrees of freedom), empty for a single participant. "
        "Near the ends of a scale and with fewer than about 12 participants it covers less often than it claims."
    )
    if unanimous:
        note += f" {unanimous} of {len(table)} stimuli got the same score from everybody: their interval has no width."
    order = {name: place for place, name in enumerate(ratings.questions)}
    rank = {name: place for place, name in enumerate(ratings.conditions)}
    places = table.assign(_q=table["question"].map(order), _c=table["condition"].map(rank))
    table = places.sort_values(["_q", "_c", "content", "stimulus"], kind="stable").drop(columns=["_q", "_c"])
    return Result(table.reset_index(drop=True), note, "ITU-T P.910 (mean opinion score); ITU-T P.1401 (Student t)")
