"""What the correlations say, in words."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pandas as pd

from beholder.analyse.plots.numbers import interval, number
from beholder.analyse.result import Result, records
from beholder.metrics.kinds import title
from beholder.metrics.relate import Level
from beholder.stats.correlation import mean_correlation

_ALPHA = 0.05
_FEW = 10
"""Below so many things an interval is too wide to choose a metric by."""


def called(metric: str, region: str) -> str:
    """Return a metric as it is told, with its region."""
    return f"{title(metric)} ({region})" if region else title(metric)


def told_r(value: float) -> str:
    """Return a correlation; what is not quite one is not told as one."""
    return number(value, 3 if 0.995 <= abs(value) < 1 else 2)


def told_level(correlations: pd.DataFrame) -> Level:
    """Return the level that is told first: stimuli, as there are more of them; conditions where only they are known."""
    known = correlations[correlations["pearson"].notna()]
    return "stimulus" if (known["level"] == "stimulus").any() else "condition"


def finding(found: Mapping[str, Result], *, has_ratings: bool) -> tuple[str, ...]:
    """Return the finding in a sentence or two, and a warning where it stands on little."""
    if not has_ratings:
        return ("There are no ratings yet, so these are values only.",)
    table = found["correlations"].table
    level = told_level(table)
    known = table[(table["level"] == level) & table["pearson"].notna()]
    if not len(known):
        return (
            "No metric can be held beside the scores: fewer than three stimuli and conditions have both, or all are "
            "alike.",
        )
    units = "stimuli" if level == "stimulus" else "conditions"
    questions = list(dict.fromkeys(known["question"]))
    said = _of_one(known, found, units) if len(questions) == 1 else _of_many(known, questions, units)
    n = int(known["n"].max())
    if n < _FEW:
        said = (*said, f"With {n} {units} the intervals are wide: this says little about which metric is better.")
    return said


def _of_one(known: pd.DataFrame, found: Mapping[str, Result], units: str) -> tuple[str, ...]:
    rows = sorted(records(known), key=lambda row: -abs(row["pearson"]))
    best = rows[0]
    r = f"r = {told_r(best['pearson'])}"
    ends = interval(best["pearson_low"], best["pearson_high"], 2)
    within = f" ({ends})" if not math.isnan(best["pearson_low"]) else ""
    name = called(best["metric"], best["region"])
    lead = f"{name} agrees best with what people said: {r}{within} over {best['n']} {units}"
    if len(rows) == 1:
        return (f"{name} beside what people said: {r}{within} over {best['n']} {units}.",)
    others = ", ".join(f"{called(row['metric'], row['region'])} {told_r(row['pearson'])}" for row in rows[1:4])
    return f"{lead}; {others}.", *_clearly(best, rows[1], found)


def _clearly(best: Mapping[str, object], second: Mapping[str, object], found: Mapping[str, Result]) -> tuple[str, ...]:
    """Return whether the best is clearly ahead of the second."""
    if "comparisons" not in found:
        return ()
    two = {(best["metric"], best["region"]), (second["metric"], second["region"])}
    for row in records(found["comparisons"].table):
        pair = {(row["metric"], row["region"]), (row["other_metric"], row["other_region"])}
        if row["level"] == best["level"] and row["question"] == best["question"] and pair == two:
            name = called(str(second["metric"]), str(second["region"]))
            clear = "clearly" if row["p_holm"] < _ALPHA else "not clearly"
            p = "< 0.001" if row["p_holm"] < 0.001 else f"= {number(row['p_holm'], 3)}"
            return (f"It is {clear} ahead of {name} (p {p}, corrected).",)
    return ()


def _of_many(known: pd.DataFrame, questions: list[str], units: str) -> tuple[str, ...]:
    strength = {
        (str(metric), str(region)): mean_correlation(rows["pearson"].abs())
        for (metric, region), rows in known.groupby(["metric", "region"], sort=False)
    }
    ordered = sorted(strength, key=lambda key: -strength[key])
    best = ordered[0]
    own = known[(known["metric"] == best[0]) & (known["region"] == best[1])]
    rows = sorted(records(own), key=lambda row: abs(row["pearson"]))
    lead = f"Over {len(questions)} questions {called(*best)} agrees best with what people said"
    low, high = (f"{told_r(row['pearson'])} ({row['question']})" for row in (rows[0], rows[-1]))
    mean = f"|r| = {told_r(strength[best])} on average, from {low} to {high}, over {int(own['n'].max())} {units}"
    others = "".join(f"; {called(*key)} {told_r(strength[key])}" for key in ordered[1:4])
    return (f"{lead}: {mean}{others}.",)
