"""The figures of pairs: differences with intervals, preferences, and ranks."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from beholder.analysis.figures.scores import has_nested_interval
from beholder.analysis.figures.theme import (
    ACCENT,
    BAR,
    COLUMN,
    INK,
    LINE,
    PAPER,
    SOFT,
    Layout,
    at_pixels,
    axis_keys,
    axis_of_values,
    by_question,
    chart_of,
    kept_room,
    layer_chart,
    name_axis,
    name_texts,
    ramp,
    split_components,
    tooltip,
    value_axis,
)
from beholder.analysis.result import records
from beholder.analysis.tests import UNNAMED
from beholder.formats import decimals_for, interval, p_value, percent, signed


def pairs_chart(
    table: pd.DataFrame,
    *,
    labels: Mapping[str, str] | None = None,
    layout: Layout = COLUMN,
    title: str = "",
) -> Any:
    """Return one row for each pair, or contrast that was named, the largest difference first, the better one first.

    The bar is the interval with these contents, the thin line that for contents like these.
    """

    def one(part: pd.DataFrame) -> Any:
        is_asked = ~part["note"].str.contains(UNNAMED, regex=False)
        pairs = part[part["mean_difference"].notna() & is_asked]
        rows = [_row(row, labels or {}) for row in records(pairs)]
        return _drawn(sorted(rows, key=lambda row: -row["difference"]), layout, title)

    return by_question(table, layout, one)


def _row(row: Mapping[str, Any], labels: Mapping[str, str]) -> dict[str, Any]:
    """Return what is drawn for one pair, turned so that its difference is not below zero."""
    names = [labels.get(row[column], row[column]) for column in ("condition", "other_condition")]
    difference, low, high = row["mean_difference"], row["ci_low"], row["ci_high"]
    inner = (row["these_low"], row["these_high"])
    if difference < 0:
        names, difference, low, high, inner = names[::-1], -difference, -high, -low, (-inner[1], -inner[0])
    decimals = decimals_for(0, max(abs(difference), abs(high) if high == high else 0) * 4)
    name = f"{names[0]} − {names[1]}"
    tip = f"{name}\n{signed(difference, decimals)}"
    shown = {"name": name, "difference": difference, "verdict": row["verdict"]}
    if low == low and high == high:
        shown |= {"low": low, "high": high}
        tip += f", 95 % interval {interval(low, high, decimals)}"
        if has_nested_interval(row):
            shown |= {"inner_low": inner[0], "inner_high": inner[1]}
            tip += f"; with these contents {interval(*inner, decimals)}"
    p, corrected = (row["p_holm"], "p after correction") if row["p_holm"] == row["p_holm"] else (row["p"], "p")
    tested = "not tested" if p != p else f"{corrected} {p_value(p)}"
    return shown | {"tip": f"{tip}\n{tested}, n = {row['n']:,.0f}"}


def _drawn(rows: list[dict[str, Any]], layout: Layout, title: str) -> Any:
    import altair as alt

    names = [row["name"] for row in rows]
    name_layout = layout._replace(names=round(layout.whole * 0.55), is_wide=True, size=layout.small)
    name_layout = name_layout._replace(row=round(layout.row * 0.8))
    side = name_layout.names_width(names)
    plot, height = layout.whole - side - 24, name_layout.height(names)
    axis = axis_of_values([0.0, *(row[end] for row in rows for end in ("low", "high", "difference") if end in row)])
    y = name_axis(names, name_layout, side)
    is_nested = any("inner_low" in row for row in rows)
    own_title = "95 % interval; thick: these contents" if is_nested else "Mean difference, 95 % interval"
    across = value_axis(title or own_title, tickCount=5)

    def x(field: str) -> Any:
        return alt.X(f"{field}:Q", scale=alt.Scale(domain=[axis.low, axis.high], nice=False), axis=across)

    layers = [
        chart_of(rows).mark_rule(color=LINE, aria=False).encode(**at_pixels(x=0, x2=plot), y=y),
        chart_of([{"place": 0}]).mark_rule(color=SOFT, strokeDash=[3, 3], aria=False)
        .encode(x=x("place"), **at_pixels(y=0, y2=height)),
    ]  # fmt: skip
    for low, high, has_inner, tall in (
        ("low", "high", False, 4), ("low", "high", True, 1.5), ("inner_low", "inner_high", True, 4)
    ):  # fmt: skip
        ranges = chart_of([row for row in rows if low in row and ("inner_low" in row) is has_inner])
        bar = ranges.mark_bar(color=BAR, height=tall, cornerRadius=tall / 2, opacity=1)
        layers.append(bar.encode(x=x(low), x2=alt.X2(f"{high}:Q"), y=y, **tooltip()))
    for verdicts, fill in ((("beyond",), ACCENT), (("these",), BAR), (("undecided", ""), PAPER)):
        mine = chart_of([row for row in rows if row["verdict"] in verdicts])
        dot = mine.mark_point(stroke=ACCENT, fill=fill, size=layout.dot, opacity=1, strokeWidth=1)
        layers.append(dot.encode(x=x("difference"), y=y, **tooltip()))
    words = chart_of([{"key": _key_words(rows)}]).mark_text(
        align="right", baseline="bottom", color=INK, fontSize=layout.small, aria=False
    )
    layers.append(words.encode(**at_pixels(x=plot, y=-5), text=alt.Text("key:N")))
    return layer_chart(layers, plot, height)


def _key_words(rows: list[dict[str, Any]]) -> str:
    """Return what filled and pale dots are, and how many there are."""
    beyond, these = (sum(row["verdict"] == verdict for row in rows) for verdict in ("beyond", "these"))
    if not these:
        return f"filled: clear, {beyond} of {len(rows)}"
    return f"filled: clear beyond, {beyond} of {len(rows)}; pale: on these contents, {these}"


# Preferences


_PARTS = ("wins", "ties", "losses")
_WORDS = ("left chosen", "tie", "right chosen")


def preferences_chart(table: pd.DataFrame, *, labels: Mapping[str, str] | None = None, layout: Layout = COLUMN) -> Any:
    """Return a stacked bar for each pair: the one at the left chosen, a tie, the one at the right chosen."""

    def one(part: pd.DataFrame) -> Any:
        return _preference_drawn(
            [row for row in records(part) if sum(row[name] for name in _PARTS)], labels or {}, layout
        )

    return by_question(table, layout, one)


def _preference_drawn(pairs: list[dict[str, Any]], labels: Mapping[str, str], layout: Layout) -> Any:
    import altair as alt

    turned = sorted((_turned(row, labels) for row in pairs), key=lambda row: -row["lead"])
    name_layout = layout._replace(names=round(layout.whole * 0.3))
    bars, ends = [], []
    for place, row in enumerate(turned):
        at = 0.0
        ends.append({"name": str(place), **{side: name_layout.lines(row[side]) for side in ("left", "right")}})
        for count, word in zip(row["counts"], _WORDS, strict=True):
            share = count / sum(row["counts"])
            tip = f"{row['left']} against {row['right']}\n{_part_text(word, row)}: {percent(share)}\nn = {count:,.0f}"
            bars.append({"name": str(place), "start": at, "stop": at + share, "part": word, "tip": tip})
            at += share
    left = name_layout.names_width([row["left"] for row in turned])
    right = name_layout.names_width([row["right"] for row in turned])
    tallest = name_layout.row_height([row[side] for row in turned for side in ("left", "right")])
    plot, height = layout.whole - left - right - 16, tallest * len(turned)
    y = name_axis([str(row["name"]) for row in ends], layout, left, has_names=False)
    has_ties = any(row["counts"][1] for row in turned)
    words = [word for word in _WORDS if has_ties or word != "tie"]
    low, middle, high = ramp(3)
    colours = {"left chosen": high, "tie": middle, "right chosen": low}
    colour = alt.Color(
        "part:N", scale=alt.Scale(domain=words, range=[colours[word] for word in words]),
        legend=alt.Legend(title=None, columns=len(words)),
    )  # fmt: skip
    x = alt.X(
        "start:Q", scale=alt.Scale(domain=[0, 1], nice=False),
        axis=value_axis("Share of the comparisons", format="%", values=[0, 0.5, 1]),
    )  # fmt: skip
    visible = [bar for bar in bars if bar["stop"] > bar["start"]]
    half = at_pixels(y=0, y2=height)
    layers = [
        chart_of(visible).mark_bar(stroke=PAPER, strokeWidth=0.7, opacity=1)
        .encode(x=x, x2=alt.X2("stop:Q"), y=y, color=colour, **tooltip()),
        chart_of([{"start": 0.5}]).mark_rule(color=INK, strokeDash=[3, 3], aria=False).encode(x=x, **half),
        kept_room(plot + right),
        *(
            text.encode(**at_pixels(x=x_at), y=y, text=alt.Text(f"{field}:N"))
            for field, align, x_at in (("left", "right", -8), ("right", "left", plot + 8))
            for text in name_texts(ends, field, layout, align)
        ),
    ]  # fmt: skip
    return layer_chart(layers, plot, height)


def _turned(row: Mapping[str, Any], labels: Mapping[str, str]) -> dict[str, Any]:
    """Return a pair with the one that was chosen more often at the left."""
    names = [labels.get(row[column], row[column]) for column in ("condition", "other_condition")]
    counts = [float(row[name]) for name in _PARTS]
    if counts[2] > counts[0]:
        names, counts = names[::-1], counts[::-1]
    lead = (counts[0] - counts[2]) / sum(counts)
    return {"left": names[0], "right": names[1], "counts": counts, "lead": lead}


def _part_text(word: str, row: Mapping[str, Any]) -> str:
    return {"left chosen": f"{row['left']} chosen", "right chosen": f"{row['right']} chosen"}.get(word, word)


# Ranks


_FIGURE = 0.64
"""The width of a figure, of its size, in the widest font."""
_PALEST = 0.02
"""Probabilities below are left blank."""


def ranks_chart(table: pd.DataFrame, *, labels: Mapping[str, str] | None = None, layout: Layout = COLUMN) -> Any:
    """Return a grid of conditions and ranks: the darker a cell, the more probable the rank."""

    def one(part: pd.DataFrame) -> Any:
        return _rank_drawn([_rank_row(row, labels or {}) for row in records(part)], layout)

    return by_question(split_components(table), layout, one)


def _rank_row(row: Mapping[str, Any], labels: Mapping[str, str]) -> dict[str, Any]:
    name = labels.get(row["condition"], row["condition"])
    known = row["probability"]
    share = known if known == known else row["these_probability"]
    shown = percent(share)
    if 0 < share < 0.005:
        shown = "< 1 %"
    tip = f"{name}\nrank {row['rank']:.0f}: {shown}"
    word = f"{100 * share:.0f}" if share >= _PALEST else ""
    return {"name": name, "rank": int(row["rank"]), "share": share, "tip": tip, "word": word}


def _rank_drawn(rows: list[dict[str, Any]], layout: Layout) -> Any:
    import altair as alt

    expected: dict[str, float] = {}
    for row in rows:
        expected[row["name"]] = expected.get(row["name"], 0.0) + row["rank"] * row["share"]
    names = sorted(expected, key=lambda name: expected[name])
    side = layout.names_width(names)
    width, height = layout.whole - side - 16, layout.height(names)
    y = name_axis(names, layout, side)
    across = axis_keys(
        domain=False, ticks=False, grid=False, labelAngle=0, title="Rank (probability in %)", titleFontWeight="normal",
        titlePadding=6, aria=False, labelColor=SOFT, titleColor=SOFT,
    )  # fmt: skip
    x = alt.X("rank:O", axis=across, scale=alt.Scale(paddingInner=0.06, paddingOuter=0.03))
    visible = [row for row in rows if row["share"] > 0]
    # One colour, more or less of it: it follows the theme of the page, on white and on black.
    cells = chart_of(visible).mark_rect(color=ACCENT, cornerRadius=2)
    dark, light = (
        [row for row in visible if row["word"] and (row["share"] > 0.7) is is_dark] for is_dark in (True, False)
    )
    # A certain rank has three figures: they have to stay within their cell.
    fits = 0.94 * width / max(1, len(names)) / (3 * _FIGURE)
    text: dict[str, Any] = {"fontSize": min(layout.small, math.floor(fits)), "aria": False}
    opacity = alt.Opacity("share:Q", scale=alt.Scale(domain=[0, 1], range=[0.04, 1]), legend=None)
    layers = [
        cells.encode(x=x, y=y, opacity=opacity, **tooltip()),
        chart_of(light).mark_text(color=INK, **text).encode(x=x, y=y, text=alt.Text("word:N")),
        chart_of(dark).mark_text(color=PAPER, **text).encode(x=x, y=y, text=alt.Text("word:N")),
    ]
    return layer_chart(layers, width, height)
