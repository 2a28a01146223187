"""Scores against metrics: one small picture for each metric, a dot for each stimulus or condition, and the line."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from beholder.analyse.plots.axis import axis_of_values
from beholder.analyse.plots.numbers import interval, number
from beholder.analyse.plots.palette import ACCENT, INK, LINE, SOFT
from beholder.analyse.plots.theme import COLUMN, Layout, drawn, finished, fixed, layered, told, value_axis
from beholder.analyse.result import records
from beholder.metrics.words import called, told_r

MOST_DOTS = 2000


class Cloud(NamedTuple):
    """One metric beside one question: what has both, and how they go together."""

    metric: str
    region: str
    points: pd.DataFrame
    """The name of each, `value` and `mean`."""
    row: Mapping[str, Any]
    """Of the table of correlations."""


def clouds_chart(clouds: Sequence[Cloud], *, question: str, labels: Mapping[str, str], layout: Layout = COLUMN) -> Any:
    """Return the clouds of one question side by side, the scores on one scale."""
    import altair as alt

    columns = min(len(clouds), 4 if layout.is_wide else 2)
    width = min((layout.whole - 44) / columns - 30, 300)
    scores = axis_of_values([mean for cloud in clouds for mean in cloud.points["mean"]])
    charts = [
        _cloud(cloud, place % columns == 0, (scores.low, scores.high), question, labels, width, layout)
        for place, cloud in enumerate(clouds)
    ]
    rows = [alt.HConcatChart(hconcat=charts[at : at + columns], spacing=18) for at in range(0, len(charts), columns)]
    return finished(alt.VConcatChart(vconcat=rows, spacing=22), layout)


def _cloud(
    cloud: Cloud, is_first: bool, ends: tuple[float, float], question: str, labels: Mapping[str, str], width: float,
    layout: Layout,
) -> Any:  # fmt: skip
    import altair as alt

    name = called(cloud.metric, cloud.region)
    height = width * 0.86
    across = axis_of_values(cloud.points["value"])
    x = alt.X(
        "value:Q", scale=alt.Scale(domain=[across.low, across.high], nice=False, zero=False),
        axis=value_axis(name, grid=True, gridColor=LINE, gridWidth=0.6, tickCount=4, labelOverlap="greedy"),
    )  # fmt: skip
    y = alt.Y(
        "mean:Q", scale=alt.Scale(domain=list(ends), nice=False, zero=False),
        axis=value_axis(question if is_first else "", grid=True, gridColor=LINE, gridWidth=0.6, tickCount=4,
                        minExtent=26, maxExtent=26, titleLimit=height),
    )  # fmt: skip
    known = cloud.points.iloc[:: -(-len(cloud.points) // MOST_DOTS) or 1]
    unit = str(cloud.points.columns[0])
    dots = [
        {
            "value": row["value"], "mean": row["mean"],
            "tip": f"{labels.get(row[unit], row[unit])}\n"
                   f"{name} {number(row['value'], 3)}, {question} {number(row['mean'], 2)}",
        }
        for row in records(known)
    ]  # fmt: skip
    crowd = max(0.35, min(0.9, 60 / max(1, len(dots)) + 0.3))
    layers = [
        *_line(cloud, x, y, ends),
        drawn(dots).mark_point(
            color=ACCENT, fill=ACCENT, size=min(layout.dot * 1.6, 50), opacity=crowd, strokeWidth=0
        ).encode(x=x, y=y, **told()),
        drawn([{"said": _said(cloud.row)}]).mark_text(
            align="left", baseline="bottom", color=INK, fontSize=layout.small, aria=False
        ).encode(**fixed(x=0, y=-5), text=alt.Text("said:N")),
    ]  # fmt: skip
    return layered(layers, width, height)


def _line(cloud: Cloud, x: Any, y: Any, ends: tuple[float, float]) -> list[Any]:
    slope, intercept = cloud.row["slope"], cloud.row["intercept"]
    if math.isnan(slope):
        return []
    places = (float(cloud.points["value"].min()), float(cloud.points["value"].max()))
    path = [{"value": at, "mean": min(ends[1], max(ends[0], intercept + slope * at))} for at in places]
    return [drawn(path).mark_line(color=SOFT, strokeWidth=1.2, aria=False).encode(x=x, y=y)]


def _said(row: Mapping[str, Any]) -> str:
    if math.isnan(row["pearson"]):
        return f"{row['n']} points: no line"
    ends = interval(row["pearson_low"], row["pearson_high"], 2)
    return f"r = {told_r(row['pearson'])}" + ("" if math.isnan(row["pearson_low"]) else f" ({ends})")
