"""What `dimensions` gives: its tables, what they say in words, and its page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pandas import DataFrame

    from beholder.analyse.result import Result
    from beholder.dimensions.joined import Joined

_MOST_ROWS = 60


@dataclass(frozen=True)
class Dimensions:
    """What the questions measure together."""

    joined: Joined
    """The questions side by side, by condition and by stimulus."""
    results: Mapping[str, Result]
    """Every table with its note, by the name of its file in dimensions/."""
    of: str
    """The question against which the others are held."""
    factor: str = ""
    """The column of the manifest by whose levels profiles are told; empty where none was asked for."""
    words: tuple[str, ...] = ()
    """The finding, in sentences."""
    page: Path | None = None

    @property
    def tables(self) -> dict[str, DataFrame]:
        """The tables by name: correlations, components, loadings, consistency, profile and so on."""
        return {name: result.table for name, result in self.results.items()}

    def __repr__(self) -> str:
        shown = self._shown.to_string(index=False, max_rows=_MOST_ROWS)
        return "\n".join([*self.words, "", shown, *self._where])

    def _repr_html_(self) -> str:
        told = "".join(f"<p>{escape(line)}</p>" for line in self.words)
        where = "".join(f"<p>{escape(line)}</p>" for line in self._where)
        return f"{told}{self._shown.to_html(index=False, border=0, max_rows=_MOST_ROWS)}{where}"

    @property
    def _where(self) -> list[str]:
        return [f"Page: {self.page}"] if self.page is not None else []

    @property
    def _shown(self) -> DataFrame:
        """The means of all conditions as one reads them."""
        table = self.results["table"].table
        numbers = [name for name in table.columns if name not in ("condition", "label")]
        return table.assign(**{name: ["–" if one != one else f"{one:.2f}" for one in table[name]] for name in numbers})
