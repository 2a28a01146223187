"""Tables of scores that somebody else computed: the mean of each stimulus or condition, and what is known beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from beholder.clean.ratings import TOO_LARGE, read_ratings
from beholder.errors import Problem, UserError, did_you_mean

_NUMBERS = ("mean", "sd", "n", "ci_low", "ci_high", "participants", "contents")
_TEXTS = ("question", "stimulus", "content", "condition")
_ONE_QUESTION = "rating"
"""What a question is called where the table does not name it, as in tables of ratings."""
_ELSEWHERE = {
    "mean": ("mos", "dmos", "cmos", "score", "average", "avg"),
    "stimulus": ("pvs", "file", "clip", "video", "image", "sample", "item"),
    "condition": ("hrc", "system", "model", "method"),
    "sd": ("std", "stdev", "sos"),
}
"""What a column is called in tables of others."""
_LEAST = {"sd": (0.0, "0 or more"), "n": (1.0, "1 or more")}
_MOST_PROBLEMS = 20


class ScoreTable(NamedTuple):
    """A table of scores as it was given, with every column that scores can have; NaN and "" where nobody says."""

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
    given = read_ratings(path)
    problems = list(_absent(given, path))
    if problems:
        raise UserError(problems)
    table = pd.DataFrame({name: given[name].str.strip() if name in given else "" for name in _TEXTS})
    # Without a stimulus or a content the rows are conditions.
    has_stimuli = "stimulus" in given or {"condition", "content"} <= set(given.columns)
    if has_stimuli and "stimulus" not in given:
        table["stimulus"] = table["condition"] + "/" + table["content"]
    table["question"] = table["question"].where(table["question"] != "", _ONE_QUESTION)
    for name in _NUMBERS:
        table[name] = _numbers(given[name], path, problems) if name in given else np.nan
    key = "stimulus" if has_stimuli else "condition"
    problems += [*_unnamed(table, [key], path), *_too_small(table, path), *_twice(table, key, path)]
    if problems:
        raise UserError(problems)
    return ScoreTable(table[table["mean"].notna()].reset_index(drop=True), has_stimuli)


def _absent(given: pd.DataFrame, path: Path) -> Iterator[Problem]:
    names = [str(name) for name in given.columns]
    allowed = "stimulus or condition, and mean; also question, content, sd and n"
    if "mean" not in names:
        yield Problem(str(path), "has no column mean", allowed, _renaming(names, "mean"))
    if not {"stimulus", "condition"} & set(names):
        fix = _renaming(names, "stimulus") or _renaming(names, "condition")
        yield Problem(str(path), "has neither a column stimulus nor a column condition", allowed, fix)


def _renaming(names: Sequence[str], column: str) -> str:
    known = [name for name in names if name.lower() in _ELSEWHERE[column]]
    return f"Rename {known[0]} to {column}." if known else did_you_mean(column, names)


def _numbers(cells: pd.Series, path: Path, problems: list[Problem]) -> pd.Series:
    stripped = cells.str.strip()
    found = pd.to_numeric(stripped, errors="coerce").astype(float)
    is_wrong = (found.isna() & ~stripped.str.lower().isin(("", "nan"))) | np.isinf(found)
    is_large = ~is_wrong & (found.abs() >= TOO_LARGE)
    is_wrong |= is_large
    large = set(cells.index[is_large])
    for at, text in cells[is_wrong].head(_MOST_PROBLEMS).items():
        allowed = f"a number{f' below {TOO_LARGE:g}' if at in large else ''}, or an empty cell"
        problems.append(Problem(_line(path, at), f"{cells.name} is {text!r}", allowed))
    return found.where(~is_wrong)


def _unnamed(table: pd.DataFrame, columns: Sequence[str], path: Path) -> Iterator[Problem]:
    for column in columns:
        for at in table.index[table[column] == ""][:_MOST_PROBLEMS]:
            yield Problem(_line(path, at), f"{column} is empty", "a name")


def _too_small(table: pd.DataFrame, path: Path) -> Iterator[Problem]:
    for column, (least, allowed) in _LEAST.items():
        for at, value in table[column][table[column] < least].head(_MOST_PROBLEMS).items():
            yield Problem(_line(path, at), f"{column} is {value:g}", allowed)


def _twice(table: pd.DataFrame, key: str, path: Path) -> Iterator[Problem]:
    named = table[table[key] != ""]
    again = named[named.duplicated(["question", key])]
    first = named.drop_duplicates(["question", key]).reset_index().set_index(["question", key])["index"]
    for at, question, name in again[["question", key]].head(_MOST_PROBLEMS).itertuples():
        where = f"also in line {int(first[question, name]) + 2}"
        yield Problem(
            _line(path, at), f"{key} {name!r} of question {question!r} is there twice, {where}", "one row each"
        )


def _line(path: Path, at: object) -> str:
    return f"{path}:{int(str(at)) + 2}"
