"""distributions: how often each value was given, per condition and question."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from beholder.analyse.plots.distributions import distributions_chart
from beholder.analyse.plots.numbers import plain
from beholder.analyse.result import Result
from beholder.analyse.table import Ratings, as_ratings

COLUMNS = ["question", "condition", "band", "low", "high", "n", "share"]
_BANDS = 20
MOST_VALUES = 11
"""Up to which a scale of whole values is told value by value."""


def distributions(data: pd.DataFrame | Ratings) -> Result | None:
    """Return how many ratings of every condition took each value, or fell into each of 20 bands of the scale."""
    ratings = as_ratings(data)
    parts = [_of_question(ratings, name) for name, kind in ratings.kinds.items() if kind in ("score", "diff")]
    if not parts:
        return None
    note = (
        "share: of the ratings of a condition, those with this value. Scales of at most 11 whole values have a row for "
        f"each value; others are cut into {_BANDS} bands of the same width, from low to below high, the last with "
        "high. Repetitions count each. A graded comparison of two conditions under test counts once for each "
        "of them, with opposite signs."
    )
    return Result(pd.concat(parts, ignore_index=True), note, "", draw=distributions_chart)


def _of_question(ratings: Ratings, question: str) -> pd.DataFrame:
    votes = _votes(ratings, question)
    low, high = _ends(ratings.kept[ratings.kept["question"] == question], votes["value"])
    edges, names = _bands(votes["value"].to_numpy(dtype=float), low, high)
    is_whole = len(edges) == len(names)
    values = votes["value"].to_numpy(dtype=float)
    places = values - low if is_whole else (values - low) / (high - low) * _BANDS
    band = np.clip(np.floor(places + 1e-9), 0, len(names) - 1).astype(int)
    given = set(votes["condition"].unique())
    present = [name for name in ratings.conditions if name in given]
    codes = pd.Categorical(votes["condition"], categories=present).codes.astype(int)
    counts = np.bincount(codes * len(names) + band, minlength=len(present) * len(names)).reshape(len(present), -1)
    shares = counts / counts.sum(axis=1, keepdims=True)
    return pd.DataFrame(
        {
            "question": question,
            "condition": np.repeat(np.array(present, dtype=object), len(names)),
            "band": names * len(present),
            "low": np.tile(edges[: len(names)], len(present)),
            "high": np.tile(edges if is_whole else edges[1:], len(present)),
            "n": counts.ravel(),
            "share": shares.ravel(),
        },
        columns=COLUMNS,
    )


def _votes(ratings: Ratings, question: str) -> pd.DataFrame:
    """Return condition and value of every rating, and of a comparison under test from both sides."""
    kept = ratings.kept[ratings.kept["question"] == question][["condition", "other_condition", "value"]]
    if ratings.kinds[question] != "diff":
        return kept
    turned = kept[(kept["other_condition"] != "") & ~kept["other_condition"].isin(ratings.references)]
    other = turned.assign(condition=turned["other_condition"], value=-turned["value"])
    return pd.concat([kept, other], ignore_index=True)


def _ends(rows: pd.DataFrame, values: pd.Series) -> tuple[float, float]:
    """Return the ends of the scale; of the values where the table does not know it."""
    lowest, highest = float(values.min()), float(values.max())
    low = rows["scale_min"].min() if "scale_min" in rows else math.nan
    high = rows["scale_max"].max() if "scale_max" in rows else math.nan
    low = min(lowest, float(low)) if low == low else math.floor(lowest)
    high = max(highest, float(high)) if high == high else math.ceil(highest)
    return float(low), float(high)


def _bands(values: NDArray[np.float64], low: float, high: float) -> tuple[NDArray[np.float64], list[str]]:
    """Return every whole value with its name, or the edges of the bands with the names between them."""
    if bool((values == np.round(values)).all()) and low == round(low) and high - low < MOST_VALUES:
        whole = np.arange(low, high + 1)
        return whole, [plain(value) for value in whole]
    edges = np.linspace(low, high, _BANDS + 1).round(9)
    return edges, [f"{plain(edges[place])} to {plain(edges[place + 1])}" for place in range(_BANDS)]
