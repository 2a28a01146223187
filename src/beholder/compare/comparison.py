"""What a comparison gives: its tables, what it says in words, and its page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
    """stimuli, conditions, contrasts, contrast_counts, correlations, matrices, effects: those that there are."""
    notes: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return "\n".join(
            [*self.words, "", self._shown.to_string(index=False, max_rows=_MOST_ROWS), f"Page: {self.page}"]
        )

    def _repr_html_(self) -> str:
        told = "".join(f"<p>{escape(line)}</p>" for line in self.words)
        table = self._shown.to_html(index=False, border=0, max_rows=_MOST_ROWS)
        return f"{told}{table}<p>{escape(f'Page: {self.page}')}</p>"

    @property
    def _shown(self) -> DataFrame:
        """The agreement as one reads it."""
        table = self.agreement
        names = ("pearson", "spearman", "tau_b", "rmse", "rmse_mapped")
        shown = table[["level", "question", "side", "other_side"]].assign(
            question=table["question"].replace("", "mean"),
            n=["" if n != n else f"{n:.0f}" for n in table["n"]],
            **{name: ["" if value != value else f"{value:.3f}" for value in table[name]] for name in names},
        )
        return shown if table["question"].nunique() > 1 else shown.drop(columns="question")
