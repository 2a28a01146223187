"""Tables of ratings and of scores: required columns, defaults for missing ones, and checks of every value."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from beholder.cleaning.ratings import TOO_LARGE, read_ratings
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


def load_ratings(path: Path) -> pd.DataFrame:
    """Return a table of ratings with the columns that analyses need, or raise UserError with every problem."""
    return _filled(read_ratings(path), str(path), lambda at: f"{path}:{int(at) + 2}")


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


# Tables of scores that others computed: the mean of each stimulus or condition, with optional sd and n


_NUMBERS = ("mean", "sd", "n", "ci_low", "ci_high", "participants", "contents")
_SCORE_TEXT_COLUMNS = ("question", "stimulus", "content", "condition")
_ONE_QUESTION = "rating"
"""What a question is called where the table does not name it, as in tables of ratings."""
_COMMON_SCORE_NAMES = {
    "mean": ("mos", "dmos", "cmos", "score", "average", "avg"),
    "stimulus": ("pvs", "file", "clip", "video", "image", "sample", "item"),
    "condition": ("hrc", "system", "model", "method"),
    "sd": ("std", "stdev", "sos"),
}
"""What a column is called in tables of others."""
_MINIMA = {"sd": (0.0, "0 or more"), "n": (1.0, "1 or more")}


class ScoreTable(NamedTuple):
    """A table of scores with every column that scores can have; NaN and "" where unknown."""

    table: pd.DataFrame
    has_stimuli: bool
    """Whether its rows are stimuli; else they are conditions."""


def is_score_table(path: Path) -> bool:
    """Return whether a file looks like a table of scores: it names neither participants nor single values."""
    try:
        names = {str(name) for name in pd.read_csv(path, nrows=0, encoding="utf-8-sig").columns}
    except (OSError, ValueError):
        return False
    return len(names) > 1 and "participant" not in names and ("mean" in names or "value" not in names)


def read_scores(path: Path) -> ScoreTable:
    """Return a table of scores, or raise UserError with every problem."""
    raw = read_ratings(path)
    problems = list(_missing_columns(raw, path))
    if problems:
        raise UserError(problems)
    table = pd.DataFrame({name: raw[name].str.strip() if name in raw else "" for name in _SCORE_TEXT_COLUMNS})
    # Without a stimulus or a content the rows are conditions.
    has_stimuli = "stimulus" in raw or {"condition", "content"} <= set(raw.columns)
    if has_stimuli and "stimulus" not in raw:
        table["stimulus"] = table["condition"] + "/" + table["content"]
    table["question"] = table["question"].where(table["question"] != "", _ONE_QUESTION)
    for name in _NUMBERS:
        table[name] = _numbers(raw[name], path, problems) if name in raw else np.nan
    key = "stimulus" if has_stimuli else "condition"
    problems += [*_unnamed(table, [key], path), *_too_small(table, path), *_duplicates(table, key, path)]
    if problems:
        raise UserError(problems)
    return ScoreTable(table[table["mean"].notna()].reset_index(drop=True), has_stimuli)


def _missing_columns(raw: pd.DataFrame, path: Path) -> Iterator[Problem]:
    names = [str(name) for name in raw.columns]
    allowed = "stimulus or condition, and mean; also question, content, sd and n"
    if "mean" not in names:
        yield Problem(str(path), "has no column mean", allowed, _suggest_score_rename(names, "mean"))
    if not {"stimulus", "condition"} & set(names):
        fix = _suggest_score_rename(names, "stimulus") or _suggest_score_rename(names, "condition")
        yield Problem(str(path), "has neither a column stimulus nor a column condition", allowed, fix)


def _suggest_score_rename(names: Sequence[str], column: str) -> str:
    known = [name for name in names if name.lower() in _COMMON_SCORE_NAMES[column]]
    return f"Rename {known[0]} to {column}." if known else did_you_mean(column, names)


def _numbers(cells: pd.Series, path: Path, problems: list[Problem]) -> pd.Series:
    stripped = cells.str.strip()
    numbers = pd.to_numeric(stripped, errors="coerce").astype(float)
    is_wrong = (numbers.isna() & ~stripped.str.lower().isin(("", "nan"))) | np.isinf(numbers)
    is_large = ~is_wrong & (numbers.abs() >= TOO_LARGE)
    is_wrong |= is_large
    large = set(cells.index[is_large])
    for at, text in cells[is_wrong].head(_MAX_PROBLEMS).items():
        allowed = f"a number{f' below {TOO_LARGE:g}' if at in large else ''}, or an empty cell"
        problems.append(Problem(_line(path, at), f"{cells.name} is {text!r}", allowed))
    return numbers.where(~is_wrong)


def _unnamed(table: pd.DataFrame, columns: Sequence[str], path: Path) -> Iterator[Problem]:
    for column in columns:
        for at in table.index[table[column] == ""][:_MAX_PROBLEMS]:
            yield Problem(_line(path, at), f"{column} is empty", "a name")


def _too_small(table: pd.DataFrame, path: Path) -> Iterator[Problem]:
    for column, (least, allowed) in _MINIMA.items():
        for at, value in table[column][table[column] < least].head(_MAX_PROBLEMS).items():
            yield Problem(_line(path, at), f"{column} is {value:g}", allowed)


def _duplicates(table: pd.DataFrame, key: str, path: Path) -> Iterator[Problem]:
    named = table[table[key] != ""]
    repeated = named[named.duplicated(["question", key])]
    first = named.drop_duplicates(["question", key]).reset_index().set_index(["question", key])["index"]
    for at, question, name in repeated[["question", key]].head(_MAX_PROBLEMS).itertuples():
        where = f"also in line {int(first[question, name]) + 2}"
        yield Problem(
            _line(path, at), f"{key} {name!r} of question {question!r} is there twice, {where}", "one row each"
        )


def _line(path: Path, at: object) -> str:
    return f"{path}:{int(str(at)) + 2}"
