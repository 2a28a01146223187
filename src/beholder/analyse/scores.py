"""scores: one row per stimulus and question (reference: statistics 2.1)."""

from __future__ import annotations

import pandas as pd

from beholder.analyse.conditions import interval_citation
from beholder.analyse.interval import interval_for, is_share
from beholder.analyse.metrics import source
from beholder.analyse.result import Result
from beholder.analyse.table import Ratings

COLUMNS = ["stimulus", "content", "condition", "question", "n", "mean", "sd", "median", "ci_low", "ci_high"]


def scores(ratings: Ratings) -> Result:
    """Return n, mean, sd, median and interval of every stimulus. A vote is one person's, repetitions averaged."""
    rows = []
    keys = ["question", "stimulus", "content", "condition"]
    own = ratings.table.groupby([*keys, "participant"], sort=True)["value"].mean().reset_index()
    sizes = ratings.table.groupby(keys).size().to_dict()
    for (question, stimulus, content, condition), votes in own.groupby(keys, sort=True)["value"]:
        found = interval_for(ratings.kinds[str(question)], votes, sizes[question, stimulus, content, condition])
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
    is_t = ~table["question"].map(ratings.kinds).map(is_share).astype(bool)
    unanimous = int(((table["n"] > 1) & (table["sd"] == 0) & is_t).sum())
    note = (
        "Mean of each stimulus. n counts participants; what one participant said of it several times, or in comparison "
        "with several others, is averaged first."
    )
    kinds = {is_share(kind) for kind in ratings.kinds.values()}
    if False in kinds:
        note += (
            " Interval: 95 % Student t over participants (n - 1 degrees of freedom), empty for a single participant. "
            "Near the ends of a scale and with fewer than about 12 participants it covers less often than it claims."
        )
    if True in kinds:
        note += (
            " Interval of shares and preferences: Korn and Graubard's, exact and at least 95 %, empty for a single "
            "participant."
        )
    if unanimous:
        note += f" {unanimous} of {len(table)} stimuli got the same score from everybody: their interval has no width."
    order = {name: place for place, name in enumerate(ratings.questions)}
    rank = {name: place for place, name in enumerate(ratings.conditions)}
    places = table.assign(_q=table["question"].map(order), _c=table["condition"].map(rank))
    table = places.sort_values(["_q", "_c", "content", "stimulus"], kind="stable").drop(columns=["_q", "_c"])
    return Result(table.reset_index(drop=True), note, _citation(ratings))


def _citation(ratings: Ratings) -> str:
    """Return where the methods and the intervals come from."""
    methods = dict.fromkeys(source(name) for name in ratings.methods.values())
    return "; ".join(name for name in (*methods, interval_citation(ratings)) if name)
