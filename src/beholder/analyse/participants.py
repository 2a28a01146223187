"""participants: how each one used the scale, and how far they agree with the others (reference: checks 7)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from beholder.analyse.groups import codes_of
from beholder.analyse.result import Result
from beholder.analyse.table import Ratings, as_ratings
from beholder.stats.rater_models.votes import Votes
from beholder.stats.reliability.leave_one_out import leave_one_out

FEWEST = 10
COLUMNS = ["participant", "ratings", "stimuli", "mean", "sd", "lowest", "highest", "agreement"]
_CITATION = "Spearman (1904), American Journal of Psychology 15"


def participants(data: pd.DataFrame | Ratings) -> Result:
    """Return one row per participant: ratings, mean, sd, range, and rank correlation with the mean of the others."""
    ratings = as_ratings(data)
    table = ratings.votes
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


def _agreement(table: pd.DataFrame) -> pd.Series:
    """Return the rank correlation of each participant's ratings with the others; missing where it tells nothing."""
    people = pd.Index(sorted(table["participant"].unique()))
    thing = np.asarray(table.groupby(["question", "stimulus", "other_stimulus"], sort=False).ngroup(), np.intp)
    rater = codes_of(table["participant"], list(people))
    votes = Votes(table["value"].to_numpy(float), rater, thing, len(people), int(thing.max(initial=-1)) + 1)
    return pd.Series(leave_one_out(votes, FEWEST), people)
