"""The figure of medians: box from quartile to quartile, median, and its exact interval."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from beholder.analyse.plots.axis import ScaleAxis, axis_of_values
from beholder.analyse.plots.numbers import decimals_for, interval, number
from beholder.analyse.plots.palette import ACCENT, BAND, BAR, INK
from beholder.analyse.plots.theme import COLUMN, Layout, by_question, drawn, fixed, layered, name_axis, told, value_axis
from beholder.analyse.result import records


def medians_chart(
    table: pd.DataFrame,
    *,
    axis: ScaleAxis | None = None,
    labels: Mapping[str, str] | None = None,
    layout: Layout = COLUMN,
    title: str = "Median, its interval, and quartiles",
) -> Any:
    """Return a box for each condition, the highest median first."""

    def one(part: pd.DataFrame) -> Any:
        mine = part[part["level"] == "condition"] if "level" in part else part
        best_first = mine.sort_values("median", ascending=False, kind="stable")
        own = axis or axis_of_values([*mine["q1"], *mine["q3"], *mine["ci_low"], *mine["ci_high"], *mine["median"]])
        rows = [_row(row, labels or {}, own) for row in records(best_first[best_first["median"].notna()])]
        return _drawn(rows, own, layout, title)

    return by_question(table, layout, one)


def _row(row: Mapping[str, Any], labels: Mapping[str, str], axis: ScaleAxis) -> dict[str, Any]:
    decimals = decimals_for(axis.low, axis.high)
    name = labels.get(row["condition"], row["condition"])
    shown = {"name": name, "value": number(row["median"], decimals)}
    shown |= {key: row[key] for key in ("median", "q1", "q3") if row[key] == row[key]}
    tip = f"{name}\nmedian {shown['value']}"
    if row["ci_low"] == row["ci_low"]:
        shown |= {"low": row["ci_low"], "high": row["ci_high"]}
        tip += f", 95 % interval {interval(row['ci_low'], row['ci_high'], decimals)}"
    quartiles = f"quartiles {number(row['q1'], decimals)} and {number(row['q3'], decimals)}"
    return shown | {"tip": f"{tip}\n{quartiles}, n = {row['n']:,.0f}"}


def _drawn(rows: list[dict[str, Any]], axis: ScaleAxis, layout: Layout, title: str) -> Any:
    import altair as alt

    names = [row["name"] for row in rows]
    side = layout.names_width(names)
    right = max((layout.letters(row["value"]) * 1.1 for row in rows), default=0) + 8
    plot, height = layout.whole - side - right - 10, layout.height(names)
    ticks = axis.ticks(8 if layout.is_wide else 6)
    given: dict[str, Any] = {"values": ticks} if ticks is not None else {"tickCount": 5}
    across = value_axis(title, **given)
    y = name_axis(names, layout, side)

    def x(field: str) -> Any:
        return alt.X(f"{field}:Q", scale=alt.Scale(domain=[axis.low, axis.high], nice=False, zero=False), axis=across)

    tall = layout.row * 0.62
    shaded = drawn([band._asdict() for band in (axis.bands[::2] if len(axis.bands) > 1 else ())])
    boxes, ranges = [row for row in rows if "q1" in row and "q3" in row], [row for row in rows if "low" in row]
    text = drawn(rows).mark_text(align="left", color=INK, fontWeight="bold", fontSize=layout.size, aria=False)
    layers = [
        shaded.mark_rect(color=BAND, opacity=1, aria=False)
        .encode(x=x("start"), x2=alt.X2("stop:Q"), **fixed(y=0, y2=height)),
        drawn(boxes).mark_bar(color=BAR, height=tall, cornerRadius=2, opacity=0.55)
        .encode(x=x("q1"), x2=alt.X2("q3:Q"), y=y, **told()),
        drawn(ranges).mark_bar(color=ACCENT, height=3, cornerRadius=1.5, opacity=1)
        .encode(x=x("low"), x2=alt.X2("high:Q"), y=y, **told()),
        drawn(rows).mark_circle(color=ACCENT, size=layout.dot * 1.5, opacity=1)
        .encode(x=x("median"), y=y, **told()),
        text.encode(**fixed(x=plot + 8), y=y, text=alt.Text("value:N")),
    ]  # fmt: skip
    return layered(layers, plot, height)
