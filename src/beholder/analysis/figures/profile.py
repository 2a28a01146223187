"""The figures of many questions: profiles of conditions, heat maps and scree plots."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

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
    apply_theme,
    at_pixels,
    axis_keys,
    axis_of_values,
    chart_of,
    layer_chart,
    name_axis,
    tooltip,
    value_axis,
)
from beholder.analysis.result import records
from beholder.formats import decimals_for, interval, number, percent

# The first follows the theme of the page, the others are seen on white and on black; with as many shapes less one, no
# two of the first thirty levels share both.
_COLOURS = (ACCENT, "#c8701a", "#808080", BAR, "#efa75a")
_SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross")
_NARROWEST = {True: 96, False: 84}
"""The smallest width in which five steps of a scale are legible, on wide layouts and on narrow ones."""
_GAP = 12


class _PanelLayout(NamedTuple):
    """The measures of the small pictures."""

    side: int
    across: int
    """Pictures in a row."""
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
    `factor` get colours and shapes of their own; without levels the overall means are drawn. `labels` and
    `questions` are what people read for the names of conditions and questions, and `axes` the scales of questions;
    the others share one that holds all their means.
    """
    import altair as alt

    known = _shown(table)
    names = labels or {}
    best_first = known.groupby("condition", sort=False)["mean"].mean().sort_values(ascending=False, kind="stable")
    rows = [names.get(one, one) for one in best_first.index]
    levels = [str(one) for one in dict.fromkeys(known["level"])]
    question_ids = list(dict.fromkeys(known["question"]))
    grid = _grid(rows, len(question_ids), len(levels), layout)
    shared = axis_of_values([*known["mean"], *known["ci_low"], *known["ci_high"]])
    charts = [
        _panel(
            [_row(one, names, axis, levels, factor) for one in records(known[known["question"] == question])],
            (rows, levels, (questions or {}).get(question, question)), axis, grid, layout,
            has_names=place % grid.across == 0,
        )
        for place, question in enumerate(question_ids)
        for axis in [(axes or {}).get(question, shared)]
    ]  # fmt: skip
    lines = [
        alt.HConcatChart(hconcat=charts[start : start + grid.across], spacing=_GAP)
        for start in range(0, len(charts), grid.across)
    ]
    whole = alt.VConcatChart(vconcat=[*_key(levels, grid, layout), *lines], spacing=_GAP)
    return apply_theme(whole, layout)


def _shown(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with a mean: of each level of a question, or over all levels where it has none."""
    known = table[table["mean"].notna()]
    has_levels = known.groupby("question", sort=False)["level"].transform(lambda levels: bool((levels != "").any()))
    return known[(known["level"] != "") | ~has_levels.astype(bool)]


def _grid(rows: Sequence[str], count: int, levels: int, layout: Layout) -> _PanelLayout:
    side = layout.names_width(rows)
    available = layout.whole - side - 12
    most = max(1, int((available + _GAP) // (_NARROWEST[layout.is_wide] * (layout.size / 11) ** 2 + _GAP)))
    # As even as can be: ten questions are two lines of five, not one of six and one of four.
    lines = max(1, math.ceil(count / most))
    across = max(1, math.ceil(count / lines))
    row = layout.row * 0.8 * (1 + 0.42 * (levels - 1))
    return _PanelLayout(side, across, (available - (across - 1) * _GAP) / across, len(rows) * row)


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
    grid: _PanelLayout,
    layout: Layout,
    *,
    has_names: bool,
) -> Any:
    import altair as alt

    conditions, levels, title = names
    y = name_axis(conditions, layout, grid.side if has_names else 0, has_names=has_names)
    y.scale = alt.Scale(domain=list(conditions), paddingInner=0.2, paddingOuter=0.1)
    ticks = axis.ticks(6)
    ticks_or_count: dict[str, Any] = {"values": ticks} if ticks is not None else {"tickCount": 4}
    across = value_axis("", grid=True, gridColor=LINE, gridWidth=0.6, **ticks_or_count)

    def x(field: str) -> Any:
        return alt.X(f"{field}:Q", scale=alt.Scale(domain=[axis.low, axis.high], nice=False, zero=False), axis=across)

    offset = {"yOffset": alt.YOffset("level:N", sort=list(levels), scale=alt.Scale(domain=list(levels)))}
    apart: dict[str, Any] = offset if len(levels) > 1 else {}
    stripes = chart_of([{"name": one} for one in conditions[::2]]).mark_rect(color=BAND, opacity=0.6, aria=False)
    layers = [stripes.encode(**at_pixels(x=0, x2=grid.width), y=y)]
    for level, (colour, shape) in _marks(levels).items():
        mine = [row for row in rows if row["level"] == level]
        bar = chart_of([row for row in mine if "low" in row]).mark_bar(
            color=BAR if len(levels) == 1 else colour,
            height=3,
            cornerRadius=1.5,
            opacity=1 if len(levels) == 1 else 0.5,
        )
        dot = chart_of(mine).mark_point(
            color=colour,
            fill=colour,
            shape=shape,
            size=50 if layout.row > 24 else 16 if len(levels) == 1 else 20,
            opacity=1,
            strokeWidth=0,
        )
        layers += [
            bar.encode(x=x("low"), x2=alt.X2("high:Q"), y=y, **apart, **tooltip()),
            dot.encode(x=x("mean"), y=y, **apart, **tooltip()),
        ]
    words: dict[str, Any] = {"text": title, "anchor": "start", "fontSize": layout.small, "fontWeight": "bold"}
    chart = layer_chart(layers, grid.width, grid.height)
    chart.title = alt.TitleParams(**words, color=INK, limit=grid.width, offset=4, frame="group", aria=False)
    return chart


def _marks(levels: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return colour and shape of each level: they differ also without colours."""
    if len(levels) == 1:
        return {levels[0]: (ACCENT, "circle")}
    return {
        level: (_COLOURS[place % len(_COLOURS)], _SHAPES[place % len(_SHAPES)]) for place, level in enumerate(levels)
    }


def _key(levels: Sequence[str], grid: _PanelLayout, layout: Layout) -> list[Any]:
    """Return the legend of the levels; empty for a single level."""
    import altair as alt

    if len(levels) < 2:
        return []
    layers, at = [], 0.0
    for level, (colour, shape) in _marks(levels).items():
        word = level or "all"
        mark = chart_of([{"level": word}]).mark_point(
            color=colour, fill=colour, shape=shape, size=50, opacity=1, aria=False
        )
        text = chart_of([{"level": word}]).mark_text(
            align="left", baseline="middle", color=SOFT, fontSize=layout.small, aria=False
        )
        layers += [
            mark.encode(**at_pixels(x=at, y=6)), text.encode(**at_pixels(x=at + 9, y=6), text=alt.Text("level:N"))
        ]  # fmt: skip
        at += layout.letters(word) + 30
    return [layer_chart(layers, layout.whole - grid.side - 16, 12)]


# Heat map of numbers from -1 to 1, such as correlations: blue above zero, orange below


NEGATIVE = "#b35806"
_DARKEST = 0.48
"""Above it ink would not be read on the cell, in the light theme or in the dark one."""
_SMALLEST = 8
"""Letters below cannot be read: the cell then keeps its colour and what it says when pointed at."""


def heat_chart(
    table: pd.DataFrame,
    *,
    row: str,
    column: str,
    value: str,
    bold: str | None = None,
    tip: str | None = None,
    key: str = "",
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    labels: Mapping[str, str] | None = None,
    layout: Layout = COLUMN,
) -> Any:
    """Return a cell with its number for each row and column of the table; NaN leaves a cell empty.

    `bold` names a column of truths: these numbers are printed in bold, as significant ones are. `tip` names a column
    of texts for the tooltip, `key` explains bold numbers under the picture. Rows and columns keep the order of the
    table unless `rows` and `columns` are given.
    """
    names = labels or {}
    down, across = (
        [names.get(one, one) for one in (given if given is not None else dict.fromkeys(table[field].astype(str)))]
        for given, field in ((rows, row), (columns, column))
    )
    side = layout.names_width(down)
    cell = min((layout.whole - side - 16) / max(1, len(across)), 3.6 * layout.row)
    short = cell < layout.small * 0.56 * 6
    cells = [
        _cell(one, (row, column, value), (bold, tip), names, is_short=short)
        for one in records(table)
        if one[value] == one[value]
    ]
    letters = min(layout.small, int((cell - 2) / (0.56 * (4 if short else 5))))
    return apply_theme(_drawn(cells, down, across, (side, cell, letters), key, layout), layout)


def _cell(
    one: Mapping[str, Any],
    fields: tuple[str, str, str],
    extra: tuple[str | None, str | None],
    names: Mapping[str, str],
    *,
    is_short: bool,
) -> dict[str, Any]:
    down, across = (names.get(str(one[field]), str(one[field])) for field in fields[:2])
    value = float(one[fields[2]])
    # A value close to one is not rounded to one.
    text = number(value, 3 if 0.995 <= abs(value) < 0.9995 else 2)
    details = f"\n{one[extra[1]]}" if extra[1] is not None and one[extra[1]] else ""
    return {
        "name": down, "across": across, "word": text.replace("0.", ".", 1) if is_short else text, "value": value,
        "strength": min(1.0, abs(value)), "bold": extra[0] is not None and bool(one[extra[0]]),
        "tip": f"{down}, {across}: {text}{details}",
    }  # fmt: skip


def _drawn(
    cells: list[dict[str, Any]],
    down: list[str],
    across: list[str],
    measures: tuple[float, float, int],
    key: str,
    layout: Layout,
) -> Any:
    import altair as alt

    side, cell, letters = measures
    # Upright where every name has room, aslant where not.
    is_upright = max((layout.letters(name) for name in across), default=0) < cell - 2
    angle: dict[str, Any] = {"labelAngle": 0} if is_upright else {"labelAngle": -60, "labelAlign": "left"}
    air: dict[str, Any] = {"paddingInner": 0.05, "paddingOuter": 0.02}
    x = alt.X(
        "across:N", sort=across, scale=alt.Scale(domain=across, range=[0, len(across) * cell], **air),
        axis=axis_keys(
            orient="top", domain=False, ticks=False, grid=False, title=None, labelColor=INK, labelPadding=4,
            labelFontSize=layout.small, labelLimit=150, aria=False, **angle,
        ),
    )  # fmt: skip
    y = name_axis(down, layout, round(side))
    y.scale = alt.Scale(domain=down, **air)
    strength = alt.Opacity("strength:Q", scale=alt.Scale(domain=[0, 1], range=[0.03, _DARKEST]), legend=None)
    layers = [
        chart_of([one for one in cells if (one["value"] < 0) is is_below])
        .mark_rect(color=colour, cornerRadius=2)
        .encode(x=x, y=y, opacity=strength, **tooltip())
        for is_below, colour in ((False, ACCENT), (True, NEGATIVE))
    ]
    if letters >= _SMALLEST:
        layers += [
            chart_of([one for one in cells if one["bold"] is is_bold])
            .mark_text(color=INK, fontSize=letters, fontWeight="bold" if is_bold else "normal", aria=False)
            .encode(x=x, y=y, text=alt.Text("word:N"))
            for is_bold in (False, True)
        ]
    height = len(down) * max(layout.row, min(cell, layout.row * 1.2))
    if key:
        style: dict[str, Any] = {"align": "left", "baseline": "top", "color": SOFT, "fontSize": layout.small}
        words = chart_of([{"key": key}]).mark_text(aria=False, **style)
        layers.append(words.encode(**at_pixels(x=-side, y=height + 8), text=alt.Text("key:N")))
    # As wide as the layout, also with few columns: a page stretches every picture to the same width.
    return layer_chart(layers, layout.whole - side - 16, height)


# Scree plot: eigenvalues against those of noise


def scree_chart(table: pd.DataFrame, *, layout: Layout = COLUMN) -> Any:
    """Return the eigenvalue of each component, filled where it is kept, and a dashed line for those of noise.

    The table has component, eigenvalue, share, chance and kept, of one level.
    """
    import altair as alt

    rows = [
        {
            "component": int(row["component"]), "eigenvalue": row["eigenvalue"], "chance": row["chance"],
            "kept": bool(row["kept"]),
            "tip": f"Component {row['component']:.0f}: {number(row['eigenvalue'], 2)}, {percent(row['share'])} of the "
            f"variance\nby chance up to {number(row['chance'], 2)}",
        }
        for row in records(table)
    ]  # fmt: skip
    width, height = min(layout.whole - 62, 620), layout.row * 9
    most = max((max(row["eigenvalue"], row["chance"]) for row in rows), default=1.0)
    x = alt.X(
        "component:O",
        axis=axis_keys(
            domain=False, ticks=False, grid=False, labelAngle=0, title="Component", titleFontWeight="normal",
            titlePadding=6, titleColor=SOFT, labelColor=SOFT, aria=False,
        ),
    )  # fmt: skip
    up = value_axis("Eigenvalue", grid=True, gridColor=LINE, gridWidth=0.6, tickCount=5, minExtent=26, maxExtent=26)

    def y(field: str) -> Any:
        return alt.Y(f"{field}:Q", scale=alt.Scale(domain=[-0.04 * most, most * 1.05], nice=False), axis=up)

    kept = sum(row["kept"] for row in rows)
    share = sum(row["share"] for row in records(table) if row["kept"])
    caption = f"{kept} of {len(rows)} above chance" + (f", {percent(share)} of the variance" if kept else "")
    layers = [
        chart_of(rows).mark_line(color=ACCENT, strokeWidth=1.5, aria=False).encode(x=x, y=y("eigenvalue")),
        chart_of(rows).mark_line(color=SOFT, strokeWidth=1, strokeDash=[4, 3], aria=False).encode(x=x, y=y("chance")),
        *(
            chart_of([row for row in rows if row["kept"] is is_kept])
            .mark_point(stroke=ACCENT, fill=fill, size=min(60, layout.dot * 2), opacity=1, strokeWidth=1.5)
            .encode(x=x, y=y("eigenvalue"), **tooltip())
            for is_kept, fill in ((True, ACCENT), (False, PAPER))
        ),
        chart_of([{"said": caption}]).mark_text(
            align="left", baseline="bottom", color=INK, fontSize=layout.small, aria=False
        ).encode(**at_pixels(x=0, y=-6), text=alt.Text("said:N")),
        chart_of([{"said": "- - noise, 95 %"}]).mark_text(
            align="right", baseline="bottom", color=SOFT, fontSize=layout.small, aria=False
        ).encode(**at_pixels(x=width, y=-6), text=alt.Text("said:N")),
    ]  # fmt: skip
    return apply_theme(layer_chart(layers, width, height), layout)
