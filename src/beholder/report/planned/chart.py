"""Counts as a heat map: pale where they are even, blue where there is too much, orange where there is too little."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from beholder.analyse.plots.heat import BELOW
from beholder.analyse.plots.palette import ACCENT, BAND, BAR, INK, SOFT
from beholder.analyse.plots.theme import COLUMN, Layout, drawn, finished, layered, name_axis, told, value_axis
from beholder.report.planned.count import Count
from beholder.report.planned.shows import Ints

MOST_CELLS = 1500
"""Of more cells, and of more rows, a picture shows how many hold how much."""
MOST_ROWS = 60
_DARKEST = 0.6
_SMALLEST = 8
"""Letters below cannot be read."""
_MOST_BARS = 24


def is_large(one: Count) -> bool:
    """Return whether a table has too many cells to be looked at one by one."""
    return one.values.size > MOST_CELLS or max(one.values.shape) > MOST_ROWS


def count_chart(one: Count, labels: Mapping[str, str], layout: Layout = COLUMN) -> Any:
    """Return a table of counts as a picture."""
    return bars_chart(one.cells, layout) if is_large(one) else _heat(one, labels, layout)


def bars_chart(cells: Ints, layout: Layout = COLUMN) -> Any:
    """Return how many cells hold how much."""
    import altair as alt

    heights = _binned(cells)
    names = [name for name, _ in heights]
    width = layout.whole - 60
    x = alt.X(
        "name:N", sort=names, axis=value_axis("Count", labelAngle=0, labelOverlap="greedy", format=""),
        scale=alt.Scale(domain=names, paddingInner=0.25, paddingOuter=0.3),
    )  # fmt: skip
    y = alt.Y("cells:Q", axis=value_axis("Cells", grid=True, tickCount=4, format=",~f", tickMinStep=1))
    rows = [{"name": name, "cells": number, "tip": f"{number:,} cells with {name}"} for name, number in heights]
    bars = (
        drawn(rows)
        .mark_bar(color=BAR, cornerRadiusEnd=2, size=min(44, 0.7 * width / len(names)))
        .encode(x=x, y=y, **told())
    )
    return finished(layered([bars], width, 5 * layout.row), layout)


def _binned(cells: Ints) -> list[tuple[str, int]]:
    """Return counts and how often they come; side by side in equal steps where there are very many."""
    values, numbers = np.unique(cells, return_counts=True)
    if len(values) <= _MOST_BARS:
        return [(str(value), int(number)) for value, number in zip(values, numbers, strict=True)]
    low, step = int(values[0]), -(-(int(values[-1]) - int(values[0]) + 1) // _MOST_BARS)
    sums = np.bincount((values - low) // step, weights=numbers).astype(np.int64)
    ends = ((low + n * step, low + (n + 1) * step - 1) for n in range(len(sums)))
    return [(f"{a}–{b}", int(number)) for (a, b), number in zip(ends, sums, strict=True)]


def _heat(one: Count, labels: Mapping[str, str], layout: Layout) -> Any:
    import altair as alt

    down, across = ([labels.get(name, name) for name in names] for names in (one.rows, one.columns))
    side = layout.names_width(down)
    room = layout.whole - side - 16
    cell = min(room / max(1, len(across)), 3.2 * layout.row)
    letters = min(layout.small, int((cell - 2) / (0.56 * len(f"{one.most:,}"))))
    is_upright = max((layout.letters(name) for name in across), default=0) < cell - 2
    angle: dict[str, Any] = {"labelAngle": 0} if is_upright else {"labelAngle": -60, "labelAlign": "left"}
    air: dict[str, Any] = {"paddingInner": 0.05, "paddingOuter": 0.02}
    x = alt.X(
        "across:N", sort=across, scale=alt.Scale(domain=across, range=[0, len(across) * cell], **air),
        axis=alt.Axis(
            orient="top", domain=False, ticks=False, grid=False, title=one.column.capitalize(), titleColor=SOFT,
            titleFontWeight="normal", titleAnchor="start", labelColor=INK, labelPadding=4, labelFontSize=layout.small,
            labelLimit=130, aria=False, **angle,
        ),
    )  # fmt: skip
    y = name_axis(down, layout, round(side))
    y.scale = alt.Scale(domain=down, **air)
    cells = _cells(one, down, across)
    opacity = alt.Opacity("strength:Q", scale=alt.Scale(domain=[0, 1], range=[0.1, _DARKEST]), legend=None)
    layers = [
        drawn([row for row in cells if row["side"] == 0])
        .mark_rect(color=BAND, cornerRadius=2)
        .encode(x=x, y=y, **told()),
        *(
            drawn([row for row in cells if row["side"] == sign])
            .mark_rect(color=colour, cornerRadius=2)
            .encode(x=x, y=y, opacity=opacity, **told())
            for sign, colour in ((1, ACCENT), (-1, BELOW))
        ),
    ]
    if letters >= _SMALLEST:
        words = drawn(cells).mark_text(color=INK, fontSize=letters, aria=False)
        layers.append(words.encode(x=x, y=y, text=alt.Text("count:Q", format=",")))
    row = layout.row if len(down) <= 30 else layout.row * 0.72
    return finished(layered(layers, room, len(down) * row), layout)


def _cells(one: Count, down: list[str], across: list[str]) -> list[dict[str, Any]]:
    """Return the cells in which something could stand; full colour at half too little or half too much."""
    rows = []
    for i, j in np.argwhere(one.counted).tolist():
        off, even = float(one.off[i, j]), float(one.even[i, j])
        rows.append(
            {
                "name": down[i], "across": across[j], "count": int(one.values[i, j]), "side": int(np.sign(off)),
                "strength": min(1.0, 2 * abs(off) / even) if even else 1.0,
                "tip": f"{one.row} {down[i]}, {one.column} {across[j]}: {one.values[i, j]:,}; even: {even:,.1f}",
            }
        )  # fmt: skip
    return rows
