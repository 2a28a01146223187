"""The folder plan/report/: a page that shows whether a plan is balanced.

Each table of counts has a sentence, a figure (a heat map, or bars where there are many cells) and a CSV file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from beholder.analysis.figures.profile import NEGATIVE
from beholder.analysis.figures.theme import (
    ACCENT,
    BAND,
    BAR,
    COLUMN,
    DOUBLE,
    INK,
    SOFT,
    Layout,
    apply_theme,
    axis_keys,
    chart_of,
    layer_chart,
    name_axis,
    tooltip,
    value_axis,
)
from beholder.analysis.result import Result
from beholder.formats import count, join_names, plural
from beholder.planning.balance import balance
from beholder.planning.model import Plan
from beholder.planning.order_balance import Evenness
from beholder.planning.own_stimuli import describe_bound
from beholder.reporting.figures import Figure
from beholder.reporting.html import Child, Markup, panel, table, tag
from beholder.reporting.plan_counts import Count, Ints, Shows, counts, read_shows, stimuli_by_position
from beholder.reporting.result_page import Outcome, headline, write_outcome
from beholder.reporting.sheets import TextTable
from beholder.stimuli.catalogue import Catalogue
from beholder.study.model import Study

KIND = "Plan"
_KEY = "In the pictures pale is even, or within a tenth of it; blue is too often, orange is too seldom."
_KEY_LARGE = "How many cells hold how much; the table has each of them."
_ORDER = {
    "condition-position": "design.order: latin, or williams, has every condition equally often at every position.",
    "condition-after": "design.order: williams has every condition equally often after every other.",
}
_GROUPS_CAPTION = "Counts of each group; a difference is within the group that is least even"
_WIDE = 14
"""Columns above which a figure has the whole width of the page."""


def plan_report(
    study: Study, catalogue: Catalogue, plan: Plan, progress: Callable[[int, int], None] | None = None
) -> Path:
    """Write `plan/report/` and return the path of its page; `progress` gets figures done and all."""
    bound = describe_bound(plan.lists)
    plan, catalogue = plan.common, catalogue.common  # what is one person's own is balanced with nothing
    shows = read_shows(plan, catalogue)
    tables = list(counts(shows, _blocks(study, catalogue, shows)))
    rows = balance(plan, catalogue)
    positions = stimuli_by_position(shows)
    labels = {one.name: one.label or one.name for one in study.conditions}
    figures = [_figure(one, labels) for one in tables]
    if positions.size and shows.positions > 1:
        figures.append(_stimuli_figure(positions))

    def sections(drawn: Mapping[str, Markup]) -> Sequence[Child]:
        sentences = {one.name: _marked_sentence(one, labels) for one in tables}
        sentences["stimulus-position"] = tag("p", _spread(positions))
        feet = {one.name: _KEY_LARGE for one in tables if is_large(one)}
        is_plain = shows.slots == 1 and study.design.order == "balanced" and not plan.is_given
        feet |= {one.name: _ORDER[one.name] for one in tables if is_plain and one.name in _ORDER and not one.is_near}
        panels = {
            one.name: panel(
                one.name, one.title, Markup(sentences[one.name] + drawn[one.name]), foot=feet.get(one.name),
                is_wide=one.is_wide,
            )
            for one in figures
        }  # fmt: skip
        return [
            panel(
                "balance",
                "Balance",
                table(_GROUPS_CAPTION if plan.groups else "Counts over all lists", _sheet(rows)),
                is_wide=True,
            ),
            tag("div", [panels[one.name] for one in figures if not one.is_wide], class_="beside"),
            *(panels[one.name] for one in figures if one.is_wide),
        ]

    words = headlines(rows, tables, len(plan.lists), is_given=plan.is_given, groups=len(plan.groups))
    words += [f"{bound}. These trials are in no count."] if bound else []
    results = {"balance": Result(_balance(rows), _NOTE, ""), **{one.name: _result(one) for one in tables}}
    notes = {"words": words, "plan_digest": plan.plan_digest, "seed": plan.seed, "lists": len(plan.lists)}
    outcome = Outcome(KIND, study.title, headline(words, _KEY), results, figures, sections, notes)
    return write_outcome(outcome, study.folder / "plan" / "report", progress)


_NOTE = (
    "How often what comes over all lists, when each is finished once: fewest and most over all cells, and the largest "
    "difference between two that should be even. Of what checks add nothing is counted."
)


def _balance(rows: Sequence[Evenness]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "count": [row.count for row in rows],
            **{name: [getattr(row, name) for row in rows] for name in ("cells", "least", "most", "difference")},
            "promised": pd.array([row.promised for row in rows], dtype="Int64"),
        }
    )


def _sheet(rows: Sequence[Evenness]) -> TextTable:
    """Return the table of balance, with promises and whether they are kept."""
    heads = ("Count", "Cells", "Least", "Most", "Difference")
    has_promises = any(row.promised is not None for row in rows)
    cells = []
    for row in rows:
        numbers = [f"{number:,}" for number in (row.cells, row.least, row.most, row.difference)]
        promised = "–" if row.promised is None else f"at most {row.promised}"
        kept = "–" if row.promised is None else "✓" if row.difference <= row.promised else "✗ no"
        cells.append((row.count, *numbers, *((promised, kept) if has_promises else ())))
    return TextTable((*heads, *(("Promised", "Kept") if has_promises else ())), cells)


def _marked_sentence(one: Count, labels: Mapping[str, str]) -> Markup:
    """Return the sentence of a table, with a mark if it is uneven."""
    mark = tag("span", "✓ ") if one.is_near else tag("span", "▲ ", class_="quality__mark")
    return tag("p", mark, sentence(one, labels))


def _figure(one: Count, labels: Mapping[str, str]) -> Figure:
    def draw(layout: Layout) -> Any:
        return count_chart(one, labels, layout)

    words = f"{sentence(one, labels)} The numbers are in {one.name}.csv."
    is_wide = not is_large(one) and len(one.columns) > _WIDE
    return Figure(one.name, one.title, words, draw, is_wide=is_wide, paper=DOUBLE if is_wide else COLUMN)


def _stimuli_figure(positions: Ints) -> Figure:
    words = _spread(positions)
    return Figure(
        "stimulus-position", "Stimuli at positions", words, lambda layout: bars_chart(positions.ravel(), layout)
    )


def _spread(positions: Ints) -> str:
    """Return how evenly stimuli come at positions; nothing is promised of three-way counts."""
    least, most = int(positions.min()), int(positions.max())
    if least == most:
        return f"Every stimulus comes at every position {times(least, most)}."
    widest = int((positions.max(axis=1) - positions.min(axis=1)).max())
    return (
        f"A stimulus comes at a position {times(least, most)}; within one stimulus the counts differ by {widest} at "
        "most. Counts of three things at once (content, condition, position) are reported, not promised."
    )


def _result(one: Count) -> Result:
    """Return a table of counts, one row for each cell that can hold a count."""
    down, across = np.nonzero(one.counted)
    cells = pd.DataFrame(
        {
            one.row.replace(" ", "_"): np.array(one.rows, dtype=object)[down],
            one.column.replace(" ", "_"): np.array(one.columns, dtype=object)[across],
            "count": one.values[down, across],
            "even": np.round(one.even[down, across], 3),
        }
    )
    note = f"{one.title}: how often, over all lists, and how often if what there is were spread evenly."
    return Result(cells, note, "")


def _blocks(study: Study, catalogue: Catalogue, shows: Shows) -> list[str]:
    """Return the block of every content and condition, content by content; empty if there are no blocks."""
    column = study.design.blocks
    if column is None:
        return []
    cells = (
        catalogue.by_cell.get((content, condition)) for content in shows.contents for condition in shows.conditions
    )
    return [stimulus.factors.get(column, "") if stimulus else "" for stimulus in cells]


# Figures


MOST_CELLS = 1500
"""With more cells or rows, a figure shows a histogram of the counts."""
MOST_ROWS = 60
_DARKEST = 0.6
_SMALLEST = 8
"""The smallest readable letters."""
_MOST_BARS = 24


def is_large(one: Count) -> bool:
    """Return whether a table has too many cells for a heat map."""
    return one.values.size > MOST_CELLS or max(one.values.shape) > MOST_ROWS


def count_chart(one: Count, labels: Mapping[str, str], layout: Layout = COLUMN) -> Any:
    """Return the chart of a table of counts."""
    return bars_chart(one.cells, layout) if is_large(one) else _heat_map(one, labels, layout)


def bars_chart(cells: Ints, layout: Layout = COLUMN) -> Any:
    """Return a histogram of counts."""
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
        chart_of(rows)
        .mark_bar(color=BAR, cornerRadiusEnd=2, size=min(44, 0.7 * width / len(names)))
        .encode(x=x, y=y, **tooltip())
    )
    return apply_theme(layer_chart([bars], width, 5 * layout.row), layout)


def _binned(cells: Ints) -> list[tuple[str, int]]:
    """Return counts and how often they occur; in equal steps if there are very many."""
    values, numbers = np.unique(cells, return_counts=True)
    if len(values) <= _MOST_BARS:
        return [(str(value), int(number)) for value, number in zip(values, numbers, strict=True)]
    low, step = int(values[0]), -(-(int(values[-1]) - int(values[0]) + 1) // _MOST_BARS)
    sums = np.bincount((values - low) // step, weights=numbers).astype(np.int64)
    ends = ((low + n * step, low + (n + 1) * step - 1) for n in range(len(sums)))
    return [(f"{a}–{b}", int(number)) for (a, b), number in zip(ends, sums, strict=True)]


def _heat_map(one: Count, labels: Mapping[str, str], layout: Layout) -> Any:
    import altair as alt

    down, across = ([labels.get(name, name) for name in names] for names in (one.rows, one.columns))
    side = layout.names_width(down)
    width = layout.whole - side - 16
    cell = min(width / max(1, len(across)), 3.2 * layout.row)
    letters = min(layout.small, int((cell - 2) / (0.56 * len(f"{one.most:,}"))))
    is_upright = max((layout.letters(name) for name in across), default=0) < cell - 2
    angle: dict[str, Any] = {"labelAngle": 0} if is_upright else {"labelAngle": -60, "labelAlign": "left"}
    air: dict[str, Any] = {"paddingInner": 0.05, "paddingOuter": 0.02}
    x = alt.X(
        "across:N", sort=across, scale=alt.Scale(domain=across, range=[0, len(across) * cell], **air),
        axis=axis_keys(
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
        chart_of([row for row in cells if row["side"] == 0])
        .mark_rect(color=BAND, cornerRadius=2)
        .encode(x=x, y=y, **tooltip()),
        *(
            chart_of([row for row in cells if row["side"] == sign])
            .mark_rect(color=colour, cornerRadius=2)
            .encode(x=x, y=y, opacity=opacity, **tooltip())
            for sign, colour in ((1, ACCENT), (-1, NEGATIVE))
        ),
    ]
    if letters >= _SMALLEST:
        words = chart_of(cells).mark_text(color=INK, fontSize=letters, aria=False)
        layers.append(words.encode(x=x, y=y, text=alt.Text("count:Q", format=",")))
    row = layout.row if len(down) <= 30 else layout.row * 0.72
    return apply_theme(layer_chart(layers, width, len(down) * row), layout)


def _cells(one: Count, down: list[str], across: list[str]) -> list[dict[str, Any]]:
    """Return the cells that can hold a count; full colour at half too little or half too much."""
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


# Sentences


_EVEN = "Every count below is even, or within a tenth of it."


def times(least: int, most: int) -> str:
    """Return `once`, `12 times`, `12 or 13 times`, `8 to 17 times`, and so on."""
    if least == most:
        return {0: "never", 1: "once", 2: "twice"}.get(most, f"{most:,} times")
    if most == 1:
        return "once or not at all"
    return f"{least:,} {'to' if most - least > 1 else 'or'} {most:,} times"


def sentence(one: Count, labels: Mapping[str, str]) -> str:
    """Return a table in a sentence."""
    how_often = times(one.least, one.most)
    if one.is_even:
        within = "equally often, within one: " if one.most - one.least > 1 else ""
        return f"{one.every} {within}{how_often}."
    if one.is_near:
        return f"{one.every} about equally often: {how_often}."
    worst = [_worst(one, side, labels) for side in (1, -1)]
    return f"{one.some} {how_often}. {' '.join(filter(None, worst))}"


def _worst(one: Count, side: int, labels: Mapping[str, str]) -> str:
    """Return the cell that is furthest from even on one side, if there is one."""
    off = side * one.off
    place = np.unravel_index(int(off.argmax()), off.shape)
    if off[place] <= 0:
        return ""
    names = [labels.get(name, name) for name in (one.rows[place[0]], one.columns[place[1]])]
    how = "Furthest above" if side > 0 else "Furthest below"
    even = f"{one.even[place]:,.1f}".removesuffix(".0")
    value = int(one.values[place])
    return f"{how} even: {one.row} {names[0]}, {one.column} {names[1]} ({value:,}, even would be {even})."


def headlines(
    balance: Sequence[Evenness], tables: Sequence[Count], lists: int, *, is_given: bool, groups: int = 0
) -> list[str]:
    """Return whether the plan is balanced, in a sentence or two; promises are kept in each of the groups, if any."""
    uneven = [one.title.lower() for one in tables if not one.is_near]
    if is_given:
        first = f"This plan of {count(lists, 'list')} was given: it is taken as it is, and nothing is promised."
        return [first, f"Not even: {join_names(uneven)}." if uneven else _EVEN]
    promised = [row for row in balance if row.promised is not None]
    broken = [row.count for row in promised if row.difference > (row.promised or 0)]
    kept = plural(len(promised), "The one promise", f"All {len(promised)} promises")
    where = f"in each of {groups} groups, over {count(lists, 'list')}" if groups else f"over {count(lists, 'list')}"
    kept_words = f"{kept} of balance {plural(len(promised), 'holds', f'hold {where}')}"
    if not promised:
        kept_words = f"Nothing can be promised of these {count(lists, 'list')}"
    if broken:
        kept_words = f"Not kept: {join_names(broken)}"
    not_even = (
        "Not even over all groups together, of which nothing is promised" if groups else "Not promised, and not even"
    )
    also = f"{not_even}: {join_names(uneven)}." if uneven else _EVEN
    return [f"{kept_words}.", also]
