"""Marked words: a heat map over the transcript of each content, and how far people marked the same words."""

from __future__ import annotations

from typing import Any

import pandas as pd

from beholder.analysis.result import records
from beholder.formats import NONE, count, number, percent, percent_half_up
from beholder.reporting.html import Child, Markup, folded, render, table, tag
from beholder.reporting.material import Material
from beholder.reporting.question_results import QuestionResults
from beholder.reporting.section import QuestionSection
from beholder.reporting.sheets import TextTable

_MOST_OPEN = 6
"""Contents whose words stand open; those of further ones are folded."""
_STEPS = 10


def _rows(material: Material, part: QuestionResults, name: str) -> pd.DataFrame | None:
    """Return the rows of a question in a table of words; None without any."""
    whole = material.results.also.get(name)
    mine = None if whole is None else whole[whole["question"] == part.id]
    return None if mine is None or mine.empty else mine


def _heat_maps(material: Material, part: QuestionResults) -> Markup | None:
    """Return the words of each content under each condition, coloured by how often they were marked."""
    shares = _rows(material, part, "words")
    if shares is None:
        return None
    maps: list[Child] = []
    for content, rows in shares.groupby("content", sort=True):
        lines: list[Child] = []
        for condition in material.labels:
            words = rows[rows["condition"] == condition]
            if len(words):
                name = tag("dt", material.labels[condition])
                lines.append(tag("div", name, tag("dd", [_word(row) for row in records(words)], dir="auto")))
        maps.append([tag("h3", str(content)), tag("dl", lines, class_="heat")])
    shown, rest = maps[:_MOST_OPEN], maps[_MOST_OPEN:]
    more = folded(f"{count(len(rest), 'further content')}", rest) if rest else None
    return render([shown, more, _agreement(material, part)])


def _word(row: dict[str, Any]) -> Child:
    """Return one word with the share of those who marked it; its interval where a pointer rests on it."""
    step = round(_STEPS * row["marked"])
    known = row["ci_low"] == row["ci_low"]
    interval = f", 95 % interval {number(100 * row['ci_low'], 0)} to {percent_half_up(row['ci_high'])}" if known else ""
    told = f"{row['word']}: marked by {percent(row['marked'])} of {row['n']:,.0f}{interval}"
    share = tag("small", percent(row["marked"]))
    return [tag("span", row["word"], " ", share, class_=f"heat__word heat__word--{step}", title=told), " "]


def _agreement(material: Material, part: QuestionResults) -> Markup | None:
    rows = _rows(material, part, "word_agreement")
    if rows is None:
        return None
    lines = [
        (
            material.labels.get(row["condition"], row["condition"]) or "All conditions",
            f"{row['words']:,.0f}",
            f"{row['participants']:,.0f}",
            percent(row["marked"]),
            percent(row["agreement"]) if row["agreement"] == row["agreement"] else NONE,
            number(row["alpha"], 2) if row["alpha"] == row["alpha"] else NONE,
            f"{number(row['alpha_low'], 2)} to {number(row['alpha_high'], 2)}"
            if row["alpha_low"] == row["alpha_low"]
            else NONE,
        )
        for row in records(rows)
    ]
    heads = ("Condition", "Words", "Participants", "Marked", "Same answer", "Alpha", "95 % interval")
    return table(f"How far people marked the same words: {part.caption}", TextTable(heads, lines))


def _foot(_material: Material, _part: QuestionResults) -> str:
    return (
        "Below each word the share of the participants who marked it; the stronger its colour, the more. Exact 95 % "
        "intervals over participants are in words.csv, word by word and not corrected for how many there are. Same "
        "answer: pairs of participants who agree on a word; alpha: Krippendorff's, 1 if all agree, 0 as by chance."
    )


WORDS = QuestionSection("words", "Which words were marked?", _heat_maps, foot=_foot)
