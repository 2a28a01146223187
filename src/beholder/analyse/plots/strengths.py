"""The figure of strengths: the scale that Bradley and Terry's or Thurstone's model puts the conditions on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from beholder.analyse.plots.axis import axis_of_values
from beholder.analyse.plots.scores import scores_chart
from beholder.analyse.plots.theme import COLUMN, Layout, apart

_TITLES = {
    "bradley-terry": "Bradley-Terry strength (log odds)",
    "thurstone": "Thurstone strength (standard deviations)",
}


def strengths_chart(
    table: pd.DataFrame,
    *,
    labels: Mapping[str, str] | None = None,
    layout: Layout = COLUMN,
    model: str = "bradley-terry",
) -> Any:
    """Return the strength of each condition under one model with its interval, strongest first."""
    mine = table[(table["model"] == model) & (table["level"] == "condition")].drop(columns="stimulus")
    axis = axis_of_values([*mine["quality"], *mine["low"], *mine["high"]], zero=0.0)
    mine = apart(mine.rename(columns={"comparisons": "n"}))
    title = _TITLES.get(model, model)
    return scores_chart(
        mine, axis=axis, labels=labels, layout=layout, title=title, estimate="quality", ends=("low", "high")
    )
