"""How far metrics agree with what people said (reference: statistics 6 and 8)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from beholder.analysis.result import Result
from beholder.stats.correlation import CITATION, INTERVALS, compare_dependent, correlations, linear_mapping, varies
from beholder.stats.tests import holm

Level: TypeAlias = Literal["stimulus", "condition"]
LEVELS: tuple[Level, ...] = ("stimulus", "condition")
SCORE_COLUMNS = [
    "level", "question", "metric", "region", "n",
    "pearson", "pearson_low", "pearson_high", "pearson_p",
    "spearman", "spearman_low", "spearman_high", "spearman_p",
    "tau_b", "tau_b_low", "tau_b_high", "tau_b_p",
    "slope", "intercept", "rmse_mapped", "rmse_mapped_unbiased",
]  # fmt: skip
SCORE_NOTE = (
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
    rows = [_relate_row(level, *pair) for pair in paired(scores, values, level)]
    return Result(pd.DataFrame(rows, columns=SCORE_COLUMNS), SCORE_NOTE, f"{CITATION}; ITU-T P.1401")


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
    measured: pd.Series[float] = named.groupby(level, sort=False)[column].mean().dropna()
    return measured


def _relate_row(level: Level, question: str, metric: str, region: str, both: pd.DataFrame) -> dict[str, Any]:
    x, y = both["value"].to_numpy(dtype=float), both["mean"].to_numpy(dtype=float)
    measured = correlations(x, y)
    row: dict[str, Any] = {"level": level, "question": question, "metric": metric, "region": region, "n": len(x)}
    for name in ("pearson", "spearman", "tau_b"):
        one = getattr(measured, name)
        row |= {name: one.value, f"{name}_low": one.low, f"{name}_high": one.high, f"{name}_p": one.p}
    if math.isnan(measured.pearson.value):
        return row
    line = linear_mapping(x, y)
    return row | {
        "slope": line.slope, "intercept": line.intercept, "rmse_mapped": line.rmse,
        "rmse_mapped_unbiased": line.rmse_unbiased,
    }  # fmt: skip


# Whether one metric agrees better with the ratings than another (reference: statistics 6)


METRIC_COLUMNS = [
    "level", "question", "metric", "region", "other_metric", "other_region", "n", "pearson", "other_pearson",
    "between", "z", "p", "p_holm",
]  # fmt: skip
METRIC_NOTE = (
    "Every two metrics beside the same question, over what both have measured. Their correlations are taken without "
    "their signs, so that lower-is-better metrics can be compared. Both are with the same scores, so the test is that "
    "of Meng, Rosenthal and Rubin for dependent correlations, two-sided; between is the correlation of the two "
    "metrics. p_holm corrects over the pairs of a question and level."
)
_FEWEST = 5


def between(scores: pd.DataFrame, values: pd.DataFrame, level: Level) -> Result | None:
    """Return for every two metrics whether one agrees better with a question; None where there are no two."""
    by_question: dict[str, list[tuple[str, str, pd.DataFrame]]] = {}
    for question, metric, region, both in paired(scores, values, level):
        by_question.setdefault(question, []).append((metric, region, both.set_index(level)))
    rows: list[dict[str, Any]] = []
    for question, own in by_question.items():
        measured = [row for one, other in combinations(own, 2) if (row := _between_row(one, other)) is not None]
        corrected = holm([row["p"] for row in measured])
        rows += [
            {"level": level, "question": question, **row, "p_holm": float(p)}
            for row, p in zip(measured, corrected, strict=True)
        ]
    return (
        Result(
            pd.DataFrame(rows, columns=METRIC_COLUMNS),
            METRIC_NOTE,
            "Meng, Rosenthal and Rubin (1992), Psychological Bulletin 111",
        )
        if rows
        else None
    )


def _between_row(one: tuple[str, str, pd.DataFrame], other: tuple[str, str, pd.DataFrame]) -> dict[str, Any] | None:
    table = one[2].join(other[2]["value"].rename("other"), how="inner")
    if len(table) < _FEWEST or not all(varies(table[name].to_numpy(float)) for name in ("mean", "value", "other")):
        return None
    r = np.corrcoef(table[["mean", "value", "other"]].to_numpy(dtype=float).T)
    signs = np.where(r[0, 1:] < 0, -1.0, 1.0)
    mine, others = abs(float(r[0, 1])), abs(float(r[0, 2]))
    shared = float(r[1, 2] * signs[0] * signs[1])
    test = compare_dependent(mine, others, shared, len(table))
    return {
        "metric": one[0], "region": one[1], "other_metric": other[0], "other_region": other[1], "n": len(table),
        "pearson": mine, "other_pearson": others, "between": shared, "z": test.z, "p": test.p,
    }  # fmt: skip
