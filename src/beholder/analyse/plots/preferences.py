"""The figure of preferences: of every pair, how often each was chosen, and how often neither."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from beholder.analyse.plots.numbers import percent
from beholder.analyse.plots.palette import INK, PAPER, ramp
from beholder.analyse.plots.theme import COLUMN, Layout, by_question, drawn, fixed, layered, name_axis, told, value_axis
from beholder.analyse.result import records

_PARTS = ("wins", "ties", "losses")
_WORDS = ("left chosen", "tie", "right chosen")


def preferences_chart(table: pd.DataFrame, *, labels: Mapping[str, str] | None = None, layout: Layout = COLUMN) -> Any:
    """Return a stacked bar for each pair: the one at the left chosen, a tie, the one at the right chosen."""

    def one(part: pd.DataFrame) -> Any:
        return _drawn([row for row in records(part) if sum(row[name] for name in _PARTS)], labels or {}, layout)

    return by_question(table, layout, one)


def _drawn(pairs: list[dict[str, Any]], labels: Mapping[str, str], layout: Layout) -> Any:
    import altair as alt

    turned = sorted((_turned(row, labels) for row in pairs), key=lambda row: -row["lead"])
    bars, ends = [], []
    for place, row in enumerate(turned):
        at = 0.0
        ends.append({"name": str(place), "left": row["left"], "right": row["right"]})
        for count, word in zip(row["counts"], _WORDS, strict=True):
            share = count / sum(row["counts"])
            tip = f"{row['left']} against {row['right']}\n{_said(word, row)}: {percent(share)}\nn = {count:,.0f}"
            bars.append({"name": str(place), "start": at, "stop": at + share, "part": word, "tip": tip})
            at += share
    room = layout._replace(names=round(layout.whole * 0.3))
    left = room.names_width([row["left"] for row in turned])
    right = room.names_width([row["right"] for row in turned])
    plot, height = layout.whole - left - right - 16, layout.row * len(turned)
    y = name_axis([row["name"] for row in ends], layout, 4, has_names=False)
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
    seen = [bar for bar in bars if bar["stop"] > bar["start"]]
    text: dict[str, Any] = {"fontSize": layout.size, "color": INK, "baseline": "middle", "aria": False}
    at_left = drawn(ends).mark_text(align="right", limit=left - 8, **text)
    at_right = drawn(ends).mark_text(align="left", limit=right - 8, **text)
    half = fixed(y=0, y2=height)
    layers = [
        drawn(seen).mark_bar(stroke=PAPER, strokeWidth=0.7, opacity=1)
        .encode(x=x, x2=alt.X2("stop:Q"), y=y, color=colour, **told()),
        drawn([{"start": 0.5}]).mark_rule(color=INK, strokeDash=[3, 3], aria=False).encode(x=x, **half),
        at_left.encode(**fixed(x=-8), y=y, text=alt.Text("left:N")),
        at_right.encode(**fixed(x=plot + 8), y=y, text=alt.Text("right:N")),
    ]  # fmt: skip
    return layered(layers, plot, height)


def _turned(row: Mapping[str, Any], labels: Mapping[str, str]) -> dict[str, Any]:
    """Return a pair so that the one that was chosen more often stands at the left."""
    names = [labels.get(row[column], row[column]) for column in ("condition", "other_condition")]
    counts = [float(row[name]) for name in _PARTS]
    if counts[2] > counts[0]:
        names, counts = names[::-1], counts[::-1]
    lead = (counts[0] - counts[2]) / sum(counts)
    return {"left": names[0], "right": names[1], "counts": counts, "lead": lead}


def _said(word: str, row: Mapping[str, Any]) -> str:
    return {"left chosen": f"{row['left']} chosen", "right chosen": f"{row['right']} chosen"}.get(word, word)
