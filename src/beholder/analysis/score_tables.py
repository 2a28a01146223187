"""Tables of scores: the mean of each stimulus or condition, as others computed it or as any of our tables has it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from beholder.analysis.column_roles import names_people, no_column, plain_name
from beholder.analysis.ratings_table import TableOptions
from beholder.analysis.sanity import SanityFinding, mean_findings
from beholder.analysis.spreadsheets import Sheet, read_sheet
from beholder.cleaning.ratings import TOO_LARGE
from beholder.errors import Problem, UserError, did_you_mean
from beholder.formats import join_names

_NUMBERS = ("mean", "sd", "n", "ci_low", "ci_high", "participants", "contents")
_SCORE_TEXT_COLUMNS = ("question", "stimulus", "content", "condition")
_ONE_QUESTION = "rating"
"""What a question is called where the table does not name it, as in tables of ratings."""
_COMMON_SCORE_NAMES = {
    "mean": ("mos", "score", "average", "avg", "dmos", "cmos", "mean opinion score", "rating"),
    "stimulus": ("pvs", "file", "filename", "file name", "clip", "video", "image", "sample", "stimulus name", "item"),
    "condition": ("hrc", "system", "model", "method", "codec", "algorithm"),
    "content": ("src", "source", "scene", "sequence"),
    "sd": ("std", "stdev", "std dev", "standard deviation", "sos"),
    "n": ("votes", "n votes", "ratings", "n ratings", "count", "number of votes"),
}
"""What a column is called in tables of others, in lower case; the first that a table has."""
_MINIMA = {"sd": (0.0, "0 or more"), "n": (1.0, "1 or more")}
_MAX_PROBLEMS = 20


class ScoreTable(NamedTuple):
    """Scores with every column that they can have; NaN and "" where unknown."""

    stimuli: pd.DataFrame
    conditions: pd.DataFrame
    """No rows where the table has stimuli only."""
    notes: tuple[str, ...] = ()
    """How the table was read, where it is not as we write them."""
    findings: tuple[SanityFinding, ...] = ()


def is_score_table(path: Path, options: TableOptions | None = None) -> bool:
    """Return whether a file looks like a table of scores: it names neither participants nor single values."""
    options = options or TableOptions()
    try:
        names = [str(name) for name in read_sheet(path, options.sheet).cells.columns]
    except (OSError, UserError):
        return False
    if len(names) < 2 or names_people(names, options.columns):
        return False
    return "mean" in names or "value" not in names or "metric" in names


def read_scores(path: Path, options: TableOptions | None = None) -> ScoreTable:
    """Return a table of scores, or raise UserError with every problem."""
    options = options or TableOptions()
    sheet = read_sheet(path, options.sheet)
    raw, renamed = _under_usual_names(_under_common_names(sheet.cells), options)
    names = [str(name) for name in sheet.cells.columns]
    told = options.columns.single.items()
    known = {name.casefold() for name in names}
    problems = [no_column(sheet, role, name, names) for role, name in told if name.casefold() not in known]
    problems += _missing_columns(raw, path) if not problems else []
    if problems:
        raise UserError(problems)
    table = pd.DataFrame(
        {name: raw[name].str.strip() if name in raw else "" for name in _SCORE_TEXT_COLUMNS}, index=raw.index
    )
    # Without a stimulus or a content the rows are conditions.
    has_stimuli = "stimulus" in raw or {"condition", "content"} <= set(raw.columns)
    if has_stimuli and "stimulus" not in raw:
        table["stimulus"] = table["condition"] + "/" + table["content"]
    table["question"] = table["question"].where(table["question"] != "", _ONE_QUESTION)
    for name in _NUMBERS:
        table[name] = _numbers(raw[name], sheet, problems) if name in raw else np.nan
    table["question"] += _distinguished(raw)
    is_condition = _is_condition(raw) if has_stimuli else pd.Series(True, index=raw.index)
    for key, part in (("stimulus", table[~is_condition]), ("condition", table[is_condition])):
        problems += [*_unnamed(part, [key], sheet), *_duplicates(part, key, sheet)]
    problems += _too_small(table, sheet)
    if problems:
        raise UserError(problems)
    found = _findings(table, raw, options) if not _is_ours(set(sheet.cells.columns)) else []
    table = pd.concat([table, _differential_rows(table, raw, sheet, problems)])
    is_condition = is_condition.reindex(table.index)
    if problems:
        raise UserError(problems)
    is_scored = table["mean"].notna()
    stimuli, conditions = (table[is_scored & some].reset_index(drop=True) for some in (~is_condition, is_condition))
    notes = [f"read with {join_names(sheet.notes)}"] if sheet.notes else []
    notes += [join_names([f"{name} is the {role}" for name, role in renamed.items()])] if renamed else []
    return ScoreTable(stimuli, conditions, tuple(notes), tuple(found))


def _under_usual_names(raw: pd.DataFrame, options: TableOptions) -> tuple[pd.DataFrame, dict[str, str]]:
    """Return a table with our names in place of usual ones that others give, and what was renamed."""
    renamed: dict[str, str] = {}
    for role, name in options.columns.single.items():
        wanted = "mean" if role == "value" else str(role)
        mine = [str(one) for one in raw.columns if str(one).casefold() == name.casefold()]
        if mine and wanted not in raw:
            renamed[mine[0]] = wanted
    plain = {plain_name(str(name)): str(name) for name in reversed(raw.columns) if name not in renamed}
    for role, usual in _COMMON_SCORE_NAMES.items():
        is_there = role in raw or role in renamed.values()
        # A name of a stimulus is enough; a model or a method beside it may be something else.
        is_needless = role == "condition" and bool({"stimulus"} & {*raw.columns, *renamed.values()})
        known = [plain[one] for one in (role, *usual) if one in plain and plain[one] not in renamed]
        if not is_there and not is_needless and known and known[0] not in _SCORE_TEXT_COLUMNS:
            renamed[known[0]] = role
    return raw.rename(columns=renamed), renamed


def _findings(table: pd.DataFrame, raw: pd.DataFrame, options: TableOptions) -> list[SanityFinding]:
    """Return what is odd in the means, question by question."""
    found = []
    for _, mine in table.groupby("question", sort=False):
        found += mean_findings(mine, {"mean": raw.loc[mine.index, "mean"].tolist()}, options.scale)
    return found


# Our own tables: each of them has a row for a stimulus, a condition, a content, a level of a factor, or two conditions


DIFFERENTIAL = " (DMOS)"
"""Behind the question of a score against a reference."""
_TOOLKIT_NAMES = {"file_url": "stimulus", "condition_name": "condition", "std": "sd"}
"""The columns of votes_per_clip.csv and votes_per_cond.csv, which `export --p910` writes."""
_TOOLKIT_MEANS = ("MOS", "DMOS", "CMOS")
_VALUES = ("mean", "median", "quality", "mean_difference", "difference", "half_share", "estimate", "value")
"""The columns that can be a score, the first that a table has."""
_ENDS = {"low": "ci_low", "high": "ci_high"}
_DISTINCTIONS = ("model", "test", "unit", "criterion", "rule", "choice", "side")
"""Columns by which one table has several scores of the same thing."""
_PLAIN = ("", "used")
"""What needs no name there: the scores as they are analysed."""


def is_differential(question: str) -> bool:
    """Return whether a question of a side is of scores against a reference."""
    return question.endswith(DIFFERENTIAL)


def _under_common_names(raw: pd.DataFrame) -> pd.DataFrame:
    """Return a table of ours with the names that a table of scores has; any other as it is."""
    names = {str(name) for name in raw.columns}
    renamed: dict[str, str] = {}
    if names & {"file_url", "condition_name"}:
        mean = next((name for name in _TOOLKIT_MEANS if name in names), "")
        renamed = {**_TOOLKIT_NAMES, mean: "mean"}
    elif "mean" not in names and _is_ours(names):
        value = next(name for name in _VALUES if name in names)
        renamed = {value: "mean", **({} if "ci_low" in names else _ENDS)}
    raw = raw.rename(columns=renamed)
    if "metric" in names and renamed.get("value") == "mean" and "question" not in names:
        raw["question"] = (raw["metric"] + " " + (raw["region"] if "region" in names else "")).str.strip()
    if "pairing" in names and "question" in names:
        raw["question"] += DIFFERENTIAL
    if "other_condition" in names:
        is_two = raw["other_condition"] != ""
        raw["condition"] = raw["condition"].where(~is_two, raw["condition"] + " minus " + raw["other_condition"])
        raw = raw.drop(columns=[name for name in ("stimulus", "content") if name in names])
    if {"factor", "level"} <= names:
        within = raw["condition"] if "condition" in names else ""
        raw["condition"] = (raw["factor"] + " " + raw["level"] + " " + within).str.strip()
    elif "content" in names and not {"stimulus", "condition"} & set(raw.columns):
        raw = raw.rename(columns={"content": "condition"})
    if "level" in names and "stimulus" in raw.columns:
        # What being first adds, and the like, is no score of anything.
        raw = raw[raw["level"].isin(("stimulus", "condition"))]
    # The same pair of sides has each of their scores again.
    keys = [name for name in ("question", "stimulus", "condition", *_DISTINCTIONS, "mean") if name in raw.columns]
    return raw.drop_duplicates(keys) if {"side", "other_side"} <= names else raw


def _is_ours(names: set[str]) -> bool:
    """Return whether the columns are those of one of our tables that has scores under another name."""
    is_of_something = names & {"stimulus", "condition", "content", "factor"}
    is_known = names & {"question", "metric"} and names & set(_VALUES)
    return bool(is_of_something and is_known)


def _distinguished(raw: pd.DataFrame) -> pd.Series:
    """Return what stands behind a question where the table has several scores of the same thing."""
    words = pd.Series("", index=raw.index)
    for name in _DISTINCTIONS:
        if name in raw and raw[name].nunique() > 1:
            words += (" (" + raw[name].str.strip() + ")").where(~raw[name].isin(_PLAIN), "")
    return words


def _is_condition(raw: pd.DataFrame) -> pd.Series:
    """Return which rows of a table of stimuli are of conditions, as dmos.csv and medians.csv have them."""
    if "level" in raw:
        return raw["level"] == "condition"
    return pd.Series(False, index=raw.index)


def _differential_rows(table: pd.DataFrame, raw: pd.DataFrame, sheet: Sheet, problems: list[Problem]) -> pd.DataFrame:
    """Return the scores against the reference that stand beside the others in a column dmos."""
    if "dmos" not in raw or "mean" not in raw:
        return table.head(0)
    ends = {name: raw[f"dmos_{name}"] for name in ("low", "high") if f"dmos_{name}" in raw}
    own = {f"ci_{name}": _numbers(cells, sheet, problems) for name, cells in ends.items()}
    unknown = dict.fromkeys(("sd", "n", "participants", "contents", "ci_low", "ci_high"), np.nan)
    mean = _numbers(raw["dmos"], sheet, problems)
    return table.assign(question=table["question"] + DIFFERENTIAL, mean=mean, **unknown).assign(**own)


# What is wrong with a table of scores


def _missing_columns(raw: pd.DataFrame, path: Path) -> Iterator[Problem]:
    names = [str(name) for name in raw.columns]
    allowed = "stimulus or condition, and mean; also question, content, sd and n"
    if "mean" not in names:
        yield Problem(str(path), "has no column mean", allowed, did_you_mean("mean", names))
    if not {"stimulus", "condition"} & set(names):
        fix = did_you_mean("stimulus", names) or did_you_mean("condition", names)
        yield Problem(str(path), "has neither a column stimulus nor a column condition", allowed, fix)


def _numbers(cells: pd.Series, sheet: Sheet, problems: list[Problem]) -> pd.Series:
    stripped = cells.str.strip().str.replace(",", ".", regex=False)
    numbers = pd.to_numeric(stripped, errors="coerce").astype(float)
    is_wrong = (numbers.isna() & ~stripped.str.lower().isin(("", "nan"))) | np.isinf(numbers)
    is_large = ~is_wrong & (numbers.abs() >= TOO_LARGE)
    is_wrong |= is_large
    large = set(cells.index[is_large])
    for at, text in cells[is_wrong].head(_MAX_PROBLEMS).items():
        allowed = f"a number{f' below {TOO_LARGE:g}' if at in large else ''}, or an empty cell"
        problems.append(Problem(_line(sheet, at), f"{cells.name} is {text!r}", allowed))
    return numbers.where(~is_wrong)


def _unnamed(table: pd.DataFrame, columns: Sequence[str], sheet: Sheet) -> Iterator[Problem]:
    for column in columns:
        for at in table.index[table[column] == ""][:_MAX_PROBLEMS]:
            yield Problem(_line(sheet, at), f"{column} is empty", "a name")


def _too_small(table: pd.DataFrame, sheet: Sheet) -> Iterator[Problem]:
    for column, (least, allowed) in _MINIMA.items():
        for at, value in table[column][table[column] < least].head(_MAX_PROBLEMS).items():
            yield Problem(_line(sheet, at), f"{column} is {value:g}", allowed)


def _duplicates(table: pd.DataFrame, key: str, sheet: Sheet) -> Iterator[Problem]:
    named = table[table[key] != ""]
    repeated = named[named.duplicated(["question", key])]
    first = named.drop_duplicates(["question", key]).reset_index().set_index(["question", key])["index"]
    for at, question, name in repeated[["question", key]].head(_MAX_PROBLEMS).itertuples():
        where = f"also in line {sheet.lines[int(first[question, name])]}"
        yield Problem(
            _line(sheet, at), f"{key} {name!r} of question {question!r} is there twice, {where}", "one row each"
        )


def _line(sheet: Sheet, at: object) -> str:
    return sheet.place(int(str(at)))
