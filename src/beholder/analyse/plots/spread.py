"""How far the questions lie apart on each condition, against one of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from beholder.analyse.plots.relation import relation_chart
from beholder.analyse.plots.theme import COLUMN, Layout

MEASURES = {"spread": "Standard deviation over the questions", "range": "Range over the questions"}


def spread_chart(
    table: pd.DataFrame,
    *,
    measure: str = "spread",
    question: str | None = None,
    labels: Mapping[str, str] | None = None,
    layout: Layout = COLUMN,
) -> Any:
    """Return each condition by its mean on one question and its spread, or range, over all, with line and R².

    The table has condition, of, x, spread and range; `question` is what to call the one across, by itself `of`.
    """
    points = table.rename(columns={"condition": "name", measure: "y"})[["name", "x", "y"]]
    across = question or (str(table["of"].iloc[0]) if len(table) else "")
    return relation_chart(points, across=across, up=MEASURES[measure], labels=labels, layout=layout)
