"""How far metrics agree with what people said (reference: statistics 6 and 8)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Literal, TypeAlias

import pandas as pd

from beholder.analyse.result import Result
from beholder.stats.correlation import CITATION, INTERVALS, correlations, mapped

Level: TypeAlias = Literal["stimulus", "condition"]
LEVELS: tuple[Level, ...] = ("stimulus", "condition")
COLUMNS = [
    "level", "question", "metric", "region", "n",
    "pearson", "pearson_low", "pearson_high", "pearson_p",
    "spearman", "spearman_low", "spearman_high", "spearman_p",
    "tau_b", "tau_b_low", "tau_b_high", "tau_b_p",
    "slope", "intercept", "rmse_mapped", "rmse_mapped_unbiased",
]  # fmt: skip
NOTE = (
    f"Each metric beside the mean of each question, over the n stimuli or conditions that have both; the value of a "
    f"condition is the mean over its stimuli, where it has none of its own. What is better when it is lower keeps its "
    f"values, so that its correlations are negative. {INTERVALS}. p: against no relation at all, not corrected for the "
    f"number of metrics. slope and intercept map the metric to the scores by least squares; rmse_mapped is what is "
    f"left then, over n, and rmse_mapped_unbiased over n - 2. Empty below three, or where all values are alike."
)


def relate(scores: pd.DataFrame, values: pd.DataFrame, level: Level = "condition") -> Result:
    """Return how each metric goes with each question, over stimuli or conditions.

    `scores` has question, mean and the column that `level` names; `values` has that column, metric and value, and
    region where a metric looks at a part of the picture only. Several values of one thing are averaged.
    """
    rows = [_row(level, *pair) for pair in paired(scores, values, level)]
    return Result(pd.DataFrame(rows, columns=COLUMNS), NOTE, f"{CITATION}; ITU-T P.1401")


def paired(scores: pd.DataFrame, values: pd.DataFrame, level: Level) -> Iterator[tuple[str, str, str, pd.DataFrame]]:
    """Yield question, metric and region with a table of the things that have both: their names, mean and value."""
    known = values.assign(region=values.get("region", ""))
    measured = {
        (str(metric), str(region)): _by_unit(rows, "value", level)
        for (metric, region), rows in known.groupby(["metric", "region"], sort=False)
    }
    for question, rows in scores.groupby("question", sort=False):
        means = _by_unit(rows, "mean", level)
        for (metric, region), own in measured.items():
            both = pd.concat([means, own], axis=1, join="inner")
            yield str(question), metric, region, both.rename_axis(level).reset_index()


def _by_unit(rows: pd.DataFrame, column: str, level: Level) -> pd.Series[float]:
    """Return the mean of each stimulus or condition that has a name and a number."""
    named = rows[rows[level].notna() & (rows[level] != "")]
    found: pd.Series[float] = named.groupby(level, sort=False)[column].mean().dropna()
    return found


def _row(level: Level, question: str, metric: str, region: str, both: pd.DataFrame) -> dict[str, Any]:
    x, y = both["value"].to_numpy(dtype=float), both["mean"].to_numpy(dtype=float)
    found = correlations(x, y)
    row: dict[str, Any] = {"level": level, "question": question, "metric": metric, "region": region, "n": len(x)}
    for name in ("pearson", "spearman", "tau_b"):
        one = getattr(found, name)
        row |= {name: one.value, f"{name}_low": one.low, f"{name}_high": one.high, f"{name}_p": one.p}
    if math.isnan(found.pearson.value):
        return row
    line = mapped(x, y)
    return row | {
        "slope": line.slope, "intercept": line.intercept, "rmse_mapped": line.rmse,
        "rmse_mapped_unbiased": line.rmse_unbiased,
    }  # fmt: skip
