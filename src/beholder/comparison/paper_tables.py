"""Tables of a comparison as papers print them: every side against the first, and all of them in one triangle each.

They are laid out as Tables II to IV and IX of Naderi and Cutler, with a row for each run and one for their average.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pandas as pd

from beholder.analysis.result import Result, records
from beholder.analysis.score_tables import DIFFERENTIAL, is_differential
from beholder.comparison.sides import LEVELS
from beholder.formats import NONE, number
from beholder.reporting.sheets import TextTable

_FEWEST = 3
"""Sides from which on there is something to average, or to lay out as a matrix."""
AVERAGE = "average"
_MEASURES = ("pearson", "spearman", "rmse", "rmse_mapped")
_HEADS = ("PCC", "SRCC", "RMSE", "RMSE FOM")
_DIFFERENTIAL = tuple(f"dmos_{name}" for name in _MEASURES)
COLUMNS = ["level", "question", "side", "other_side", "n", *_MEASURES, *_DIFFERENTIAL]
_CITATION = "Naderi and Cutler, A crowdsourcing approach to video quality assessment"


def accuracy(agreement: pd.DataFrame, names: Sequence[str]) -> Result | None:
    """Return every side against the first, by stimulus and by condition, and their average; None below three sides.

    Scores against a reference stand beside the others, where the sides have them.
    """
    if len(names) < _FEWEST:
        return None
    first = agreement[(agreement["side"] == names[0]) & (agreement["question"] != "")]
    rows: list[dict[str, object]] = []
    for level in LEVELS:
        of_level = first[first["level"] == level]
        for question in [name for name in dict.fromkeys(of_level["question"]) if not is_differential(name)]:
            beside = _by_side(of_level, question + DIFFERENTIAL)
            own = [
                {
                    "level": level, "question": question, "side": names[0], "other_side": other, "n": row["n"],
                    **{name: row[name] for name in _MEASURES},
                    **{f"dmos_{name}": beside.get(other, {}).get(name, math.nan) for name in _MEASURES},
                }
                for other, row in _by_side(of_level, question).items()
            ]  # fmt: skip
            rows += own
            if len(own) > 1:
                values = pd.DataFrame(own)
                means = {name: float(values[name].mean()) for name in (*_MEASURES, *_DIFFERENTIAL)}
                rows.append(
                    {"level": level, "question": question, "side": names[0], "other_side": AVERAGE, "n": math.nan}
                    | means
                )
    if not rows:
        return None
    note = (
        "Every side against the first: Pearson's and Spearman's correlation, root mean square error, and the same "
        "after the straight line that maps the side to the first (first-order mapping), as in agreement. dmos_*: the "
        "same of scores against the reference. average: the plain mean of the rows above it, as papers print it; that "
        "of correlations on Fisher's scale is a little higher."
    )
    return Result(pd.DataFrame(rows, columns=COLUMNS), note, _CITATION)


def _by_side(table: pd.DataFrame, question: str) -> dict[str, Mapping[str, float]]:
    return {row["other_side"]: row for row in records(table[table["question"] == question])}


def triangles(agreement: pd.DataFrame, names: Sequence[str]) -> Result | None:
    """Return sides by sides, Pearson's correlations above the diagonal and Spearman's below; None below three sides."""
    if len(names) < _FEWEST:
        return None
    rows = []
    named = agreement[agreement["question"] != ""]
    for (level, question), part in named.groupby(["level", "question"], sort=False):
        known: dict[tuple[str, str], float] = {}
        for row in records(part):
            known[row["side"], row["other_side"]] = row["pearson"]
            known[row["other_side"], row["side"]] = row["spearman"]
        for name in names:
            cells = {other: known.get((name, other), math.nan) for other in names}
            rows.append({"level": level, "question": question, "side": name, **cells})
    note = (
        "Every side against every other: Pearson's correlation above the diagonal, Spearman's below it; the numbers "
        "are those of agreement."
    )
    return Result(pd.DataFrame(rows), note, _CITATION) if rows else None


# As a reader sees them


def accuracy_sheet(table: pd.DataFrame) -> TextTable:
    """Return the agreement with the first side, run by run, beside it that of scores against a reference."""
    has_differential = bool(table[list(_DIFFERENTIAL)].notna().any(axis=None))
    columns = (*_MEASURES, *(_DIFFERENTIAL if has_differential else ()))
    heads = (
        _HEADS if not has_differential else (*(f"MOS {name}" for name in _HEADS), *(f"DMOS {name}" for name in _HEADS))
    )
    has_questions = table["question"].nunique() > 1
    rows = [
        (
            *((row["question"],) if has_questions else ()), _things(row["level"]), row["other_side"],
            NONE if row["n"] != row["n"] else f"{row['n']:,.0f}", *(number(row[name], 3) for name in columns),
        )
        for row in records(table)
    ]  # fmt: skip
    return TextTable((*(("Question",) if has_questions else ()), "Over", "Side", "n", *heads), rows, 2 + has_questions)


def triangle_sheet(table: pd.DataFrame, names: Sequence[str]) -> TextTable:
    """Return the correlations of stimuli, and beside them those of conditions, for each question."""
    questions = list(dict.fromkeys(table["question"]))
    levels = [level for level in LEVELS if level in set(table["level"])]
    cells = {(row["level"], row["question"], row["side"]): row for row in records(table)}
    rows = []
    for question in questions:
        for name in names:
            numbers = [
                number(cells[level, question, name][other], 3) if (level, question, name) in cells else NONE
                for level in levels
                for other in names
            ]
            rows.append((*((question,) if len(questions) > 1 else ()), name, *numbers))
    heads = [f"{other}, {_things(level)}" if len(levels) > 1 else other for level in levels for other in names]
    is_many = len(questions) > 1
    return TextTable((*(("Question",) if is_many else ()), "Side", *heads), rows, 1 + is_many)


def triangle_averages(table: pd.DataFrame, names: Sequence[str]) -> list[str]:
    """Return the mean of all correlations above the diagonal and below it, a sentence for each level and question."""
    sentences = []
    for (level, question), part in table.groupby(["level", "question"], sort=False):
        matrix = part.set_index("side")[list(names)]
        pairs = [(one, other) for place, one in enumerate(names) for other in names[place + 1 :]]
        means = [
            pd.Series([matrix.loc[one, other] if above else matrix.loc[other, one] for one, other in pairs]).mean()
            for above in (True, False)
        ]
        if not any(map(math.isnan, means)):
            whose = f"{question}, {_things(str(level))}"
            sentences.append(f"{whose}: on average {number(means[0], 3)} and {number(means[1], 3)}.")
    return sentences


def _things(level: str) -> str:
    return "stimuli" if level == "stimulus" else "conditions"
