"""The difference of two sides against their mean, with the limits between which most differences lie."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from beholder.analyse.plots.numbers import decimals_for, signed
from beholder.analyse.plots.palette import ACCENT, INK, LINE, SOFT
from beholder.analyse.plots.theme import COLUMN, Layout, drawn, finished, fixed, layered, told, value_axis
from beholder.analyse.result import records
from beholder.compare.matching import Matched
from beholder.compare.plots.scatter import CLEAR, MOST_DOTS

CITATION = "Bland and Altman (1986), Lancet 327"
_MARGIN = 102
_LIMIT = 1.96


def difference_chart(one: Matched, clear: Sequence[bool], *, layout: Layout = COLUMN) -> Any:
    """Return a dot for each thing both scored: side minus other side, over the mean of both."""
    import altair as alt

    table = one.table.assign(clear=list(clear), apart=one.table["mean"] - one.table["other_mean"])
    middle, spread = float(table["apart"].mean()), float(table["apart"].std()) if len(table) > 1 else 0.0
    decimals = decimals_for(float(table["mean"].min()), float(table["mean"].max()))
    rows = [
        {"x": (row["mean"] + row["other_mean"]) / 2, "y": row["apart"], "clear": bool(row["clear"]),
         "tip": f"{row['name']}\n{signed(row['apart'], decimals)}"}
        for row in records(table.iloc[:: -(-len(table) // MOST_DOTS) or 1])
    ]  # fmt: skip
    width, height = layout.whole - _MARGIN, layout.row * 11
    limits = [middle - _LIMIT * spread, middle + _LIMIT * spread]
    reach = max([abs(limit) for limit in limits] + [abs(row["y"]) for row in rows]) * 1.1 or 1.0
    grid: dict[str, Any] = {"grid": True, "gridColor": LINE, "tickCount": 5}
    x = alt.X("x:Q", scale=alt.Scale(zero=False, nice=True), axis=value_axis("Mean of both", tickCount=5))
    y = alt.Y(
        "y:Q", scale=alt.Scale(domain=[-reach, reach], nice=False),
        axis=value_axis(f"{one.side} − {one.other_side}", **grid, minExtent=34, maxExtent=34),
    )  # fmt: skip
    lines = [
        {"y": middle, "word": signed(middle, decimals)},
        *({"y": limit, "word": signed(limit, decimals)} for limit in limits if spread),
    ]
    layers = [
        drawn([{"y": 0}]).mark_rule(color=SOFT, strokeDash=[3, 3], aria=False).encode(y=y, **fixed(x=0, x2=width)),
        drawn(lines).mark_rule(color=INK, strokeWidth=1, aria=False).encode(y=y, **fixed(x=0, x2=width)),
        drawn(lines).mark_text(
            align="left", baseline="middle", dx=5, color=INK, fontSize=layout.small, aria=False
        ).encode(y=y, text=alt.Text("word:N"), **fixed(x=width)),
    ]  # fmt: skip
    for is_clear, colour in ((False, ACCENT), (True, CLEAR)):
        mine = drawn([row for row in rows if row["clear"] is is_clear])
        dots = mine.mark_point(color=colour, fill=colour, size=layout.dot * 2, opacity=0.85, strokeWidth=0)
        layers.append(dots.encode(x=x, y=y, **told()))
    return finished(layered(layers, width, height), layout)
