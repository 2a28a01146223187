"""medians: what half of the people exceed, with exact intervals (MUSHRA; reference: statistics 4.1)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from beholder.analyse.metrics import MUSHRA, MUSHRA_MEDIAN
from beholder.analyse.plots.medians import medians_chart
from beholder.analyse.result import Result
from beholder.analyse.table import Ratings, as_ratings
from beholder.stats.interval import LEVEL

COLUMNS = [
    "level", "question", "stimulus", "content", "condition", "metric", "n", "median", "q1", "q3", "ci_low", "ci_high",
    "coverage", "note",
]  # fmt: skip
_CITATION = "ITU-R BS.1534 (MUSHRA); Thompson (1936), Annals of Mathematical Statistics 7 (interval of the median)"


class Middle(NamedTuple):
    """A median with quartiles and interval; ends and coverage are NaN where the values are too few for one."""

    n: int
    median: float
    q1: float
    q3: float
    low: float
    high: float
    coverage: float
    """How often such an interval holds the true median; never less than was asked for."""


def median_interval(values: ArrayLike, level: float = LEVEL) -> Middle:
    """Return the median and the interval between two of the values that binomial probabilities make exact.

    The d-th lowest and the d-th highest value, d being the largest with P(X < d) of at most (1 - level) / 2 for X
    binomial (n, 1/2). At 95 % it takes six values.
    """
    data = np.sort(np.asarray(values, dtype=float))
    n = len(data)
    if n == 0:
        return Middle(0, *(math.nan,) * 6)
    q1, median, q3 = (float(one) for one in np.quantile(data, [0.25, 0.5, 0.75]))
    # ppf gives the first place at which the tail is reached; below it, the tail is not.
    depth = int(stats.binom.ppf((1 - level) / 2, n, 0.5))
    if stats.binom.cdf(depth, n, 0.5) <= (1 - level) / 2:
        depth += 1
    if depth < 1:
        return Middle(n, median, q1, q3, math.nan, math.nan, math.nan)
    coverage = 1 - 2 * float(stats.binom.cdf(depth - 1, n, 0.5))
    return Middle(n, median, q1, q3, float(data[depth - 1]), float(data[n - depth]), coverage)


def medians(data: pd.DataFrame | Ratings, *, questions: Sequence[str] | None = None) -> Result | None:
    """Return median, quartiles and exact interval of every condition and stimulus.

    Of a condition they are of each participant's own median over contents. `questions` are those of method mushra;
    name others to have theirs, as long as they ask for scores. None where there is none.
    """
    ratings = as_ratings(data)
    scored = [name for name in ratings.questions if ratings.kinds[name] == "score"]
    wanted = [name for name in scored if (ratings.methods[name] == MUSHRA if questions is None else name in questions)]
    votes = ratings.votes[ratings.votes["question"].isin(wanted)]
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
    found = pd.DataFrame(
        [
            (level, question, stimulus, content, condition, _name(ratings.methods[str(question)]), *_row(values))
            for (question, level, condition, content, stimulus), values in groups
        ],
        columns=COLUMNS,
    )
    for column in ("condition", "level", "question"):
        rank = ranks[column]
        found = found.sort_values(column, key=lambda names, rank=rank: names.map(rank), kind="stable")
    note = (
        "Median, quartiles, and the exact 95 % interval between order statistics (binomial, one half), which needs six "
        "values; coverage is what it reaches. Of a condition, over each participant's own median across contents; of a "
        "stimulus, over the votes. n counts participants."
    )
    return Result(found.reset_index(drop=True), note, _CITATION, medians_chart)


def _name(method: str) -> str:
    return MUSHRA_MEDIAN.name if method == MUSHRA else f"Median ({method})" if method else "Median"


def _row(values: pd.Series) -> tuple[object, ...]:
    found = median_interval(values)
    note = "fewer than six participants: no interval" if math.isnan(found.low) else ""
    return (found.n, *found[1:], note)
