"""mos: the plain mean over participants (reference: statistics 2.1)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from beholder.analyse.result import Result
from beholder.analyse.scores import scores
from beholder.analyse.table import Ratings, as_ratings
from beholder.stats.interval import is_share


def mos(data: pd.DataFrame | Ratings) -> Result | None:
    """Return the mean opinion score of every stimulus; None where no question has scores or grades."""
    ratings = as_ratings(data)
    found = scores(ratings)
    table = found.table[~found.table["question"].map(ratings.kinds).map(is_share).astype(bool)]
    if table.empty:
        return None
    quality = table[["question", "stimulus", "content"]].assign(
        quality=table["mean"], se=table["sd"] / np.sqrt(table["n"]), low=table["ci_low"], high=table["ci_high"]
    )
    note = (
        "Mean over participants, repetitions averaged first; se is sd / √n, the interval 95 % Student t over "
        "participants (n - 1 degrees of freedom)."
    )
    return Result(quality.reset_index(drop=True), note, found.citation)
