"""table: one row for each condition, with every question and every objective metric beside each other."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from beholder.analyse.result import Result
from beholder.dimensions.correlations import turned_note
from beholder.dimensions.joined import Data, Joined, join


def table(data: Data | Sequence[Data], values: pd.DataFrame | None = None) -> Result:
    """Return conditions x questions x metrics as one wide table.

    `values` holds metric and value, perhaps region, by condition or by stimulus; a stimulus counts for its condition,
    contents weighing the same.
    """
    joined = join(data)
    found = joined.by_condition.copy()
    found.insert(0, "label", [joined.labels[name] for name in found.index])
    if (found["label"] == found.index).all():
        found = found.drop(columns="label")
    note = "Mean of every condition on every question, and of its stimuli on every metric."
    if values is not None:
        metrics = _wide(by_condition(joined, values))
        unknown = sorted(set(metrics.index) - set(found.index))
        found = found.join(metrics.rename(columns={name: f"{name} (metric)" for name in metrics if name in found}))
        if unknown:
            note += f" Nobody rated {', '.join(unknown)}."
    return Result(found.rename_axis("condition").reset_index(), note + turned_note(joined), "")


def metric_names(values: pd.DataFrame) -> pd.Series:
    """Return what each value is of: the metric, with its region behind where there is one."""
    if "region" not in values:
        return values["metric"].astype(str)
    region = values["region"].fillna("").astype(str)
    return values["metric"].astype(str).where(region == "", values["metric"].astype(str) + " (" + region + ")")


def by_condition(joined: Joined, values: pd.DataFrame) -> pd.DataFrame:
    """Return the values with the condition of each stimulus as the ratings have it, those without any left out."""
    if "stimulus" not in values:
        return values
    known = values["stimulus"].map(joined.condition_of)
    own = values["condition"].replace("", None) if "condition" in values else pd.Series(None, index=values.index)
    return values.assign(condition=known.where(known.notna(), own)).dropna(subset=["condition"])


def _wide(values: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each condition, a column for each metric, in the order in which they come."""
    named = values.assign(metric=metric_names(values))
    grid = named.groupby(["condition", "metric"], sort=False)["value"].mean().unstack()
    return grid[list(dict.fromkeys(named["metric"]))].rename_axis(columns=None)
