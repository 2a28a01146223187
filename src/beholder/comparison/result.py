"""The result of a comparison: its tables, its finding in words, and its page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from beholder.analysis.result import Result
from beholder.analysis.score_tables import is_differential
from beholder.comparison.agreement import agreeing, correlated, differences, effects, matrices
from beholder.comparison.contrasts import contrast_counts, contrasts
from beholder.comparison.paper_tables import accuracy, failures_against_first, triangles
from beholder.comparison.sides import ComparedSides, MatchedScores, every_two

if TYPE_CHECKING:
    from pandas import DataFrame


_MOST_ROWS = 60


@dataclass(frozen=True)
class Comparison:
    """How well sides agree; the tables are named as their files in compare/."""

    agreement: DataFrame
    """Correlations and errors of every two sides, per question, by stimulus and by condition."""
    words: tuple[str, ...]
    """The finding, a sentence or two for every two sides and question."""
    page: Path
    also: Mapping[str, DataFrame] = field(default_factory=dict)
    """stimuli, conditions, contrasts, contrast_counts, correlations, matrices, accuracy, triangles, failures, effects:
    those that there are.
    """
    notes: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return "\n".join(
            [*self.words, "", self._shown.to_string(index=False, max_rows=_MOST_ROWS), f"Page: {self.page}"]
        )

    def _repr_html_(self) -> str:
        paragraphs = "".join(f"<p>{escape(line)}</p>" for line in self.words)
        table = self._shown.to_html(index=False, border=0, max_rows=_MOST_ROWS)
        return f"{paragraphs}{table}<p>{escape(f'Page: {self.page}')}</p>"

    @property
    def _shown(self) -> DataFrame:
        """The agreement table, formatted for reading."""
        table = self.agreement
        names = ("pearson", "spearman", "tau_b", "rmse", "rmse_mapped")
        shown = table[["level", "question", "side", "other_side"]].assign(
            question=table["question"].replace("", "mean"),
            n=["" if n != n else f"{n:.0f}" for n in table["n"]],
            **{name: ["" if value != value else f"{value:.3f}" for value in table[name]] for name in names},
        )
        return shown if table["question"].nunique() > 1 else shown.drop(columns="question")


# All tables of a comparison


class ComparisonTables(NamedTuple):
    """The sides, what they share, and the tables by the names of their files."""

    sides: ComparedSides
    matched: Sequence[MatchedScores]
    results: Mapping[str, Result]

    @property
    def names(self) -> list[str]:
        """What the sides are called."""
        return [side.name for side in self.sides.sides]

    @property
    def labels(self) -> dict[str, str]:
        """What people read in place of the name of a condition: as the first side has it that has one."""
        return {name: label for side in reversed(self.sides.sides) for name, label in side.labels.items()}

    def table(self, name: str) -> pd.DataFrame:
        """Return a table; an empty one where there is none."""
        return self.results[name].table if name in self.results else pd.DataFrame()

    def rows(self, name: str, one: MatchedScores) -> pd.DataFrame:
        """Return the rows of a table that are of these two sides and this question."""
        table = self.table(name)
        if table.empty:
            return table
        is_mine = (table["question"] == one.question) & (table["side"] == one.side)
        is_mine &= table["other_side"] == one.other_side
        return table[is_mine & (table["level"] == one.level)] if "level" in table else table[is_mine]

    def differing(self, one: MatchedScores) -> pd.DataFrame:
        """Return what was tested between these two sides: stimuli or conditions."""
        return self.rows("stimuli" if one.level == "stimulus" else "conditions", one)


def find(sides: ComparedSides, margin: float | None) -> ComparisonTables:
    """Return all tables of a comparison."""
    matched = list(every_two(sides.sides, sides.questions))
    # What conditions differ by is the same against a reference.
    asked = [name for name in sides.questions if not is_differential(name)]
    agreement = agreeing(matched)
    results: dict[str, Result | None] = {
        "agreement": agreement,
        "stimuli": differences(matched, "stimulus"),
        "conditions": differences(matched, "condition"),
        "contrasts": contrasts(sides.sides, asked),
    }
    if (contrasted := results["contrasts"]) is not None:
        results["contrast_counts"] = contrast_counts(contrasted.table)
    names = [side.name for side in sides.sides]
    tested = {"stimulus": results["stimuli"], "condition": results["conditions"]}
    results["accuracy"] = accuracy(agreement.table, names, tested)
    results["triangles"] = triangles(agreement.table, names)
    results["failures"] = failures_against_first(sides.sides, asked)
    results["matrices"] = matrices(agreement.table, names)
    results["correlations"] = correlated(sides.sides, sides.questions)
    results["effects"] = effects(sides.sides, sides.questions, margin)
    return ComparisonTables(sides, matched, {name: one for name, one in results.items() if one is not None})
