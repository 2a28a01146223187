"""Tables of others: values of metrics that were measured elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from beholder.analyse.result import records
from beholder.clean.ratings import TOO_LARGE, read_cells
from beholder.errors import Problem, UserError

VALUES = ["stimulus", "content", "condition", "metric", "region", "value", "note"]
_NAMES = ("stimulus", "content", "condition", "region", "note", "question", "role")
_NEED = "stimulus or condition, and metric and value, or a column for each metric"
_MOST_PROBLEMS = 20


def read_table(path: Path) -> pd.DataFrame:
    """Return a CSV as text, names as they are written; columns without a name are no part of it.

    Raise UserError where it is none, or has a column twice.
    """
    table = read_cells(path)
    first = pd.read_csv(path, header=None, nrows=1, dtype=str, na_filter=False, encoding="utf-8-sig")
    names = [str(name).strip() for name in first.iloc[0]]
    named = [name for name in names if name]
    if twice := dict.fromkeys(name for name in named if named.count(name) > 1):
        raise UserError(Problem(str(path), f"has the column {name} twice", "one of each") for name in twice)
    # A table that was written with its row numbers has them below an empty name.
    kept = table.loc[:, [name != "" for name in names]].set_axis(named, axis=1)
    return pd.DataFrame({name: cells.str.strip() for name, cells in kept.items()})


def read_values(path: Path, rated: pd.DataFrame, files: Mapping[str, str]) -> pd.DataFrame:
    """Return the values of a CSV, one row each: metric and value, or a column for each metric.

    `rated` names stimulus, content and condition of all that was rated; `files` leads from files to stimuli.
    """
    table = read_table(path)
    problems = []
    if not {"stimulus", "condition"} & set(table.columns):
        problems.append(Problem(str(path), "has neither stimulus nor condition", _NEED))
    for one, other in (("value", "metric"), ("metric", "value")):
        if one in table and other not in table:
            problems.append(Problem(str(path), f"has {one} and no {other}", _NEED))
    if problems:
        raise UserError(problems)
    kept = [column for column in _NAMES if column in table]
    is_long = {"metric", "value"} <= set(table.columns)
    metrics = ["metric", "value"] if is_long else [name for name in table if name not in _NAMES]
    # The number of a row is its index, so that a column may have any name.
    given = table[[*kept, *metrics]]
    if not is_long:
        given = given.melt(kept, metrics, "metric", "value", ignore_index=False)
    line = np.asarray(given.index) + 2
    given = given.reset_index(drop=True)
    if not len(given):
        raise UserError(Problem(str(path), "has no values", "at least one column with numbers"))
    value = pd.to_numeric(given["value"].replace("", "nan"), errors="coerce").astype(float)
    is_said = given["value"].str.lower().isin(["", "nan", "na", "none", "null", "–", "-"])
    is_large = np.isfinite(value) & (value.abs() >= TOO_LARGE)
    wrong = given[(value.isna() & ~is_said) | is_large]
    if len(wrong):
        below = dict.fromkeys(given.index[is_large], f" below {TOO_LARGE:g}")
        raise UserError(
            Problem(f"{path}:{line[at]}", f"{metric} is {text!r}", f"a number{below.get(at, '')}, or nothing")
            for at, metric, text in wrong[["metric", "value"]].head(_MOST_PROBLEMS).itertuples()
        )
    without_name = line[given["metric"] == ""]
    if len(without_name):
        raise UserError(Problem(f"{path}:{at}", "metric is empty", "a name") for at in without_name[:_MOST_PROBLEMS])
    named = _named(given, rated, files, path)
    is_endless = np.isinf(value)
    notes = given["note"] if "note" in given else pd.Series("", index=given.index)
    return named.assign(
        metric=given["metric"],
        region=given.get("region", ""),
        value=value.where(~is_endless),
        note=notes.where(~is_endless, "infinite"),
    )[VALUES]


def _named(given: pd.DataFrame, rated: pd.DataFrame, files: Mapping[str, str], path: Path) -> pd.DataFrame:
    """Return stimulus, content and condition of each row, as the ratings have them; a condition may stand alone."""
    stimuli = {row["stimulus"]: row for row in records(rated) if row["stimulus"]}
    cells = {(row["content"], row["condition"]): name for name, row in stimuli.items()}
    conditions = list(dict.fromkeys(rated["condition"]))
    found, is_known = [], False
    for row in records(given):
        content, condition = row.get("content", ""), row.get("condition", "")
        name = row.get("stimulus", "") or cells.get((content, condition), "")
        name = name if name in stimuli else files.get(name, name)
        one = stimuli.get(name)
        is_known |= one is not None or (not name and condition in conditions)
        found.append((name, one["content"], one["condition"]) if one else (name, content, condition))
    if len(rated) and not is_known:
        said = next(name or condition for name, _, condition in found)
        names = [f"a stimulus such as {name}" for name in list(stimuli)[:1]]
        allowed = ", or ".join([*names, f"a condition such as {conditions[0]}"])
        raise UserError(Problem(str(path), f"names nothing that was rated, as in {said!r}", allowed))
    return pd.DataFrame(found, columns=["stimulus", "content", "condition"], index=given.index)
