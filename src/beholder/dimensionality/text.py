"""What the dimensions say in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from beholder.analysis.result import Result
from beholder.dimensionality.components import ALL
from beholder.dimensionality.data import NAMES, Joined
from beholder.formats import join_names, number, percent, plain, plural
from beholder.result_view import DrawnResult, ResultView

if TYPE_CHECKING:
    from pandas import DataFrame


_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_MAIN = ("stimulus", "condition", "within")
"""Levels by how telling their components are."""


def in_words(count: int) -> str:
    """Return `three`, `13`."""
    return _NUMBERS[count] if count < len(_NUMBERS) else str(count)


def main_level(components: pd.DataFrame) -> str | None:
    """Return the level whose number of components is reported."""
    return next((level for level in _MAIN if (components["level"] == level).any()), None)


def finding(joined: Joined, results: Mapping[str, Result]) -> tuple[str, ...]:
    """Return what the questions measure, which would do, and how alike one person's answers are."""
    sentences = [_measured(joined, results), _shorter(results), _alike(results)]
    return tuple(line for line in sentences if line)


def _measured(joined: Joined, results: Mapping[str, Result]) -> str:
    table = results["components"].table
    level = main_level(table)
    asked = f"{in_words(len(joined.questions)).capitalize()} questions"
    if level is None:
        return f"{asked}: too little has answers to all of them to say what they measure together."
    mine = table[table["level"] == level]
    kept = int(mine["kept"].sum())
    over = f"over {mine['n'].iloc[0]:,} {NAMES[level]}"
    if not kept:
        return f"{asked} measure different things: nothing that they share stands above chance {over}."
    share = f"{percent(mine['cumulative'].iloc[kept - 1])} of the variance {over}"
    if kept == 1:
        further = _further(mine)
        return f"{asked} measure one thing for the most part: it holds {share}.{further}"
    groups = "; ".join(join_names(names) for names in _groups(results["loadings"].table, level))
    return f"{asked} measure {in_words(kept)} things: {groups}. Together these hold {share}."


def _further(mine: pd.DataFrame) -> str:
    """Return what is said of a second component that people repeat although it is not above chance."""
    second = mine.iloc[1] if len(mine) > 1 else None
    if second is None or not second["repeats"] >= 0.8:
        return ""
    return (
        f" A second one, with {percent(second['share'])}, is not above chance with so few "
        f"{NAMES[second['level']]}, but comes back with other people (r = {number(second['repeats'], 2)})."
    )


def _groups(loadings: pd.DataFrame, level: str) -> list[list[str]]:
    """Return the questions by the component to which each belongs most."""
    mine = loadings[loadings["level"] == level]
    wide = mine.pivot(index="question", columns="component", values="loading")
    wide = wide.reindex(list(dict.fromkeys(mine["question"])))
    strongest = np.abs(wide.to_numpy()).argmax(axis=1)
    groups = [
        [str(name) for name, own in zip(wide.index, strongest, strict=True) if own == one]
        for one in range(wide.shape[1])
    ]
    return [group for group in groups if group]


def _shorter(results: Mapping[str, Result]) -> str:
    if "shorter" not in results:
        return ""
    table = results["shorter"].table
    suggested = table[table["suggested"]]
    if suggested.empty:
        return "No smaller set would tell nearly the same."
    row = suggested.iloc[0]
    names = str(row["questions"]).split("; ")
    is_fresh = row["fresh"] == row["fresh"]
    amount = _much(min(1.0, row["fresh"]) if is_fresh else row["explained"])
    of = "of what all tell about other people’s answers" if is_fresh else "of what all tell"
    saved = row["minutes_saved"]
    tell, save = plural(len(names), "tells", "tell"), plural(len(names), "saves", "save")
    minutes = f", and {save} each participant about {plain(round(saved, 1))} minutes" if saved >= 0.1 else ""
    count = in_words(len(names)).capitalize()
    return f"{count} would do: {join_names(names)} {tell} {amount} {of}{minutes}."


def _much(share: float) -> str:
    return "more than 99 %" if share > 0.99 else percent(share)


def _alike(results: Mapping[str, Result]) -> str:
    table = results["consistency"].table
    mine = table[(table["of"] == ALL) & (table["without"] == "") & (table["level"] == "answer")]
    if mine.empty:
        return ""
    row = mine.iloc[0]
    alpha = f"Of one person’s answers about one stimulus, alpha is {number(row['alpha'], 2)}"
    return f"{alpha} (omega {number(row['omega'], 2)})." if row["omega"] == row["omega"] else f"{alpha}."


# The result of `dimensions`


@dataclass(frozen=True, repr=False)
class Dimensions(DrawnResult):
    """What the questions measure together."""

    joined: Joined
    """The questions side by side, by condition and by stimulus."""
    results: Mapping[str, Result]
    """Every table with its note, by the name of its file in dimensions/."""
    of: str
    """The question against which the others are held."""
    factor: str = ""
    """The column of the manifest by whose levels profiles are split; empty without one."""
    words: tuple[str, ...] = ()
    """The finding, in sentences."""
    page: Path | None = None
    charts: Mapping[str, Callable[[], Any]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def tables(self) -> dict[str, DataFrame]:
        """The tables by name: correlations, components, loadings, consistency, profile and so on."""
        return {name: result.table for name, result in self.results.items()}

    def _view(self) -> ResultView:
        more = {f'tables["{name}"]': table for name, table in self.tables.items()}
        return ResultView(self.words, self._shown, more, self.page)

    @property
    def _shown(self) -> DataFrame:
        """The means of all conditions as one reads them."""
        table = self.results["table"].table
        numbers = [name for name in table.columns if name not in ("condition", "label")]
        return table.assign(**{name: ["–" if one != one else f"{one:.2f}" for one in table[name]] for name in numbers})
