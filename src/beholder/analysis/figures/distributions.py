"""The figures of distributions and of times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from beholder.analysis.figures.theme import (
    ACCENT,
    BAR,
    COLUMN,
    LINE,
    PAPER,
    Layout,
    apply_theme,
    at_pixels,
    axis_keys,
    by_question,
    chart_of,
    layer_chart,
    name_axis,
    name_texts,
    ramp,
    tooltip,
    value_axis,
)
from beholder.analysis.result import records
from beholder.formats import number, percent


def distributions_chart(
    table: pd.DataFrame,
    *,
    labels: Mapping[str, str] | None = None,
    words: Mapping[float, str] | None = None,
    order: Sequence[str] = (),
    quartiles: Mapping[str, tuple[float, float, float]] | None = None,
    layout: Layout = COLUMN,
    title: str = "",
) -> Any:
    """Return a stacked bar for each condition where every value has a row of its own, else a small histogram.

    `words` are the labels of the values; `quartiles` hold the lower quartile, median and upper quartile.
    """

    def one(part: pd.DataFrame) -> Any:
        names = [name for name in order or dict.fromkeys(part["condition"]) if name in set(part["condition"])]
        rows = [_row(row, labels or {}, words or {}) for row in records(part)]
        shown = [(labels or {}).get(name, name) for name in names]
        if bool((part["low"] == part["high"]).all()):
            return _stacked(rows, shown, layout)
        boxes = {(labels or {}).get(name, name): values for name, values in (quartiles or {}).items()}
        return _histograms(rows, shown, boxes, layout, title)

    return by_question(table, layout, one)


def _row(row: Mapping[str, Any], labels: Mapping[str, str], words: Mapping[float, str]) -> dict[str, Any]:
    name = labels.get(row["condition"], row["condition"])
    band = words.get(row["low"], row["band"]) if row["low"] == row["high"] else row["band"]
    tip = f"{name}\n{band}: {percent(row['share'])}\nn = {row['n']:,.0f}"
    return {"name": name, "band": band, "tip": tip, **{key: row[key] for key in ("low", "high", "share")}}


def _stacked(rows: list[dict[str, Any]], names: list[str], layout: Layout) -> Any:
    import altair as alt

    side = layout.names_width(names)
    width = layout.whole - side - 26
    bands = list(dict.fromkeys(row["band"] for row in sorted(rows, key=lambda row: float(row["low"]))))
    ends: dict[str, float] = dict.fromkeys(names, 0.0)
    shown = []
    for row in sorted(rows, key=lambda row: float(row["low"])):
        start, ends[row["name"]] = ends[row["name"]], ends[row["name"]] + row["share"]
        shown.append({**row, "start": start, "stop": ends[row["name"]]})
    lines = _legend_columns(bands, layout)
    colour = alt.Color(
        "band:N", scale=alt.Scale(domain=bands, range=ramp(len(bands))), legend=alt.Legend(title=None, columns=lines)
    )
    across = alt.X(
        "start:Q", scale=alt.Scale(domain=[0, 1], nice=False),
        axis=value_axis("Share of the ratings", format="%", values=[0, 0.25, 0.5, 0.75, 1]),
    )  # fmt: skip
    visible = [row for row in shown if row["share"] > 0]
    bars = chart_of(visible).mark_bar(stroke=PAPER, strokeWidth=0.7, opacity=1)
    bars = bars.encode(x=across, x2=alt.X2("stop:Q"), y=name_axis(names, layout, side), color=colour, **tooltip())
    return layer_chart([bars], width, layout.height(names))


_SYMBOL = 30
"""What the square before a word and the gap after it take of a legend."""


def _legend_columns(bands: Sequence[str], layout: Layout) -> int:
    """Return in how many columns the words of the scale fit above the figure."""
    if sum(layout.letters(band) + _SYMBOL for band in bands) < layout.whole:
        return len(bands)
    widest = max(layout.letters(band) for band in bands) + _SYMBOL
    return max(1, min(len(bands), int(layout.whole / widest)))


def _histograms(
    rows: list[dict[str, Any]],
    names: list[str],
    boxes: Mapping[str, tuple[float, float, float]],
    layout: Layout,
    title: str,
) -> Any:
    """Return a histogram for each condition, one above the other, each as high as its row, with the quartiles below."""
    import altair as alt

    side = layout.names_width(names)
    width = layout.whole - side - 26
    step = round(max(layout.row * 1.4, layout.row_height(names)))
    height = step * len(names)
    most: dict[str, float] = {}
    for row in rows:
        most[row["name"]] = max(most.get(row["name"], 0.0), row["share"])
    tall = step * 0.72
    # Rows from the top: y runs downwards, from 0 to one for each condition.
    place = {name: position for position, name in enumerate(names)}
    shown = [
        {
            **row,
            "base": place[row["name"]] + 0.82,
            "top": place[row["name"]] + 0.82 - row["share"] / most[row["name"]] * tall / step,
        }
        for row in rows
        if row["share"] > 0
    ]
    low, high = min(row["low"] for row in rows), max(row["high"] for row in rows)
    x = alt.X("low:Q", scale=alt.Scale(domain=[low, high], nice=False), axis=value_axis(title, tickCount=5))
    down = alt.Scale(domain=[0, len(names)], reverse=True, nice=False)
    # As much room as names may take in the reader's font: marks outside are measured in that of the drawing.
    room = {"minExtent": side, "maxExtent": side}
    hidden = axis_keys(labels=False, ticks=False, domain=False, grid=False, title=None, aria=False, **room)
    y = alt.Y("base:Q", scale=down, axis=hidden)
    lines = [{"name": layout.lines(name), "base": place[name] + 0.82, "middle": place[name] + 0.55} for name in names]
    layers = [
        chart_of(lines).mark_rule(color=LINE, aria=False).encode(**at_pixels(x=0, x2=width), y=y),
        chart_of(shown).mark_bar(color=BAR, opacity=1, stroke=PAPER, strokeWidth=0.5)
        .encode(x=x, x2=alt.X2("high:Q"), y=y, y2=alt.Y2("top:Q"), **tooltip()),
        *(
            text.encode(**at_pixels(x=-8), y=alt.Y("middle:Q", scale=down, axis=hidden), text=alt.Text("name:N"))
            for text in name_texts(lines, "name", layout, "right")
        ),
    ]  # fmt: skip
    box_rows = [_box(name, place[name] + 0.9, boxes[name]) for name in names if name in boxes]
    if box_rows:
        half = alt.Y("base:Q", scale=down, axis=hidden)
        line = chart_of(box_rows).mark_rule(color=ACCENT, strokeWidth=2)
        dot = chart_of(box_rows).mark_circle(color=ACCENT, size=layout.dot if layout.row < 24 else 90, opacity=1)
        layers.append(line.encode(x=alt.X("q1:Q"), x2=alt.X2("q3:Q"), y=half, **tooltip()))
        layers.append(dot.encode(x=alt.X("median:Q"), y=half, **tooltip()))
    return layer_chart(layers, width, height)


def _box(name: str, base: float, quartiles: tuple[float, float, float]) -> dict[str, Any]:
    q1, median, q3 = quartiles
    tip = f"{name}\nmedian {number(median, 1)}, quartiles {number(q1, 1)} and {number(q3, 1)}"
    return {"name": name, "base": base, "q1": q1, "median": median, "q3": q3, "tip": tip}


# Times


def times_chart(table: pd.DataFrame, *, layout: Layout = COLUMN) -> Any:
    """Return the median time of a page as a line over its position, with a bar from quartile to quartile."""
    import altair as alt

    part = table[(table["of"] == "page") & table["position"].notna()]
    rows = [
        {
            "place": row["position"], "median": row["median_s"], "low": row["q1_s"], "high": row["q3_s"],
            "tip": f"Page {row['position']:.0f}\nmedian {number(row['median_s'], 1)} s, quartiles "
            f"{number(row['q1_s'], 1)} and {number(row['q3_s'], 1)} s\nn = {row['n']:,.0f}",
        }
        for row in records(part)
    ]  # fmt: skip
    width, height = layout.whole - 56, layout.row * 9
    places = [row["place"] for row in rows] or [1]
    first, last = min(places), max(places)
    step = max(1, -(-round(last - first + 1) // 10))
    whole = alt.X(
        "place:Q", scale=alt.Scale(domain=[first - 0.6, last + 0.6], nice=False),
        axis=value_axis("Page of the session", values=list(range(int(first), int(last) + 1, step)), format="d"),
    )  # fmt: skip
    seconds = alt.Scale(domainMin=0, nice=True)
    up = value_axis("Seconds", grid=True, gridColor=LINE, tickCount=5, minExtent=26, maxExtent=26)
    thick = max(1.0, min(6.0, width / len(rows) / 3 if rows else 6.0))
    y = alt.Y("median:Q", scale=seconds, axis=up)
    layers = [
        chart_of(rows).mark_bar(color=BAR, width=thick, cornerRadius=thick / 2, opacity=1)
        .encode(x=whole, y=alt.Y("low:Q", scale=seconds, axis=up), y2=alt.Y2("high:Q"), **tooltip()),
        chart_of(rows).mark_line(color=ACCENT, strokeWidth=1.2, aria=False).encode(x=whole, y=y),
        chart_of(rows).mark_circle(color=ACCENT, size=layout.dot * 2, opacity=1, stroke=PAPER, strokeWidth=1)
        .encode(x=whole, y=y, **tooltip()),
    ]  # fmt: skip
    return apply_theme(layer_chart(layers, width, height), layout)
