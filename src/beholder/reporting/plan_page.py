"""The folder plan/report/: a page that shows at a glance whether a plan is balanced, with figures and tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from beholder.analyse.plots.theme import COLUMN, DOUBLE, Layout
from beholder.analyse.result import Result
from beholder.plan.counting.balance import balance
from beholder.plan.counting.evenness import Evenness
from beholder.plan.model import Plan
from beholder.report.beside import headline
from beholder.report.figures import Figure
from beholder.report.markup import Child, Markup, tag
from beholder.report.outcome import Outcome, write_outcome
from beholder.report.panel import panel
from beholder.report.planned.chart import bars_chart, count_chart, is_large
from beholder.report.planned.count import Count
from beholder.report.planned.counts import by_position, counts
from beholder.report.planned.shows import Ints, Shows, read_shows
from beholder.report.planned.words import headlines, sentence, times
from beholder.report.sheets import Sheet
from beholder.report.tables import table
from beholder.stimuli.catalogue import Catalogue
from beholder.study.model import Study

KIND = "Plan"
_HOW = "In the pictures pale is even, or within a tenth of it; blue is too often, orange is too seldom."
_HOW_LARGE = "How many cells hold how much; the table has each of them."
_ORDER = {
    "condition-position": "design.order: latin, or williams, has every condition equally often at every position.",
    "condition-after": "design.order: williams has every condition equally often after every other.",
}
_OF_GROUPS = "Counts of each group; a difference is within the group that is least even"
_WIDE = 14
"""Columns from which on a picture gets the whole page."""


def plan_report(
    study: Study, catalogue: Catalogue, plan: Plan, progress: Callable[[int, int], None] | None = None
) -> Path:
    """Write `plan/report/` and return the path of its page; `progress` is told of figures."""
    shows = read_shows(plan, catalogue)
    tables = list(counts(shows, _blocks(study, catalogue, shows)))
    rows = balance(plan, catalogue)
    positions = by_position(shows)
    labels = {one.name: one.label or one.name for one in study.conditions}
    figures = [_figure(one, labels) for one in tables]
    if positions.size and shows.positions > 1:
        figures.append(_stimuli(positions))

    def sections(drawn: Mapping[str, Markup]) -> Sequence[Child]:
        said = {one.name: _said(one, labels) for one in tables}
        said["stimulus-position"] = tag("p", _spread(positions))
        feet = {one.name: _HOW_LARGE for one in tables if is_large(one)}
        is_plain = shows.slots == 1 and study.design.order == "balanced" and not plan.is_given
        feet |= {one.name: _ORDER[one.name] for one in tables if is_plain and one.name in _ORDER and not one.is_near}
        panels = {
            one.name: panel(
                one.name, one.title, Markup(said[one.name] + drawn[one.name]), foot=feet.get(one.name),
                is_wide=one.is_wide,
            )
            for one in figures
        }  # fmt: skip
        return [
            panel(
                "balance",
                "Balance",
                table(_OF_GROUPS if plan.groups else "Counts over all lists", _sheet(rows)),
                is_wide=True,
            ),
            tag("div", [panels[one.name] for one in figures if not one.is_wide], class_="beside"),
            *(panels[one.name] for one in figures if one.is_wide),
        ]

    words = headlines(rows, tables, len(plan.lists), is_given=plan.is_given, groups=len(plan.groups))
    results = {"balance": Result(_balance(rows), _NOTE, ""), **{one.name: _result(one) for one in tables}}
    notes = {"words": words, "plan_digest": plan.plan_digest, "seed": plan.seed, "lists": len(plan.lists)}
    outcome = Outcome(KIND, study.title, headline(words, _HOW), results, figures, sections, notes)
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


def _sheet(rows: Sequence[Evenness]) -> Sheet:
    """Return the balance as the page has it: what is promised first, and whether it holds."""
    heads = ("Count", "Cells", "Least", "Most", "Difference")
    has_promises = any(row.promised is not None for row in rows)
    told = []
    for row in rows:
        numbers = [f"{number:,}" for number in (row.cells, row.least, row.most, row.difference)]
        promised = "–" if row.promised is None else f"at most {row.promised}"
        kept = "–" if row.promised is None else "✓" if row.difference <= row.promised else "✗ no"
        told.append((row.count, *numbers, *((promised, kept) if has_promises else ())))
    return Sheet((*heads, *(("Promised", "Kept") if has_promises else ())), told)


def _said(one: Count, labels: Mapping[str, str]) -> Markup:
    """Return what a table says, with a mark where it is worth a look."""
    mark = tag("span", "✓ ") if one.is_near else tag("span", "▲ ", class_="quality__mark")
    return tag("p", mark, sentence(one, labels))


def _figure(one: Count, labels: Mapping[str, str]) -> Figure:
    def draw(layout: Layout) -> Any:
        return count_chart(one, labels, layout)

    words = f"{sentence(one, labels)} The numbers are in {one.name}.csv."
    is_wide = not is_large(one) and len(one.columns) > _WIDE
    return Figure(one.name, one.title, words, draw, is_wide=is_wide, paper=DOUBLE if is_wide else COLUMN)


def _stimuli(positions: Ints) -> Figure:
    words = _spread(positions)
    return Figure(
        "stimulus-position", "Stimuli at positions", words, lambda layout: bars_chart(positions.ravel(), layout)
    )


def _spread(positions: Ints) -> str:
    """Return how evenly stimuli come at positions: three-way counts, of which nothing is promised."""
    least, most = int(positions.min()), int(positions.max())
    if least == most:
        return f"Every stimulus comes at every position {times(least, most)}."
    widest = int((positions.max(axis=1) - positions.min(axis=1)).max())
    return (
        f"A stimulus comes at a position {times(least, most)}; within one stimulus the counts differ by {widest} at "
        "most. Counts of three things at once (content, condition, position) are reported, not promised."
    )


def _result(one: Count) -> Result:
    """Return a table of counts, one row for each cell in which something could stand."""
    down, across = np.nonzero(one.counted)
    found = pd.DataFrame(
        {
            one.row.replace(" ", "_"): np.array(one.rows, dtype=object)[down],
            one.column.replace(" ", "_"): np.array(one.columns, dtype=object)[across],
            "count": one.values[down, across],
            "even": np.round(one.even[down, across], 3),
        }
    )
    note = f"{one.title}: how often, over all lists, and how often if what there is were spread evenly."
    return Result(found, note, "")


def _blocks(study: Study, catalogue: Catalogue, shows: Shows) -> list[str]:
    """Return the block of every content and condition, content by content; nothing where there are no blocks."""
    column = study.design.blocks
    if column is None:
        return []
    cells = (
        catalogue.by_cell.get((content, condition)) for content in shows.contents for condition in shows.conditions
    )
    return [stimulus.factors.get(column, "") if stimulus else "" for stimulus in cells]
