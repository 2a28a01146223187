"""What a curve of votes needed comes to: the agreement with an equal study, and the votes that are enough."""

from __future__ import annotations

import math
from typing import NamedTuple

import pandas as pd

from beholder.analyse.plots.votes_needed import ENOUGH, one_curve
from beholder.stats.votes_needed import longer, votes_for

__all__ = ["ENOUGH", "Enough", "enough"]


class Enough(NamedTuple):
    """Of one question: what the votes that there are give, and how many give a correlation of ENOUGH."""

    votes_now: float
    r_now: float
    """With an equal study: from halves by Spearman and Brown's formula; NaN where halves do not agree at all."""
    votes: float
    """NaN where no number can be told."""
    is_measured: bool
    """Whether this many votes are on the curve, and not beyond its end."""


def enough(table: pd.DataFrame, question: str) -> Enough:
    """Return what the curve of repeated studies says of a question."""
    rows = one_curve(table)
    rows = rows[(rows["question"] == question) & rows["pearson"].notna()]
    if rows.empty:
        known = table[table["question"] == question]["votes_now"]
        return Enough(float(known.iloc[0]) if len(known) else math.nan, math.nan, math.nan, False)
    votes, r = rows["votes"].astype(float).tolist(), rows["pearson"].tolist()
    now = float(rows["votes_now"].iloc[0])
    r_now = longer(r[-1], votes[-1], now) if r[-1] > 0 else math.nan
    reached = [place for place, value in enumerate(r) if value >= ENOUGH]
    if not reached:
        return Enough(now, r_now, math.ceil(votes_for(r[-1], votes[-1], ENOUGH)) if r[-1] > 0 else math.nan, False)
    first = reached[0]
    before = votes[first - 1] if first else 0.0
    between = math.ceil(votes_for(r[first], votes[first], ENOUGH) - 1e-9)
    return Enough(now, r_now, float(min(votes[first], max(before + 1, between))), True)
