"""Typed texts: error rates of each condition, the most confused words, and an example of what people typed."""

from __future__ import annotations

from typing import Any

import pandas as pd

from beholder.analysis.result import records
from beholder.formats import NONE, count, number, percent
from beholder.reporting.html import Child, Markup, render, table, tag
from beholder.reporting.material import Material
from beholder.reporting.question_results import QuestionResults
from beholder.reporting.section import QuestionSection
from beholder.reporting.sheets import TextTable

_MOST_CONFUSED = 12
_FEWEST = 2
"""What one person typed once is no confusion."""


def _rows(material: Material, part: QuestionResults, name: str) -> pd.DataFrame | None:
    """Return the rows of a question in a table of typed texts; None without any."""
    whole = material.results.also.get(name)
    mine = None if whole is None else whole[whole["question"] == part.id]
    return None if mine is None or mine.empty else mine


def _transcriptions(material: Material, part: QuestionResults) -> Markup | None:
    """Return the error rates of each condition, then confusions and examples."""
    rates = _rows(material, part, "error_rates")
    if rates is None:
        return None
    lines = [
        (
            material.labels.get(row["condition"], row["condition"]),
            _with_interval(row, "right"),
            _with_interval(row, "wer"),
            _with_interval(row, "cer"),
            *(percent(row[name]) for name in ("substituted", "missed", "added", "nothing")),
            f"{row['answers']:,.0f}",
        )
        for row in records(rates)
    ]
    heads = (
        "Condition", "Words right", "Word errors", "Character errors", "Other words", "Missed", "Added",
        "Nothing understood", "Answers",
    )  # fmt: skip
    sheet = table(f"How much was understood: {part.caption}", TextTable(heads, lines))
    return render([sheet, _confusions(material, part), _examples(material, part, rates)])


def _with_interval(row: dict[str, Any], name: str) -> str:
    """Return a rate in percent, with its interval where it has one."""
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    interval = f" ({number(100 * low, 0)} to {number(100 * high, 0)})" if low == low else ""
    return f"{percent(row[name])}{interval}"


def _confusions(material: Material, part: QuestionResults) -> Markup | None:
    """Return the words that were most often taken for others, over all conditions."""
    rows = _rows(material, part, "confusions")
    if rows is None:
        return None
    others = rows[(rows["said"] != "") & (rows["heard"] != "")]
    whole = others.groupby(["said", "heard"], sort=True)["n"].sum().reset_index()
    most = whole[whole["n"] >= _FEWEST].sort_values("n", ascending=False, kind="stable").head(_MOST_CONFUSED)
    if most.empty:
        return None
    lines = [(f"{row['said']} → {row['heard']}", f"{row['n']:,.0f}") for row in records(most)]
    return table(f"Most confused words: {part.caption}", TextTable(("Said → typed", "Times"), lines))


def _examples(material: Material, part: QuestionResults, rates: pd.DataFrame) -> Markup | None:
    """Return for each condition what was said and the answer nearest to its mean, on the content that most have."""
    ratings = material.results.ratings
    if "heard" not in ratings:
        return None
    mine = ratings[(ratings["question"] == part.id) & ratings["use"] & (ratings["said"] != "")]
    if mine.empty:
        return None
    content = mine.groupby("content", sort=True)["condition"].nunique().idxmax()
    lines: list[Child] = []
    for row in records(rates):
        here = mine[(mine["condition"] == row["condition"]) & (mine["content"] == content)]
        if len(here):
            away = (here["value"] - 100 * row["right"]).abs()
            typed = here.loc[away.idxmin()]
            text = typed["heard"] or NONE
            name = tag("dt", material.labels.get(row["condition"], row["condition"]))
            lines.append(tag("div", name, tag("dd", text, f" ({number(typed['value'], 0)} % right)", dir="auto")))
    said = tag("div", tag("dt", "Said"), tag("dd", str(mine[mine["content"] == content]["said"].iloc[0]), dir="auto"))
    title = tag("h3", f"What people typed of {content}")
    return render([title, tag("dl", said, lines, class_="method")])


def _foot(material: Material, part: QuestionResults) -> str:
    rates = _rows(material, part, "error_rates")
    answers = 0 if rates is None else int(rates["answers"].sum())
    return (
        f"Of {count(answers, 'answer')}. Word errors: other, missed and added words for each word that was said, so "
        "that they may be above 100 %; character errors likewise, without spaces. In brackets 95 % intervals over "
        "participants and contents. Texts were compared without case, punctuation and apostrophes. Examples: the "
        "answer nearest to the mean of its condition."
    )


TRANSCRIPTIONS = QuestionSection("typed", "How much was understood?", _transcriptions, foot=_foot)
