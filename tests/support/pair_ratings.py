"""Ratings for tests of pairs, ordinary and degenerate."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from beholder.analysis.pairs import pairs
from beholder.analysis.result import Result
from beholder.analysis.tests import tests as four_tests


def ratings(
    means: dict[str, float], *, people: int = 12, contents: int = 8, noise: float = 5.0, seed: int = 2, **columns: Any
) -> pd.DataFrame:
    """Return fully crossed ratings of participants, conditions and contents."""
    rng = np.random.default_rng(seed)
    rows = [
        {"participant": f"p{p}", "content": f"c{k}", "condition": name, "value": mean + rng.normal(0, noise)}
        for p in range(people)
        for k in range(contents)
        for name, mean in means.items()
    ]
    return pd.DataFrame(rows, columns=["participant", "content", "condition", "value"]).assign(**columns)


EMPTY = ratings({"a": 1}, people=0)


ODD: dict[str, pd.DataFrame] = {
    "nothing": EMPTY,
    "one rating": ratings({"a": 1}, people=1, contents=1),
    "one condition": ratings({"a": 1}),
    "one rater": ratings({"a": 1, "b": 2}, people=1),
    "one content": ratings({"a": 1, "b": 2}, contents=1),
    "all equal": ratings({"a": 1, "b": 1}, noise=0),
    "equal differences": ratings({"a": 1, "b": 2}, noise=0),
    "all missing": ratings({"a": 1, "b": 2}).assign(value=math.nan),
    "names": ratings({"no": 1, "01": 2, "NA": 3, "Größe 2": 4}),
    "a rater with one rating": pd.concat([ratings({"a": 1, "b": 2}), EMPTY, ratings({"a": 9}, people=1, contents=1)]),
    "one choice": pd.DataFrame(
        [{"participant": "p", "content": "c", "condition": "a", "other_condition": "b", "kind": "choice", "value": 1.0}]
    ),
    "ticks that all made": ratings({"a": 1, "b": 0}, noise=0, kind="pick"),
}


def four(data: pd.DataFrame, **options: Any) -> pd.DataFrame:
    table = four_tests(data, **options)
    assert isinstance(table, Result)
    return table.table


def by_pair(data: pd.DataFrame, **options: Any) -> pd.DataFrame:
    return pairs(data, **options).table.set_index(["condition", "other_condition"], drop=False)
