"""The figure of scores: dots with intervals, best first, over the bands of the scale."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from beholder.analyse.plots.axis import ScaleAxis, axis_of_values
from beholder.analyse.plots.numbers import decimals_for, interval, number
from beholder.analyse.plots.palette import ACCENT, BAND, BAR, INK, LINE, PAPER, SOFT
from beholder.analyse.plots.theme import COLUMN, Layout, by_question, drawn, fixed, layered, name_axis, told, value_axis
from beholder.analyse.result import records


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
    """Return a row for each condition, stimulus or content, best first: a dot, and its interval as a bar."""
    group = next(name for name in ("stimulus", "condition", "content") if name in table)

    def one(part: pd.DataFrame) -> Any:
        best_first = part.sort_values(estimate, ascending=False, kind="stable", ignore_index=True)
        best_first = best_first[best_first[estimate].notna()]
        own = axis or axis_of_values([*part[estimate], *part[ends[0]], *part[ends[1]]])
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
    told_interval = interval(low, high, decimals)
    tip = f"{name}\n{value}"
    shown = {"name": name, "mean": row[estimate], "value": value, "margin": ""}
    if low == low and high == high:
        is_even = not is_share and abs((low + high) / 2 - row[estimate]) < 1e-6 * max(1.0, abs(high - low))
        shown |= {"low": max(low, axis.low), "high": min(high, axis.high)}
        shown["margin"] = f"± {number((high - low) / 2, decimals)}" if is_even else told_interval
        tip += f", 95 % interval {told_interval}"
    n = row.get("n")
    people = f", {row['participants']:,.0f} participants" if row.get("participants") else ""
    return shown | {"tip": tip + (f"\nn = {n:,.0f}{people}" if n else "")}


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
    given: dict[str, Any] = {"values": ticks} if ticks is not None else {"tickCount": 5}
    across = value_axis(title, **given)

    def x(field: str) -> Any:
        return alt.X(f"{field}:Q", scale=alt.Scale(domain=[axis.low, axis.high], nice=False, zero=False), axis=across)

    def words(offset: float, field: str, colour: str, weight: str) -> Any:
        mark = drawn(rows).mark_text(
            align="left", color=colour, fontWeight=weight, fontSize=layout.size, aria=False
        )  # fmt: skip
        return mark.encode(**fixed(x=plot + offset), y=y, text=alt.Text(f"{field}:N"))

    whole = fixed(y=0, y2=height)
    bands = [band._asdict() for band in axis.bands]
    edge = {"stroke": PAPER, "strokeWidth": layout.dot**0.5 / 6} if layout.row > 24 else {}
    dot: dict[str, Any] = {"color": ACCENT, "size": layout.dot, "opacity": 1, **edge}
    # Rounded inside its ends: a round line cap would make every interval look wider than it is.
    thick = 6 if layout.row > 24 else 5
    bar: dict[str, Any] = {"color": BAR, "height": thick, "cornerRadius": thick / 2, "opacity": 1}
    shaded = drawn(bands[::2] if len(bands) > 1 else []).mark_rect(color=BAND, opacity=1, aria=False)
    layers = [
        shaded.encode(x=x("start"), x2=alt.X2("stop:Q"), **whole),
        drawn(rows).mark_rule(color=LINE, aria=False).encode(**fixed(x=0, x2=plot), y=y),
        drawn([row for row in rows if "low" in row])
        .mark_bar(**bar)
        .encode(x=x("low"), x2=alt.X2("high:Q"), y=y, **told()),
        drawn(rows).mark_circle(**dot).encode(x=x("mean"), y=y, **told()),
        words(8, "value", INK, "bold"),
    ]
    if axis.zero is not None:
        middle = drawn([{"place": axis.zero}]).mark_rule(color=SOFT, strokeDash=[3, 3], aria=False)
        layers.insert(2, middle.encode(x=x("place"), **whole))
    if layout.is_wide:
        layers.append(words(widest + 4, "margin", SOFT, "normal"))
    return layered([*layers, *_band_words(axis, layout, plot, x)], plot, height)


def _band_words(axis: ScaleAxis, layout: Layout, plot: float, x: Any) -> list[Any]:
    """Return the words of the scale above their bands; only those of its ends where there is no room for all."""
    import altair as alt

    bands = axis.bands
    longest = max(len(band.text) for band in bands)
    style: dict[str, Any] = {"baseline": "bottom", "color": SOFT, "fontSize": layout.small, "aria": False}
    if not longest:
        return []
    if longest * layout.size * 0.55 < plot / len(bands):
        mark = drawn([band._asdict() for band in bands]).mark_text(**style)
        return [mark.encode(x=x("middle"), **fixed(y=-7), text=alt.Text("text:N"))]
    return [
        drawn([band._asdict()]).mark_text(align=align, **style)
        .encode(**fixed(x=place, y=-7), text=alt.Text("text:N"))
        for band, place, align in ((bands[0], 0, "left"), (bands[-1], plot, "right"))
    ]  # fmt: skip
