"""Eigenvalues in falling order, against those of noise: how many things the questions measure."""

from __future__ import annotations

from typing import Any

import pandas as pd

from beholder.analyse.plots.numbers import number, percent
from beholder.analyse.plots.palette import ACCENT, INK, LINE, PAPER, SOFT
from beholder.analyse.plots.theme import COLUMN, Layout, drawn, finished, fixed, layered, told, value_axis
from beholder.analyse.result import records


def scree_chart(table: pd.DataFrame, *, layout: Layout = COLUMN) -> Any:
    """Return the eigenvalue of each component, filled where it is kept, and a dashed line for those of noise.

    The table has component, eigenvalue, share, chance and kept, of one level.
    """
    import altair as alt

    rows = [
        {
            "component": int(row["component"]), "eigenvalue": row["eigenvalue"], "chance": row["chance"],
            "kept": bool(row["kept"]),
            "tip": f"Component {row['component']:.0f}: {number(row['eigenvalue'], 2)}, {percent(row['share'])} of the "
            f"variance\nby chance up to {number(row['chance'], 2)}",
        }
        for row in records(table)
    ]  # fmt: skip
    width, height = min(layout.whole - 62, 620), layout.row * 9
    most = max((max(row["eigenvalue"], row["chance"]) for row in rows), default=1.0)
    x = alt.X(
        "component:O",
        axis=alt.Axis(
            domain=False, ticks=False, grid=False, labelAngle=0, title="Component", titleFontWeight="normal",
            titlePadding=6, titleColor=SOFT, labelColor=SOFT, aria=False,
        ),
    )  # fmt: skip
    up = value_axis("Eigenvalue", grid=True, gridColor=LINE, gridWidth=0.6, tickCount=5, minExtent=26, maxExtent=26)

    def y(field: str) -> Any:
        return alt.Y(f"{field}:Q", scale=alt.Scale(domain=[-0.04 * most, most * 1.05], nice=False), axis=up)

    kept = sum(row["kept"] for row in rows)
    together = sum(row["share"] for row in records(table) if row["kept"])
    said = f"{kept} of {len(rows)} above chance" + (f", {percent(together)} of the variance" if kept else "")
    layers = [
        drawn(rows).mark_line(color=ACCENT, strokeWidth=1.5, aria=False).encode(x=x, y=y("eigenvalue")),
        drawn(rows).mark_line(color=SOFT, strokeWidth=1, strokeDash=[4, 3], aria=False).encode(x=x, y=y("chance")),
        *(
            drawn([row for row in rows if row["kept"] is is_kept])
            .mark_point(stroke=ACCENT, fill=fill, size=min(60, layout.dot * 2), opacity=1, strokeWidth=1.5)
            .encode(x=x, y=y("eigenvalue"), **told())
            for is_kept, fill in ((True, ACCENT), (False, PAPER))
        ),
        drawn([{"said": said}]).mark_text(
            align="left", baseline="bottom", color=INK, fontSize=layout.small, aria=False
        ).encode(**fixed(x=0, y=-6), text=alt.Text("said:N")),
        drawn([{"said": "- - noise, 95 %"}]).mark_text(
            align="right", baseline="bottom", color=SOFT, fontSize=layout.small, aria=False
        ).encode(**fixed(x=width, y=-6), text=alt.Text("said:N")),
    ]  # fmt: skip
    return finished(layered(layers, width, height), layout)
