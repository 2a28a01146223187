"""Votes far from the others on the same stimulus: Tukey's fences, once (reference: statistics 3.6; off by default)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from beholder.checks.agreement import voted
from beholder.clean.ratings import Rating
from beholder.clean.sessions import Judged

FAR = "outliers:far"
_FEWEST = 6
"""With fewer votes on a stimulus nobody can be far from the others."""
_FENCE = 1.5
_GRADED = ("score", "diff")
"""Kinds of votes that can be far off; a choice is one or the other."""


def without_outliers(judged: Sequence[Judged]) -> list[Judged]:
    """Return the sessions without the votes that lie further than 1.5 quartile ranges outside the quartiles.

    Where both quartiles are the same number there is no range to go by, and no vote is left out.
    """
    used = [row for one in judged for row in one.ratings if row.use and row.value is not None and row.kind in _GRADED]
    table = pd.DataFrame(
        [(voted(row.kind, row.stimulus, row.other_stimulus), row.question, row.value) for row in used],
        columns=["judged", "question", "value"],
    ).astype({"value": float})
    votes = table.groupby(["judged", "question"], sort=False)["value"]
    low, high, count = votes.transform("quantile", 0.25), votes.transform("quantile", 0.75), votes.transform("size")
    values, fence = table["value"], _FENCE * (high - low)
    far = (count >= _FEWEST) & (fence > 0) & ((values < low - fence) | (values > high + fence))
    places = {id(used[place]) for place in np.asarray(far.index[far])}
    return [_left(one, places) for one in judged]


def _left(one: Judged, places: set[int]) -> Judged:
    if not any(id(row) in places for row in one.ratings):
        return one
    return replace(one, ratings=tuple(_marked(row) if id(row) in places else row for row in one.ratings))


def _marked(row: Rating) -> Rating:
    return row._replace(use=False, reasons=FAR)
