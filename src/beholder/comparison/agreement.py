"""agreement: correlations and errors between every two sides (reference: statistics 6)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from beholder.analyse.result import Result
from beholder.compare.matching import LEVELS, Matched
from beholder.stats.correlation import (
    CITATION,
    INTERVALS,
    Correlation,
    agreement,
    correlations,
    mapped,
    mean_correlation,
)

MEASURES = ("pearson", "spearman", "tau_b")
ERRORS = ("rmse", "rmse_mapped", "rmse_mapped_unbiased")
COLUMNS = [
    "level", "question", "side", "other_side", "n",
    *(f"{name}{end}" for name in MEASURES for end in ("", "_low", "_high", "_p")),
    "mean_difference", *ERRORS, "slope", "intercept",
]  # fmt: skip
_P1401 = "ITU-T P.1401 (first-order mapping)"


def agreeing(matched: Sequence[Matched]) -> Result:
    """Return how well every two sides agree, per question and over all of them, by stimulus and by condition."""
    rows = [_row(one) for one in matched]
    table = pd.DataFrame([*rows, *_averages(rows)], columns=COLUMNS)
    note = (
        f"n things that both sides have scored. {INTERVALS}. rmse: root mean square difference. rmse_mapped: after the "
        "straight line that maps other_side to side, slope times other_side plus intercept, divided by n as papers "
        "do; rmse_mapped_unbiased: divided by n - 2 (ITU-T P.1401). mean_difference: side minus other_side. A row "
        "without a question is the mean over questions; correlations are averaged on Fisher's z scale, plainly "
        "where one is perfect. Below three things, or where all are equal, there is no correlation; below four no "
        "interval (tau-b: five)."
    )
    return Result(table, note, f"{CITATION}; {_P1401}")


def _row(one: Matched) -> dict[str, Any]:
    mine, theirs = one.table["mean"].to_numpy(float), one.table["other_mean"].to_numpy(float)
    found = correlations(mine, theirs)
    line = mapped(theirs, mine) if not math.isnan(found.pearson.value) else None
    return {
        "level": one.level, "question": one.question, "side": one.side, "other_side": one.other_side, "n": found.n,
        **{key: value for name in MEASURES for key, value in _correlation(name, getattr(found, name)).items()},
        "mean_difference": float((mine - theirs).mean()),
        "rmse": agreement(mine, theirs).rmse,
        "rmse_mapped": line.rmse if line else math.nan,
        "rmse_mapped_unbiased": line.rmse_unbiased if line else math.nan,
        "slope": line.slope if line else math.nan,
        "intercept": line.intercept if line else math.nan,
    }  # fmt: skip


def _correlation(name: str, found: Correlation) -> dict[str, float]:
    return {name: found.value, f"{name}_low": found.low, f"{name}_high": found.high, f"{name}_p": found.p}


def _averages(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the means over questions of every two sides that share several."""
    found = []
    for level in LEVELS:
        groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
        for row in rows:
            if row["level"] == level:
                groups.setdefault((row["side"], row["other_side"]), []).append(row)
        for (side, other), some in groups.items():
            if len(some) < 2:
                continue
            means = {name: mean_correlation([row[name] for row in some]) for name in MEASURES}
            errors = {name: float(pd.Series([row[name] for row in some], dtype=float).mean()) for name in ERRORS}
            found.append({"level": level, "question": "", "side": side, "other_side": other, **means, **errors})
    return found


def matrices(table: pd.DataFrame, names: Sequence[str]) -> Result | None:
    """Return correlations and errors as sides by sides; None for two sides, which the row of agreement tells."""
    if len(names) < 3:
        return None
    rows = []
    for (level, question), part in table.groupby(["level", "question"], sort=False):
        for measure in (*MEASURES, "rmse"):
            known = {**dict(zip(zip(part["side"], part["other_side"], strict=True), part[measure], strict=True))}
            known |= {(other, one): value for (one, other), value in known.items()}
            known |= {(name, name): 0.0 if measure == "rmse" else 1.0 for name in names}
            for name in names:
                cells = {other: known.get((name, other), math.nan) for other in names}
                rows.append({"level": level, "question": question, "measure": measure, "side": name, **cells})
    note = "Every side against every other; the numbers are those of agreement. A row without a question is the mean."
    return Result(pd.DataFrame(rows), note, "")
