"""Results with a planted truth."""

from __future__ import annotations

import pandas as pd

from beholder.analysis.result import Results

COLUMNS = ["question", "kind", "condition", "other_condition", "value", "keyed", "scale_min", "scale_max"]


TRUTH = {"natural": 0.9, "frozen": 0.1}


def results(rows: list[tuple[object, ...]], kinds: dict[str, str], method: str = "") -> Results:
    ratings = pd.DataFrame(rows, columns=COLUMNS).assign(method=method)
    pairs = ratings[["question", "condition"]].drop_duplicates()
    none = pd.DataFrame()
    return Results(none, pairs, none, none, ratings, none, {"kinds": kinds})
