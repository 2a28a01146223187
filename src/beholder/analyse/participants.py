"""participants: how each one used the scale, and how far they agree with the others (reference: checks 7)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from beholder.analyse.result import Result
from beholder.analyse.table import Ratings, as_ratings

FEWEST = 10
COLUMNS = ["participant", "ratings", "stimuli", "mean", "sd", "lowest", "highest", "agreement"]
_CITATION = "Spearman (1904), American Journal of Psychology 15"


def participants(data: pd.DataFrame | Ratings) -> Result:
    """Return one row per participant: ratings, mean, sd, range, and rank correlation with the mean of the others."""
    ratings = as_ratings(data)
    table = ratings.votes.assign(others=_others(ratings.votes))
    own = table.groupby("participant", sort=True)
    values = own["value"]
    found = pd.DataFrame(
        {
            "ratings": values.size(),
            "stimuli": own["stimulus"].nunique(),
            "mean": values.mean(),
            "sd": values.std(ddof=1),
            "lowest": values.min(),
            "highest": values.max(),
            "agreement": _agreement(table),
        }
    )
    found = found.rename_axis("participant").reset_index()[COLUMNS]
    note = (
        "agreement: Spearman's rank correlation of a participant's ratings with the mean of everybody else's "
        f"ratings of the same stimuli, or pairs, and questions (leave one out); empty below {FEWEST} shared ratings."
    )
    return Result(found, note, _CITATION if found["agreement"].notna().any() else "")


def _others(table: pd.DataFrame) -> pd.Series:
    """Return for each rating the mean of the others' ratings of the same stimulus and question."""
    groups = table.groupby(["question", "stimulus", "other_stimulus"])["value"]
    n = groups.transform("size")
    total = groups.transform("sum")
    return ((total - table["value"]) / (n - 1)).where(n > 1)


def _agreement(table: pd.DataFrame) -> pd.Series:
    """Return the rank correlation of each participant's ratings with the others; missing where it tells nothing."""
    shared = table[table["others"].notna()]
    people = shared["participant"]
    ranks = shared.groupby("participant")[["value", "others"]].rank()
    # Ranks are halves of whole numbers, and so is their mean: who does not vary has sums of exactly zero.
    middle = (people.groupby(people).transform("size") + 1) / 2
    one, other = ranks["value"] - middle, ranks["others"] - middle
    sums = pd.DataFrame({"both": one * other, "one": one**2, "other": other**2}).groupby(people).sum()
    product = sums["one"] * sums["other"]
    has_enough = (people.groupby(people).size() >= FEWEST) & (product > 0)
    return sums["both"][has_enough] / np.sqrt(product[has_enough])
