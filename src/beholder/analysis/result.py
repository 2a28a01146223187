"""Results: every table of a study, named as its file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beholder.errors import Problem, UserError

if TYPE_CHECKING:
    from pandas import DataFrame

    from beholder.analyse.better import Better

TABLES = ("scores", "conditions", "contents", "pairs", "participants")
_COUNTS = (
    "n", "participants", "ratings", "stimuli", "zeros", "ties", "contents", "first", "second", "wins", "losses",
    "comparisons", "rank", "contrasts", "agree", "both_clear", "only_test", "only_other", "neither", "same_direction",
    "levels", "votes", "replicates", "questions", "components",
)  # fmt: skip
_TEXT = (
    "stimulus", "content", "condition", "question", "other_condition", "unit", "test", "note", "participant",
    "metric", "interval", "factor", "level", "pairing", "criterion", "band", "of", "choice", "rule", "order", "changed",
    "model", "component", "estimator", "source", "comparison", "clear_by", "other_test", "measure", "run",
    "other_run", "equivalent", "rejected", "by", "against",
)  # fmt: skip
_TRUTHS = ("use",)
_MOST_ROWS = 60
STALE = Problem("analyse/", "is older than clean/", "", "Run `beholder analyse` first.")
"""What is wrong with results that were made of other ratings than those in clean/."""


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
    also: Mapping[str, DataFrame] = field(default_factory=dict)
    """Further tables of analyse/ by the names of their files, such as `tests`; which there are depends on the study."""
    waiting: tuple[str, ...] = ()
    """What a run has left to a person: rejections, payments that nobody is sure of, votes that money did not reach."""

    def __repr__(self) -> str:
        lines = [self._population, self._shown.to_string(index=False, max_rows=_MOST_ROWS), self._page]
        return "\n".join(line for line in lines if line)

    def _repr_html_(self) -> str:
        table = self._shown.to_html(index=False, border=0, max_rows=_MOST_ROWS)
        before, after = (f"<p>{escape(line)}</p>" if line else "" for line in (self._population, self._page))
        return before + table + after

    @property
    def is_told_apart(self) -> bool:
        """Whether all that was asked is which of two something was."""
        return set(self.notes.get("kinds", {}).values()) == {"correct"}

    def told(self, condition: str) -> str:
        """Return what to call a condition: a correct answer is of two conditions, and then it is both."""
        return either(condition, self.ratings, {}) if self.is_told_apart else condition

    def better(self, condition: str, other: str, question: str | None = None) -> Better:
        """Return whether a condition is better than another in a question: yes, no or undecided, with its evidence.

        It is clear where the report calls it clear; `no` is clearly worse. `question` may be left out where there is
        one only.
        """
        from beholder.analyse.better import better

        return better(self, condition, other, question)

    @property
    def _shown(self) -> DataFrame:
        """The scores of the conditions as one reads them."""
        table = self.conditions
        shown = table[["question", "condition", "n"]].assign(
            condition=[self.told(name) for name in table["condition"]],
            mean=[f"{mean:.2f}" for mean in table["mean"]],
            interval=[_interval(*ends) for ends in zip(table["ci_low"], table["ci_high"], strict=True)],
        )
        return shown if table["question"].nunique() > 1 else shown.drop(columns="question")

    @property
    def _population(self) -> str:
        return "Simulated: these ratings come from robots." if self.notes["population"] == "robots" else ""

    @property
    def _page(self) -> str:
        return f"Report: {self.report}" if self.report else ""


def either(name: str, ratings: DataFrame, labels: Mapping[str, str]) -> str:
    """Return both conditions of which one had to be named: a correct answer is of neither alone."""
    others = dict.fromkeys(ratings[ratings["condition"] == name]["other_condition"])
    return " or ".join(labels.get(one, one) for one in (name, *others) if one)


def _interval(low: float, high: float) -> str:
    return "" if low != low else f"{low:.2f} to {high:.2f}"


def read_results(folder: str | Path) -> Results:
    """Return the results in a study's folder: analyse/, clean/ratings.csv, and report/index.html where it is there."""
    from beholder.clean.ratings import read_ratings

    folder = Path(folder)
    path = folder / "analyse" / "notes.json"
    if not path.is_file():
        raise UserError(Problem(str(path.parent), "holds no results", "", "Run `beholder analyse` first."))
    notes = json.loads(path.read_text(encoding="utf-8"))
    ratings = read_ratings(folder / "clean" / "ratings.csv")
    if notes.get("ratings_sha256") != ratings_hash(folder / "clean" / "ratings.csv"):
        raise UserError(STALE)
    page = folder / "report" / "index.html"
    tables = {name: read_result(path.parent / f"{name}.csv") for name in TABLES}
    further = [name for name in notes["analyses"] if name not in TABLES]
    return Results(
        scores=tables["scores"],
        conditions=tables["conditions"],
        contents=tables["contents"],
        pairs=tables["pairs"],
        participants=tables["participants"],
        also={name: read_result(path.parent / f"{name}.csv") for name in further},
        ratings=ratings,
        notes=notes,
        report=page if page.is_file() else None,
    )


def ratings_hash(path: Path) -> str:
    """Return the SHA-256 of a table of ratings, by which results know what they were made of."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def read_result(path: Path) -> DataFrame:
    """Return a table of analyse/: names as text, truths as truths, everything else as numbers."""
    import pandas as pd

    table = pd.read_csv(path, dtype=str, keep_default_na=False, na_filter=False, encoding="utf-8")
    for column in [name for name in table.columns if name in _TRUTHS]:
        table[column] = table[column] == "true"
    for column in [name for name in table.columns if name not in (*_TEXT, *_TRUTHS)]:
        # Cell by cell: these tables are short, and pandas takes longer to begin than to convert.
        numbers = pd.Series([float(cell or "nan") for cell in table[column]], dtype=float)
        table[column] = numbers.astype(int) if column in _COUNTS else numbers
    return table
