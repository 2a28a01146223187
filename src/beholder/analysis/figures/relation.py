"""Scatter plots: a dot for each condition or stimulus, the line, and R²."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from beholder.analysis.figures.labels import MAX_NAMES, dip_text, line_text, name_layers, place_names
from beholder.analysis.figures.theme import (
    ACCENT,
    BAND,
    BAR,
    COLUMN,
    INK,
    LINE,
    SOFT,
    Layout,
    ScaleAxis,
    apply_theme,
    at_pixels,
    axis_of_values,
    chart_of,
    layer_chart,
    tooltip,
    value_axis,
)
from beholder.analysis.result import records
from beholder.formats import interval, number
from beholder.stats.regression import Dip, cubic, line, line_band

_STEPS = 60
_LONGEST = 20
"""Letters of a name next to a dot; the tooltip has the whole name."""
_REACH = 0.35
"""Of the range of the dots: how far intervals may widen the picture."""
_ENDS = ("x_low", "x_high", "y_low", "y_high")


def relation_chart(
    points: pd.DataFrame,
    *,
    across: str,
    up: str,
    dip: Dip | None = None,
    labels: Mapping[str, str] | None = None,
    layout: Layout = COLUMN,
) -> Any:
    """Return a dot for each row of `points` (name, x, y; x_low, x_high, y_low, y_high where known) and its line.

    `across` and `up` are what the axes are called; with `dip`, a curve is drawn where it has one.
    """
    known = points[points["x"].notna() & points["y"].notna()]
    width, height = _measures(layout)
    x, y = (_axis(known, one) for one in ("x", "y"))
    rows = [_row(row, labels or {}, {"x": (across, x), "y": (up, y)}) for row in records(known)]
    spaces = (_channel("x", x, across, layout, width), _channel("y", y, up, layout, height))
    layers = [*_fitted(known, y, dip, spaces), *_bars(rows, spaces)]
    if 0 < len(rows) <= MAX_NAMES:
        layers += _names(rows, known, x, y, layout, width, height)
    layers.append(
        chart_of(rows)
        .mark_point(color=ACCENT, fill=ACCENT, size=_dot(layout), opacity=_opacity(len(rows)), strokeWidth=0)
        .encode(x=spaces[0]("x"), y=spaces[1]("y"), **tooltip())
    )
    layers += _caption(known, dip, layout)
    return apply_theme(layer_chart(layers, width, height), layout)


def _row(
    row: Mapping[str, Any], labels: Mapping[str, str], axes: Mapping[str, tuple[str, ScaleAxis]]
) -> dict[str, Any]:
    """Return what is drawn for one dot. An interval ends where its axis ends; the words keep the whole."""
    name = labels.get(row["name"], row["name"])
    tip = name
    shown: dict[str, Any] = {"name": name}
    for which, (axis_name, axis) in axes.items():
        low, high = (row.get(f"{which}_{end}", math.nan) for end in ("low", "high"))
        shown[which] = row[which]
        tip += f"\n{axis_name} {number(row[which], 2)}"
        if low == low and high == high:
            shown |= {f"{which}_low": max(low, axis.low), f"{which}_high": min(high, axis.high)}
            tip += f" ({interval(low, high, 2)})"
    return shown | {"tip": tip}


def _measures(layout: Layout) -> tuple[int, int]:
    """Return width and height: nearly square, so that a slope looks as steep as it is."""
    width = min(layout.whole - 62, 620)
    return width, round(width * (0.66 if layout.is_wide else 0.86))


def _short(name: str) -> str:
    """Return a name with its middle left out where it is long: names that differ mostly do so at an end."""
    half = _LONGEST // 2
    return name if len(name) <= _LONGEST else f"{name[: half - 1]}…{name[-half:]}"


def _dot(layout: Layout) -> float:
    return min(layout.dot * 1.6, 60)


def _opacity(dots: int) -> float:
    return max(0.35, min(1.0, 60 / max(1, dots) + 0.3))


def _axis(known: pd.DataFrame, which: str) -> ScaleAxis:
    """Return an axis that holds all dots, and their intervals unless these are so wide that the dots would be lost."""
    dots = known[which]
    reach = _REACH * float(dots.max() - dots.min()) if len(dots) else 0.0
    ends = [value for end in _ENDS if end.startswith(which) and end in known for value in known[end]]
    return axis_of_values([*dots, *(min(max(value, dots.min() - reach), dots.max() + reach) for value in ends)])


def _channel(which: str, axis: ScaleAxis, title: str, layout: Layout, title_limit: float) -> Any:
    """Return the maker of encodings of fields along an axis."""
    import altair as alt

    extent = {} if which == "x" else {"minExtent": 30, "maxExtent": 30}
    calm = value_axis(
        title, grid=True, gridColor=LINE, gridWidth=0.6, tickCount=5, titleLimit=title_limit, **extent
    )  # fmt: skip
    scale = alt.Scale(domain=[axis.low, axis.high], nice=False, zero=False)
    make = alt.X if which == "x" else alt.Y
    return lambda field: make(f"{field}:Q", scale=scale, axis=calm)


def _fitted(known: pd.DataFrame, y: ScaleAxis, dip: Dip | None, spaces: tuple[Any, Any]) -> list[Any]:
    """Return the line with its band, and the curve if y has a dip."""
    import altair as alt

    fit = line(known["x"], known["y"])
    if math.isnan(fit.r_squared):
        return []
    at = np.linspace(known["x"].min(), known["x"].max(), _STEPS)
    low, high = line_band(known["x"], known["y"], at)
    middle = fit.intercept + fit.slope * at
    path = [
        {"at": a, "low": max(b, y.low), "high": min(c, y.high), "middle": d}
        for a, b, c, d in zip(at.tolist(), low.tolist(), high.tolist(), middle.tolist(), strict=True)
    ]
    has_curve = dip is not None and dip.verdict == "yes"
    stroke: dict[str, Any] = {"color": SOFT if has_curve else ACCENT, "strokeWidth": 1 if has_curve else 1.5}
    dash = {"strokeDash": [4, 3]} if has_curve else {}
    layers = [
        chart_of(path).mark_area(color=BAND, opacity=1, aria=False, clip=True)
        .encode(x=spaces[0]("at"), y=spaces[1]("low"), y2=alt.Y2("high:Q")),
        chart_of(path).mark_line(**stroke, **dash, aria=False, clip=True)
        .encode(x=spaces[0]("at"), y=spaces[1]("middle")),
    ]  # fmt: skip
    curve = cubic(known["x"], known["y"]) if has_curve else None
    if curve is not None:
        bent = [{"at": a, "height": b} for a, b in zip(at.tolist(), curve.at(at).tolist(), strict=True)]
        mark = chart_of(bent).mark_line(color=ACCENT, strokeWidth=1.5, aria=False, clip=True)
        layers.append(mark.encode(x=spaces[0]("at"), y=spaces[1]("height")))
    return layers


def _bars(rows: list[dict[str, Any]], spaces: tuple[Any, Any]) -> list[Any]:
    """Return the intervals of each dot, along both axes."""
    import altair as alt

    thin: dict[str, Any] = {"color": BAR, "opacity": 0.8, "aria": False}
    across = chart_of([row for row in rows if "x_low" in row and "x_high" in row]).mark_bar(height=1.5, **thin)
    upward = chart_of([row for row in rows if "y_low" in row and "y_high" in row]).mark_bar(width=1.5, **thin)
    return [
        across.encode(x=spaces[0]("x_low"), x2=alt.X2("x_high:Q"), y=spaces[1]("y")),
        upward.encode(x=spaces[0]("x"), y=spaces[1]("y_low"), y2=alt.Y2("y_high:Q")),
    ]


def _names(
    rows: list[dict[str, Any]], known: pd.DataFrame, x: ScaleAxis, y: ScaleAxis, layout: Layout, width: int, height: int
) -> list[Any]:
    """Return the name of each dot, where it hides nothing."""

    def pixels(across: Any, up: Any) -> Any:
        right = (np.asarray(across, dtype=float) - x.low) / (x.high - x.low) * width
        down = (y.high - np.asarray(up, dtype=float)) / (y.high - y.low) * height
        return np.column_stack([right, down])

    dots = pixels(known["x"], known["y"])
    fit = line(known["x"], known["y"])
    at = np.linspace(x.low, x.high, _STEPS)
    near = [np.zeros((0, 2)) if math.isnan(fit.slope) else pixels(at, fit.intercept + fit.slope * at)]
    for row in rows:
        for end, other in (("x", "y"), ("y", "x")):
            if {f"{end}_low", f"{end}_high"} <= set(row):
                bar = np.linspace(row[f"{end}_low"], row[f"{end}_high"], 9)
                fixed_end = np.full(9, row[other])
                near.append(pixels(*((bar, fixed_end) if end == "x" else (fixed_end, bar))))
    named = [_short(row["name"]) for row in rows]
    names = place_names(named, dots, layout.small, (width, height), np.vstack(near), math.sqrt(_dot(layout)) / 2)
    return name_layers(names, layout)


def _caption(known: pd.DataFrame, dip: Dip | None, layout: Layout) -> list[Any]:
    """Return the numbers of the line above the picture, and a line about the dip."""
    import altair as alt

    lines = [line_text(line(known["x"], known["y"]))]
    if dip is not None and not math.isnan(dip.p):
        lines.append(dip_text(dip))
    style: dict[str, Any] = {"align": "left", "baseline": "bottom", "fontSize": layout.small, "aria": False}
    return [
        chart_of([{"said": one}]).mark_text(color=INK if place == 0 else SOFT, **style)
        .encode(**at_pixels(x=0, y=-6 - (len(lines) - 1 - place) * (layout.small + 4)), text=alt.Text("said:N"))
        for place, one in enumerate(lines)
    ]  # fmt: skip


# The spread of questions on each condition, against one question


_MEASURES = {"spread": "Standard deviation over the questions", "range": "Range over the questions"}


def spread_chart(
    table: pd.DataFrame,
    *,
    measure: str = "spread",
    question: str | None = None,
    labels: Mapping[str, str] | None = None,
    layout: Layout = COLUMN,
) -> Any:
    """Return each condition by its mean on one question and its spread, or range, over all, with line and R².

    The table has condition, of, x, spread and range, and where it is over stimuli their names in `stimulus`; `question`
    is what to call the one across, by itself `of`.
    """
    name = "stimulus" if "stimulus" in table else "condition"
    points = table.rename(columns={name: "name", measure: "y"})[["name", "x", "y"]]
    across = question or (str(table["of"].iloc[0]) if len(table) else "")
    return relation_chart(points, across=across, up=_MEASURES[measure], labels=labels, layout=layout)
