"""The figure of pairs: every difference with its interval, the clear ones dark."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from beholder.analyse.correction import UNNAMED, is_clear
from beholder.analyse.plots.axis import axis_of_values
from beholder.analyse.plots.numbers import decimals_for, interval, signed
from beholder.analyse.plots.palette import ACCENT, BAR, INK, LINE, PAPER, SOFT
from beholder.analyse.plots.theme import COLUMN, Layout, by_question, drawn, fixed, layered, name_axis, told, value_axis
from beholder.analyse.result import records


def pairs_chart(
    table: pd.DataFrame,
    *,
    labels: Mapping[str, str] | None = None,
    layout: Layout = COLUMN,
    title: str = "Mean difference, 95 % interval",
) -> Any:
    """Return one row for each pair, or contrast that was named, the largest difference first, the better one first."""

    def one(part: pd.DataFrame) -> Any:
        is_asked = ~part["note"].str.contains(UNNAMED, regex=False)
        found = part[part["mean_difference"].notna() & is_asked]
        rows = [_row(row, labels or {}) for row in records(found)]
        return _drawn(sorted(rows, key=lambda row: -row["difference"]), layout, title)

    return by_question(table, layout, one)


def _row(row: Mapping[str, Any], labels: Mapping[str, str]) -> dict[str, Any]:
    """Return what is drawn for one pair, turned so that its difference is not below zero."""
    names = [labels.get(row[column], row[column]) for column in ("condition", "other_condition")]
    difference, low, high = row["mean_difference"], row["ci_low"], row["ci_high"]
    if difference < 0:
        names, difference, low, high = names[::-1], -difference, -high, -low
    decimals = decimals_for(0, max(abs(difference), abs(high) if high == high else 0) * 4)
    name = f"{names[0]} − {names[1]}"
    tip = f"{name}\n{signed(difference, decimals)}"
    shown = {"name": name, "difference": difference, "clear": is_clear(row["clear_by"])}
    if low == low and high == high:
        shown |= {"low": low, "high": high}
        tip += f", 95 % interval {interval(low, high, decimals)}"
    p, corrected = (row["p_holm"], "p after correction") if row["p_holm"] == row["p_holm"] else (row["p"], "p")
    tested = "not tested" if p != p else f"{corrected} {'< 0.001' if p < 0.001 else f'{p:.3f}'}"
    return shown | {"tip": f"{tip}\n{tested}, n = {row['n']:,.0f}"}


def _drawn(rows: list[dict[str, Any]], layout: Layout, title: str) -> Any:
    import altair as alt

    names = [row["name"] for row in rows]
    side = layout._replace(names=round(layout.whole * 0.55)).names_width(names)
    plot, height = layout.whole - side - 24, round(layout.row * 0.8) * len(rows)
    axis = axis_of_values([0.0, *(row[end] for row in rows for end in ("low", "high", "difference") if end in row)])
    y = name_axis(names, layout._replace(is_wide=True, size=layout.small), side)
    across = value_axis(title, tickCount=5)

    def x(field: str) -> Any:
        return alt.X(f"{field}:Q", scale=alt.Scale(domain=[axis.low, axis.high], nice=False), axis=across)

    layers = [
        drawn(rows).mark_rule(color=LINE, aria=False).encode(**fixed(x=0, x2=plot), y=y),
        drawn([{"place": 0}]).mark_rule(color=SOFT, strokeDash=[3, 3], aria=False)
        .encode(x=x("place"), **fixed(y=0, y2=height)),
    ]  # fmt: skip
    ranges = drawn([row for row in rows if "low" in row]).mark_bar(color=BAR, height=4, cornerRadius=2, opacity=1)
    layers.append(ranges.encode(x=x("low"), x2=alt.X2("high:Q"), y=y, **told()))
    for is_dark, fill in ((True, ACCENT), (False, PAPER)):
        mine = drawn([row for row in rows if row["clear"] is is_dark])
        dot = mine.mark_point(stroke=ACCENT, fill=fill, size=layout.dot, opacity=1, strokeWidth=1)
        layers.append(dot.encode(x=x("difference"), y=y, **told()))
    key = f"filled: {_told(rows)}"
    words = drawn([{"key": key}]).mark_text(
        align="right", baseline="bottom", color=INK, fontSize=layout.small, aria=False
    )
    layers.append(words.encode(**fixed(x=plot, y=-5), text=alt.Text("key:N")))
    return layered(layers, plot, height)


def _told(rows: list[dict[str, Any]]) -> str:
    clear = sum(row["clear"] for row in rows)
    return f"clear, {clear} of {len(rows)}"
