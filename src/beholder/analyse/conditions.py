"""conditions: one row per condition and question (reference: statistics 2.2)."""

from __future__ import annotations

import pandas as pd

from beholder.analyse.interval import SHARES, STUDENT, interval_for, is_share
from beholder.analyse.result import Result
from beholder.analyse.table import Ratings

COLUMNS = ["n", "participants", "mean", "sd", "median", "ci_low", "ci_high", "note"]


def conditions(ratings: Ratings) -> Result:
    """Return n, participants, mean, sd, median and interval of every condition, per question."""
    table = by_group(ratings, ratings.table, "condition", ratings.conditions)
    return Result(table, unit_note(ratings, "contents") + kind_note(ratings), interval_citation(ratings))


def unit_note(ratings: Ratings, fixed: str) -> str:
    """Return what n, mean and interval of a group stand for. `fixed` is what the interval does not generalise over."""
    return (
        "n counts ratings. The mean is the mean over participants of each participant's own mean, so that everybody "
        f"weighs the same; the interval is {interval_note(ratings)}, with the "
        f"{fixed} taken as fixed. sd and median are over ratings. With one participant there is no interval."
    )


def interval_note(ratings: Ratings) -> str:
    """Return which interval the means have."""
    t = "95 % Student t over these participant means"
    shares = (
        "Korn and Graubard's: Clopper and Pearson's exact 95 % interval with the number of ratings cut to what "
        "they are worth, as one participant's ratings are alike"
    )
    kinds = {is_share(kind) for kind in ratings.kinds.values()}
    return f"{t}, and for shares and preferences {shares}" if len(kinds) == 2 else shares if True in kinds else t


def interval_citation(ratings: Ratings) -> str:
    """Return where the intervals come from."""
    kinds = {is_share(kind) for kind in ratings.kinds.values()}
    return "; ".join([STUDENT] * (False in kinds) + [SHARES] * (True in kinds))


def kind_note(ratings: Ratings) -> str:
    """Return what the mean is where ratings are not plain scores."""
    kinds = set(ratings.kinds.values())
    mirrored = any(ratings.is_mirrored(question) for question in ratings.questions)
    against = "diff" in kinds and not all(
        ratings.is_mirrored(question) for question, kind in ratings.kinds.items() if kind == "diff"
    )
    notes = {
        " Grades against the reference are signed so that above zero the condition is better than the reference, "
        "which itself has no row.": against,
        " A comparison of two conditions counts once for each of them, with opposite signs, so that the means order "
        "them; they depend on which others each was compared with, and n counts comparisons.": mirrored,
        " Of correct answers the mean is the share, and chance is 0.5.": "correct" in kinds,
        " Of what was ticked the mean is the share in which it was; each tick is told as a question of its own.": (
            "pick" in kinds
        ),
    }
    return "".join(note for note, applies in notes.items() if applies)


def by_group(ratings: Ratings, table: pd.DataFrame, group: str, order: tuple[str, ...]) -> pd.DataFrame:
    """Return one row per question and value of the column `group` of the table, in this order."""
    groups = dict(iter(table.groupby(["question", group], sort=False)))
    rows = []
    for question in ratings.questions:
        for name in order:
            if (question, name) not in groups:
                continue
            part = groups[question, name]
            own_means = part.groupby("participant", sort=True)["value"].mean()
            kind = ratings.kinds[question]
            found = interval_for(kind, own_means, len(part))
            sd = part["value"].std(ddof=1) if len(part) > 1 else float("nan")
            note = _note(found.n, found.high - found.low)
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


def _note(participants: int, width: float) -> str:
    if participants == 1:
        return "one participant: no interval"
    return "all participants agree: interval of no width" if width == 0 else ""
