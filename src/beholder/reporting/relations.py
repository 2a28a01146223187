"""Stimuli that are for some people alone: their scores beside those of everybody's, and differences within people."""

from __future__ import annotations

from typing import Any

import pandas as pd

from beholder.analysis.figures.scores import scores_chart
from beholder.analysis.figures.theme import WIDE, Layout, axis_of_scale
from beholder.analysis.relations import named_by_relation
from beholder.analysis.result import records
from beholder.formats import NONE, count, interval, join_names, number, p_value
from beholder.reporting.html import Markup, render, table, tag
from beholder.reporting.material import Material
from beholder.reporting.methods_text import Sentence
from beholder.reporting.question_results import QuestionResults
from beholder.reporting.section import QuestionSection
from beholder.reporting.sheets import TextTable, without_empty_columns
from beholder.stimuli.relations import COMMON

_ALL = "all conditions"


def _rows(material: Material, name: str, part: QuestionResults) -> pd.DataFrame:
    frame = material.results.also.get(name)
    return pd.DataFrame() if frame is None else frame[frame["question"] == part.id]


def bound_words(material: Material, part: QuestionResults) -> str:
    """Return how many ratings of which relations are kept apart, as the end of a sentence; empty where none is."""
    own = _rows(material, "relations", part)
    own = own[own["relation"] != COMMON] if len(own) else own
    if own.empty:
        return ""
    is_whole = own["condition"] == ""
    whole = (
        own[is_whole] if is_whole.any() else own.groupby("relation", sort=False).max(numeric_only=True).reset_index()
    )
    return join_names(
        [f"{count(row['n'], 'rating')} by {count(row['participants'], 'participant')} ({row['relation']})"
         for row in records(whole)]
    )  # fmt: skip


def relation_tables(material: Material, part: QuestionResults) -> Markup | None:
    """Return means by relation with their figure, and differences within people; None without such stimuli."""
    own = _rows(material, "relations", part)
    if own.empty:
        return None
    parts = [tag("p", f"Kept apart from all other scores: {bound_words(material, part)}.")]
    parts += [figure] if (figure := material.figures.get(f"relations-{part.slug}")) is not None else []
    rows = [
        (
            row["relation"], _label(material, row["condition"]), f"{row['n']:,.0f}", f"{row['participants']:,.0f}",
            number(row["mean"], part.decimals), _interval(row, part), number(row["sd"], part.decimals), row["note"],
        )
        for row in records(own)
    ]  # fmt: skip
    heads = ("Relation", "Condition", "Ratings", "Participants", "Mean", "95 % interval", "SD", "Note")
    parts.append(table(f"By relation: {part.caption}", without_empty_columns(TextTable(heads, rows, names=2))))
    differences = _rows(material, "relation_differences", part)
    if len(differences):
        parts.append(
            table(f"Between relations, within people: {part.caption}", _difference_sheet(differences, material, part))
        )
    return render(parts)


def _difference_sheet(differences: pd.DataFrame, material: Material, part: QuestionResults) -> TextTable:
    rows = [
        (
            f"{row['relation']} minus {row['other_relation']}", _label(material, row["condition"]),
            f"{row['participants']:,.0f}", number(row["mean_difference"], part.decimals), _interval(row, part),
            p_value(row["p_holm"]) if row["p_holm"] == row["p_holm"] else NONE, row["note"],
        )
        for row in records(differences)
    ]  # fmt: skip
    heads = ("Relations", "Condition", "Participants", "Difference", "95 % interval", "p (Holm)", "Note")
    return without_empty_columns(TextTable(heads, rows, names=2))


def _label(material: Material, condition: str) -> str:
    return material.labels.get(condition, condition) if condition else _ALL


def _interval(row: dict[str, Any], part: QuestionResults) -> str:
    low, high = row["ci_low"], row["ci_high"]
    return interval(low, high, part.decimals) if low == low and high == high else NONE


def draw_relations(material: Material, part: QuestionResults, layout: Layout) -> Any:
    """Return a dot with its interval for each condition under each relation, best first."""
    shown = named_by_relation(_rows(material, "relations", part).drop(columns="question"), material.labels)
    title = "" if layout is WIDE else f"{part.metric}, mean and 95 % interval over participants"
    axis = axis_of_scale(part.scale, part.zero)
    return scores_chart(shown, axis=axis, layout=layout, title=title, is_share=part.is_share)


def relation_sentences(material: Material) -> list[Sentence]:
    """Return for the methods section that some people rated stimuli of their own, and how these are analysed."""
    words = bound_words(material, material.parts[0]) if material.parts else ""
    if not words:
        return []
    return [
        Sentence(
            f"Some stimuli were shown to certain participants only, as these were about them or known to them: {words}"
        ),
        Sentence("They are in no other score, and are compared within participants, by Student's t", ("student1908",)),
        Sentence("[What these stimuli were, and how they came to be]"),
    ]


RELATIONS = QuestionSection(
    "relations",
    "What is people's own",
    relation_tables,
    foot="Intervals and tests are over participants. Everybody has other stimuli, so that a few people say little of "
    f"others, and a difference may also lie in the stimuli. What is {COMMON} is for everybody.",
)
