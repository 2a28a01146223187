"""Tables as a reader sees them, conditions in the order of the study, for the page, LaTeX and Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from beholder.analysis.result import records
from beholder.formats import NONE, number, p_value, signed
from beholder.reporting.material import Material
from beholder.reporting.question_results import QuestionResults

_THESE = "These contents"
"""The head of intervals with these contents, beside those for contents like these."""
_MEANS = ("Participants", "Mean", "95 % interval", _THESE)


class TextTable(NamedTuple):
    """A table of text; the first `names` columns are text, the others are numbers."""

    heads: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    names: int = 1


def condition_sheet(part: QuestionResults, labels: Mapping[str, str]) -> TextTable:
    """Return n, participants, mean, interval, sd and median of every condition."""
    rows = [(labels[row["condition"]], *_means(row, part.decimals)) for row in records(part.conditions)]
    return TextTable(("Condition", *_heads(part)), rows)


def _heads(part: QuestionResults) -> tuple[str, ...]:
    what = "comparisons" if part.is_compared else "ratings"
    return (what.capitalize(), *_MEANS, f"SD of {what}", "Median")


def content_sheet(part: QuestionResults) -> TextTable:
    """Return n, participants, mean, interval, sd and median of every content, over all its conditions."""
    return TextTable(
        ("Content", *_heads(part)), [(row["content"], *_means(row, part.decimals)) for row in records(part.contents)]
    )


def cell_sheet(part: QuestionResults, labels: Mapping[str, str]) -> TextTable:
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
    return TextTable(("Content", *(labels[name] for name in names), *whole), rows)


def score_sheet(part: QuestionResults, labels: Mapping[str, str]) -> TextTable:
    """Return participants, mean, interval, sd and median of every content under every condition."""
    d = part.decimals
    rows = [
        (
            labels[row["condition"]], row["content"], f"{row['n']:,.0f}", number(row["mean"], d),
            _interval(row["ci_low"], row["ci_high"], d), number(row["sd"], d), number(row["median"], d),
        )
        for row in records(part.scores)
    ]  # fmt: skip
    return TextTable(("Condition", "Content", "Participants", "Mean", "95 % interval", "SD", "Median"), rows, names=2)


def pair_sheet(part: QuestionResults, labels: Mapping[str, str]) -> TextTable:
    """Return every pair with difference, interval and test, for contents like these and for these contents."""
    d = part.decimals
    rows = [
        (
            labels[row["condition"]], labels[row["other_condition"]], f"{row['participants']:.0f}",
            signed(row["mean_difference"], d), _interval(row["ci_low"], row["ci_high"], d), p_value(row["p"]),
            p_value(row["p_holm"]), these_interval(row, d),
            *((p_value(row["these_p_holm"]), row["verdict"] or NONE) if row["contents"] > 1 else (NONE, NONE)),
        )
        for row in records(part.pairs)
    ]  # fmt: skip
    heads = (
        "Condition", "minus", "Participants", "Mean difference", "95 % interval", "p", "p, Holm", _THESE,
        "their p, Holm", "Clear",
    )  # fmt: skip
    return TextTable(heads, rows, names=2)


def participant_sheet(participants: pd.DataFrame, decimals: int, given: str = "Ratings") -> TextTable:
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
    return TextTable(heads, rows)


def paper_sheets(material: Material) -> dict[str, TextTable]:
    """Return the tables for a paper, named as the files of analyse/, without empty columns."""
    parts, labels = material.parts, material.labels
    sheets = {
        "scores": combined(parts, [score_sheet(part, labels) for part in parts]),
        "conditions": combined(parts, [condition_sheet(part, labels) for part in parts]),
        "contents": combined(parts, [content_sheet(part) for part in parts]),
        "pairs": combined(parts, [pair_sheet(part, labels) for part in parts]),
        "participants": participant_sheet(
            material.results.participants,
            max((part.decimals for part in parts), default=2),
            "Comparisons" if parts and all(part.is_compared for part in parts) else "Ratings",
        ),
    }
    if "dmos" in material.results.also:
        sheets["dmos"] = combined(parts, [dmos_sheet(material.results.also["dmos"], part, labels) for part in parts])
    return {name: without_empty_columns(sheet) for name, sheet in sheets.items()}


def dmos_sheet(table: pd.DataFrame, part: QuestionResults, labels: Mapping[str, str]) -> TextTable:
    """Return DMOS of every condition of a question, without rows where it has none."""
    own = table[(table["level"] == "condition") & (table["question"] == part.id)]
    d = part.decimals
    rows = [
        (
            labels.get(row["condition"], row["condition"]), f"{row['n']:,.0f}", f"{row['participants']:,.0f}",
            number(row["mean"], d), _interval(row["ci_low"], row["ci_high"], d), these_interval(row, d),
            number(row["sd"], d),
        )
        for row in records(own)
    ]  # fmt: skip
    return TextTable(("Condition", "Ratings", "Participants", "DMOS", "95 % interval", _THESE, "SD"), rows)


def combined(parts: Sequence[QuestionResults], sheets: Sequence[TextTable]) -> TextTable:
    """Return the sheets of all questions as one, with a column for the question if there are several."""
    if len(sheets) == 1:
        return sheets[0]
    if not sheets:
        return TextTable((), [])
    rows = [(part.caption, *row) for part, sheet in zip(parts, sheets, strict=True) for row in sheet.rows]
    return TextTable(("Question", *sheets[0].heads), rows, sheets[0].names + 1)


def without_empty_columns(sheet: TextTable) -> TextTable:
    """Return the sheet without empty columns of numbers."""
    keep = [
        place
        for place in range(len(sheet.heads))
        if place < sheet.names or not sheet.rows or any(row[place] != NONE for row in sheet.rows)
    ]
    rows = [tuple(row[place] for place in keep) for row in sheet.rows]
    return TextTable(tuple(sheet.heads[place] for place in keep), rows, sheet.names)


def _means(row: Mapping[str, Any], decimals: int) -> tuple[str, ...]:
    return (
        f"{row['n']:,.0f}", f"{row['participants']:,.0f}", number(row["mean"], decimals),
        _interval(row["ci_low"], row["ci_high"], decimals), these_interval(row, decimals),
        number(row["sd"], decimals), number(row["median"], decimals),
    )  # fmt: skip


def these_interval(row: Mapping[str, Any], decimals: int) -> str:
    """Return the interval with these contents; of one content it is the other one."""
    if row.get("contents", 0) < 2 or "these_low" not in row:
        return NONE
    return _interval(row["these_low"], row["these_high"], decimals)


def _interval(low: float, high: float, decimals: int) -> str:
    return NONE if low != low else f"{number(low, decimals)} to {number(high, decimals)}"


# LaTeX


_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    # Where a row begins with one of these, the line break before it would take it for its own argument.
    "[": "{[}", "*": "{*}",
    "†": r"\dag{}", "±": r"$\pm$",
    "−": "$-$", "–": "--",
}  # fmt: skip


def latex_text(text: str) -> str:
    """Return text as LaTeX prints it, every special character escaped; line breaks become spaces."""
    return "".join(_SPECIAL.get(character, character) for character in " ".join(text.split()))


_SHORT_HEADS = {
    "Participants": "N", "Ratings": "n", "Comparisons": "n", "Pages": "n", "95 % interval": "95 % CI",
    _THESE: "CI, these", "SD of ratings": "SD", "SD of comparisons": "SD", "Median": "Md", "Mean difference": "Diff.",
    "p, Holm": "p (Holm)", "their p, Holm": "p, these", "Agreement with the others": "Agreement",
}  # fmt: skip
"""Heads that would be wider than the numbers below them."""
_COLUMN_LETTERS = 62
"""Letters of \\scriptsize in one column of a paper of two, 88 mm."""
_NAME_LETTERS, _GAP_LETTERS = 12, 1.2
"""The least that a column of names takes, over as many lines as it needs, and what is between two columns."""


def latex_table(sheet: TextTable) -> str:
    """Return a tabularx as wide as a column of a paper: names wrap at the left, numbers stand at the right.

    Where the numbers alone need more, it is as wide as the page; a comment says which.
    """
    heads = [_SHORT_HEADS.get(head, head) for head in sheet.heads]
    numbers = range(sheet.names, len(heads))
    letters = sum(max(len(row[place]) for row in [heads, *sheet.rows]) + _GAP_LETTERS for place in numbers)
    fits = letters + sheet.names * (_NAME_LETTERS + _GAP_LETTERS) <= _COLUMN_LETTERS
    width, room = ("\\columnwidth", "one column") if fits else ("\\textwidth", "both columns: put it into a table*")
    # The page of a paper with one column is narrower than two columns: names would run into each other.
    size = "\\scriptsize" if fits else "\\ifdim\\textwidth<430pt\\tiny\\else\\scriptsize\\fi"
    kinds = "L" * sheet.names + "r" * len(numbers)
    lines = [
        f"% needs \\usepackage{{booktabs,tabularx}}; fits {room}",
        f"{{{size}\\setlength{{\\tabcolsep}}{{2pt}}%",
        "\\newcolumntype{L}{>{\\raggedright\\arraybackslash}X}%",
        f"\\begin{{tabularx}}{{{width}}}{{@{{}}{kinds}@{{}}}}",
        "\\toprule",
        _latex_row(heads),
        "\\midrule",
        *map(_latex_row, _without_repeats(sheet)),
        "\\bottomrule",
        "\\end{tabularx}}",
    ]
    return "\n".join(lines) + "\n"


def _without_repeats(sheet: TextTable) -> Iterator[list[str]]:
    """Yield the rows; of a group with the same name only the first one has it, and every row keeps its last name."""
    above: Sequence[str] = ()
    for row in sheet.rows:
        same = 0
        while same < min(sheet.names - 1, len(above)) and row[same] == above[same]:
            same += 1
        yield [*[""] * same, *row[same:]]
        above = row


def _latex_row(cells: Iterable[str]) -> str:
    return " & ".join(latex_text(cell) for cell in cells) + " \\\\"


# Markdown


def markdown_text(text: str) -> str:
    """Return text as a cell of a table shows it: on one line, with every special character escaped."""
    line = " ".join(text.split())
    return "".join(f"\\{character}" if character in "\\|*_`[]<>#~" else character for character in line)


def markdown_table(sheet: TextTable) -> str:
    """Return a table: names at the left, numbers at the right."""
    kinds = [":--" if place < sheet.names else "--:" for place in range(len(sheet.heads))]
    return (
        "\n".join([_markdown_row(sheet.heads), f"| {' | '.join(kinds)} |", *(_markdown_row(row) for row in sheet.rows)])
        + "\n"
    )


def _markdown_row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(markdown_text(cell) for cell in cells)} |"
