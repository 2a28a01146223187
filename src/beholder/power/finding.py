"""What a power analysis gives: its tables, what it says in words, and its page."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beholder.analyse.result import records

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pandas import DataFrame

_MOST_ROWS = 60


@dataclass(frozen=True)
class Power:
    """How many participants a study needs; the tables are named as their files in power/."""

    power: DataFrame
    """The chance to find a difference, by participants, question and what is to be found."""
    sizes: DataFrame
    """What so many participants give, and what they take."""
    needed: DataFrame
    """How many participants a chance of 80 and of 90 % takes."""
    methods: DataFrame
    """The same by other methods; empty where none was asked for."""
    words: tuple[str, ...]
    """The finding and the advice."""
    page: Path
    notes: Mapping[str, Any] = field(default_factory=dict)
    draw: Callable[[], Any] | None = field(default=None, repr=False, compare=False)

    def plot(self) -> Any:
        """Return the figure of the first question as an Altair chart."""
        assert self.draw is not None
        return self.draw()

    def __repr__(self) -> str:
        table = [self.shown.to_string(index=False, max_rows=_MOST_ROWS)] if len(self.power) else []
        return "\n".join([*self.words, "", *table, f"Page: {self.page}"])

    def _repr_html_(self) -> str:
        told = "".join(f"<p>{escape(line)}</p>" for line in self.words)
        table = self.shown.to_html(index=False, border=0, max_rows=_MOST_ROWS) if len(self.power) else ""
        return f"{told}{table}<p>{escape(f'Page: {self.page}')}</p>"

    @property
    def shown(self) -> DataFrame:
        """The chances as one reads them, of the first question, a column for each number of participants."""
        table = self.power
        mine = told_rows(table[table["question"] == table["question"].iloc[0]] if len(table) else table)
        told = [_target(row) for row in records(mine)]
        named = mine.assign(difference=told, power=[f"{100 * share:.0f} %" for share in mine["power"]])
        wide = named.pivot(index="difference", columns="participants", values="power").reindex(
            list(dict.fromkeys(told))
        )
        return wide.rename_axis(columns=None).reset_index()


def told_rows(table: DataFrame) -> DataFrame:
    """Return the rows that are shown: pairs by name where there are such, else all that are equally far apart."""
    return table[table["target"] != "difference"] if (table["target"] == "contrast").any() else table


def _target(row: Mapping[str, Any]) -> str:
    """Return what is to be found, as one reads it."""
    if row["target"] == "all":
        return "all at once"
    pair = f"{row['condition']} and {row['other_condition']}: " if row["condition"] else ""
    points = abs(round(row["difference"], 2))
    return f"{pair}{points:g} point{'s' * (points != 1)}"
