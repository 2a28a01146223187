"""distributions and medians: the values of every condition, and medians with exact intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike, NDArray

from beholder.analysis.columns import (
    CI_HIGH,
    CI_LOW,
    CONDITION,
    CONTENT_OR_NONE,
    METRIC,
    NOTE,
    PARTICIPANTS_N,
    QUESTION,
    ROW_LEVEL,
    STIMULUS_OR_NONE,
)
from beholder.analysis.contract import Analysis, Column
from beholder.analysis.figures.distributions import distributions_chart
from beholder.analysis.figures.scores import medians_chart
from beholder.analysis.ratings import Ratings, as_ratings
from beholder.analysis.result import Result, has_analysis, scoring
from beholder.formats import plain
from beholder.stats.intervals import LEVEL

_BANDS = 20
MAX_VALUES = 11
"""A scale with at most this many whole values has a row for each value."""


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
    return DISTRIBUTIONS.result(pd.concat(parts, ignore_index=True), note)


DISTRIBUTIONS = Analysis(
    "distributions",
    distributions,
    (
        QUESTION,
        CONDITION,
        Column("band", "text", "A value of a scale with at most 11 whole ones, else one of 20 equally wide bands."),
        Column("low", "number", "Lower end of the band, or the value."),
        Column("high", "number", "Upper end of the band, which only the last one includes, or the value."),
        Column("n", "integer", "Ratings in the band; repetitions count each."),
        Column("share", "number", "Their share of the ratings of the condition."),
    ),
    row="condition, value and question",
    holds="how many ratings had the value, and their share",
    draw=distributions_chart,
    order=19,
)


def _of_question(ratings: Ratings, question: str) -> pd.DataFrame:
    votes = _votes(ratings, question)
    low, high = _ends(ratings.used[ratings.used["question"] == question], votes["value"])
    edges, names = _bands(votes["value"].to_numpy(dtype=float), low, high)
    is_whole = len(edges) == len(names)
    values = votes["value"].to_numpy(dtype=float)
    places = values - low if is_whole else (values - low) / (high - low) * _BANDS
    band = np.clip(np.floor(places + 1e-9), 0, len(names) - 1).astype(int)
    rated = set(votes["condition"].unique())
    present = [name for name in ratings.conditions if name in rated]
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
        columns=DISTRIBUTIONS.names,
    )


def _votes(ratings: Ratings, question: str) -> pd.DataFrame:
    """Return condition and value of every rating, and of a comparison under test from both sides."""
    kept = ratings.used[ratings.used["question"] == question][["condition", "other_condition", "value"]]
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
    if bool((values == np.round(values)).all()) and low == round(low) and high - low < MAX_VALUES:
        whole = np.arange(low, high + 1)
        return whole, [plain(value) for value in whole]
    edges = np.linspace(low, high, _BANDS + 1).round(9)
    return edges, [f"{plain(edges[place])} to {plain(edges[place + 1])}" for place in range(_BANDS)]


# medians, with exact intervals (MUSHRA; reference: statistics 4.1)


class MedianInterval(NamedTuple):
    """A median with quartiles and interval; ends and coverage are NaN where the values are too few for one."""

    n: int
    median: float
    q1: float
    q3: float
    low: float
    high: float
    coverage: float
    """How often such an interval holds the true median; never less than was asked for."""


def median_interval(values: ArrayLike, level: float = LEVEL) -> MedianInterval:
    """Return the median and the interval between two of the values that binomial probabilities make exact.

    The d-th lowest and the d-th highest value, d being the largest with P(X < d) of at most (1 - level) / 2 for X
    binomial (n, 1/2). At 95 % it takes six values.
    """
    data = np.sort(np.asarray(values, dtype=float))
    n = len(data)
    if n == 0:
        return MedianInterval(0, *(math.nan,) * 6)
    q1, median, q3 = (float(one) for one in np.quantile(data, [0.25, 0.5, 0.75]))
    # ppf gives the first place at which the tail is reached; below it, the tail is not.
    depth = int(scipy.stats.binom.ppf((1 - level) / 2, n, 0.5))
    if scipy.stats.binom.cdf(depth, n, 0.5) <= (1 - level) / 2:
        depth += 1
    if depth < 1:
        return MedianInterval(n, median, q1, q3, math.nan, math.nan, math.nan)
    coverage = 1 - 2 * float(scipy.stats.binom.cdf(depth - 1, n, 0.5))
    return MedianInterval(n, median, q1, q3, float(data[depth - 1]), float(data[n - depth]), coverage)


def medians(data: pd.DataFrame | Ratings, *, questions: Sequence[str] | None = None) -> Result | None:
    """Return median, quartiles and exact interval of every condition and stimulus.

    Of a condition they are of each participant's own median over contents. `questions` are those of methods that have
    this analysis; name others to include them, as long as they ask for scores. None if no question qualifies.
    """
    ratings = as_ratings(data)
    scored = [name for name in ratings.questions if ratings.kinds[name] == "score"]
    selected = [
        name
        for name in scored
        if (has_analysis(ratings.methods[name], "medians") if questions is None else name in questions)
    ]
    votes = ratings.votes[ratings.votes["question"].isin(selected)]
    if votes.empty:
        return None
    keys = ["question", "condition"]
    own = votes.groupby([*keys, "participant"], sort=True, observed=True)["value"].median().reset_index()
    of_conditions = own.assign(level="condition", content="", stimulus="")
    of_stimuli = votes.assign(level="stimulus")
    columns = [*keys, "level", "content", "stimulus", "value"]
    table = pd.concat([of_conditions[columns], of_stimuli[columns]], ignore_index=True)
    orders = {"question": ratings.questions, "condition": ratings.conditions, "level": ("condition", "stimulus")}
    ranks = {name: {one: place for place, one in enumerate(names)} for name, names in orders.items()}
    groups = table.groupby(["question", "level", "condition", "content", "stimulus"], sort=True, observed=True)["value"]
    table_of_medians = pd.DataFrame(
        [
            (level, question, stimulus, content, condition, _name(ratings.methods[str(question)]), *_row(values))
            for (question, level, condition, content, stimulus), values in groups
        ],
        columns=MEDIANS.names,
    )
    for column in ("condition", "level", "question"):
        rank = ranks[column]
        table_of_medians = table_of_medians.sort_values(
            column, key=lambda names, rank=rank: names.map(rank), kind="stable"
        )
    note = (
        "Median, quartiles, and the exact 95 % interval between order statistics (binomial, one half), which needs six "
        "values; coverage is what it reaches. Of a condition, over each participant's own median across contents; of a "
        "stimulus, over the votes. n counts participants."
    )
    return MEDIANS.result(table_of_medians.reset_index(drop=True), note)


MEDIANS = Analysis(
    "medians",
    medians,
    (
        ROW_LEVEL,
        QUESTION, STIMULUS_OR_NONE, CONTENT_OR_NONE, CONDITION, METRIC, PARTICIPANTS_N,
        Column("median", "number", "Median of the votes; of a condition, of each participant's own median."),
        Column("q1", "number", "First quartile of the same."),
        Column("q3", "number", "Third quartile of the same."),
        CI_LOW, CI_HIGH,
        Column("coverage", "number", "What the interval between two of the values reaches: at least 0.95."),
        NOTE,
    ),
    row="condition, then stimulus (`mushra`)",
    holds="median, quartiles, exact interval",
    citation="ITU-R BS.1534 (MUSHRA); Thompson (1936), Annals of Mathematical Statistics 7 (interval of the median)",
    draw=medians_chart,
    order=10,
)  # fmt: skip


def _name(method: str) -> str:
    own = scoring(method).metrics.get("medians")
    return own.name if own else f"Median ({method})" if method else "Median"


def _row(values: pd.Series) -> tuple[object, ...]:
    interval = median_interval(values)
    note = "fewer than six participants: no interval" if math.isnan(interval.low) else ""
    return (interval.n, *interval[1:], note)
