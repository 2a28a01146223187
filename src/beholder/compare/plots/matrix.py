"""Every side against every other: the darker a cell, the better they agree."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd

from beholder.analyse.plots.numbers import number
from beholder.analyse.plots.palette import ACCENT, INK, PAPER, SOFT
from beholder.analyse.plots.theme import COLUMN, Layout, drawn, finished, layered, name_axis, told
from beholder.analyse.result import records

_DARK = 0.75
"""Above this share of the colour, words are white."""


def matrix_chart(table: pd.DataFrame, names: Sequence[str], *, layout: Layout = COLUMN) -> Any:
    """Return a grid of sides by sides from one measure's rows of the table of matrices."""
    import altair as alt

    rows = [
        {"name": row["side"], "other": other, "value": row[other], "word": number(row[other], 3),
         "tip": f"{row['side']} and {other}\nr = {number(row[other], 3)}"}
        for row in records(table)
        for other in names
        if other != row["side"] and not math.isnan(row[other])
    ]  # fmt: skip
    lowest = min([row["value"] for row in rows], default=0.0)
    # Runs of one test all agree above 0.9, and should still be told apart.
    start = max(-1.0, math.floor(10 * (lowest - 0.05)) / 10)
    for row in rows:
        row["share"] = (row["value"] - start) / (1 - start)
    side = layout.names_width(names)
    width, height = layout.whole - side - 16, layout.height(names) * 1.4
    y = name_axis(names, layout, side)
    across = alt.Axis(
        domain=False, ticks=False, grid=False, orient="top", title=None, aria=False, labelColor=SOFT,
        labelAngle=0 if max(map(layout.letters, names)) < width / len(names) else -35,
    )  # fmt: skip
    x = alt.X("other:N", sort=list(names), axis=across, scale=alt.Scale(paddingInner=0.06, paddingOuter=0.03))
    opacity = alt.Opacity("share:Q", scale=alt.Scale(domain=[0, 1], range=[0.06, 1]), legend=None)
    text: dict[str, Any] = {"fontSize": layout.small, "aria": False}
    layers = [drawn(rows).mark_rect(color=ACCENT, cornerRadius=2).encode(x=x, y=y, opacity=opacity, **told())]
    for is_dark, colour in ((True, PAPER), (False, INK)):
        mine = drawn([row for row in rows if (row["share"] > _DARK) is is_dark])
        layers.append(mine.mark_text(color=colour, **text).encode(x=x, y=y, text=alt.Text("word:N")))
    return finished(layered(layers, width, height), layout)
