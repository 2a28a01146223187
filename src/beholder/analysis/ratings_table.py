"""Tables of ratings: required columns, defaults for missing ones, and checks of every value."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from beholder.cleaning.ratings import read_ratings
from beholder.errors import Problem, UserError, did_you_mean
from beholder.stats.intervals import SHARE_RANGES

_REQUIRED_COLUMNS = ("participant", "content", "condition", "value")
_NAMES = ("participant", "content", "condition")
_FILL = {
    "question": "rating", "kind": "score", "role": "test", "mode": "", "missing": "", "reasons": "", "unit": "",
    "method": "", "other_condition": "",
}  # fmt: skip
_TEXT_COLUMNS = (*_NAMES, *_FILL, "stimulus", "other_stimulus")
_COMMON_NAMES = {
    "participant": ("subject", "rater", "worker", "observer", "assessor", "user"),
    "content": ("src", "source", "scene", "sequence", "item"),
    "condition": ("system", "hrc", "model", "winner"),
    "value": ("score", "rating", "vote", "opinion"),
}
"""What a column is called in tables of others."""
_MAX_PROBLEMS = 20
_Place: TypeAlias = Callable[[Any], str]
"""From the index of a row to where it is."""


_TOOLKIT_NAMES = {"workerid": "participant", "file": "stimulus", "vote": "value"}
"""The columns of votes_per_worker.csv, which `export --p910` writes."""


def load_ratings(path: Path) -> pd.DataFrame:
    """Return a table of ratings with the columns that analyses need, or raise UserError with every problem."""
    table = read_ratings(path)
    if set(_TOOLKIT_NAMES) <= set(table.columns):
        table = table.rename(columns=_TOOLKIT_NAMES)
    return _filled(table, str(path), lambda at: f"{path}:{int(at) + 2}")


def fill_columns(table: pd.DataFrame) -> pd.DataFrame:
    """Return a data frame with the columns that analyses need, or raise UserError with every problem."""
    return _filled(table, "ratings", lambda at: f"ratings.loc[{at!r}]")


def _filled(table: pd.DataFrame, where: str, place: _Place) -> pd.DataFrame:
    table = table.copy(deep=False)
    absent = [column for column in _REQUIRED_COLUMNS if column not in table]
    if absent:
        problems = []
        for column in absent:
            problems.append(
                Problem(where, f"has no column {column}", ", ".join(_REQUIRED_COLUMNS), _suggest_rename(table, column))
            )
        raise UserError(problems)
    for column, value in _FILL.items():
        if column not in table:
            table[column] = value
    for column in [name for name in _TEXT_COLUMNS if name in table]:
        table[column] = _text(table[column])
    for column in [name for name, value in _FILL.items() if value]:
        table[column] = table[column].where(table[column] != "", _FILL[column])
    raw = table["value"]
    table["value"] = pd.to_numeric(raw, errors="coerce").astype(float)
    problems = [
        *_without_names(table, place), *_no_numbers(raw, table["value"], place), *_out_of_range(table, place),
    ]  # fmt: skip
    if problems:
        raise UserError(problems)
    named = table["condition"] + "/" + table["content"]
    table["stimulus"] = table["stimulus"].where(table["stimulus"] != "", named) if "stimulus" in table else named
    if "other_stimulus" not in table:
        named = table["other_condition"] + "/" + table["content"]
        table["other_stimulus"] = named.where(table["other_condition"] != "", "")
    if "use" not in table:
        table["use"] = True
    return table


def _suggest_rename(table: pd.DataFrame, column: str) -> str:
    """Return which column might be meant, by what others call it or by how it is spelled."""
    names = [str(name) for name in table.columns]
    known = [name for name in names if name.lower() in _COMMON_NAMES[column]]
    return (
        f"Rename {known[0]} to {column}."
        if known
        else did_you_mean(column, [name for name in names if name not in _REQUIRED_COLUMNS])
    )


def _text(column: pd.Series) -> pd.Series:
    """Return names as text: a data frame may hold numbers, and none at all."""
    if isinstance(column.dtype, pd.StringDtype) and not column.hasnans:
        return column
    return column.astype(object).map(str).where(column.notna(), "").astype("str")


def _without_names(table: pd.DataFrame, place: _Place) -> Iterator[Problem]:
    for column in _NAMES:
        for at in table.index[table[column] == ""][:_MAX_PROBLEMS]:
            yield Problem(place(at), f"{column} is empty", "a name")


def _no_numbers(raw: pd.Series, value: pd.Series, place: _Place) -> Iterator[Problem]:
    """Yield what a data frame may hold for values, and a file cannot."""
    is_wrong = (value.isna() & raw.notna()) | np.isinf(value)
    for at, text in raw[is_wrong].head(_MAX_PROBLEMS).items():
        yield Problem(place(at), f"value is {text!r}", "a number, or NaN when missing")


def _out_of_range(table: pd.DataFrame, place: _Place) -> Iterator[Problem]:
    """Yield the values that cannot be, as a share or a preference has its ends."""
    for kind, (low, high) in SHARE_RANGES.items():
        mine = table["value"][table["kind"] == kind]
        for at, value in mine[(mine < low) | (mine > high)].head(_MAX_PROBLEMS).items():
            yield Problem(place(at), f"value is {value:g}, of kind {kind}", f"from {low:g} to {high:g}")
