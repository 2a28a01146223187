"""The rater map: each participant by agreement with the others and offset from them."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from beholder.analyse.plots.numbers import number, signed
from beholder.analyse.plots.palette import ACCENT, LINE, SOFT
from beholder.analyse.plots.theme import COLUMN, Layout, drawn, finished, fixed, layered, told, value_axis
from beholder.analyse.result import records

_UNUSED = "#b35806"
MOST_DOTS = 2000
"""More would hide each other, and make the page slow."""


def measure(table: pd.DataFrame) -> str:
    """Return what the height of a dot says: agreement, or spread where most people rated too little for that."""
    return "agreement" if table["agreement"].notna().sum() * 2 >= len(table) else "spread"


def raters_chart(table: pd.DataFrame, *, layout: Layout = COLUMN) -> Any:
    """Return a dot for each participant who is used, and a cross for each who is not."""
    import altair as alt

    shown = measure(table)
    known = table[table[shown].notna()]
    rows = [_row(row, shown) for row in records(known.iloc[:: -(-len(known) // MOST_DOTS) or 1])]
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
        drawn([{"offset": 0}]).mark_rule(color=SOFT, strokeDash=[3, 3], aria=False)
        .encode(x=across, **fixed(y=0, y2=height)),
        drawn([row for row in rows if row["used"]]).mark_point(
            color=ACCENT, fill=ACCENT, size=layout.dot * 2, opacity=crowd, strokeWidth=0
        ).encode(x=across, y=y, **told()),
        drawn([row for row in rows if not row["used"]]).mark_point(
            shape="M-1,-1L1,1M1,-1L-1,1", color=_UNUSED, size=layout.dot * 2, opacity=1, strokeWidth=2
        ).encode(x=across, y=y, **told()),
    ]  # fmt: skip
    if not all(row["used"] for row in rows):
        key = drawn([{"key": "× not used"}]).mark_text(
            align="right", baseline="bottom", color=_UNUSED, fontSize=layout.small, aria=False
        )
        layers.append(key.encode(**fixed(x=width, y=height - 4), text=alt.Text("key:N")))
    return finished(layered(layers, width, height), layout)


def _row(row: dict[str, Any], shown: str) -> dict[str, Any]:
    is_used = bool(row["use"])
    tip = (
        f"{row['participant']}{'' if is_used else ', not used'}\nagreement {number(row['agreement'], 2)}, spread "
        f"{number(row['spread'], 1)} %, offset {signed(row['offset'], 1)} %\n{row['ratings']:,.0f} shared ratings"
    )
    return {"offset": row["offset"], "place": row[shown], "used": is_used, "tip": tip}
