"""The pictures of tables that hold several levels: one under the other, or of the level that is asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd

from beholder.analyse.plots.heat import heat_chart
from beholder.analyse.plots.numbers import interval, number
from beholder.analyse.plots.scree import scree_chart
from beholder.analyse.plots.theme import COLUMN, Layout, finished
from beholder.analyse.result import records

CLEAR = 0.05
STRONG = 0.5
"""A question with a loading as high as this belongs to the component."""
BETWEEN = {"condition": "Between conditions", "stimulus": "Between stimuli", "within": "Within people"}


def correlations_chart(table: pd.DataFrame, *, layout: Layout = COLUMN) -> Any:
    """Return every two questions with their correlation, bold where it differs from zero, for each level."""
    return _by_level(table, layout, lambda part: _correlations(part, layout))


def loadings_chart(table: pd.DataFrame, *, layout: Layout = COLUMN) -> Any:
    """Return how far each question belongs to each component, bold from 0.5, for each level."""
    return _by_level(table, layout, lambda part: _loadings(part, layout))


def components_chart(table: pd.DataFrame, *, layout: Layout = COLUMN) -> Any:
    """Return the eigenvalues against those of noise, for each level."""
    return _by_level(table, layout, lambda part: scree_chart(part, layout=layout))


def p_words(p: float) -> str:
    """Return `p < 0.001` or `p = 0.02`; nothing where there is none."""
    if p != p:
        return ""
    return "p < 0.001" if p < 0.001 else f"p = {number(p, 3)}"


def _correlations(table: pd.DataFrame, layout: Layout) -> Any:
    table = table[table["pearson"].notna()]
    questions = list(dict.fromkeys([*table["question"], *table["other_question"]]))
    cells = table.assign(
        is_clear=table["pearson_p"] < CLEAR,
        tip=[
            f"95 % interval {interval(row['pearson_low'], row['pearson_high'], 2)}, {p_words(row['pearson_p'])}\n"
            f"n = {row['n']:,.0f}"
            for row in records(table)
        ],
    )
    # Each pair once: rows from the second question on, columns up to the last but one.
    return heat_chart(
        cells, row="other_question", column="question", value="pearson", bold="is_clear", tip="tip",
        key=f"bold: p < {CLEAR}, {_size(table)}", rows=questions[1:], columns=questions[:-1], layout=layout,
    )  # fmt: skip


def _size(table: pd.DataFrame) -> str:
    low, high = table["n"].min(), table["n"].max()
    return f"n = {low:,.0f}" if low == high else f"n = {low:,.0f} to {high:,.0f}"


def _loadings(table: pd.DataFrame, layout: Layout) -> Any:
    cells = table.assign(
        called=[f"Component {one:.0f}" if layout.is_wide else f"{one:.0f}" for one in table["component"]],
        is_strong=table["loading"].abs() >= STRONG,
        tip=[f"communality {number(row['communality'], 2)}" for row in records(table)],
    )
    return heat_chart(
        cells, row="question", column="called", value="loading", bold="is_strong", tip="tip",
        key=f"bold: {STRONG} and more", layout=layout,
    )  # fmt: skip


def _by_level(table: pd.DataFrame, layout: Layout, draw: Callable[[pd.DataFrame], Any]) -> Any:
    import altair as alt

    levels: Sequence[str] = list(dict.fromkeys(table["level"]))
    if len(levels) < 2:
        return draw(table)
    charts = []
    for level in levels:
        chart = draw(table[table["level"] == level])
        # Only the whole may have these.
        chart.config = chart.background = chart.padding = alt.Undefined
        chart.title = alt.TitleParams(text=BETWEEN.get(level, level), anchor="start", fontSize=layout.size, offset=8)
        charts.append(chart)
    return finished(alt.VConcatChart(vconcat=charts, spacing=24), layout)
