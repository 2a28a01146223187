"""Tables as a reader sees them, conditions in the order of the study: rows of words, for the page and for LaTeX."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from beholder.analyse.result import records
from beholder.report.material import Material
from beholder.report.part import Part
from beholder.report.words import NONE, number, p_value, signed

_MEANS = ("Participants", "Mean", "95 % interval")


class Sheet(NamedTuple):
    """A table of words; the first `names` columns are text, the others are numbers."""

    heads: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    names: int = 1


def condition_sheet(part: Part, labels: Mapping[str, str]) -> Sheet:
    """Return n, participants, mean, interval, sd and median of every condition."""
    rows = [(labels[row["condition"]], *_means(row, part.decimals)) for row in records(part.conditions)]
    return Sheet(("Condition", *_heads(part)), rows)


def _heads(part: Part) -> tuple[str, ...]:
    what = "comparisons" if part.is_compared else "ratings"
    return (what.capitalize(), *_MEANS, f"SD of {what}", "Median")


def content_sheet(part: Part) -> Sheet:
    """Return the same of every content, over all its conditions."""
    return Sheet(
        ("Content", *_heads(part)), [(row["content"], *_means(row, part.decimals)) for row in records(part.contents)]
    )


def cell_sheet(part: Part, labels: Mapping[str, str]) -> Sheet:
    """Return the mean of every content under every condition, and over all of them."""
    d = part.decimals
    names = list(part.conditions["condition"])
    is_compared = part.is_compared  # over all conditions, what one wins another loses
    cells = part.scores.groupby(["content", "condition"])["mean"].mean().to_dict()
    rows = [
        (
            row["content"],
            *(number(cells.get((row["content"], name), float("nan")), d) for name in names),
            *(() if is_compared else (number(row["mean"], d),)),
            f"{row['n']:,.0f}",
        )
        for row in records(part.contents)
    ]
    whole = ("Comparisons",) if is_compared else ("All", "Ratings")
    return Sheet(("Content", *(labels[name] for name in names), *whole), rows)


def score_sheet(part: Part, labels: Mapping[str, str]) -> Sheet:
    """Return participants, mean, interval, sd and median of every content under every condition."""
    d = part.decimals
    rows = [
        (
            labels[row["condition"]], row["content"], f"{row['n']:,.0f}", number(row["mean"], d),
            _interval(row["ci_low"], row["ci_high"], d), number(row["sd"], d), number(row["median"], d),
        )
        for row in records(part.scores)
    ]  # fmt: skip
    return Sheet(("Condition", "Content", "Participants", "Mean", "95 % interval", "SD", "Median"), rows, names=2)


def pair_sheet(part: Part, labels: Mapping[str, str]) -> Sheet:
    """Return every pair with difference, interval and test."""
    d = part.decimals
    rows = [
        (
            labels[row["condition"]], labels[row["other_condition"]], f"{row['participants']:.0f}",
            signed(row["mean_difference"], d), _interval(row["ci_low"], row["ci_high"], d), p_value(row["p"]),
            p_value(row["p_holm"]),
        )
        for row in records(part.pairs)
    ]  # fmt: skip
    heads = ("Condition", "minus", "Participants", "Mean difference", "95 % interval", "p", "p, Holm")
    return Sheet(heads, rows, names=2)


def participant_sheet(participants: pd.DataFrame, decimals: int, given: str = "Ratings") -> Sheet:
    """Return how each participant used the scale."""
    rows = [
        (
            row["participant"], f"{row['ratings']:,.0f}", f"{row['stimuli']:,.0f}",
            *(number(row[column], decimals) for column in ("mean", "sd", "lowest", "highest")),
            number(row["agreement"], 2),
        )
        for row in records(participants)
    ]  # fmt: skip
    heads = ("Participant", given, "Stimuli", "Mean", "SD", "Lowest", "Highest", "Agreement with the others")
    return Sheet(heads, rows)


def paper_sheets(material: Material) -> dict[str, Sheet]:
    """Return the tables for a paper, named as the files of analyse/, without empty columns."""
    parts, labels = material.parts, material.labels
    sheets = {
        "scores": _together(parts, [score_sheet(part, labels) for part in parts]),
        "conditions": _together(parts, [condition_sheet(part, labels) for part in parts]),
        "contents": _together(parts, [content_sheet(part) for part in parts]),
        "pairs": _together(parts, [pair_sheet(part, labels) for part in parts]),
        "participants": participant_sheet(
            material.results.participants,
            max((part.decimals for part in parts), default=2),
            "Comparisons" if parts and all(part.is_compared for part in parts) else "Ratings",
        ),
    }
    return {name: _filled(sheet) for name, sheet in sheets.items()}


def _together(parts: Sequence[Part], sheets: Sequence[Sheet]) -> Sheet:
    """Return the sheets of all questions as one, with a column for the question where there are several."""
    if len(sheets) == 1:
        return sheets[0]
    rows = [(part.id, *row) for part, sheet in zip(parts, sheets, strict=True) for row in sheet.rows]
    return Sheet(("Question", *sheets[0].heads), rows, sheets[0].names + 1)


def _filled(sheet: Sheet) -> Sheet:
    """Return the sheet without the columns of numbers that hold none."""
    keep = [
        place
        for place in range(len(sheet.heads))
        if place < sheet.names or not sheet.rows or any(row[place] != NONE for row in sheet.rows)
    ]
    rows = [tuple(row[place] for place in keep) for row in sheet.rows]
    return Sheet(tuple(sheet.heads[place] for place in keep), rows, sheet.names)


def _means(row: Mapping[str, float], decimals: int) -> tuple[str, ...]:
    return (
        f"{row['n']:,.0f}", f"{row['participants']:,.0f}", number(row["mean"], decimals),
        _interval(row["ci_low"], row["ci_high"], decimals), number(row["sd"], decimals),
        number(row["median"], decimals),
    )  # fmt: skip


def _interval(low: float, high: float, decimals: int) -> str:
    return NONE if low != low else f"{number(low, decimals)} to {number(high, decimals)}"
