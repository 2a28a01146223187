"""The figures of raters: agreement and offset, bias and inconsistency, and shares of variance."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from beholder.analysis.figures.theme import (
    ACCENT,
    COLUMN,
    LINE,
    PAPER,
    SOFT,
    Layout,
    apply_theme,
    at_pixels,
    by_question,
    chart_of,
    layer_chart,
    name_axis,
    ramp,
    tooltip,
    value_axis,
)
from beholder.analysis.result import records
from beholder.formats import number, percent, signed

_UNUSED = "#b35806"
MAX_DOTS = 2000
"""More would hide each other, and make the page slow."""


def vertical_measure(table: pd.DataFrame) -> str:
    """Return what the height of a dot says: agreement, or spread where most people rated too little for that."""
    return "agreement" if table["agreement"].notna().sum() * 2 >= len(table) else "spread"


def raters_chart(table: pd.DataFrame, *, layout: Layout = COLUMN) -> Any:
    """Return a dot for each participant who is used, and a cross for each who is not."""
    import altair as alt

    shown = vertical_measure(table)
    known = table[table[shown].notna()]
    rows = [_row(row, shown) for row in records(known.iloc[:: -(-len(known) // MAX_DOTS) or 1])]
    width, height = layout.whole - 58, layout.row * 12
    # The same room on both sides: half of the picture is "higher than the others".
    reach = max([10.0, *(abs(row["offset"]) * 1.08 for row in rows)])
    across = alt.X(
        "offset:Q", scale=alt.Scale(domain=[-reach, reach], nice=False),
        axis=value_axis("Offset from the others, % of the scale", tickCount=5, format="~f"),
    )  # fmt: skip
    grid: dict[str, Any] = {"grid": True, "gridColor": LINE, "tickCount": 5, "minExtent": 26, "maxExtent": 26}
    if shown == "agreement":
        lowest = min([0.6, *(math.floor(5 * (row["place"] - 0.02)) / 5 for row in rows)])
        scale, title = alt.Scale(domain=[lowest, 1], nice=False), "Agreement with the others"
    else:
        most = max([10.0, *(row["place"] * 1.05 for row in rows)])
        scale, title = alt.Scale(domain=[most, 0], nice=False), "Spread round the others, % of the scale"
    y = alt.Y("place:Q", scale=scale, axis=value_axis(title, **grid))
    crowd = max(0.35, min(0.9, 60 / max(1, len(rows)) + 0.3))
    layers = [
        chart_of([{"offset": 0}]).mark_rule(color=SOFT, strokeDash=[3, 3], aria=False)
        .encode(x=across, **at_pixels(y=0, y2=height)),
        chart_of([row for row in rows if row["used"]]).mark_point(
            color=ACCENT, fill=ACCENT, size=layout.dot * 2, opacity=crowd, strokeWidth=0
        ).encode(x=across, y=y, **tooltip()),
        chart_of([row for row in rows if not row["used"]]).mark_point(
            shape="M-1,-1L1,1M1,-1L-1,1", color=_UNUSED, size=layout.dot * 2, opacity=1, strokeWidth=2
        ).encode(x=across, y=y, **tooltip()),
    ]  # fmt: skip
    if not all(row["used"] for row in rows):
        key = chart_of([{"key": "× not used"}]).mark_text(
            align="right", baseline="bottom", color=_UNUSED, fontSize=layout.small, aria=False
        )
        layers.append(key.encode(**at_pixels(x=width, y=height - 4), text=alt.Text("key:N")))
    return apply_theme(layer_chart(layers, width, height), layout)


def _row(row: dict[str, Any], shown: str) -> dict[str, Any]:
    is_used = bool(row["use"])
    tip = (
        f"{row['participant']}{'' if is_used else ', not used'}\nagreement {number(row['agreement'], 2)}, spread "
        f"{number(row['spread'], 1)} %, offset {signed(row['offset'], 1)} %\n{row['ratings']:,.0f} shared ratings"
    )
    return {"offset": row["offset"], "place": row[shown], "used": is_used, "tip": tip}


# Bias and inconsistency under a rater model


_REJECTED = "#b35806"


def biases_chart(table: pd.DataFrame, *, layout: Layout = COLUMN, model: str = "shrunken") -> Any:
    """Return a dot for each participant, and a cross for each whom BT.500 would leave out."""
    out = table[table["rejected"] == "yes"]
    left_out = set(zip(out["question"], out["participant"], strict=True))
    known = table[(table["model"] == model) & table["inconsistency"].notna()]
    return by_question(known, layout, lambda mine: _one(mine, left_out, layout))


def _one(table: pd.DataFrame, left_out: set[tuple[str, str]], layout: Layout) -> Any:
    import altair as alt

    step = max(1, -(-len(table) // MAX_DOTS))
    rows = [_rater_model_row(row, left_out) for row in records(table.iloc[::step])]
    width, height = layout.whole - 58, layout.row * 9
    reach = max([0.01, *(abs(row["bias"]) * 1.08 for row in rows)])
    most = max([0.01, *(row["inconsistency"] * 1.08 for row in rows)])
    across = alt.X(
        "bias:Q", scale=alt.Scale(domain=[-reach, reach], nice=False),
        axis=value_axis("Bias: lower ← the others → higher", tickCount=5),
    )  # fmt: skip
    y = alt.Y(
        "inconsistency:Q", scale=alt.Scale(domain=[0, most], nice=False),
        axis=value_axis("Inconsistency", grid=True, gridColor=LINE, tickCount=5, minExtent=26, maxExtent=26),
    )  # fmt: skip
    crowd = max(0.35, min(0.9, 60 / max(1, len(rows)) + 0.3))
    layers = [
        chart_of([{"bias": 0}]).mark_rule(color=SOFT, strokeDash=[3, 3], aria=False)
        .encode(x=across, **at_pixels(y=0, y2=height)),
        chart_of([row for row in rows if not row["out"]]).mark_point(
            color=ACCENT, fill=ACCENT, size=layout.dot * 2, opacity=crowd, strokeWidth=0
        ).encode(x=across, y=y, **tooltip()),
        chart_of([row for row in rows if row["out"]]).mark_point(
            shape="M-1,-1L1,1M1,-1L-1,1", color=_REJECTED, size=layout.dot * 2, opacity=1, strokeWidth=2
        ).encode(x=across, y=y, **tooltip()),
    ]  # fmt: skip
    if any(row["out"] for row in rows):
        key = chart_of([{"key": "× BT.500 would leave out"}]).mark_text(
            align="right", baseline="bottom", color=_REJECTED, fontSize=layout.small, aria=False
        )
        layers.append(key.encode(**at_pixels(x=width, y=height - 4), text=alt.Text("key:N")))
    return layer_chart(layers, width, height)


def _rater_model_row(row: dict[str, Any], left_out: set[tuple[str, str]]) -> dict[str, Any]:
    tip = (
        f"{row['participant']}\nbias {signed(row['bias'], 2)}, inconsistency {number(row['inconsistency'], 2)}\n"
        f"{row['ratings']:,.0f} ratings"
    )
    is_out = (row["question"], row["participant"]) in left_out
    return {"bias": row["bias"], "inconsistency": row["inconsistency"], "out": is_out, "tip": tip}


# Variances by source


_SOURCE_LABELS = {
    "condition": "conditions",
    "participant": "participants",
    "content": "contents",
    "participant x condition": "participants × conditions",
    "content x condition": "contents × conditions",
    "residual": "the rest",
}
"""Sources as one reads them."""


def variances_chart(table: pd.DataFrame, *, labels: Mapping[str, str] | None = None, layout: Layout = COLUMN) -> Any:
    """Return one bar for each question, shared out among the sources of differences."""
    import altair as alt

    names_by_question = {name: (labels or {}).get(name, name) for name in dict.fromkeys(table["question"])}
    has_names = len(names_by_question) > 1
    names = list(names_by_question.values())
    bars = _bars(table, names_by_question)
    side = layout.names_width(names) if has_names else 4
    width = layout.whole - side - 30
    low, _, pale, paler, grey, _, warm, _, high = ramp(9)
    colours = dict(zip(_SOURCE_LABELS.values(), (high, low, pale, paler, warm, grey), strict=True))
    present = [word for word in _SOURCE_LABELS.values() if any(bar["part"] == word for bar in bars)]
    colour = alt.Color(
        "part:N", scale=alt.Scale(domain=present, range=[colours[word] for word in present]),
        legend=alt.Legend(title=None, columns=min(3, len(present))),
    )  # fmt: skip
    x = alt.X(
        "start:Q", scale=alt.Scale(domain=[0, 1], nice=False),
        axis=value_axis("Share of what ratings differ by", format="%", values=[0, 0.25, 0.5, 0.75, 1]),
    )  # fmt: skip
    y = name_axis(names, layout, side, has_names=has_names)
    wide = [bar for bar in bars if (bar["stop"] - bar["start"]) * width > layout.letters(bar["share"]) + 6]
    inside: dict[str, Any] = {"fontSize": layout.small, "baseline": "middle", "aria": False}
    dark = {colours["conditions"], colours["participants"]}
    layers = [
        chart_of(bars).mark_bar(stroke=PAPER, strokeWidth=0.7, opacity=1)
        .encode(x=x, x2=alt.X2("stop:Q"), y=y, color=colour, **tooltip()),
    ]  # fmt: skip
    # These colours stay as they are in every theme, as those of the bars do.
    for is_dark, ink in ((True, "#fefefe"), (False, "#1b1b1b")):
        own = [bar for bar in wide if (colours[bar["part"]] in dark) is is_dark]
        if own:
            text = chart_of(own).mark_text(color=ink, **inside)
            layers.append(text.encode(x=alt.X("middle:Q"), y=y, text=alt.Text("share:N")))
    return apply_theme(layer_chart(layers, width, layout.height(names) * (1 if has_names else 1.4)), layout)


def _bars(table: pd.DataFrame, names_by_question: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the pieces of every bar, from the left to the right."""
    ends = dict.fromkeys(names_by_question, 0.0)
    bars = []
    for row in records(table):
        share = row["share"]
        if share != share or share <= 0:
            continue
        start = ends[row["question"]]
        ends[row["question"]] = start + share
        name, part = names_by_question[row["question"]], _SOURCE_LABELS[row["source"]]
        tip = f"{name}\n{part}: {percent(share)}\nSD {row['sd']:.3g}"
        bars.append(
            {
                "name": name, "part": part, "start": start, "stop": start + share, "middle": start + share / 2,
                "share": percent(share), "tip": tip,
            }
        )  # fmt: skip
    return bars
