"""The ratings as analyses take them: one value per participant, stimulus and question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from beholder.clean.ratings import CHECK_ROLES, read_ratings
from beholder.errors import Problem, UserError, did_you_mean

NEEDED = ("participant", "content", "condition", "value")
_FILL = {"question": "rating", "kind": "score", "role": "test", "mode": "", "missing": "", "reasons": ""}


@dataclass(frozen=True)
class Ratings:
    """Used ratings, repetitions averaged, with the order in which conditions and questions are told."""

    table: pd.DataFrame
    """question, participant, stimulus, content, condition, value; one row each"""
    conditions: tuple[str, ...]
    questions: tuple[str, ...]
    counts: dict[str, int]
    """rows, used, not_used, missing, other_kinds, repeated"""


def load_ratings(path: Path) -> pd.DataFrame:
    """Return a table of ratings with the columns that analyses need, or raise UserError with every problem."""
    table = read_ratings(path)
    absent = [column for column in NEEDED if column not in table]
    if absent:
        problems = []
        for column in absent:
            near = did_you_mean(column, [name for name in table.columns if name not in NEEDED])
            problems.append(Problem(str(path), f"has no column {column}", ", ".join(NEEDED), near))
        raise UserError(problems)
    for column, value in _FILL.items():
        if column not in table:
            table[column] = value
    if "stimulus" not in table:
        table["stimulus"] = table["condition"] + "/" + table["content"]
    if "use" not in table:
        table["use"] = True
    return table


def tidy(table: pd.DataFrame, conditions: Sequence[str] = (), questions: Sequence[str] = ()) -> Ratings:
    """Return the scores that are used, averaged over repetitions (reference: statistics 2.1).

    `conditions` and `questions` give the order; names that they lack follow by code point.
    """
    is_score = (table["kind"] == "score") & ~table["role"].isin(CHECK_ROLES)
    has_value = table["value"].notna()
    kept = table[is_score & has_value & table["use"]]
    keys = ["question", "participant", "stimulus", "content", "condition"]
    averaged = kept.groupby(keys, sort=True)["value"].mean().reset_index()
    counts = {
        "rows": len(table),
        "used": len(kept),
        "not_used": int((~table["use"]).sum()),
        "missing": int((table["use"] & is_score & ~has_value).sum()),
        "other_kinds": int((~is_score).sum()),
        "repeated": len(kept) - len(averaged),
    }
    return Ratings(
        averaged, _ordered(averaged["condition"], conditions), _ordered(averaged["question"], questions), counts
    )


def _ordered(names: pd.Series, first: Sequence[str]) -> tuple[str, ...]:
    present = set(names)
    known = [name for name in first if name in present]
    return (*known, *sorted(present.difference(known)))
