"""Conditions by questions: a small picture for each question, with the same rows in all of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from beholder.analyse.plots.axis import ScaleAxis, axis_of_values
from beholder.analyse.plots.numbers import decimals_for, interval, number
from beholder.analyse.plots.palette import ACCENT, BAND, BAR, INK, LINE, SOFT
from beholder.analyse.plots.theme import COLUMN, Layout, drawn, finished, fixed, layered, name_axis, told, value_axis
from beholder.analyse.result import records

# The first follows the theme of the page, the others are seen on white and on black; with as many shapes less one, no
# two of the first thirty levels share both.
_COLOURS = (ACCENT, "#c8701a", "#808080", BAR, "#efa75a")
_SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross")
_NARROWEST = {True: 96, False: 84}
"""A picture in which five steps of a scale can still be told apart, on wide layouts and on narrow ones."""
_GAP = 12


class Grid(NamedTuple):
    """The measures of the small pictures."""

    side: int
    across: int
    """How many stand beside each other."""
    width: float
    height: float


def profile_chart(
    table: pd.DataFrame,
    *,
    axes: Mapping[str, ScaleAxis] | None = None,
    labels: Mapping[str, str] | None = None,
    questions: Mapping[str, str] | None = None,
    factor: str = "",
    layout: Layout = COLUMN,
) -> Any:
    """Return a picture for each question: a row for each condition, the best over all questions first.

    The table has question, condition, level ("" over all levels), mean, ci_low and ci_high. Several levels of a
    `factor` get colours and shapes of their own; what is over all of them is shown where there are none. `labels` and
    `questions` are what people read for the names of conditions and questions, and `axes` the scales of questions;
    the others share one that holds all their means.
    """
    import altair as alt

    known = _shown(table)
    names = labels or {}
    best_first = known.groupby("condition", sort=False)["mean"].mean().sort_values(ascending=False, kind="stable")
    rows = [names.get(one, one) for one in best_first.index]
    levels = [str(one) for one in dict.fromkeys(known["level"])]
    asked = list(dict.fromkeys(known["question"]))
    grid = _grid(rows, len(asked), len(levels), layout)
    shared = axis_of_values([*known["mean"], *known["ci_low"], *known["ci_high"]])
    charts = [
        _panel(
            [_row(one, names, axis, levels, factor) for one in records(known[known["question"] == question])],
            (rows, levels, (questions or {}).get(question, question)), axis, grid, layout,
            has_names=place % grid.across == 0,
        )
        for place, question in enumerate(asked)
        for axis in [(axes or {}).get(question, shared)]
    ]  # fmt: skip
    lines = [
        alt.HConcatChart(hconcat=charts[start : start + grid.across], spacing=_GAP)
        for start in range(0, len(charts), grid.across)
    ]
    whole = alt.VConcatChart(vconcat=[*_key(levels, grid, layout), *lines], spacing=_GAP)
    return finished(whole, layout)


def _shown(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with a mean: of each level of a question, or over all levels where it has none."""
    known = table[table["mean"].notna()]
    has_levels = known.groupby("question", sort=False)["level"].transform(lambda levels: bool((levels != "").any()))
    return known[(known["level"] != "") | ~has_levels.astype(bool)]


def _grid(rows: Sequence[str], asked: int, levels: int, layout: Layout) -> Grid:
    side = layout.names_width(rows)
    room = layout.whole - side - 12
    most = max(1, int((room + _GAP) // (_NARROWEST[layout.is_wide] * (layout.size / 11) ** 2 + _GAP)))
    # As even as can be: ten questions are two lines of five, not one of six and one of four.
    lines = max(1, math.ceil(asked / most))
    across = max(1, math.ceil(asked / lines))
    row = layout.row * 0.8 * (1 + 0.42 * (levels - 1))
    return Grid(side, across, (room - (across - 1) * _GAP) / across, len(rows) * row)


def _row(
    row: Mapping[str, Any], names: Mapping[str, str], axis: ScaleAxis, levels: Sequence[str], factor: str
) -> dict[str, Any]:
    decimals = decimals_for(axis.low, axis.high)
    name, level = names.get(row["condition"], row["condition"]), str(row["level"])
    low, high = row["ci_low"], row["ci_high"]
    shown: dict[str, Any] = {"name": name, "level": level, "mean": row["mean"]}
    tip = f"{name}{f', {factor} {level}'.replace('  ', ' ') if level else ''}\n{number(row['mean'], decimals)}"
    if low == low and high == high:
        shown |= {"low": max(low, axis.low), "high": min(high, axis.high)}
        tip += f", 95 % interval {interval(low, high, decimals)}"
    n = row.get("n")
    return shown | {"tip": tip + (f"\nn = {n:,.0f}" if n and n == n else "")}


def _panel(
    rows: list[dict[str, Any]],
    names: tuple[Sequence[str], Sequence[str], str],
    axis: ScaleAxis,
    grid: Grid,
    layout: Layout,
    *,
    has_names: bool,
) -> Any:
    import altair as alt

    conditions, levels, title = names
    y = name_axis(conditions, layout, grid.side if has_names else 0, has_names=has_names)
    y.scale = alt.Scale(domain=list(conditions), paddingInner=0.2, paddingOuter=0.1)
    ticks = axis.ticks(6)
    given: dict[str, Any] = {"values": ticks} if ticks is not None else {"tickCount": 4}
    across = value_axis("", grid=True, gridColor=LINE, gridWidth=0.6, **given)

    def x(field: str) -> Any:
        return alt.X(f"{field}:Q", scale=alt.Scale(domain=[axis.low, axis.high], nice=False, zero=False), axis=across)

    offset = {"yOffset": alt.YOffset("level:N", sort=list(levels), scale=alt.Scale(domain=list(levels)))}
    apart: dict[str, Any] = offset if len(levels) > 1 else {}
    stripes = drawn([{"name": one} for one in conditions[::2]]).mark_rect(color=BAND, opacity=0.6, aria=False)
    layers = [stripes.encode(**fixed(x=0, x2=grid.width), y=y)]
    for level, (colour, shape) in _marks(levels).items():
        mine = [row for row in rows if row["level"] == level]
        bar = drawn([row for row in mine if "low" in row]).mark_bar(
            color=BAR if len(levels) == 1 else colour,
            height=3,
            cornerRadius=1.5,
            opacity=1 if len(levels) == 1 else 0.5,
        )
        dot = drawn(mine).mark_point(
            color=colour,
            fill=colour,
            shape=shape,
            size=50 if layout.row > 24 else 16 if len(levels) == 1 else 20,
            opacity=1,
            strokeWidth=0,
        )
        layers += [
            bar.encode(x=x("low"), x2=alt.X2("high:Q"), y=y, **apart, **told()),
            dot.encode(x=x("mean"), y=y, **apart, **told()),
        ]
    words: dict[str, Any] = {"text": title, "anchor": "start", "fontSize": layout.small, "fontWeight": "bold"}
    chart = layered(layers, grid.width, grid.height)
    chart.title = alt.TitleParams(**words, color=INK, limit=grid.width, offset=4, frame="group", aria=False)
    return chart


def _marks(levels: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return colour and shape of each level: also without colours they are told apart."""
    if len(levels) == 1:
        return {levels[0]: (ACCENT, "circle")}
    return {
        level: (_COLOURS[place % len(_COLOURS)], _SHAPES[place % len(_SHAPES)]) for place, level in enumerate(levels)
    }


def _key(levels: Sequence[str], grid: Grid, layout: Layout) -> list[Any]:
    """Return which mark is which level; nothing where there is only one."""
    import altair as alt

    if len(levels) < 2:
        return []
    layers, at = [], 0.0
    for level, (colour, shape) in _marks(levels).items():
        word = level or "all"
        mark = drawn([{"level": word}]).mark_point(
            color=colour, fill=colour, shape=shape, size=50, opacity=1, aria=False
        )
        text = drawn([{"level": word}]).mark_text(
            align="left", baseline="middle", color=SOFT, fontSize=layout.small, aria=False
        )
        layers += [
            mark.encode(**fixed(x=at, y=6)), text.encode(**fixed(x=at + 9, y=6), text=alt.Text("level:N"))
        ]  # fmt: skip
        at += layout.letters(word) + 30
    return [layered(layers, layout.whole - grid.side - 16, 12)]
