"""conditions: one row per condition and question (reference: statistics 2.2)."""

from __future__ import annotations

import pandas as pd

from beholder.analyse.interval import t_interval
from beholder.analyse.result import Result
from beholder.analyse.table import Ratings

COLUMNS = ["n", "participants", "mean", "sd", "median", "ci_low", "ci_high", "note"]
CITATION = "Student (1908), Biometrika 6"


def conditions(ratings: Ratings) -> Result:
    """Return n, participants, mean, sd, median and interval of every condition, per question."""
    table = by_group(ratings, "condition", ratings.conditions)
    return Result(table, unit_note("contents"), CITATION)


def unit_note(fixed: str) -> str:
    """Return what n, mean and interval of a group stand for. `fixed` is what the interval does not generalise over."""
    return (
        "n counts ratings. The mean is the mean over participants of each participant's own mean, so that everybody "
        "weighs the same; the interval is 95 % Student t over these participant means, with the "
        f"{fixed} taken as fixed. sd and median are over ratings. With one participant there is no interval."
    )


def by_group(ratings: Ratings, group: str, order: tuple[str, ...]) -> pd.DataFrame:
    """Return one row per question and value of the column `group`, in this order."""
    groups = dict(iter(ratings.table.groupby(["question", group], sort=False)))
    rows = []
    for question in ratings.questions:
        for name in order:
            if (question, name) not in groups:
                continue
            part = groups[question, name]
            own_means = part.groupby("participant", sort=True)["value"].mean()
            found = t_interval(own_means)
            sd = part["value"].std(ddof=1) if len(part) > 1 else float("nan")
            note = _note(found.n, found.sd)
            rows.append(
                (
                    question,
                    name,
                    len(part),
                    found.n,
                    found.mean,
                    sd,
                    part["value"].median(),
                    found.low,
                    found.high,
                    note,
                )
            )
    return pd.DataFrame(rows, columns=["question", group, *COLUMNS])


def _note(participants: int, sd: float) -> str:
    if participants == 1:
        return "one participant: no interval"
    return "all participants agree: interval of no width" if sd == 0 else ""
