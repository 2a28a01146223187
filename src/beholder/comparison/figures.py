"""The figures of a comparison: Bland-Altman plots, matrices of correlations, and scatter plots of two sides."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import scipy

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
    axis_keys,
    chart_of,
    layer_chart,
    name_axis,
    tooltip,
    value_axis,
)
from beholder.analysis.result import records
from beholder.comparison.sides import MatchedScores
from beholder.formats import decimals_for, interval, number, signed
from beholder.stats.intervals import LEVEL

# Bland-Altman plot: the difference of two sides against their mean, with limits of agreement


CITATION = "Bland and Altman (1986), Lancet 327"
_DIFFERENCE_MARGIN = 102
_LIMIT = 1.96


def difference_chart(one: MatchedScores, clear: Sequence[bool], *, layout: Layout = COLUMN) -> Any:
    """Return a dot for each thing both scored: side minus other side, over the mean of both."""
    import altair as alt

    table = one.table.assign(clear=list(clear), apart=one.table["mean"] - one.table["other_mean"])
    middle, spread = float(table["apart"].mean()), float(table["apart"].std()) if len(table) > 1 else 0.0
    decimals = decimals_for(float(table["mean"].min()), float(table["mean"].max()))
    rows = [
        {"x": (row["mean"] + row["other_mean"]) / 2, "y": row["apart"], "clear": bool(row["clear"]),
         "tip": f"{row['name']}\n{signed(row['apart'], decimals)}"}
        for row in records(table.iloc[:: -(-len(table) // MOST_DOTS) or 1])
    ]  # fmt: skip
    width, height = layout.whole - _DIFFERENCE_MARGIN, layout.row * 11
    limits = [middle - _LIMIT * spread, middle + _LIMIT * spread]
    reach = max([abs(limit) for limit in limits] + [abs(row["y"]) for row in rows]) * 1.1 or 1.0
    grid: dict[str, Any] = {"grid": True, "gridColor": LINE, "tickCount": 5}
    x = alt.X("x:Q", scale=alt.Scale(zero=False, nice=True), axis=value_axis("Mean of both", tickCount=5))
    y = alt.Y(
        "y:Q", scale=alt.Scale(domain=[-reach, reach], nice=False),
        axis=value_axis(f"{one.side} − {one.other_side}", **grid, minExtent=34, maxExtent=34),
    )  # fmt: skip
    lines = [
        {"y": middle, "word": signed(middle, decimals)},
        *({"y": limit, "word": signed(limit, decimals)} for limit in limits if spread),
    ]
    layers = [
        chart_of([{"y": 0}]).mark_rule(color=SOFT, strokeDash=[3, 3], aria=False)
        .encode(y=y, **at_pixels(x=0, x2=width)),
        chart_of(lines).mark_rule(color=INK, strokeWidth=1, aria=False).encode(y=y, **at_pixels(x=0, x2=width)),
        chart_of(lines).mark_text(
            align="left", baseline="middle", dx=5, color=INK, fontSize=layout.small, aria=False
        ).encode(y=y, text=alt.Text("word:N"), **at_pixels(x=width)),
    ]  # fmt: skip
    for is_clear, colour in ((False, ACCENT), (True, CLEAR)):
        mine = chart_of([row for row in rows if row["clear"] is is_clear])
        dots = mine.mark_point(color=colour, fill=colour, size=layout.dot * 2, opacity=0.85, strokeWidth=0)
        layers.append(dots.encode(x=x, y=y, **tooltip()))
    return apply_theme(layer_chart(layers, width, height), layout)


# Matrix of correlations: the darker a cell, the better two sides agree


_DARK = 0.75
"""Above this share of the colour, words are white."""


def matrix_chart(table: pd.DataFrame, names: Sequence[str], *, layout: Layout = COLUMN) -> Any:
    """Return a grid of sides by sides from one measure's rows of the table of matrices."""
    import altair as alt

    rows = [
        {"name": row["side"], "other": other, "value": row[other], "word": number(row[other], 3),
         "tip": f"{row['side']} and {other}\nr = {number(row[other], 3)}"}
        for row in records(table)
        for other in names
        if other != row["side"] and not math.isnan(row[other])
    ]  # fmt: skip
    lowest = min([row["value"] for row in rows], default=0.0)
    # Runs of one test all agree above 0.9, and should still look different.
    start = max(-1.0, math.floor(10 * (lowest - 0.05)) / 10)
    for row in rows:
        row["share"] = (row["value"] - start) / (1 - start)
    side = layout.names_width(names)
    width, height = layout.whole - side - 16, layout.height(names) * 1.4
    y = name_axis(names, layout, side)
    across = axis_keys(
        domain=False, ticks=False, grid=False, orient="top", title=None, aria=False, labelColor=SOFT,
        labelAngle=0 if max(map(layout.letters, names)) < width / len(names) else -35,
    )  # fmt: skip
    x = alt.X("other:N", sort=list(names), axis=across, scale=alt.Scale(paddingInner=0.06, paddingOuter=0.03))
    opacity = alt.Opacity("share:Q", scale=alt.Scale(domain=[0, 1], range=[0.06, 1]), legend=None)
    text: dict[str, Any] = {"fontSize": layout.small, "aria": False}
    layers = [chart_of(rows).mark_rect(color=ACCENT, cornerRadius=2).encode(x=x, y=y, opacity=opacity, **tooltip())]
    for is_dark, colour in ((True, PAPER), (False, INK)):
        mine = chart_of([row for row in rows if (row["share"] > _DARK) is is_dark])
        layers.append(mine.mark_text(color=colour, **text).encode(x=x, y=y, text=alt.Text("word:N")))
    return apply_theme(layer_chart(layers, width, height), layout)


# Scatter plot of two sides: a dot for each stimulus or condition, with both intervals


CLEAR = "#b35806"
"""The colour of what clearly differs: distinct with every kind of colour vision, in every theme."""
_MOST_NAMED = {"condition": 12, "stimulus": 8}
"""With more dots names, longer ones of stimuli, would hide each other."""
MOST_DOTS = 2000
_SCATTER_MARGIN = 52
_CORNER = 3
"""Lines of the corner, at most."""


def scatter_chart(
    one: MatchedScores,
    agreement: Mapping[str, float],
    clear: Sequence[bool],
    *,
    labels: Mapping[str, str] | None = None,
    layout: Layout = COLUMN,
) -> Any:
    """Return the dots round the line on which both sides are equal, and the line that maps the other to the side."""
    import altair as alt

    rows = _rows(one, clear, labels or {})
    width = layout.whole - _SCATTER_MARGIN
    ends = [row[key] for row in rows for key in ("x", "y", "x_low", "x_high", "y_low", "y_high") if key in row]
    low, high = min(ends), max(ends)
    air = 0.05 * (high - low) or 0.5
    scale = alt.Scale(domain=[low - air, high + air], nice=False, zero=False)
    grid: dict[str, Any] = {"grid": True, "gridColor": LINE, "tickCount": 5}
    across = value_axis(one.side, **grid)
    up = value_axis(one.other_side, **grid, minExtent=26, maxExtent=26)

    def x(field: str) -> Any:
        return alt.X(f"{field}:Q", scale=scale, axis=across)

    def y(field: str) -> Any:
        return alt.Y(f"{field}:Q", scale=scale, axis=up)

    line = [{"x": low - air, "y": low - air}, {"x": high + air, "y": high + air}]
    layers = [
        chart_of(line).mark_line(color=SOFT, strokeDash=[3, 3], strokeWidth=1, aria=False).encode(x=x("x"), y=y("y"))
    ]
    mapping = _mapping(agreement, low - air, high + air)
    if mapping:
        layers.append(chart_of(mapping).mark_line(color=INK, strokeWidth=1, aria=False).encode(x=x("x"), y=y("y")))
    faint: dict[str, Any] = {"color": BAR, "opacity": max(0.25, min(0.8, 25 / len(rows))), "aria": False}
    layers += [
        chart_of([row for row in rows if "x_low" in row]).mark_rule(**faint)
        .encode(x=x("x_low"), x2=alt.X2("x_high:Q"), y=y("y")),
        chart_of([row for row in rows if "y_low" in row]).mark_rule(**faint)
        .encode(x=x("x"), y=y("y_low"), y2=alt.Y2("y_high:Q")),
    ]  # fmt: skip
    for is_clear, colour in ((False, ACCENT), (True, CLEAR)):
        mine = chart_of([row for row in rows if row["clear"] is is_clear])
        dots = mine.mark_point(color=colour, fill=colour, size=layout.dot * 2, opacity=0.85, strokeWidth=0)
        layers.append(dots.encode(x=x("x"), y=y("y"), **tooltip()))
    if len(rows) <= _MOST_NAMED[one.level]:
        for align in ("left", "right"):
            mine = [row for row in _named(rows, (low - air, high + air), width, layout) if row["align"] == align]
            words = chart_of(mine).mark_text(
                align=align, color=INK, fontSize=layout.small, baseline="middle", aria=False
            )
            layers.append(words.encode(x=x("at_x"), y=y("at_y"), text=alt.Text("name:N")))
    corner = chart_of([{"line": _corner(agreement, high - low)}]).mark_text(
        align="right", baseline="bottom", color=INK, fontSize=layout.small, lineHeight=layout.size + 4, aria=False
    )
    return apply_theme(
        layer_chart([*layers, corner.encode(**at_pixels(x=width - 6, y=width - 6 - (_CORNER - 1) * (layout.size + 4)),
                                        text=alt.Text("line:N"))], width, width),
        layout,
    )  # fmt: skip


def _named(
    rows: Sequence[Mapping[str, Any]], ends: tuple[float, float], width: float, layout: Layout
) -> list[dict[str, Any]]:
    """Return the names at a position near their dots where they hide no other name; names without one are left out."""
    scale = width / (ends[1] - ends[0])
    corner = width - _CORNER * (layout.size + 4) - 10
    reach = layout.dot**0.5 / 2
    dots = [((row["x"] - ends[0]) * scale, (ends[1] - row["y"]) * scale) for row in rows]
    taken = [(width * 0.4, corner, width, width), *((x - reach, y - reach, x + reach, y + reach) for x, y in dots)]
    labels = []
    for row, (across, down) in zip(rows, dots, strict=True):
        wide = layout._replace(size=layout.small).letters(row["name"])
        for dx, dy in ((-7, -7), (7, 8), (7, -7), (-7, 8)):
            start = across + dx - (wide if dx < 0 else 0)
            box = (start, down + dy - layout.size / 2, start + wide, down + dy + layout.size / 2)
            is_inside = box[0] >= 0 and box[2] <= width
            if is_inside and not any(_overlap(box, other) for other in taken):
                taken.append(box)
                at = {"at_x": row["x"] + dx / scale, "at_y": row["y"] - dy / scale}
                labels.append({"name": row["name"], "align": "right" if dx < 0 else "left", **at})
                break
    return labels


def _overlap(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _rows(one: MatchedScores, clear: Sequence[bool], labels: Mapping[str, str]) -> list[dict[str, Any]]:
    table = one.table.assign(clear=list(clear))
    for who in ("", "other_"):
        half = scipy.stats.t.ppf((1 + LEVEL) / 2, np.maximum(table[f"{who}df"], 1e-9)) * table[f"{who}se"]
        table = table.assign(**{f"{who}low": table[f"{who}mean"] - half, f"{who}high": table[f"{who}mean"] + half})
    shown = table.iloc[:: -(-len(table) // MOST_DOTS) or 1]
    spread = pd.concat([table["mean"], table["other_mean"]])
    decimals = decimals_for(float(spread.min()), float(spread.max()))
    return [_row(row, one, labels, decimals) for row in records(shown)]


def _row(row: Mapping[str, Any], one: MatchedScores, labels: Mapping[str, str], decimals: int) -> dict[str, Any]:
    name = labels.get(row["name"], row["name"]) if one.level == "condition" else row["name"]
    point = {"x": row["mean"], "y": row["other_mean"], "name": name, "clear": bool(row["clear"])}
    lines = [name]
    for side, who, axis in ((one.side, "", "x"), (one.other_side, "other_", "y")):
        line = f"{side}: {number(row[f'{who}mean'], decimals)}"
        low, high = row[f"{who}low"], row[f"{who}high"]
        if math.isfinite(low) and math.isfinite(high):
            point |= {f"{axis}_low": low, f"{axis}_high": high}
            line += f", 95 % interval {interval(low, high, decimals)}"
        lines.append(line)
    return point | {"tip": "\n".join(lines)}


def _mapping(agreement: Mapping[str, float], low: float, high: float) -> list[dict[str, float]]:
    """Return the ends of the line side = slope times other + intercept, cut where it leaves the picture."""
    slope, intercept = agreement["slope"], agreement["intercept"]
    if not math.isfinite(slope) or slope == 0:
        return []
    ends = sorted(max(low, min(high, (edge - intercept) / slope)) for edge in (low, high))
    return [{"x": slope * other + intercept, "y": other} for other in ends] if ends[0] < ends[1] else []


def _corner(agreement: Mapping[str, float], width: float) -> list[str]:
    decimals = decimals_for(0, width)
    r, low, high = (agreement[f"pearson{end}"] for end in ("", "_low", "_high"))
    places = 3 if abs(r) >= 0.99 else 2
    between = f" ({interval(low, high, places)})" if low == low else ""
    errors = f"RMSE {number(agreement['rmse'], decimals)}"
    mapped = agreement["rmse_mapped"]
    if not math.isnan(mapped):
        errors += f", mapped {number(mapped, decimals)}"
    known = [f"r = {number(r, places)}{between}"] if not math.isnan(r) else []
    lines = [*known, errors, f"n = {agreement['n']:,.0f}"]
    return ["", *lines] if len(lines) < _CORNER else lines
