"""The page of metrics/: the finding, scores against metrics, and every correlation."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from beholder.analyse.plots.heat import heat_chart
from beholder.analyse.plots.numbers import interval, number
from beholder.analyse.plots.theme import COLUMN, DOUBLE, Layout
from beholder.analyse.result import Result, records
from beholder.analyse.side import Side
from beholder.metrics.chart import Cloud, clouds_chart
from beholder.metrics.relate import LEVELS, Level, paired
from beholder.metrics.words import called, told_level, told_r
from beholder.report.beside import headline, simulated
from beholder.report.figures import Figure
from beholder.report.markup import Child, Markup, render, tag
from beholder.report.outcome import Outcome
from beholder.report.panel import panel
from beholder.report.sheets import Sheet
from beholder.report.tables import table
from beholder.report.words import count, p_value
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


def outcome(found: Mapping[str, Result], side: Side | None, study: Study | None, words: Sequence[str]) -> Outcome:
    """Return what the page tells."""
    values = found["values"].table
    figures = [*_matrices(found), *_clouds(side, values, found)] if side is not None else []

    def sections(drawn: Mapping[str, Markup]) -> Sequence[Child]:
        shown = [
            panel(figure.name, figure.title, drawn[figure.name], is_wide=figure.is_wide)
            for figure in figures
            if figure.name in drawn
        ]
        labels = side.labels if side is not None else {}
        tables = [*_correlations(found), _values_panel(values, labels), _gaps(values)]
        return [*shown, *(one for one in tables if one is not None)]

    name = study.title if study is not None else side.name if side is not None else ""
    robots = simulated([side]) if side is not None else ""
    return Outcome(KIND, name, headline(words), found, figures, sections, {"words": list(words)}, robots)


def _clouds(side: Side, values: pd.DataFrame, found: Mapping[str, Result]) -> list[Figure]:
    """Return a figure for each question: its scores against every metric, over stimuli where they are known."""
    rows = {
        (row["level"], row["question"], row["metric"], row["region"]): row
        for row in records(found["correlations"].table)
    }
    tables: Mapping[Level, pd.DataFrame] = {"stimulus": side.stimuli, "condition": side.conditions}
    level = told_level(found["correlations"].table)
    by_question: dict[str, list[Cloud]] = {}
    for question, metric, region, both in paired(tables[level], values, level):
        if len(both) > 1 and (row := rows.get((level, question, metric, region))) is not None:
            by_question.setdefault(question, []).append(Cloud(metric, region, both, row))
    figures = [
        _figure(level, question, clouds, side.labels, place)
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


def _matrices(found: Mapping[str, Result]) -> list[Figure]:
    """Return a grid of questions and metrics for each level at which there are several of both."""
    correlations = found["correlations"].table
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


def _correlations(found: Mapping[str, Result]) -> list[Markup]:
    if "correlations" not in found:
        return []
    panels = []
    for level in LEVELS:
        own = found["correlations"].table
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
        sheet = Sheet((*(("Question",) if has_questions else ()), *heads), rows, names=1 + has_questions)
        caption = f"Correlations over {_UNITS[level]}, with 95 % intervals"
        shown = table(caption, sheet)
        if len(rows) > _MOST_OPEN:
            shown = tag("details", tag("summary", f"All {len(rows)} correlations"), shown, class_="question")
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
    sheet = Sheet(("Condition", *means.columns), rows)
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
