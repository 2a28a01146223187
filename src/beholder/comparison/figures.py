"""Two sides against each other: a dot for each stimulus or condition, with both intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from beholder.analyse.plots.numbers import decimals_for, interval, number
from beholder.analyse.plots.palette import ACCENT, BAR, INK, LINE, SOFT
from beholder.analyse.plots.theme import COLUMN, Layout, drawn, finished, fixed, layered, told, value_axis
from beholder.analyse.result import records
from beholder.compare.matching import Matched
from beholder.stats.interval import LEVEL

CLEAR = "#b35806"
"""Of what clearly differs: told apart from the others with every kind of colour vision, in every theme."""
_MOST_NAMED = {"condition": 12, "stimulus": 8}
"""With more dots names, longer ones of stimuli, would hide each other."""
MOST_DOTS = 2000
_MARGIN = 52
_CORNER = 3
"""Lines of the corner, at most."""


def scatter_chart(
    one: Matched,
    agreement: Mapping[str, float],
    clear: Sequence[bool],
    *,
    labels: Mapping[str, str] | None = None,
    layout: Layout = COLUMN,
) -> Any:
    """Return the dots round the line on which both sides are equal, and the line that maps the other to the side."""
    import altair as alt

    rows = _rows(one, clear, labels or {})
    width = layout.whole - _MARGIN
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
        drawn(line).mark_line(color=SOFT, strokeDash=[3, 3], strokeWidth=1, aria=False).encode(x=x("x"), y=y("y"))
    ]
    mapping = _mapping(agreement, low - air, high + air)
    if mapping:
        layers.append(drawn(mapping).mark_line(color=INK, strokeWidth=1, aria=False).encode(x=x("x"), y=y("y")))
    faint: dict[str, Any] = {"color": BAR, "opacity": max(0.25, min(0.8, 25 / len(rows))), "aria": False}
    layers += [
        drawn([row for row in rows if "x_low" in row]).mark_rule(**faint)
        .encode(x=x("x_low"), x2=alt.X2("x_high:Q"), y=y("y")),
        drawn([row for row in rows if "y_low" in row]).mark_rule(**faint)
        .encode(x=x("x"), y=y("y_low"), y2=alt.Y2("y_high:Q")),
    ]  # fmt: skip
    for is_clear, colour in ((False, ACCENT), (True, CLEAR)):
        mine = drawn([row for row in rows if row["clear"] is is_clear])
        dots = mine.mark_point(color=colour, fill=colour, size=layout.dot * 2, opacity=0.85, strokeWidth=0)
        layers.append(dots.encode(x=x("x"), y=y("y"), **told()))
    if len(rows) <= _MOST_NAMED[one.level]:
        for align in ("left", "right"):
            mine = [row for row in _named(rows, (low - air, high + air), width, layout) if row["align"] == align]
            words = drawn(mine).mark_text(align=align, color=INK, fontSize=layout.small, baseline="middle", aria=False)
            layers.append(words.encode(x=x("at_x"), y=y("at_y"), text=alt.Text("name:N")))
    corner = drawn([{"line": _corner(agreement, high - low)}]).mark_text(
        align="right", baseline="bottom", color=INK, fontSize=layout.small, lineHeight=layout.size + 4, aria=False
    )
    return finished(
        layered([*layers, corner.encode(**fixed(x=width - 6, y=width - 6 - (_CORNER - 1) * (layout.size + 4)),
                                        text=alt.Text("line:N"))], width, width),
        layout,
    )  # fmt: skip


def _named(
    rows: Sequence[Mapping[str, Any]], ends: tuple[float, float], width: float, layout: Layout
) -> list[dict[str, Any]]:
    """Return the names with a place beside their dots where they hide no other name; those without one are left out."""
    scale = width / (ends[1] - ends[0])
    corner = width - _CORNER * (layout.size + 4) - 10
    reach = layout.dot**0.5 / 2
    dots = [((row["x"] - ends[0]) * scale, (ends[1] - row["y"]) * scale) for row in rows]
    taken = [(width * 0.4, corner, width, width), *((x - reach, y - reach, x + reach, y + reach) for x, y in dots)]
    found = []
    for row, (across, down) in zip(rows, dots, strict=True):
        wide = layout._replace(size=layout.small).letters(row["name"])
        for dx, dy in ((-7, -7), (7, 8), (7, -7), (-7, 8)):
            start = across + dx - (wide if dx < 0 else 0)
            box = (start, down + dy - layout.size / 2, start + wide, down + dy + layout.size / 2)
            is_inside = box[0] >= 0 and box[2] <= width
            if is_inside and not any(_overlap(box, other) for other in taken):
                taken.append(box)
                at = {"at_x": row["x"] + dx / scale, "at_y": row["y"] - dy / scale}
                found.append({"name": row["name"], "align": "right" if dx < 0 else "left", **at})
                break
    return found


def _overlap(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _rows(one: Matched, clear: Sequence[bool], labels: Mapping[str, str]) -> list[dict[str, Any]]:
    table = one.table.assign(clear=list(clear))
    for who in ("", "other_"):
        half = stats.t.ppf((1 + LEVEL) / 2, np.maximum(table[f"{who}df"], 1e-9)) * table[f"{who}se"]
        table = table.assign(**{f"{who}low": table[f"{who}mean"] - half, f"{who}high": table[f"{who}mean"] + half})
    shown = table.iloc[:: -(-len(table) // MOST_DOTS) or 1]
    spread = pd.concat([table["mean"], table["other_mean"]])
    decimals = decimals_for(float(spread.min()), float(spread.max()))
    return [_row(row, one, labels, decimals) for row in records(shown)]


def _row(row: Mapping[str, Any], one: Matched, labels: Mapping[str, str], decimals: int) -> dict[str, Any]:
    name = labels.get(row["name"], row["name"]) if one.level == "condition" else row["name"]
    found = {"x": row["mean"], "y": row["other_mean"], "name": name, "clear": bool(row["clear"])}
    told = [name]
    for side, who, axis in ((one.side, "", "x"), (one.other_side, "other_", "y")):
        line = f"{side}: {number(row[f'{who}mean'], decimals)}"
        low, high = row[f"{who}low"], row[f"{who}high"]
        if math.isfinite(low) and math.isfinite(high):
            found |= {f"{axis}_low": low, f"{axis}_high": high}
            line += f", 95 % interval {interval(low, high, decimals)}"
        told.append(line)
    return found | {"tip": "\n".join(told)}


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
