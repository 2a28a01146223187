"""Whether one metric agrees better with people than another does (reference: statistics 6)."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from beholder.analyse.result import Result
from beholder.metrics.relate import Level, paired
from beholder.stats.correlation import compare_dependent, varies
from beholder.stats.holm import holm

COLUMNS = [
    "level", "question", "metric", "region", "other_metric", "other_region", "n", "pearson", "other_pearson",
    "between", "z", "p", "p_holm",
]  # fmt: skip
NOTE = (
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
        found = [row for one, other in combinations(own, 2) if (row := _row(one, other)) is not None]
        corrected = holm([row["p"] for row in found])
        rows += [
            {"level": level, "question": question, **row, "p_holm": float(p)}
            for row, p in zip(found, corrected, strict=True)
        ]
    return (
        Result(
            pd.DataFrame(rows, columns=COLUMNS), NOTE, "Meng, Rosenthal and Rubin (1992), Psychological Bulletin 111"
        )
        if rows
        else None
    )


def _row(one: tuple[str, str, pd.DataFrame], other: tuple[str, str, pd.DataFrame]) -> dict[str, Any] | None:
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
