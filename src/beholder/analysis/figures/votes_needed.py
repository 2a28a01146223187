"""The figure of votes needed: agreement by the number of votes per stimulus."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from beholder.analysis.figures.theme import (
    ACCENT,
    BAR,
    COLUMN,
    INK,
    LINE,
    PAPER,
    SOFT,
    Layout,
    apply_theme,
    at_pixels,
    chart_of,
    layer_chart,
    tooltip,
    value_axis,
)
from beholder.analysis.result import records
from beholder.formats import number, plain
from beholder.stats.votes_needed import spearman_brown

TARGET_CORRELATION = 0.95
"""The correlation with a repeated study that suffices: the line in the figure."""
_MAX_LINEAR = 60
"""With more votes than these the axis is in powers."""
_ROOM = 60


def main_curve(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the curve to draw: that of repeated studies if the table has it, else the first."""
    halves: pd.DataFrame = table[(table["by"] == "participant") & (table["against"] == "halves")]
    if len(halves):
        return halves
    first = table.iloc[0]
    rows: pd.DataFrame = table[(table["by"] == first["by"]) & (table["against"] == first["against"])]
    return rows


def votes_needed_chart(table: pd.DataFrame, *, labels: Mapping[str, str] | None = None, layout: Layout = COLUMN) -> Any:
    """Return the correlation over the number of votes with its band; for a single question also the error."""
    import altair as alt

    rows = main_curve(table)
    questions = list(dict.fromkeys(rows["question"]))
    measures = ["pearson", "rmse"] if len(questions) == 1 else ["pearson"]
    is_beside = layout.is_wide and len(measures) == 2
    width = layout.whole / (2 if is_beside else 1) - _ROOM - (8 if is_beside else 0)
    charts = [_panel(rows, measure, labels or {}, width, layout) for measure in measures]
    if len(charts) == 1:
        return apply_theme(charts[0], layout)
    both = alt.HConcatChart(hconcat=charts, spacing=20) if is_beside else alt.VConcatChart(vconcat=charts, spacing=16)
    return apply_theme(both, layout)


def _panel(rows: pd.DataFrame, measure: str, labels: Mapping[str, str], width: float, layout: Layout) -> Any:
    import altair as alt

    height = layout.row * (9 if layout.is_wide else 8)
    is_many = rows["question"].nunique() > 1
    known = rows[rows[measure].notna()]
    points = [_point(row, measure, labels if is_many else None) for row in records(known)]
    now = max([*rows["votes_now"], 1.0])
    last = max([now, *(point["votes"] for point in points)])
    across: dict[str, Any] = {"domain": [min([1, *(p["votes"] for p in points)]), last * 1.04], "nice": False}
    if last > _MAX_LINEAR:
        across["type"] = "log"
    x = alt.X("votes:Q", scale=alt.Scale(**across), axis=value_axis("Votes per stimulus", tickCount=6, tickMinStep=1))
    # Below the lowest of several curves its name needs a line.
    scale, title = _height(points, measure, "value" if is_many else "low", layout.size * 2 / height if is_many else 0)
    up = value_axis(title, grid=True, gridColor=LINE, tickCount=5, minExtent=30, maxExtent=30, format="~f")
    y = alt.Y("value:Q", scale=scale, axis=up)
    thin = 1.2 if not is_many else 1.0
    layers = []
    if measure == "pearson" and points:
        line = chart_of([{"value": TARGET_CORRELATION}]).mark_rule(color=SOFT, strokeDash=[2, 3], aria=False)
        layers.append(line.encode(y=y, **at_pixels(x=0, x2=width)))
    if not is_many:
        layers.append(
            chart_of(points).mark_area(color=BAR, opacity=0.35, aria=False)
            .encode(x=x, y=alt.Y("low:Q", scale=scale, axis=up), y2=alt.Y2("high:Q"))
        )  # fmt: skip
    layers += [
        chart_of(points).mark_line(color=ACCENT, strokeWidth=thin, aria=False, opacity=1 if not is_many else 0.6)
        .encode(x=x, y=y, detail=alt.Detail("question:N")),
        chart_of(points).mark_circle(color=ACCENT, size=min(layout.dot, 36) * 1.4, opacity=1 if not is_many else 0.7)
        .encode(x=x, y=y, **tooltip()),
    ]  # fmt: skip
    if beyond := _beyond(known, measure):
        dashes = chart_of(beyond).mark_line(color=ACCENT, strokeWidth=thin, strokeDash=[4, 3], aria=False)
        layers.append(dashes.encode(x=x, y=y, detail=alt.Detail("question:N")))
    if is_many:
        layers += _names(points, labels, x, y, width * _end_share(points, across), width, layout)
    layers += _now(x, now, height, layout)
    return layer_chart(layers, width, height)


def _now(x: Any, now: float, height: float, layout: Layout) -> list[Any]:
    """Return the mark of the current number of votes."""
    import altair as alt

    mark = [{"votes": now, "key": f"{plain(round(now, 1))} now"}]
    words = chart_of(mark).mark_text(
        align="right", baseline="bottom", dx=-4, color=INK, fontSize=layout.small, aria=False
    )
    return [
        chart_of(mark).mark_rule(color=INK, strokeWidth=1, aria=False).encode(x=x, **at_pixels(y=0, y2=height)),
        words.encode(x=x, text=alt.Text("key:N"), **at_pixels(y=height - 4)),
    ]


def _point(row: dict[str, Any], measure: str, labels: Mapping[str, str] | None) -> dict[str, Any]:
    name = "r" if measure == "pearson" else "RMSE"
    decimals = 3 if measure == "pearson" else 2
    low, high = (number(row[f"{measure}_{end}"], decimals) for end in ("low", "high"))
    tip = f"{row['votes']:,.0f} votes per stimulus\n{name} = {number(row[measure], decimals)} ({low} to {high})"
    if labels is not None:
        tip = f"{labels.get(row['question'], row['question'])}\n{tip}"
    return {
        "question": row["question"], "votes": row["votes"], "value": row[measure], "low": row[f"{measure}_low"],
        "high": row[f"{measure}_high"], "tip": tip,
    }  # fmt: skip


def _height(points: list[dict[str, Any]], measure: str, lowest_of: str, air: float) -> tuple[Any, str]:
    import altair as alt

    if measure == "rmse":
        most = max([0.0, *(point["high"] for point in points)]) or 1.0
        return alt.Scale(domain=[0, most * 1.04], nice=False), "RMSE, points of the scale"
    lowest = min([0.9, *(point[lowest_of] for point in points)])
    lowest -= air * (1 - lowest) / (1 - air)
    return alt.Scale(domain=[math.floor(10 * lowest) / 10, 1], nice=False), "Correlation r"


def _beyond(rows: pd.DataFrame, measure: str) -> list[dict[str, Any]]:
    """Return the curve of repeated studies, extrapolated from its end to the current number of votes.

    r goes on as Spearman and Brown have it, the error as that of means does, by the root of the votes.
    """
    if set(rows["against"]) != {"halves"}:
        return []
    points = []
    for question, mine in rows.groupby("question", sort=False):
        end = mine.iloc[-1]
        value, votes, now = float(end[measure]), float(end["votes"]), float(end["votes_now"])
        if value > 0:
            for at in (votes + (now - votes) * step / 12 for step in range(13)):
                goes_on = spearman_brown(value, votes, at) if measure == "pearson" else value * math.sqrt(votes / at)
                points.append({"question": question, "votes": at, "value": goes_on})
    return points


def _end_share(points: list[dict[str, Any]], across: Mapping[str, Any]) -> float:
    """Return at which share of the axis the shortest curve ends."""
    first, last = (float(end) for end in across["domain"])
    end = min({point["question"]: float(point["votes"]) for point in points}.values(), default=last)
    if across.get("type") == "log":
        return math.log(end / first) / math.log(last / first)
    return (end - first) / (last - first)


def _names(
    points: list[dict[str, Any]], labels: Mapping[str, str], x: Any, y: Any, end: float, width: float, layout: Layout
) -> list[Any]:
    """Return the names of the questions with the highest curve, above it, and the lowest, below it.

    The curves end `end` pixels from the left.
    """
    import altair as alt

    ends = {point["question"]: point for point in points}
    order = sorted(ends.values(), key=lambda point: -point["value"])
    layers = []
    for point, side in zip((order[0], order[-1]) if order else (), (-1, 1), strict=False):
        row = [{**point, "name": labels.get(point["question"], point["question"])}]
        style = {
            # Curves rise: above the highest the left is free, below the lowest the right.
            "baseline": "bottom" if side < 0 else "top", "align": "right" if side < 0 else "left", "dy": 7 * side,
            "fontSize": layout.small, "limit": 0.88 * (end if side < 0 else width - end), "aria": False,
        }  # fmt: skip
        for colours in ({"stroke": PAPER, "strokeWidth": 3, "fill": PAPER}, {"fill": INK}):  # readable over a line
            layers.append(chart_of(row).mark_text(**style, **colours).encode(x=x, y=y, text=alt.Text("name:N")))
    return layers
