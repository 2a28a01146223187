"""The figures of what the questions measure: which there are and what they are called."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from beholder.analysis.figures.profile import heat_chart, profile_chart, scree_chart
from beholder.analysis.figures.relation import spread_chart
from beholder.analysis.figures.theme import COLUMN, DOUBLE, Layout, ScaleAxis, apply_theme
from beholder.analysis.result import records
from beholder.dimensionality.data import Joined
from beholder.dimensionality.relation import drawn_relation
from beholder.dimensionality.text import Dimensions, main_level
from beholder.formats import interval, number, p_value
from beholder.reporting.figures import Figure

_FEWEST = 3
"""Conditions below which a line says nothing."""
_NARROW = 6
"""Questions up to which a grid fits into one column of a paper."""
_AIR = 0.05
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,40}")
_MEASURES = {"pearson": "Pearson’s r", "tau_b": "Kendall’s tau-b"}


def figures(dimensions: Dimensions) -> list[Figure]:
    """Return a figure for every table that has one; a table that is not there, or says nothing, has none."""
    joined, tables = dimensions.joined, dimensions.tables
    return [
        *_profiles(joined, tables.get("profile"), dimensions.factor),
        *_by_level(joined, tables),
        *_spread(joined, tables.get("spread")),
        *_relations(joined, tables.get("relation")),
        *_metrics(tables.get("metrics")),
    ]


def slug(joined: Joined, question: str) -> str:
    """Return what a question is called in the names of files."""
    named = next((asked for part in joined.parts for asked, name in part.names.items() if name == question), question)
    return named if _PLAIN.fullmatch(named) else f"question-{joined.questions.index(question) + 1}"


def _profiles(joined: Joined, table: pd.DataFrame | None, factor: str) -> list[Figure]:
    if table is None or table["mean"].notna().sum() < 2:
        return []
    axes = _axes(joined)

    def figure(name: str, title: str, words: str, rows: pd.DataFrame) -> Figure:
        return Figure(
            name, title, f"{words} The numbers are in profile.csv.",
            lambda layout: profile_chart(rows, axes=axes, labels=joined.labels, factor=factor, layout=layout),
            is_wide=True, paper=DOUBLE,
        )  # fmt: skip

    words = "Mean of every condition on every question with its 95 % interval"
    has_levels = bool((table["level"] != "").any())
    whole = f"{words}, averaged over {factor}." if has_levels and factor else f"{words}."
    profiles = [figure("profile", "Conditions by questions", whole, table[table["level"] == ""])]
    if has_levels:
        legend = f"{words}, for each level of {factor}."
        profiles.append(figure("profile-levels", f"Conditions by questions and {factor}", legend, table))
    return profiles


def _axes(joined: Joined) -> dict[str, ScaleAxis]:
    """Return the axes of questions whose scales are known: from end to end, with some air."""
    ends = {
        name: (part.items.ends[name].low, part.items.ends[name].high)
        for part in joined.parts
        if part.items is not None
        for name in part.questions
        if name in part.items.ends
    }
    return {
        name: ScaleAxis(low - _AIR * (high - low), high + _AIR * (high - low), ())
        for name, (low, high) in ends.items()
        if high > low
    }


def _by_level(joined: Joined, known: Mapping[str, pd.DataFrame]) -> list[Figure]:
    """Return correlations, eigenvalues and loadings, for each level; the page has components of its main one only."""
    charts: dict[str, tuple[str, str, str, Callable[..., Any]]] = {
        "correlations": ("pearson", "Correlations", "Correlation of every two questions", correlations_chart),
        "components": ("eigenvalue", "Components", "Eigenvalues, and those of noise", components_chart),
        "loadings": ("loading", "Loadings", "How far each question belongs to each component", loadings_chart),
    }
    paper = COLUMN if len(joined.questions) <= _NARROW else DOUBLE
    main = main_level(known["components"]) if "components" in known else None
    drawn = []
    for name, (value, title, words, draw) in charts.items():
        table = known.get(name)
        for level, part in table.groupby("level", sort=False) if table is not None and len(table) else ():
            if part[value].notna().any():
                where = BETWEEN.get(str(level), str(level)).lower()
                drawn.append(
                    Figure(
                        f"{name}-{level}", f"{title} {where}", f"{words}, {where}. The numbers are in {name}.csv.",
                        _with(draw, part), is_wide=name == "correlations" and paper is DOUBLE,
                        paper=paper if name == "correlations" else COLUMN,
                        in_page=name == "correlations" or level == main,
                    )
                )  # fmt: skip
    return drawn


def _with(draw: Callable[..., Any], table: pd.DataFrame) -> Callable[[Layout], Any]:
    return lambda layout: draw(table, layout=layout)


def _spread(joined: Joined, table: pd.DataFrame | None) -> list[Figure]:
    if table is None or len(table) < _FEWEST:
        return []
    of = str(table["of"].iloc[0])
    thing = "stimulus" if "stimulus" in table else "condition"
    words = f"How far the questions of a {thing} lie apart, against its mean on {of}. The numbers are in spread.csv."
    return [
        Figure(
            "spread", f"Spread across questions against {of}{_over(thing)}", words,
            lambda layout: spread_chart(table, labels=joined.labels, layout=layout),
        )
    ]  # fmt: skip


def _relations(joined: Joined, table: pd.DataFrame | None) -> list[Figure]:
    """Return every question against the one; the page has the nearest line, the farthest, and all with a dip."""
    if table is None:
        return []
    known = table[(table["n"] >= _FEWEST) & table["r_squared"].notna()].sort_values("r_squared", ascending=False)
    ends = {*known["y"].head(1), *known["y"].tail(1), *known["y"][known["dip"] == "yes"]}
    return [_relation(joined, row, in_page=row["y"] in ends) for row in records(known)]


def _relation(joined: Joined, row: Mapping[str, Any], *, in_page: bool) -> Figure:
    x, y, level = row["x"], row["y"], row["level"]
    words = f"{y} against {x}, a dot for each {level}, with the line. The numbers are in relation.csv."
    return Figure(
        f"relation-{slug(joined, y)}-on-{slug(joined, x)}", f"{y} against {x}{_over(level)}", words,
        lambda layout: drawn_relation(joined, x, y, level, across=x, up=y, layout=layout), in_page=in_page,
    )  # fmt: skip


def _over(level: str) -> str:
    return ", over stimuli" if level == "stimulus" else ""


def _metrics(table: pd.DataFrame | None) -> list[Figure]:
    """Return questions with metrics: Pearson's r and Kendall's tau-b, for each level."""
    if table is None or not len(table):
        return []
    region = table["region"].fillna("") if "region" in table else pd.Series("", index=table.index)
    named = table.assign(called=table["metric"].where(region == "", table["metric"] + " (" + region + ")"))
    drawn = []
    for level, part in named.groupby("level", sort=False):
        for measure, title in _MEASURES.items():
            if part[measure].notna().any():
                drawn.append(_metric(str(level), part, measure, title))
    return drawn


def _metric(level: str, table: pd.DataFrame, measure: str, title: str) -> Figure:
    tips = [
        f"95 % interval {interval(row[f'{measure}_low'], row[f'{measure}_high'], 2)}, {p_words(row[f'{measure}_p'])}\n"
        f"n = {row['n']:,.0f}"
        for row in records(table)
    ]
    cells = table.assign(is_clear=table[f"{measure}_p"] < CLEAR, tip=tips)
    return Figure(
        f"metrics-{measure.replace('_', '-')}-{level}", f"{title} of questions with metrics",
        f"{title} of every question with every metric, {BETWEEN[level].lower()}. The numbers are in metrics.csv.",
        lambda layout: heat_chart(
            cells, row="question", column="called", value=measure, bold="is_clear", tip="tip",
            key=f"{title}; bold: p < {CLEAR}", layout=layout,
        ),
        is_wide=True, paper=DOUBLE if cells["called"].nunique() > _NARROW else COLUMN,
    )  # fmt: skip


# Charts of tables with several levels


CLEAR = 0.05
STRONG = 0.5
"""A question with a loading as high as this belongs to the component."""
BETWEEN = {"condition": "Between conditions", "stimulus": "Between stimuli", "within": "Within people"}


def correlations_chart(table: pd.DataFrame, *, layout: Layout = COLUMN) -> Any:
    """Return every two questions with their correlation, bold where it differs from zero, for each level."""
    return _chart_by_level(table, layout, lambda part: _correlations(part, layout))


def loadings_chart(table: pd.DataFrame, *, layout: Layout = COLUMN) -> Any:
    """Return how far each question belongs to each component, bold from 0.5, for each level."""
    return _chart_by_level(table, layout, lambda part: _loadings(part, layout))


def components_chart(table: pd.DataFrame, *, layout: Layout = COLUMN) -> Any:
    """Return the eigenvalues against those of noise, for each level."""
    return _chart_by_level(table, layout, lambda part: scree_chart(part, layout=layout))


def p_words(p: float) -> str:
    """Return `p < 0.001` or `p = 0.02`; nothing where there is none."""
    if p != p:
        return ""
    shown = p_value(p)
    return f"p {shown}" if shown.startswith("<") else f"p = {shown}"


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


def _chart_by_level(table: pd.DataFrame, layout: Layout, draw: Callable[[pd.DataFrame], Any]) -> Any:
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
    return apply_theme(alt.VConcatChart(vconcat=charts, spacing=24), layout)
