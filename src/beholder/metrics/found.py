"""What `metrics` gives: its tables, what they say in words, and its page."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pandas import DataFrame

_MOST_ROWS = 60
_CORRELATIONS = ("pearson", "spearman", "tau_b")


@dataclass(frozen=True)
class Metrics:
    """Values of metrics, and how far they agree with people; the tables are named as their files in metrics/."""

    values: DataFrame
    """stimulus, content, condition, metric, region, value, note."""
    correlations: DataFrame
    """Each metric with each question, by stimulus and by condition; no rows before there are ratings."""
    comparisons: DataFrame
    """Every two metrics: whether one agrees better."""
    words: tuple[str, ...]
    page: Path

    def __repr__(self) -> str:
        shown = self._shown.to_string(index=False, max_rows=_MOST_ROWS)
        return "\n".join([*self.words, "", shown, f"Page: {self.page}"])

    def _repr_html_(self) -> str:
        told = "".join(f"<p>{escape(line)}</p>" for line in self.words)
        table = self._shown.to_html(index=False, border=0, max_rows=_MOST_ROWS)
        return f"{told}{table}<p>{escape(f'Page: {self.page}')}</p>"

    @property
    def shown(self) -> list[dict[str, str]]:
        """The correlations, or the means of values before there are any, as one reads them."""
        return [{str(name): str(cell) for name, cell in row.items()} for row in self._shown.to_dict("records")]

    @property
    def _shown(self) -> DataFrame:
        known = self.correlations[self.correlations["pearson"].notna()]
        if len(known):
            table = known
            shown = table[["level", "question", "metric", "region", "n"]].assign(
                **{name: ["–" if value != value else f"{value:.3f}" for value in table[name]] for name in _CORRELATIONS}
            )
        else:
            means = self.values.groupby(["condition", "metric", "region"], sort=False)["value"].mean().reset_index()
            shown = means.assign(value=["–" if value != value else f"{value:.3f}" for value in means["value"]])
        return shown if (shown["region"] != "").any() else shown.drop(columns="region")
