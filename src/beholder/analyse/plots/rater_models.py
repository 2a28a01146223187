"""Participants by bias and inconsistency, as a rater model finds them."""

from __future__ import annotations

from typing import Any

import pandas as pd

from beholder.analyse.plots.numbers import number, signed
from beholder.analyse.plots.palette import ACCENT, LINE, SOFT
from beholder.analyse.plots.raters import MOST_DOTS
from beholder.analyse.plots.theme import COLUMN, Layout, by_question, drawn, fixed, layered, told, value_axis
from beholder.analyse.result import records

_REJECTED = "#b35806"


def biases_chart(table: pd.DataFrame, *, layout: Layout = COLUMN, model: str = "shrunken") -> Any:
    """Return a dot for each participant, and a cross for each whom BT.500 would leave out."""
    out = table[table["rejected"] == "yes"]
    left_out = set(zip(out["question"], out["participant"], strict=True))
    known = table[(table["model"] == model) & table["inconsistency"].notna()]
    return by_question(known, layout, lambda mine: _one(mine, left_out, layout))


def _one(table: pd.DataFrame, left_out: set[tuple[str, str]], layout: Layout) -> Any:
    import altair as alt

    step = max(1, -(-len(table) // MOST_DOTS))
    rows = [_row(row, left_out) for row in records(table.iloc[::step])]
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
        drawn([{"bias": 0}]).mark_rule(color=SOFT, strokeDash=[3, 3], aria=False)
        .encode(x=across, **fixed(y=0, y2=height)),
        drawn([row for row in rows if not row["out"]]).mark_point(
            color=ACCENT, fill=ACCENT, size=layout.dot * 2, opacity=crowd, strokeWidth=0
        ).encode(x=across, y=y, **told()),
        drawn([row for row in rows if row["out"]]).mark_point(
            shape="M-1,-1L1,1M1,-1L-1,1", color=_REJECTED, size=layout.dot * 2, opacity=1, strokeWidth=2
        ).encode(x=across, y=y, **told()),
    ]  # fmt: skip
    if any(row["out"] for row in rows):
        key = drawn([{"key": "× BT.500 would leave out"}]).mark_text(
            align="right", baseline="bottom", color=_REJECTED, fontSize=layout.small, aria=False
        )
        layers.append(key.encode(**fixed(x=width, y=height - 4), text=alt.Text("key:N")))
    return layered(layers, width, height)


def _row(row: dict[str, Any], left_out: set[tuple[str, str]]) -> dict[str, Any]:
    tip = (
        f"{row['participant']}\nbias {signed(row['bias'], 2)}, inconsistency {number(row['inconsistency'], 2)}\n"
        f"{row['ratings']:,.0f} ratings"
    )
    is_out = (row["question"], row["participant"]) in left_out
    return {"bias": row["bias"], "inconsistency": row["inconsistency"], "out": is_out, "tip": tip}
