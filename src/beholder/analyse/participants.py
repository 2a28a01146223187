"""participants: how each one used the scale, and how far they agree with the others (reference: checks 7)."""

from __future__ import annotations

import pandas as pd
from scipy import stats

from beholder.analyse.result import Result
from beholder.analyse.table import Ratings

FEWEST = 10
COLUMNS = ["participant", "ratings", "stimuli", "mean", "sd", "lowest", "highest", "agreement"]
_CITATION = "Spearman (1904), American Journal of Psychology 15"


def participants(ratings: Ratings) -> Result:
    """Return one row per participant: ratings, mean, sd, range, and rank correlation with the mean of the others."""
    table = ratings.votes.assign(others=_others(ratings.votes))
    rows = []
    for participant, own in table.groupby("participant", sort=True):
        values = own["value"]
        sd = values.std(ddof=1) if len(own) > 1 else float("nan")
        stimuli = own["stimulus"].nunique()
        rows.append((participant, len(own), stimuli, values.mean(), sd, values.min(), values.max(), _agreement(own)))
    note = (
        "agreement: Spearman's rank correlation of a participant's ratings with the mean of everybody else's "
        f"ratings of the same stimuli, or pairs, and questions (leave one out); empty below {FEWEST} shared ratings."
    )
    found = pd.DataFrame(rows, columns=COLUMNS)
    return Result(found, note, _CITATION if found["agreement"].notna().any() else "")


def _others(table: pd.DataFrame) -> pd.Series:
    """Return for each rating the mean of the others' ratings of the same stimulus and question."""
    groups = table.groupby(["question", "stimulus", "other_stimulus"])["value"]
    n = groups.transform("size")
    total = groups.transform("sum")
    return ((total - table["value"]) / (n - 1)).where(n > 1)


def _agreement(own: pd.DataFrame) -> float:
    shared = own.dropna(subset=["others"])
    if len(shared) < FEWEST or shared["value"].nunique() < 2 or shared["others"].nunique() < 2:
        return float("nan")
    return float(stats.spearmanr(shared["value"], shared["others"]).statistic)
