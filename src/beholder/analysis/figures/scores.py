"""The figures of scores, strengths and medians: dots or boxes with intervals, best first."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from beholder.analysis.figures.theme import (
    ACCENT,
    BAND,
    BAR,
    COLUMN,
    INK,
    LINE,
    PAPER,
    SOFT,
    Layout,
    ScaleAxis,
    at_pixels,
    axis_of_values,
    by_question,
    chart_of,
    kept_room,
    layer_chart,
    name_axis,
    split_components,
    tooltip,
    value_axis,
)
from beholder.analysis.result import records
from beholder.formats import decimals_for, interval, number

_THESE = ("these_low", "these_high")


def scores_chart(
    table: pd.DataFrame,
    *,
    axis: ScaleAxis | None = None,
    labels: Mapping[str, str] | None = None,
    layout: Layout = COLUMN,
    title: str | None = None,
    is_share: bool = False,
    estimate: str = "mean",
    ends: tuple[str, str] = ("ci_low", "ci_high"),
) -> Any:
    """Return a row for each condition, stimulus or content, best first: a dot, and its interval as a bar.

    Where the table has intervals with these contents too, these are the bar, and the wider ones a thin line.
    """
    group = next(name for name in ("stimulus", "condition", "content") if name in table)

    def one(part: pd.DataFrame) -> Any:
        best_first = part.sort_values(estimate, ascending=False, kind="stable", ignore_index=True)
        best_first = best_first[best_first[estimate].notna()]
        inner = [value for name in _THESE if name in part for value in part[name]]
        own = axis or axis_of_values([*part[estimate], *part[ends[0]], *part[ends[1]], *inner])
        rows = [_row(row, group, labels or {}, own, estimate, ends, is_share=is_share) for row in records(best_first)]
        return _drawn(rows, own, layout, _named(part) if title is None else title)

    return by_question(table, layout, one)


def _named(part: pd.DataFrame) -> str:
    """Return what the means are called, where the table knows."""
    return str(part["metric"].iloc[0]) if "metric" in part and len(part) else ""


def _row(
    row: Mapping[str, Any],
    group: str,
    labels: Mapping[str, str],
    axis: ScaleAxis,
    estimate: str,
    ends: tuple[str, str],
    *,
    is_share: bool,
) -> dict[str, Any]:
    """Return what is drawn for one condition. A bar ends where the axis ends; the number keeps the whole width."""
    decimals = decimals_for(axis.low, axis.high)
    name = labels.get(row[group], row[group])
    value = number(row[estimate], decimals)
    low, high = row[ends[0]], row[ends[1]]
    interval_text = interval(low, high, decimals)
    tip = f"{name}\n{value}"
    shown = {"name": name, "mean": row[estimate], "value": value, "margin": ""}
    if low == low and high == high:
        is_even = not is_share and abs((low + high) / 2 - row[estimate]) < 1e-6 * max(1.0, abs(high - low))
        shown |= {"low": max(low, axis.low), "high": min(high, axis.high)}
        shown["margin"] = f"± {number((high - low) / 2, decimals)}" if is_even else interval_text
        tip += f", 95 % interval {interval_text}"
        if has_nested_interval(row):
            shown |= {"inner_low": max(row["these_low"], axis.low), "inner_high": min(row["these_high"], axis.high)}
            tip += f"; with these contents {interval(row['these_low'], row['these_high'], decimals)}"
    n = row.get("n")
    people = f", {row['participants']:,.0f} participants" if row.get("participants") else ""
    return shown | {"tip": tip + (f"\nn = {n:,.0f}{people}" if n else "")}


def has_nested_interval(row: Mapping[str, Any]) -> bool:
    """Return whether a row of a table has an interval with these contents inside that for contents like these."""
    low, high = (row.get(name, math.nan) for name in _THESE)
    # Over one content the two are one.
    return bool(low == low and high == high and row.get("contents", 2) != 1)


def _drawn(rows: list[dict[str, Any]], axis: ScaleAxis, layout: Layout, title: str) -> Any:
    import altair as alt

    names = [row["name"] for row in rows]
    side = layout.names_width(names)
    widest = max((layout.letters(row["value"]) * 1.1 for row in rows), default=0) + 8
    margin = max((layout.letters(row["margin"]) for row in rows), default=0) + 10 if layout.is_wide else 0
    plot = layout.whole - side - widest - margin - 10
    height = layout.height(names)
    y = name_axis(names, layout, side)
    ticks = axis.ticks(8 if layout.is_wide else 6)
    ticks_or_count: dict[str, Any] = {"values": ticks} if ticks is not None else {"tickCount": 5}
    across = value_axis(title, **ticks_or_count)

    def x(field: str) -> Any:
        return alt.X(f"{field}:Q", scale=alt.Scale(domain=[axis.low, axis.high], nice=False, zero=False), axis=across)

    def words(offset: float, field: str, colour: str, weight: str) -> Any:
        mark = chart_of(rows).mark_text(
            align="left", color=colour, fontWeight=weight, fontSize=layout.size, aria=False
        )  # fmt: skip
        return mark.encode(**at_pixels(x=plot + offset), y=y, text=alt.Text(f"{field}:N"))

    whole = at_pixels(y=0, y2=height)
    bands = [band._asdict() for band in axis.bands]
    edge = {"stroke": PAPER, "strokeWidth": layout.dot**0.5 / 6} if layout.row > 24 else {}
    dot: dict[str, Any] = {"color": ACCENT, "size": layout.dot, "opacity": 1, **edge}
    # Rounded inside its ends: a round line cap would make every interval look wider than it is.
    thick = 6 if layout.row > 24 else 5
    bar: dict[str, Any] = {"color": BAR, "opacity": 1}
    bars = (
        ("low", "high", False, thick), ("low", "high", True, thick / 3), ("inner_low", "inner_high", True, thick)
    )  # fmt: skip
    shaded = chart_of(bands[::2] if len(bands) > 1 else []).mark_rect(color=BAND, opacity=1, aria=False)
    layers = [
        shaded.encode(x=x("start"), x2=alt.X2("stop:Q"), **whole),
        chart_of(rows).mark_rule(color=LINE, aria=False).encode(**at_pixels(x=0, x2=plot), y=y),
        *(
            chart_of([row for row in rows if low in row and ("inner_low" in row) is is_nested])
            .mark_bar(**bar | {"height": tall, "cornerRadius": tall / 2})
            .encode(x=x(low), x2=alt.X2(f"{high}:Q"), y=y, **tooltip())
            for low, high, is_nested, tall in bars
        ),
        chart_of(rows).mark_circle(**dot).encode(x=x("mean"), y=y, **tooltip()),
        words(8, "value", INK, "bold"),
        kept_room(plot + widest + margin),
    ]
    if axis.zero is not None:
        middle = chart_of([{"place": axis.zero}]).mark_rule(color=SOFT, strokeDash=[3, 3], aria=False)
        layers.insert(2, middle.encode(x=x("place"), **whole))
    if layout.is_wide:
        layers.append(words(widest + 4, "margin", SOFT, "normal"))
    return layer_chart([*layers, *_band_words(axis, layout, plot, x)], plot, height)


def _band_words(axis: ScaleAxis, layout: Layout, plot: float, x: Any) -> list[Any]:
    """Return the labels of the scale above their bands; only those of its ends if not all fit."""
    import altair as alt

    bands = axis.bands
    longest = max(len(band.text) for band in bands)
    style: dict[str, Any] = {"baseline": "bottom", "color": SOFT, "fontSize": layout.small, "aria": False}
    if not longest:
        return []
    if longest * layout.size * 0.62 < plot / len(bands):
        mark = chart_of([band._asdict() for band in bands]).mark_text(**style)
        return [mark.encode(x=x("middle"), **at_pixels(y=-7), text=alt.Text("text:N"))]
    half = layout._replace(names=round(plot / 2) + 6)
    return [
        chart_of([{"text": half.lines(band.text)}]).mark_text(align=align, lineHeight=layout.small * 1.15, **style)
        .encode(**at_pixels(x=place, y=-7), text=alt.Text("text:N"))
        for band, place, align in ((bands[0], 0, "left"), (bands[-1], plot, "right"))
    ]  # fmt: skip


# Strengths


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
    mine = split_components(mine.rename(columns={"comparisons": "n"}))
    title = _TITLES.get(model, model)
    return scores_chart(
        mine, axis=axis, labels=labels, layout=layout, title=title, estimate="quality", ends=("low", "high")
    )


def worths_chart(table: pd.DataFrame, *, labels: Mapping[str, str] | None = None, layout: Layout = COLUMN) -> Any:
    """Return the worth of each condition with its interval, the best first."""
    axis = axis_of_values([*table["worth"], *table["low"], *table["high"]], zero=0.0)
    mine = split_components(table.rename(columns={"pages": "n"}))
    title = "Plackett-Luce worth (log odds)"
    return scores_chart(
        mine, axis=axis, labels=labels, layout=layout, title=title, estimate="worth", ends=("low", "high")
    )


# Medians


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
        rows = [_median_row(row, labels or {}, own) for row in records(best_first[best_first["median"].notna()])]
        return _median_drawn(rows, own, layout, title)

    return by_question(table, layout, one)


def _median_row(row: Mapping[str, Any], labels: Mapping[str, str], axis: ScaleAxis) -> dict[str, Any]:
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


def _median_drawn(rows: list[dict[str, Any]], axis: ScaleAxis, layout: Layout, title: str) -> Any:
    import altair as alt

    names = [row["name"] for row in rows]
    side = layout.names_width(names)
    right = max((layout.letters(row["value"]) * 1.1 for row in rows), default=0) + 8
    plot, height = layout.whole - side - right - 10, layout.height(names)
    ticks = axis.ticks(8 if layout.is_wide else 6)
    ticks_or_count: dict[str, Any] = {"values": ticks} if ticks is not None else {"tickCount": 5}
    across = value_axis(title, **ticks_or_count)
    y = name_axis(names, layout, side)

    def x(field: str) -> Any:
        return alt.X(f"{field}:Q", scale=alt.Scale(domain=[axis.low, axis.high], nice=False, zero=False), axis=across)

    tall = layout.row * 0.62
    shaded = chart_of([band._asdict() for band in (axis.bands[::2] if len(axis.bands) > 1 else ())])
    boxes, ranges = [row for row in rows if "q1" in row and "q3" in row], [row for row in rows if "low" in row]
    text = chart_of(rows).mark_text(align="left", color=INK, fontWeight="bold", fontSize=layout.size, aria=False)
    layers = [
        shaded.mark_rect(color=BAND, opacity=1, aria=False)
        .encode(x=x("start"), x2=alt.X2("stop:Q"), **at_pixels(y=0, y2=height)),
        chart_of(boxes).mark_bar(color=BAR, height=tall, cornerRadius=2, opacity=0.55)
        .encode(x=x("q1"), x2=alt.X2("q3:Q"), y=y, **tooltip()),
        chart_of(ranges).mark_bar(color=ACCENT, height=3, cornerRadius=1.5, opacity=1)
        .encode(x=x("low"), x2=alt.X2("high:Q"), y=y, **tooltip()),
        chart_of(rows).mark_circle(color=ACCENT, size=layout.dot * 1.5, opacity=1)
        .encode(x=x("median"), y=y, **tooltip()),
        text.encode(**at_pixels(x=plot + 8), y=y, text=alt.Text("value:N")),
        kept_room(plot + right),
    ]  # fmt: skip
    return layer_chart(layers, plot, height)
