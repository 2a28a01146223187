"""A grid of numbers from -1 to 1, such as correlations: blue above zero, orange below, darker further away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from beholder.analyse.plots.numbers import number
from beholder.analyse.plots.palette import ACCENT, INK, SOFT
from beholder.analyse.plots.theme import COLUMN, Layout, drawn, finished, fixed, layered, name_axis, told
from beholder.analyse.result import records

BELOW = "#b35806"
_DARKEST = 0.48
"""Above it ink would not be read on the cell, in the light theme or in the dark one."""
_SMALLEST = 8
"""Letters below cannot be read: the cell then keeps its colour and what it says when pointed at."""


def heat_chart(
    table: pd.DataFrame,
    *,
    row: str,
    column: str,
    value: str,
    bold: str | None = None,
    tip: str | None = None,
    key: str = "",
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    labels: Mapping[str, str] | None = None,
    layout: Layout = COLUMN,
) -> Any:
    """Return a cell with its number for each row and column of the table; NaN leaves a cell empty.

    `bold` names a column of truths: these numbers are printed in bold, as significant ones are. `tip` names a column
    of texts that tell more where somebody points, `key` says under the picture what bold stands for. Rows and columns
    stand in the order of the table where `rows` and `columns` give none.
    """
    names = labels or {}
    down, across = (
        [names.get(one, one) for one in (given if given is not None else dict.fromkeys(table[field].astype(str)))]
        for given, field in ((rows, row), (columns, column))
    )
    side = layout.names_width(down)
    cell = min((layout.whole - side - 16) / max(1, len(across)), 3.6 * layout.row)
    short = cell < layout.small * 0.56 * 6
    cells = [
        _cell(one, (row, column, value), (bold, tip), names, is_short=short)
        for one in records(table)
        if one[value] == one[value]
    ]
    letters = min(layout.small, int((cell - 2) / (0.56 * (4 if short else 5))))
    return finished(_drawn(cells, down, across, (side, cell, letters), key, layout), layout)


def _cell(
    one: Mapping[str, Any],
    fields: tuple[str, str, str],
    extra: tuple[str | None, str | None],
    names: Mapping[str, str],
    *,
    is_short: bool,
) -> dict[str, Any]:
    down, across = (names.get(str(one[field]), str(one[field])) for field in fields[:2])
    found = float(one[fields[2]])
    # What is not quite one is not told as one.
    said = number(found, 3 if 0.995 <= abs(found) < 0.9995 else 2)
    told_more = f"\n{one[extra[1]]}" if extra[1] is not None and one[extra[1]] else ""
    return {
        "name": down, "across": across, "word": said.replace("0.", ".", 1) if is_short else said, "value": found,
        "strength": min(1.0, abs(found)), "bold": extra[0] is not None and bool(one[extra[0]]),
        "tip": f"{down}, {across}: {said}{told_more}",
    }  # fmt: skip


def _drawn(
    cells: list[dict[str, Any]],
    down: list[str],
    across: list[str],
    measures: tuple[float, float, int],
    key: str,
    layout: Layout,
) -> Any:
    import altair as alt

    side, cell, letters = measures
    # Upright where every name has room, aslant where not.
    is_upright = max((layout.letters(name) for name in across), default=0) < cell - 2
    angle: dict[str, Any] = {"labelAngle": 0} if is_upright else {"labelAngle": -60, "labelAlign": "left"}
    air: dict[str, Any] = {"paddingInner": 0.05, "paddingOuter": 0.02}
    x = alt.X(
        "across:N", sort=across, scale=alt.Scale(domain=across, range=[0, len(across) * cell], **air),
        axis=alt.Axis(
            orient="top", domain=False, ticks=False, grid=False, title=None, labelColor=INK, labelPadding=4,
            labelFontSize=layout.small, labelLimit=150, aria=False, **angle,
        ),
    )  # fmt: skip
    y = name_axis(down, layout, round(side))
    y.scale = alt.Scale(domain=down, **air)
    strength = alt.Opacity("strength:Q", scale=alt.Scale(domain=[0, 1], range=[0.03, _DARKEST]), legend=None)
    layers = [
        drawn([one for one in cells if (one["value"] < 0) is is_below])
        .mark_rect(color=colour, cornerRadius=2)
        .encode(x=x, y=y, opacity=strength, **told())
        for is_below, colour in ((False, ACCENT), (True, BELOW))
    ]
    if letters >= _SMALLEST:
        layers += [
            drawn([one for one in cells if one["bold"] is is_bold])
            .mark_text(color=INK, fontSize=letters, fontWeight="bold" if is_bold else "normal", aria=False)
            .encode(x=x, y=y, text=alt.Text("word:N"))
            for is_bold in (False, True)
        ]
    height = len(down) * max(layout.row, min(cell, layout.row * 1.2))
    if key:
        style: dict[str, Any] = {"align": "left", "baseline": "top", "color": SOFT, "fontSize": layout.small}
        words = drawn([{"key": key}]).mark_text(aria=False, **style)
        layers.append(words.encode(**fixed(x=-side, y=height + 8), text=alt.Text("key:N")))
    # As wide as the layout, also with few columns: a page stretches every picture to the same width.
    return layered(layers, layout.whole - side - 16, height)
