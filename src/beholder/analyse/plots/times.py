"""The figure of times: how long a page took, by its place in the session."""

from __future__ import annotations

from typing import Any

import pandas as pd

from beholder.analyse.plots.numbers import number
from beholder.analyse.plots.palette import ACCENT, BAR, LINE, PAPER
from beholder.analyse.plots.theme import COLUMN, Layout, drawn, finished, layered, told, value_axis
from beholder.analyse.result import records


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
        drawn(rows).mark_bar(color=BAR, width=thick, cornerRadius=thick / 2, opacity=1)
        .encode(x=whole, y=alt.Y("low:Q", scale=seconds, axis=up), y2=alt.Y2("high:Q"), **told()),
        drawn(rows).mark_line(color=ACCENT, strokeWidth=1.2, aria=False).encode(x=whole, y=y),
        drawn(rows).mark_circle(color=ACCENT, size=layout.dot * 2, opacity=1, stroke=PAPER, strokeWidth=1)
        .encode(x=whole, y=y, **told()),
    ]  # fmt: skip
    return finished(layered(layers, width, height), layout)
