"""The page of metrics/: the finding, scores against metrics, and every correlation."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from beholder.analysis.figures.profile import heat_chart
from beholder.analysis.figures.theme import (
    ACCENT,
    COLUMN,
    DOUBLE,
    INK,
    LINE,
    SOFT,
    Layout,
    apply_theme,
    at_pixels,
    axis_of_values,
    chart_of,
    layer_chart,
    tooltip,
    value_axis,
)
from beholder.analysis.result import Result, records
from beholder.analysis.sides import Side
from beholder.formats import count, interval, number, p_value
from beholder.objective.correlation import LEVELS, Level, paired
from beholder.objective.registry import title
from beholder.reporting.figures import Figure
from beholder.reporting.html import Child, Markup, folded, panel, render, table, tag
from beholder.reporting.result_page import Outcome, headline, simulated
from beholder.reporting.sheets import TextTable
from beholder.stats.correlation import mean_correlation
from beholder.study.model import Study

KIND = "Objective metrics"
_ALPHA = 0.05
_MOST_SHOWN = 4
"""Questions whose figures are on the page; of more of them they are files beside it, and the grid tells."""
_LARGE = 10
"""From here on two decimals are enough: dB and points of 100, not shares of 1."""
_MOST_OPEN = 16
"""Rows of a table that is not folded."""
_FEW_COLUMNS = 6
"""So many metrics have room in half of the page."""
_HOW = (
    "Pearson’s r says how well a straight line fits, Spearman’s and Kendall’s whether the order is the same. A "
    "negative one belongs to a metric that is better when it is lower."
)
_UNITS: Mapping[Level, str] = {"stimulus": "stimuli", "condition": "conditions"}


def outcome(results: Mapping[str, Result], side: Side | None, study: Study | None, words: Sequence[str]) -> Outcome:
    """Return what the page tells."""
    values = results["values"].table
    asked = side.question_labels if side is not None else {}
    figures = [*_matrices(results, asked), *_clouds(side, values, results)] if side is not None else []

    def sections(drawn: Mapping[str, Markup]) -> Sequence[Child]:
        shown = [
            panel(figure.name, figure.title, drawn[figure.name], is_wide=figure.is_wide)
            for figure in figures
            if figure.name in drawn
        ]
        labels = side.labels if side is not None else {}
        tables = [*_correlations(results, asked), _values_panel(values, labels), _gaps(values)]
        return [*shown, *(one for one in tables if one is not None)]

    name = study.title if study is not None else side.name if side is not None else ""
    robots = simulated([side]) if side is not None else ""
    return Outcome(KIND, name, headline(words), results, figures, sections, {"words": list(words)}, robots)


def _clouds(side: Side, values: pd.DataFrame, results: Mapping[str, Result]) -> list[Figure]:
    """Return a figure for each question: its scores against every metric, over stimuli where they are known."""
    rows = {
        (row["level"], row["question"], row["metric"], row["region"]): row
        for row in records(results["correlations"].table)
    }
    tables: Mapping[Level, pd.DataFrame] = {"stimulus": side.stimuli, "condition": side.conditions}
    level = leading_level(results["correlations"].table)
    by_question: dict[str, list[Cloud]] = {}
    for question, metric, region, both in paired(tables[level], values, level):
        if len(both) > 1 and (row := rows.get((level, question, metric, region))) is not None:
            by_question.setdefault(question, []).append(Cloud(metric, region, both, row))
    figures = [
        _figure(level, side.question_labels.get(question, question), clouds, side.labels, place)
        for place, (question, clouds) in enumerate(by_question.items(), 1)
    ]
    return figures if len(figures) <= _MOST_SHOWN else [one._replace(in_page=False, paper=COLUMN) for one in figures]


def _figure(level: Level, question: str, clouds: list[Cloud], labels: Mapping[str, str], place: int) -> Figure:
    def draw(layout: Layout) -> Any:
        return clouds_chart(clouds, question=question, labels=labels, layout=layout)

    words = f"{question} of {_UNITS[level]} against each metric. The numbers are in correlations.csv."
    slug = re.sub(r"[^a-z0-9]+", "-", question.lower()).strip("-")[:40] or "question"
    return Figure(
        f"scores-{place}-{slug}", f"{question}: {_UNITS[level]}", words, draw, is_wide=len(clouds) > 2, paper=DOUBLE
    )


def _labelled(correlations: pd.DataFrame, asked: Mapping[str, str]) -> pd.DataFrame:
    """Return correlations with questions called as readers know them; files keep the ids."""
    return correlations.assign(question=[asked.get(str(name), str(name)) for name in correlations["question"]])


def _matrices(results: Mapping[str, Result], asked: Mapping[str, str]) -> list[Figure]:
    """Return a grid of questions and metrics for each level at which there are several of both."""
    correlations = _labelled(results["correlations"].table, asked)
    figures = []
    for level in LEVELS:
        own = correlations[(correlations["level"] == level) & correlations["pearson"].notna()]
        if own["question"].nunique() < 2:
            continue
        cells = own.assign(
            name=[called(row["metric"], row["region"]) for row in records(own)],
            is_clear=own["pearson_p"] < _ALPHA,
            tip=[f"{_ends(row, 'pearson')}, n = {row['n']}, p {p_value(row['pearson_p'])}" for row in records(own)],
        )
        is_wide = cells["name"].nunique() > _FEW_COLUMNS
        title = f"Questions and metrics: {_UNITS[level]}"
        words = f"Pearson's r of every question with every metric over {_UNITS[level]}."
        figures.append(Figure(f"matrix-{level}", title, words, _grid(cells), is_wide=is_wide, paper=DOUBLE))
    return figures


def _grid(cells: pd.DataFrame) -> Callable[[Layout], Any]:
    return lambda layout: heat_chart(
        cells, row="question", column="name", value="pearson", bold="is_clear", tip="tip", layout=layout,
        key="Pearson’s r; bold: p < 0.05, not corrected",
    )  # fmt: skip


def _correlations(results: Mapping[str, Result], asked: Mapping[str, str]) -> list[Markup]:
    if "correlations" not in results:
        return []
    panels = []
    for level in LEVELS:
        own = _labelled(results["correlations"].table, asked)
        own = own[own["level"] == level]
        if not own["pearson"].notna().any():
            continue
        has_questions = own["question"].nunique() > 1
        rows = [
            (
                *((row["question"],) if has_questions else ()), called(row["metric"], row["region"]), f"{row['n']}",
                *(_ends(row, name) for name in ("pearson", "spearman", "tau_b")), p_value(row["pearson_p"]),
                number(row["rmse_mapped"], 3),
            )
            for row in records(own)
        ]  # fmt: skip
        heads = ("Metric", "n", "Pearson", "Spearman", "Kendall’s tau-b", "p of Pearson", "RMSE, mapped")
        sheet = TextTable((*(("Question",) if has_questions else ()), *heads), rows, names=1 + has_questions)
        caption = f"Correlations over {_UNITS[level]}, with 95 % intervals"
        shown = table(caption, sheet)
        if len(rows) > _MOST_OPEN:
            shown = folded(f"All {len(rows)} correlations", shown)
        title = f"Agreement over {_UNITS[level]}"
        panels.append(panel(f"correlations-{level}", title, shown, foot=_HOW, is_wide=True))
    return panels


def _ends(row: Mapping[str, Any], name: str) -> str:
    value = told_r(row[name])
    if row[f"{name}_low"] != row[f"{name}_low"]:
        return value
    return f"{value} ({interval(row[f'{name}_low'], row[f'{name}_high'], 2)})"


def _values_panel(values: pd.DataFrame, labels: Mapping[str, str]) -> Markup | None:
    """Return the mean of each metric under each condition."""
    known = values[values["value"].notna()]
    if not len(known):
        return None
    named = known.assign(name=[called(row["metric"], row["region"]) for row in records(known)])
    means = named.groupby(["condition", "name"], sort=False)["value"].mean().unstack("name", sort=False)
    decimals = [2 if means[name].abs().max() >= _LARGE else 3 for name in means]
    rows = [
        (labels.get(str(name), str(name)), *map(number, row, decimals))
        for name, row in zip(means.index, means.to_numpy(), strict=True)
    ]
    caption = "Mean of each metric over the stimuli of a condition"
    sheet = TextTable(("Condition", *means.columns), rows)
    return panel("values", "Values", table(caption, sheet), foot="Each value is in values.csv.", is_wide=True)


def _gaps(values: pd.DataFrame) -> Markup | None:
    """Return what was done before measuring, and what has no value, counted."""
    noted = values[values["note"] != ""]
    if not len(noted):
        return None
    counts = noted.groupby("note", sort=False)["stimulus"].nunique()
    lines = [
        tag("li", tag("b", _whose(noted, str(note))), f": {note} ({count(int(n), 'stimulus', 'stimuli')})")
        for note, n in counts.items()
    ]
    return panel("notes", "What to know about the values", render(tag("ul", lines)), is_wide=True)


def _whose(noted: pd.DataFrame, note: str) -> str:
    own = noted[noted["note"] == note]
    return ", ".join(dict.fromkeys(called(row["metric"], row["region"]) for row in records(own)))


# The finding in words


_FEW = 10
"""Below so many things an interval is too wide to choose a metric by."""


def called(metric: str, region: str) -> str:
    """Return the name of a metric with its region."""
    return f"{title(metric)} ({region})" if region else title(metric)


def told_r(value: float) -> str:
    """Return a correlation; a value just below one is never rounded to one."""
    return number(value, 3 if 0.995 <= abs(value) < 1 else 2)


def leading_level(correlations: pd.DataFrame) -> Level:
    """Return the level that is reported first: stimuli, or conditions where only they are known."""
    known = correlations[correlations["pearson"].notna()]
    return "stimulus" if (known["level"] == "stimulus").any() else "condition"


def finding(results: Mapping[str, Result], side: Side | None) -> tuple[str, ...]:
    """Return the finding in a sentence or two, and a warning where it stands on little."""
    if side is None:
        return ("There are no ratings yet, so these are values only.",)
    table = results["correlations"].table
    level = leading_level(table)
    known = table[(table["level"] == level) & table["pearson"].notna()]
    if not len(known):
        return (
            "No metric can be held beside the scores: fewer than three stimuli and conditions have both, or all are "
            "alike.",
        )
    units = "stimuli" if level == "stimulus" else "conditions"
    questions = list(dict.fromkeys(known["question"]))
    said = (
        _of_one(known, results, units)
        if len(questions) == 1
        else _of_many(_labelled(known, side.question_labels), len(questions), units)
    )
    n = int(known["n"].max())
    if n < _FEW:
        said = (*said, f"With {n} {units} the intervals are wide: this says little about which metric is better.")
    return said


def _of_one(known: pd.DataFrame, results: Mapping[str, Result], units: str) -> tuple[str, ...]:
    rows = sorted(records(known), key=lambda row: -abs(row["pearson"]))
    best = rows[0]
    r = f"r = {told_r(best['pearson'])}"
    ends = interval(best["pearson_low"], best["pearson_high"], 2)
    within = f" ({ends})" if not math.isnan(best["pearson_low"]) else ""
    name = called(best["metric"], best["region"])
    lead = f"{name} agrees best with what people said: {r}{within} over {best['n']} {units}"
    if len(rows) == 1:
        return (f"{name} beside what people said: {r}{within} over {best['n']} {units}.",)
    others = ", ".join(f"{called(row['metric'], row['region'])} {told_r(row['pearson'])}" for row in rows[1:4])
    return f"{lead}; {others}.", *_clearly(best, rows[1], results)


def _clearly(
    best: Mapping[str, object], second: Mapping[str, object], results: Mapping[str, Result]
) -> tuple[str, ...]:
    """Return whether the best is clearly ahead of the second."""
    if "comparisons" not in results:
        return ()
    two = {(best["metric"], best["region"]), (second["metric"], second["region"])}
    for row in records(results["comparisons"].table):
        pair = {(row["metric"], row["region"]), (row["other_metric"], row["other_region"])}
        if row["level"] == best["level"] and row["question"] == best["question"] and pair == two:
            name = called(str(second["metric"]), str(second["region"]))
            clear = "clearly" if row["p_holm"] < _ALPHA else "not clearly"
            p = p_value(row["p_holm"])
            return (f"It is {clear} ahead of {name} (p {p if p.startswith('<') else f'= {p}'}, corrected).",)
    return ()


def _of_many(known: pd.DataFrame, questions: int, units: str) -> tuple[str, ...]:
    strength = {
        (str(metric), str(region)): mean_correlation(rows["pearson"].abs())
        for (metric, region), rows in known.groupby(["metric", "region"], sort=False)
    }
    ordered = sorted(strength, key=lambda key: -strength[key])
    best = ordered[0]
    own = known[(known["metric"] == best[0]) & (known["region"] == best[1])]
    rows = sorted(records(own), key=lambda row: abs(row["pearson"]))
    lead = f"Over {questions} questions {called(*best)} agrees best with what people said"
    low, high = (f"{told_r(row['pearson'])} ({row['question']})" for row in (rows[0], rows[-1]))
    mean = f"|r| = {told_r(strength[best])} on average, from {low} to {high}, over {int(own['n'].max())} {units}"
    others = "".join(f"; {called(*key)} {told_r(strength[key])}" for key in ordered[1:4])
    return (f"{lead}: {mean}{others}.",)


# Scores against metrics: one small chart for each metric


MOST_DOTS = 2000


class Cloud(NamedTuple):
    """One metric beside one question: what has both, and how they go together."""

    metric: str
    region: str
    points: pd.DataFrame
    """The name of each, `value` and `mean`."""
    row: Mapping[str, Any]
    """Of the table of correlations."""


def clouds_chart(clouds: Sequence[Cloud], *, question: str, labels: Mapping[str, str], layout: Layout = COLUMN) -> Any:
    """Return the clouds of one question side by side, the scores on one scale."""
    import altair as alt

    columns = min(len(clouds), 4 if layout.is_wide else 2)
    width = min((layout.whole - 44) / columns - 30, 300)
    scores = axis_of_values([mean for cloud in clouds for mean in cloud.points["mean"]])
    charts = [
        _cloud(cloud, place % columns == 0, (scores.low, scores.high), question, labels, width, layout)
        for place, cloud in enumerate(clouds)
    ]
    rows = [alt.HConcatChart(hconcat=charts[at : at + columns], spacing=18) for at in range(0, len(charts), columns)]
    return apply_theme(alt.VConcatChart(vconcat=rows, spacing=22), layout)


def _cloud(
    cloud: Cloud, is_first: bool, ends: tuple[float, float], question: str, labels: Mapping[str, str], width: float,
    layout: Layout,
) -> Any:  # fmt: skip
    import altair as alt

    name = called(cloud.metric, cloud.region)
    height = width * 0.86
    across = axis_of_values(cloud.points["value"])
    x = alt.X(
        "value:Q", scale=alt.Scale(domain=[across.low, across.high], nice=False, zero=False),
        axis=value_axis(name, grid=True, gridColor=LINE, gridWidth=0.6, tickCount=4, labelOverlap="greedy"),
    )  # fmt: skip
    y = alt.Y(
        "mean:Q", scale=alt.Scale(domain=list(ends), nice=False, zero=False),
        axis=value_axis(question if is_first else "", grid=True, gridColor=LINE, gridWidth=0.6, tickCount=4,
                        minExtent=26, maxExtent=26, titleLimit=height),
    )  # fmt: skip
    known = cloud.points.iloc[:: -(-len(cloud.points) // MOST_DOTS) or 1]
    unit = str(cloud.points.columns[0])
    dots = [
        {
            "value": row["value"], "mean": row["mean"],
            "tip": f"{labels.get(row[unit], row[unit])}\n"
                   f"{name} {number(row['value'], 3)}, {question} {number(row['mean'], 2)}",
        }
        for row in records(known)
    ]  # fmt: skip
    crowd = max(0.35, min(0.9, 60 / max(1, len(dots)) + 0.3))
    layers = [
        *_line(cloud, x, y, ends),
        chart_of(dots).mark_point(
            color=ACCENT, fill=ACCENT, size=min(layout.dot * 1.6, 50), opacity=crowd, strokeWidth=0
        ).encode(x=x, y=y, **tooltip()),
        chart_of([{"said": _said(cloud.row)}]).mark_text(
            align="left", baseline="bottom", color=INK, fontSize=layout.small, aria=False
        ).encode(**at_pixels(x=0, y=-5), text=alt.Text("said:N")),
    ]  # fmt: skip
    return layer_chart(layers, width, height)


def _line(cloud: Cloud, x: Any, y: Any, ends: tuple[float, float]) -> list[Any]:
    slope, intercept = cloud.row["slope"], cloud.row["intercept"]
    if math.isnan(slope):
        return []
    places = (float(cloud.points["value"].min()), float(cloud.points["value"].max()))
    path = [{"value": at, "mean": min(ends[1], max(ends[0], intercept + slope * at))} for at in places]
    return [chart_of(path).mark_line(color=SOFT, strokeWidth=1.2, aria=False).encode(x=x, y=y)]


def _said(row: Mapping[str, Any]) -> str:
    if math.isnan(row["pearson"]):
        return f"{row['n']} points: no line"
    ends = interval(row["pearson_low"], row["pearson_high"], 2)
    return f"r = {told_r(row['pearson'])}" + ("" if math.isnan(row["pearson_low"]) else f" ({ends})")
