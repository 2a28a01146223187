"""The page of a comparison."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from beholder.analysis.figures.theme import Layout
from beholder.analysis.ratings_table import TableOptions
from beholder.analysis.result import records
from beholder.analysis.tests import ALPHA
from beholder.comparison.figures import difference_chart, matrix_chart, scatter_chart
from beholder.comparison.paper_tables import (
    accuracy_sheet,
    by_question_sheet,
    paper_failure_sheet,
    triangle_averages,
    triangle_sheet,
)
from beholder.comparison.result import Comparison, ComparisonTables, find
from beholder.comparison.sides import MatchedScores, Source, open_sides
from beholder.comparison.text import (
    agreement_sheet,
    contrast_sheet,
    correlation_sheet,
    count_sheet,
    difference_sheet,
    effect_sheet,
    headlines,
    mapping_sheet,
    merged_sheet,
    replication_sheet,
    sentences,
)
from beholder.errors import Problem, UserError
from beholder.formats import count, join_names, plural
from beholder.reporting.figures import Figure
from beholder.reporting.html import Child, Markup, panel, render, table, tag
from beholder.reporting.result_page import Outcome, headline, simulated, write_outcome
from beholder.reporting.sheets import TextTable

_MOST_TESTS = 6
_MOST_TOLD = 6
"""Sentences at the head of the page; of more, the table tells."""


def outcome(tables: ComparisonTables) -> Outcome:
    """Return the comparison as it is written."""
    names, shown = tables.names, tables.labelled
    return Outcome(
        kind="Comparison",
        title=join_names(names) if len(names) <= 3 else f"{names[0]} and {len(names) - 1} others",
        lead=_lead(shown),
        tables=tables.results,
        figures=figures(shown),
        sections=lambda drawn: _sections(shown, drawn),
        notes=_notes(tables),
        sheets=_sheets(shown),
        simulated=simulated(tables.sides.sides),
    )


def _sheets(tables: ComparisonTables) -> dict[str, TextTable]:
    """Return the tables for a paper."""
    sheets = {"agreement": agreement_sheet(tables.table("agreement"))}
    if "accuracy" in tables.results:
        sheets["accuracy"] = accuracy_sheet(tables.table("accuracy"))
    if "triangles" in tables.results:
        sheets["triangles"] = triangle_sheet(tables.table("triangles"), tables.names)
    if "failures" in tables.results:
        sheets["failures"] = paper_failure_sheet(tables.table("failures"))
    if "by_question" in tables.results:
        rows = tables.table("by_question")
        for level in dict.fromkeys(rows["level"]):
            mine = rows[(rows["level"] == level) & (rows["measure"] == "pearson")]
            sheets[f"by_question_{level}"] = by_question_sheet(mine)
    return sheets


def _notes(tables: ComparisonTables) -> dict[str, Any]:
    return {
        "sides": [
            {"name": side.name, "ratings": side.ratings is not None, "stimuli": int(side.stimuli["stimulus"].nunique()),
             "conditions": int(side.conditions["condition"].nunique())}
            for side in tables.sides.sides
        ],
        "questions": list(tables.sides.questions),
        "labels": tables.question_labels,
        "notes": list(tables.sides.notes),
        "tables": [f"{side.name}: {note}" for side in tables.sides.sides for note in side.notes],
        "words": list(sentences(tables.labelled)),
    }  # fmt: skip


def _merged(tables: ComparisonTables) -> Child:
    """Return all conditions on one scale, where sides share some and have others beside them."""
    rows = tables.table("merged")
    if not len(rows):
        return None
    content = render(
        [
            table("Every condition on the scale of the first side", merged_sheet(rows, tables.labels)),
            table("The line of each side", mapping_sheet(tables.table("mappings"))),
        ]
    )
    return panel("merged", "All conditions on one scale", content, foot=_MERGED, is_wide=True)


_MERGED = (
    "People spread what they are shown over the scale that they have (range equalising), so means of two studies are "
    "not on one scale by themselves. A slope unlike 1 is that, and the merged scale undoes it as far as the common "
    "conditions reach; what lies beyond them rests on the line going on. With one common condition only the level is "
    "brought together."
)


def _replication(tables: ComparisonTables) -> Child:
    """Return what became of every difference of a study that another one repeats."""
    rows = tables.table("replication")
    if not len(rows):
        return None
    content = table("Differences of the original, and of its repetition", replication_sheet(rows, tables.labels))
    foot = "Clear: p below 0.05 after Holm's correction. What is not clear again is no proof that there is nothing."
    return panel("replication", "Found again?", content, foot=foot, is_wide=True)


def _lead(tables: ComparisonTables) -> Child:
    lines = sentences(tables)
    foot = f"The table below has all {len(lines)}." if len(lines) > _MOST_TOLD else ""
    notes = [tag("p", note, class_="notice") for note in tables.sides.notes]
    return [headline(lines[:_MOST_TOLD], foot), *notes]


def _sections(tables: ComparisonTables, drawn: Mapping[str, Markup]) -> list[Child]:
    sections: list[Child] = [
        _replication(tables),
        _agreement(tables),
        *_by_question(tables),
        *_paper_tables(tables),
        _matrices(tables, drawn),
        _scatters(tables, drawn),
    ]
    for name, title, caption, sheet, foot in (
        ("contrast_counts", "The same findings?", "Differences between conditions", count_sheet, _CONTRASTS),
        ("effects", "Does one side rate higher as a whole?", "Effect of the side", effect_sheet, _EFFECTS),
    ):
        rows = tables.table(name)
        if len(rows):
            sections.append(panel(name, title, table(caption, sheet(rows)), foot=foot, is_wide=True))
    sections.append(_merged(tables))
    sections.append(_correlations(tables))
    for name, title in (("stimuli", "Stimuli that differ clearly"), ("conditions", "Conditions that differ clearly")):
        rows = tables.table(name)
        clear = rows[rows["clear"] == 1] if len(rows) else rows
        if len(clear):
            foot = f"All of them, clear or not, are in {name}.csv."
            content = table("Differences of two sides, largest first", difference_sheet(clear, tables.labels))
            sections.append(panel(name, title, content, foot=foot, is_wide=True))
    split = tables.table("contrasts")
    split = (
        split[~split["verdict"].isin(("clear in both", "clear in neither", "same direction"))] if len(split) else split
    )
    if len(split):
        title = "Where sides do not agree"
        sections.append(
            panel(
                "contrasts",
                title,
                table("Differences between conditions", contrast_sheet(split, tables.labels)),
                is_wide=True,
            )
        )
    return [section for section in sections if section]


_CONTRASTS = "Every two conditions that both sides have; clear means after Holm's correction on each side."
_CORRELATIONS = (
    "Both correlations share a side and its stimuli, so they are tested as dependent. p is two-sided; papers that test "
    "one-sided print half of it."
)
_EFFECTS = (
    "Beside stimulus and participant. No clear difference is not equivalence: sides are called equivalent where the "
    "difference is surely within the margin."
)


def _correlations(tables: ComparisonTables) -> Markup | None:
    """Return the tests between two correlations: all where they are few, else the clear ones."""
    rows = tables.table("correlations")
    if rows.empty:
        return None
    clear = rows[rows["p_holm"] < ALPHA]
    shown = rows if len(rows) <= _MOST_TESTS else clear
    summary = f"{len(clear) or 'None'} of {count(len(rows), 'test')} {plural(len(clear) or 1, 'is', 'are')} clear."
    content = [tag("p", summary)]
    if len(shown):
        content.append(table("Tests between two correlations", correlation_sheet(shown)))
    title = "Does a side agree better with one than with another?"
    foot = _CORRELATIONS if len(shown) == len(rows) else f"{_CORRELATIONS} All are in correlations.csv."
    return panel("correlations", title, render(content), foot=foot, is_wide=True)


def _agreement(tables: ComparisonTables) -> Markup:
    rows = tables.table("agreement")
    title = "How well they agree"
    foot = (
        "In brackets: 95 % intervals. RMSE mapped: after the straight line that maps the second side to the first, "
        "over n; agreement.csv also has it over n − 2."
    )
    return panel(
        "agreement",
        title,
        table("Correlations and errors of every two sides", agreement_sheet(rows)),
        foot=foot,
        is_wide=True,
    )


def _paper_tables(tables: ComparisonTables) -> list[Child]:
    """Return every side against the first, and all sides in triangles, where there are three sides or more."""
    sections: list[Child] = []
    if "accuracy" in tables.results:
        sheet, first = accuracy_sheet(tables.table("accuracy")), tables.names[0]
        foot = f"RMSE FOM: after the straight line that maps a side to {first}. The average is the plain mean."
        sections.append(
            panel("accuracy", f"Each against {first}", table(f"Agreement with {first}", sheet), foot=foot, is_wide=True)
        )
    if "triangles" in tables.results:
        rows = tables.table("triangles")
        content = table("Pearson above the diagonal, Spearman below", triangle_sheet(rows, tables.names))
        averages = triangle_averages(rows, tables.names)
        foot = f"{' '.join(averages[:_MOST_TOLD])} (Pearson and Spearman)" if averages else ""
        sections.append(panel("triangles", "Each against each", content, foot=foot, is_wide=True))
    if "failures" in tables.results:
        first = tables.names[0]
        content = table(f"Agreement with {first}", paper_failure_sheet(tables.table("failures")))
        foot = f"p: whether the group correlates with {first} as well as those who passed everything."
        sections.append(panel("failures", "Those who failed a rule", content, foot=foot, is_wide=True))
    return sections


_PRINTED = {"pearson": "Pearson correlation", "spearman": "Spearman rank correlation"}


def _by_question(tables: ComparisonTables) -> list[Markup]:
    """Return every two sides by question with the average, by condition and by stimulus; none of two sides."""
    rows = tables.table("by_question")
    if rows.empty:
        return []
    panels = []
    for level in ("condition", "stimulus"):
        mine = rows[rows["level"] == level]
        printed = [
            table(f"{title} of every two sides, {level} level", by_question_sheet(mine[mine["measure"] == measure]))
            for measure, title in _PRINTED.items()
            if mine[mine["measure"] == measure].iloc[:, 4:].notna().to_numpy().any()
        ]
        if printed:
            things = "conditions" if level == "condition" else "stimuli"
            foot = "Average: the plain mean of the column. by_question.csv also has Kendall's tau-b and RMSE."
            head = f"Every two sides, {things}"
            panels.append(panel(f"by-question-{level}", head, render(printed), foot=foot, is_wide=True))
    return panels


def _read(tables: ComparisonTables, one: MatchedScores) -> str:
    """Return how to read a scatter plot."""
    legend = f"Dashed: both equal. Line: maps {one.other_side} to {one.side}. Bars: 95 % intervals."
    has_clear = bool((tables.differing(one)["clear"] == 1).any())
    return f"{legend} Orange: differs clearly after Holm's correction." if has_clear else legend


def _matrices(tables: ComparisonTables, drawn: Mapping[str, Markup]) -> Markup | None:
    panels = [
        panel(
            name,
            f"Correlations of {'stimuli' if level == 'stimulus' else 'conditions'}: {question or 'mean'}",
            drawn[name],
        )
        for level, question in matrices_of(tables)
        if (name := matrix_name(tables, level, question)) in drawn
    ]
    return tag("div", panels, class_="beside") if panels else None


def _scatters(tables: ComparisonTables, drawn: Mapping[str, Markup]) -> Markup | None:
    panels = []
    for one in drawn_pairs(tables):
        things = "stimuli" if one.level == "stimulus" else "conditions"
        head = (
            f"{one.question}, {things}"
            if len(tables.names) == 2
            else f"{one.side} and {one.other_side}, {one.question}, {things}"
        )
        if (name := scatter_name(tables, one)) in drawn:
            panels.append(panel(name, head, drawn[name], foot=_read(tables, one)))
        if (name := difference_name(tables, one)) in drawn:
            foot = "Lines: the mean difference, and the limits of 95 % of the differences (Bland and Altman)."
            panels.append(panel(name, f"Differences, {things}", drawn[name], foot=foot))
    return tag("div", render(panels), class_="beside") if panels else None


# Figures: which there are, and their names


MOST = 30
"""More figures nobody looks at; the tables have all of it."""
_MOST_SHOWN = 6
"""Of more scatter plots the page has those that the words tell of; the others are files beside it."""
_FEWEST = 3
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,40}")


def drawn_pairs(tables: ComparisonTables) -> list[MatchedScores]:
    """Return what is drawn against each other: of few sides every two, of many each against the first."""
    few = len(tables.names) <= 3
    drawn = [one for one in tables.matched if len(one.table) >= _FEWEST and (few or one.side == tables.names[0])]
    return drawn[:MOST]


def scatter_name(tables: ComparisonTables, one: MatchedScores) -> str:
    """Return what the files of a scatter plot are called."""
    return f"scatter-{_place(tables, one)}"


def matrix_name(tables: ComparisonTables, level: str, question: str) -> str:
    """Return what the files of a matrix are called."""
    return f"matrix-{level}-{_slug(tables, question)}"


def matrices_of(tables: ComparisonTables) -> list[tuple[str, str]]:
    """Return level and question of every matrix that is drawn."""
    table = tables.table("matrices")
    if table.empty:
        return []
    pairs = dict.fromkeys(zip(table["level"], table["question"], strict=True))
    return [(level, question) for level, question in pairs if _known(_matrix(tables, level, question), tables.names)]


def figures(tables: ComparisonTables) -> list[Figure]:
    """Return the matrices, the scatter plots, and for paper the plots of differences."""
    made = [_of_matrix(tables, level, question) for level, question in matrices_of(tables)]
    pairs = drawn_pairs(tables)
    shown = {scatter_name(tables, one) for one in (pairs if len(pairs) <= _MOST_SHOWN else headlines(pairs))}
    made += [one._replace(in_page=one.name in shown) for one in (_scatter(tables, pair) for pair in pairs)]
    return made + [_difference(tables, one) for one in pairs if one.level == "stimulus"]


def _scatter(tables: ComparisonTables, one: MatchedScores) -> Figure:
    row = records(tables.rows("agreement", one))[0]
    clear = (tables.differing(one)["clear"] == 1).tolist()
    labels = tables.labels

    def draw(layout: Layout) -> Any:
        return scatter_chart(one, row, clear, labels=labels, layout=layout)

    words = (
        f"Scores of {one.other_side} against those of {one.side}, a dot for each {one.level}. The numbers are in "
        f"{'stimuli' if one.level == 'stimulus' else 'conditions'}.csv."
    )
    return Figure(scatter_name(tables, one), f"{one.side} and {one.other_side}: {one.question}", words, draw)


def _difference(tables: ComparisonTables, one: MatchedScores) -> Figure:
    clear = (tables.differing(one)["clear"] == 1).tolist()
    words = f"The difference of {one.side} and {one.other_side} against their mean. The numbers are in stimuli.csv."
    return Figure(
        f"difference-{_place(tables, one)}", f"{one.side} minus {one.other_side}: {one.question}", words,
        lambda layout: difference_chart(one, clear, layout=layout), in_page=len(tables.matched) <= 2,
    )  # fmt: skip


def difference_name(tables: ComparisonTables, one: MatchedScores) -> str:
    """Return what the files of a plot of differences are called."""
    return f"difference-{_place(tables, one)}"


def _of_matrix(tables: ComparisonTables, level: str, question: str) -> Figure:
    table, names = _matrix(tables, level, question), tables.names
    words = "Pearson's correlation of every two sides. The numbers are in matrices.csv."
    return Figure(
        matrix_name(tables, level, question), f"Correlations between sides: {question or 'mean'}", words,
        lambda layout: matrix_chart(table, names, layout=layout),
    )  # fmt: skip


def _matrix(tables: ComparisonTables, level: str, question: str) -> pd.DataFrame:
    table = tables.table("matrices")
    return table[(table["level"] == level) & (table["question"] == question) & (table["measure"] == "pearson")]


def _known(table: pd.DataFrame, names: Sequence[str]) -> bool:
    """Return whether a matrix holds more than its diagonal."""
    return int(table[list(names)].notna().to_numpy().sum()) > len(names)


def _place(tables: ComparisonTables, one: MatchedScores) -> str:
    numbers = "-".join(str(tables.names.index(name) + 1) for name in (one.side, one.other_side))
    return f"{one.level}-{_slug(tables, one.question)}-{numbers}"


def _slug(tables: ComparisonTables, question: str) -> str:
    if not question:
        return "mean"
    given = [pair for side in tables.sides.sides for pair in side.question_labels.items()]
    named = next((name for name, label in given if label == question), question)
    return named if _PLAIN.fullmatch(named) else f"question-{tables.sides.questions.index(question) + 1}"


# The folder compare/


def compare_folder(
    sources: Sequence[Source],
    *,
    out: Path | None,
    margin: float | None,
    questions: Sequence[str],
    runs: bool = False,
    options: TableOptions | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Comparison:
    """Compare, write the folder, and return the comparison."""
    if margin is not None and not 0 < margin < float("inf"):
        raise UserError(Problem("--margin", f"is {margin:g}", "a number above 0, in points of the scale"))
    if not sources:
        fix = "Give studies, runs (study.yaml@2) or tables (.csv, .tsv, .xlsx, .parquet)."
        raise UserError(Problem("compare", "has no sides", "two or more", fix))
    opened = [
        open_sides(some, questions, options) for some in ([[one] for one in sources] if runs else [list(sources)])
    ]
    tables = find(opened, margin)
    made = outcome(tables)
    folder = out or (opened[0].sides[0].folder or Path()) / "compare"
    page = write_outcome(made, folder, progress)
    further = {name: one.table for name, one in tables.results.items() if name != "agreement"}
    words = (*filter(None, [made.simulated]), *sentences(tables.labelled))
    return Comparison(tables.table("agreement"), words, page, further, made.notes, made.charts)
