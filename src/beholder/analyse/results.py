"""Results: every table of a study, named as its file."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beholder.errors import Problem, UserError

if TYPE_CHECKING:
    from pandas import DataFrame

TABLES = ("scores", "conditions", "contents", "pairs", "participants")
_COUNTS = ("n", "participants", "ratings", "stimuli", "zeros", "ties")
_TEXT = ("stimulus", "content", "condition", "question", "other_condition", "unit", "test", "note", "participant")


@dataclass(frozen=True)
class Results:
    """Scores, condition and content means, pairs, ratings, participants; the notes on method; the report's page."""

    scores: DataFrame
    conditions: DataFrame
    contents: DataFrame
    pairs: DataFrame
    ratings: DataFrame
    participants: DataFrame
    notes: dict[str, Any]
    report: Path | None = None


def read_results(folder: str | Path) -> Results:
    """Return the results in a study's folder: analyse/, clean/ratings.csv, and report/index.html where it is there."""
    from beholder.clean.ratings import read_ratings

    folder = Path(folder)
    notes = folder / "analyse" / "notes.json"
    if not notes.is_file():
        raise UserError(Problem(str(notes.parent), "holds no results", "", "Run `beholder analyse` first."))
    page = folder / "report" / "index.html"
    tables = {name: read_result(notes.parent / f"{name}.csv") for name in TABLES}
    return Results(
        **tables,
        ratings=read_ratings(folder / "clean" / "ratings.csv"),
        notes=json.loads(notes.read_text(encoding="utf-8")),
        report=page if page.is_file() else None,
    )


def read_result(path: Path) -> DataFrame:
    """Return a table of analyse/: names as text, everything else as numbers."""
    import pandas as pd

    table = pd.read_csv(path, dtype=str, keep_default_na=False, na_filter=False, encoding="utf-8")
    for column in [name for name in table.columns if name not in _TEXT]:
        numbers = table[column].replace("", "nan").astype(float)
        table[column] = numbers.astype(int) if column in _COUNTS else numbers
    return table
