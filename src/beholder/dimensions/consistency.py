"""consistency: whether questions measure one thing well enough to be averaged (alpha, omega)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from beholder.analyse.result import Result
from beholder.dimensions.correlations import turned_note
from beholder.dimensions.joined import Data, Joined, join
from beholder.dimensions.levels import Level, Rows, rows_of
from beholder.dimensions.scaling import scaled, scaling_note
from beholder.stats.consistency import CITATION, alpha, alpha_without, omega

COLUMNS = ["of", "level", "without", "questions", "n", "alpha", "alpha_low", "alpha_high", "omega", "note"]
LEVELS: tuple[Level, ...] = ("condition", "stimulus", "answer", "within")
ALL = "all questions"
_HIGH = 0.9
_FEWEST_ROWS = 3


def consistency(data: Data | Sequence[Data], *, levels: Sequence[Level] = LEVELS) -> Result:
    """Return alpha and omega of all questions, and of those of each study, and alpha without each of them.

    `level` says over what: means of conditions or stimuli, single answers, or answers without what is common to a
    stimulus or a participant.
    """
    joined = join(data)
    sets = {ALL: joined.questions}
    if len(joined.parts) > 1:
        sets |= {part.side.name or part.questions[0]: part.questions for part in joined.parts if part.questions}
    rows = [row for name, asked in sets.items() for level in levels for row in _of(joined, name, asked, level)]
    table = pd.DataFrame(rows, columns=COLUMNS).astype({"questions": int, "n": int})
    return Result(table, _note(table) + scaling_note(joined) + turned_note(joined), CITATION)


def _of(joined: Joined, name: str, questions: Sequence[str], level: Level) -> Iterator[dict[str, Any]]:
    rows = scaled(rows_of(joined, questions, level), joined, questions)
    if len(questions) < 2 or rows.worth < _FEWEST_ROWS or not any(rows.varies):
        return
    matrix = rows.covariance
    found = alpha(matrix, rows.worth)
    base: dict[str, Any] = {"of": name, "level": level, "n": len(rows.value)}
    yield base | {
        "without": "", "questions": len(questions), "alpha": found.value, "alpha_low": found.low,
        "alpha_high": found.high, "omega": omega(matrix), "note": _against(questions, rows),
    }  # fmt: skip
    if len(questions) < 3:
        return
    for place, (question, left) in enumerate(zip(questions, alpha_without(matrix), strict=True)):
        smaller = np.delete(np.delete(matrix, place, 0), place, 1)
        yield base | {
            "without": question, "questions": len(questions) - 1, "alpha": float(left), "alpha_low": math.nan,
            "alpha_high": math.nan, "omega": omega(smaller), "note": "",
        }  # fmt: skip


def _against(questions: Sequence[str], rows: Rows) -> str:
    """Return which questions fall where the others rise: perhaps they are reversed and nobody said so."""
    matrix = rows.covariance
    with_others = matrix.sum(axis=1) - np.diagonal(matrix)
    against = [name for name, sum_ in zip(questions, with_others, strict=True) if sum_ < 0]
    return f"runs against the others: {', '.join(against)}" if against else ""


def _note(table: pd.DataFrame) -> str:
    note = (
        "alpha: Cronbach's, of the average of the questions, with Feldt's 95 % interval, which takes rows as "
        "independent (one participant's answers are not: at levels answer and within it is too narrow). omega: "
        "McDonald's, from one common factor, for three questions or more. without: the same when that question is left "
        "out; where alpha rises without it, it measures something else. Averages over many people have a high alpha "
        "in any case: level answer is what questionnaires report."
    )
    answers = table[(table["level"] == "answer") & (table["without"] == "")]
    if (answers["alpha"] > _HIGH).any():
        note += (
            " Above 0.9 questions may be more than alike: one impression may colour all answers on a page (halo). "
            "layout: random asks each with its own showing, and is the control."
        )
    return note
