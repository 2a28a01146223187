"""The figure of ranks: how probable each rank is for each condition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from beholder.analyse.plots.numbers import percent
from beholder.analyse.plots.palette import ACCENT, INK, PAPER, SOFT
from beholder.analyse.plots.theme import COLUMN, Layout, apart, by_question, drawn, layered, name_axis, told
from beholder.analyse.result import records

_PALEST = 0.02
"""Probabilities below are left blank."""


def ranks_chart(table: pd.DataFrame, *, labels: Mapping[str, str] | None = None, layout: Layout = COLUMN) -> Any:
    """Return a grid of conditions and ranks: the darker a cell, the more probable the rank."""

    def one(part: pd.DataFrame) -> Any:
        return _drawn([_row(row, labels or {}) for row in records(part)], layout)

    return by_question(apart(table), layout, one)


def _row(row: Mapping[str, Any], labels: Mapping[str, str]) -> dict[str, Any]:
    name = labels.get(row["condition"], row["condition"])
    share = row["probability"]
    shown = percent(share)
    if 0 < share < 0.005:
        shown = "< 1 %"
    tip = f"{name}\nrank {row['rank']:.0f}: {shown}"
    word = f"{100 * share:.0f}" if share >= _PALEST else ""
    return {"name": name, "rank": int(row["rank"]), "share": share, "tip": tip, "word": word}


def _drawn(rows: list[dict[str, Any]], layout: Layout) -> Any:
    import altair as alt

    expected: dict[str, float] = {}
    for row in rows:
        expected[row["name"]] = expected.get(row["name"], 0.0) + row["rank"] * row["share"]
    names = sorted(expected, key=lambda name: expected[name])
    side = layout.names_width(names)
    width, height = layout.whole - side - 16, layout.height(names)
    y = name_axis(names, layout, side)
    across = alt.Axis(
        domain=False, ticks=False, grid=False, labelAngle=0, title="Rank (probability in %)", titleFontWeight="normal",
        titlePadding=6, aria=False, labelColor=SOFT, titleColor=SOFT,
    )  # fmt: skip
    x = alt.X("rank:O", axis=across, scale=alt.Scale(paddingInner=0.06, paddingOuter=0.03))
    seen = [row for row in rows if row["share"] > 0]
    # One colour, more or less of it: it follows the theme of the page, on white and on black.
    cells = drawn(seen).mark_rect(color=ACCENT, cornerRadius=2)
    dark, light = (
        [row for row in seen if row["word"] and (row["share"] > 0.7) is is_dark] for is_dark in (True, False)
    )
    text: dict[str, Any] = {"fontSize": layout.small, "aria": False}
    opacity = alt.Opacity("share:Q", scale=alt.Scale(domain=[0, 1], range=[0.04, 1]), legend=None)
    layers = [
        cells.encode(x=x, y=y, opacity=opacity, **told()),
        drawn(light).mark_text(color=INK, **text).encode(x=x, y=y, text=alt.Text("word:N")),
        drawn(dark).mark_text(color=PAPER, **text).encode(x=x, y=y, text=alt.Text("word:N")),
    ]
    return layered(layers, width, height)
