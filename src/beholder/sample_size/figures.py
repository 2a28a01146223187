"""The figures of a power analysis: power and intervals by number of participants, and hours by method."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import pandas as pd

from beholder.analysis.figures.theme import (
    ACCENT,
    BAR,
    COLUMN,
    INK,
    LINE,
    Layout,
    apply_theme,
    at_pixels,
    chart_of,
    layer_chart,
    name_axis,
    tooltip,
    value_axis,
)
from beholder.analysis.result import records
from beholder.formats import number, percent, plain
from beholder.sample_size.simulation import GOALS

_MOST_LINES = 6
_ROOM = 46
"""Width of the axis of a panel, in pixels."""


def power_chart(
    power: pd.DataFrame,
    sizes: pd.DataFrame,
    *,
    limit: float = math.nan,
    unit: str = "points",
    layout: Layout = COLUMN,
) -> Any:
    """Return the power for each difference by number of participants, and below it the width of the intervals.

    The tables are of one question. `limit` is the half width that no number of participants gets below.
    """
    import altair as alt

    names = layout.letters(f"{unit} 100") + 12
    is_wide = layout.is_wide
    width = (layout.whole - 24) / 2 - _ROOM - names if is_wide else layout.whole - _ROOM - names - 12
    height = layout.row * (9 if is_wide else 8)
    x = _participants(sizes, width, layout)
    panels = [
        layer_chart(_chances(power, x, unit, width, layout), width, height),
        layer_chart(_widths(sizes, limit, x, unit, width, layout), width, height),
    ]
    both = alt.HConcatChart(hconcat=panels, spacing=24) if is_wide else alt.VConcatChart(vconcat=panels, spacing=18)
    return apply_theme(both, layout)


def _participants(sizes: pd.DataFrame, width: float, layout: Layout) -> Any:
    """Return the logarithmic axis of participants, with the hours and the cost below each number."""
    import altair as alt

    rows = records(sizes)
    lines = {str(row["participants"]): _under(row) for row in rows}
    ends = [rows[0]["participants"] * 0.94, rows[-1]["participants"] * 1.06]
    reach = math.log(ends[1] / ends[0])
    ticks: list[int] = []
    for row in rows:
        at = row["participants"]
        room = max(layout.letters(line) for line in lines[str(at)]) * 0.95
        if not ticks or width * math.log(at / ticks[-1]) / reach > room:
            ticks.append(at)
    axis = value_axis(
        "Participants" + (", hours" if rows else "") + (" and cost of all" if rows[0]["currency"] else " of all"),
        values=ticks, labelExpr=f"({json.dumps(lines)})[datum.value + '']", labelPadding=4,
    )  # fmt: skip
    return alt.X("participants:Q", scale=alt.Scale(type="log", domain=ends, nice=False), axis=axis)


def _under(row: Mapping[str, Any]) -> list[str]:
    cost = f"{row['cost']:,.0f} {row['currency']}" if row["currency"] else ""
    return [
        f"{row['participants']:,}",
        f"{number(row['hours'], 0 if row['hours'] >= 10 else 1)} h",
        *filter(None, [cost]),
    ]


def shown_lines(power: pd.DataFrame) -> list[tuple[str, float]]:
    """Return the lines to draw: named contrasts if there are few, else differences, or some of many."""
    pairs = power[power["target"] == "contrast"]
    rows = pairs if 0 < len(pairs[["condition", "other_condition"]].drop_duplicates()) <= _MOST_LINES else None
    if rows is None:
        rows = power[power["target"] == "difference"]
    named = {(f"{row['condition']} {row['other_condition']}".strip(), row["difference"]) for row in records(rows)}
    keys = sorted(named, key=lambda key: (abs(key[1]), key[0]))
    if len(keys) <= _MOST_LINES:
        return keys
    return [keys[round(place * (len(keys) - 1) / (_MOST_LINES - 1))] for place in range(_MOST_LINES)]


def _chances(power: pd.DataFrame, x: Any, unit: str, width: float, layout: Layout) -> list[Any]:
    import altair as alt

    up = value_axis(
        "Chance to find the difference", grid=True, gridColor=LINE, values=[0, 0.2, 0.4, 0.6, 0.8, 1],
        labelExpr="round(100 * datum.value) + ' %'",
        minExtent=30, maxExtent=30,
    )  # fmt: skip
    scale = alt.Scale(domain=[0, 1], nice=False)
    y = alt.Y("power:Q", scale=scale, axis=up)
    goal = [{"power": GOALS[0]}]
    layers = [
        chart_of(goal).mark_rule(color=INK, strokeDash=[3, 3], strokeWidth=1, aria=False)
        .encode(y=y, **at_pixels(x=0, x2=width)),
    ]  # fmt: skip
    lines = shown_lines(power)
    ends = []
    for place, (pair, difference) in enumerate(lines, 1):
        # Larger differences are darker.
        shade: dict[str, Any] = {"color": ACCENT, "opacity": 0.35 + 0.65 * place / len(lines)}
        kind = "contrast" if pair else "difference"
        rows_of_line = power[(power["target"] == kind) & (power["difference"] == difference)]
        if pair:
            rows_of_line = rows_of_line[(rows_of_line["condition"] + " " + rows_of_line["other_condition"]) == pair]
        points = round(abs(difference), 2)
        name = (
            f"{pair} {plain(points)}" if pair else f"{plain(points)} {unit if points != 1 else unit.removesuffix('s')}"
        )
        rows = [
            {"participants": row["participants"], "power": row["power"], "low": row["power_low"],
             "high": row["power_high"],
             "tip": f"{name}, {row['participants']} participants\n{percent(row['power'])} "
                    f"({percent(row['power_low'])} to {percent(row['power_high'])})"}
            for row in records(rows_of_line)
        ]  # fmt: skip
        layers += [
            chart_of(rows).mark_line(**shade, strokeWidth=1.6, aria=False).encode(x=x, y=y),
            chart_of(rows).mark_rule(**shade, strokeWidth=1, aria=False)
            .encode(x=x, y=alt.Y("low:Q", scale=scale, axis=up), y2=alt.Y2("high:Q")),
            chart_of(rows).mark_circle(**shade, size=min(layout.dot, 36) * 1.6).encode(x=x, y=y, **tooltip()),
        ]  # fmt: skip
        ends.append({"at": rows[-1]["power"], "word": pair or name})
    return [*layers, *_words(_spread(ends, layout.row * (9 if layout.is_wide else 8), layout), width, layout)]


def _spread(ends: Sequence[dict[str, Any]], height: float, layout: Layout) -> list[dict[str, Any]]:
    """Return the labels at the ends of lines, moved so that none hides another."""
    step = layout.size + 2
    # Of lines with the same end, the last one is on top: the largest difference.
    order = sorted(range(len(ends)), key=lambda place: (-ends[place]["at"], -place))
    placed = [{**ends[place], "y": height * (1 - ends[place]["at"])} for place in order]
    for one, after in pairwise(placed):
        after["y"] = max(after["y"], one["y"] + step)
    low = height
    for one in reversed(placed):
        one["y"] = min(one["y"], low)
        low = one["y"] - step
    return placed


def _words(ends: Sequence[Mapping[str, Any]], width: float, layout: Layout) -> list[Any]:
    import altair as alt

    return [
        chart_of([one]).mark_text(
            align="left", baseline="middle", dx=8, fontSize=layout.small, color=INK, aria=False
        ).encode(text=alt.Text("word:N"), **at_pixels(x=width, y=one["y"]))
        for one in ends
    ]  # fmt: skip


def _widths(sizes: pd.DataFrame, limit: float, x: Any, unit: str, width: float, layout: Layout) -> list[Any]:
    import altair as alt

    rows = records(sizes)
    kinds = {"difference_half_width": ("difference", ACCENT), "mean_half_width": ("mean", BAR)}
    most = max([value for name in kinds for value in sizes[name] if not math.isnan(value)] or [1.0])
    most = (max(most, limit) if limit > 0 else most) or 1.0
    scale = alt.Scale(domain=[0, most * 1.08], nice=False)
    up = value_axis(
        f"95 % interval, ± {unit}", grid=True, gridColor=LINE, tickCount=5, minExtent=30, maxExtent=30
    )  # fmt: skip
    height = layout.row * (9 if layout.is_wide else 8)
    layers: list[Any] = []
    ends = []
    for name, (word, colour) in kinds.items():
        points = [
            {"participants": row["participants"], "half": row[name],
             "tip": f"{word}, {row['participants']} participants\n± {number(row[name], 2)} {unit}"}
            for row in rows if not math.isnan(row[name])
        ]  # fmt: skip
        if not points:
            continue
        y = alt.Y("half:Q", scale=scale, axis=up)
        layers += [
            chart_of(points).mark_line(color=colour, strokeWidth=1.6, aria=False).encode(x=x, y=y),
            chart_of(points).mark_circle(color=colour, size=min(layout.dot, 36) * 1.6, opacity=1)
            .encode(x=x, y=y, **tooltip()),
        ]  # fmt: skip
        ends.append({"at": points[-1]["half"] / (most * 1.08), "word": word})
    if limit > 0:
        line = chart_of([{"half": limit}]).mark_rule(color=INK, strokeDash=[3, 3], strokeWidth=1, aria=False)
        layers.append(line.encode(y=alt.Y("half:Q", scale=scale, axis=up), **at_pixels(x=0, x2=width)))
        ends.append({"at": limit / (most * 1.08), "word": "- - at best"})
    return [*layers, *_words(_spread(ends, height, layout), width, layout)]


def methods_chart(table: pd.DataFrame, *, layout: Layout = COLUMN) -> Any:
    """Return the hours of participants that each method needs, the fewest first, if they are known."""
    import altair as alt

    known = table[table["hours"].notna()].sort_values("hours", kind="stable")
    names = list(known["method"])
    side = layout.names_width(names)
    width, height = layout.whole - side - layout.letters("250 people, 100 h") - 16, layout.height(names) * 1.2
    rows = [
        {"name": row["method"], "hours": row["hours"],
         "word": f"{number(row['hours'], 1)} h, {row['participants']:.0f} people",
         "tip": f"{row['method']}: {row['participants']:.0f} participants of {number(row['minutes'], 0)} minutes"}
        for row in records(known)
    ]  # fmt: skip
    x = alt.X(
        "hours:Q", scale=alt.Scale(domain=[0, max(known["hours"]) * 1.02], nice=False),
        axis=value_axis("Hours of all participants", tickCount=4),
    )  # fmt: skip
    y = name_axis(names, layout, side)
    layers = [
        chart_of(rows).mark_bar(color=ACCENT, cornerRadiusEnd=2).encode(x=x, y=y, **tooltip()),
        chart_of(rows).mark_text(align="left", baseline="middle", dx=5, color=INK, fontSize=layout.small, aria=False)
        .encode(x=x, y=y, text=alt.Text("word:N")),
    ]  # fmt: skip
    return apply_theme(layer_chart(layers, width, height), layout)
