"""Tables of ratings: our own as they are, those of others with what is said of them, and checks of every value."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from beholder.analysis.column_roles import Columns, ToldColumns, find_roles, parse_columns, plain_name
from beholder.analysis.long_tables import to_long
from beholder.analysis.rating_values import RatingScale, parse_missing, parse_scale, read_values, turn_ranks
from beholder.analysis.sanity import SanityFinding, rating_findings
from beholder.analysis.spreadsheets import decode, is_table, read_sheet
from beholder.cleaning.ratings import read_ratings
from beholder.errors import Problem, UserError, did_you_mean
from beholder.formats import first_names, join_names, listed, plain_count
from beholder.stats.intervals import SHARE_RANGES
from beholder.study.model import Study

_REQUIRED_COLUMNS = ("participant", "content", "condition", "value")
_NAMES = ("participant", "content", "condition")
_FILL = {
    "question": "rating", "kind": "score", "role": "test", "mode": "", "missing": "", "reasons": "", "unit": "",
    "word": "", "said": "", "heard": "", "method": "", "other_condition": "",
}  # fmt: skip
_TEXT_COLUMNS = (*_NAMES, *_FILL, "stimulus", "other_stimulus")
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
        names = [str(name) for name in table.columns if name not in _REQUIRED_COLUMNS]
        raise UserError(
            Problem(where, f"has no column {column}", ", ".join(_REQUIRED_COLUMNS), did_you_mean(column, names))
            for column in absent
        )
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


# Tables of others


NO_COLUMNS = ToldColumns({}, {})
"""Nothing is said of the columns."""


@dataclass(frozen=True)
class TableOptions:
    """What the researcher says of a table: its columns, scale, reference, codes of missing answers and sheet."""

    columns: ToldColumns = NO_COLUMNS
    scale: RatingScale | None = None
    reference: str | None = None
    missing: tuple[str, ...] = ()
    sheet: str | None = None

    @classmethod
    def of(
        cls,
        columns: Columns = None,
        scale: str | Sequence[float] | None = None,
        reference: str | None = None,
        missing: str | Sequence[str | float] | None = None,
        sheet: str | None = None,
    ) -> TableOptions:
        """Return what is said of a table, or raise UserError with every problem of it."""
        problems: list[Problem] = []
        told, read_scale = NO_COLUMNS, None
        try:
            told = parse_columns(columns)
        except UserError as error:
            problems += error.problems
        try:
            read_scale = parse_scale(scale)
        except UserError as error:
            problems += error.problems
        if problems:
            raise UserError(problems)
        return cls(told, read_scale, reference, parse_missing(missing), sheet)

    @property
    def given(self) -> tuple[str, ...]:
        """The options that are given, as one writes them."""
        is_given = {
            "--columns": self.columns != NO_COLUMNS, "--scale": self.scale, "--reference": self.reference,
            "--missing": self.missing, "--sheet": self.sheet,
        }  # fmt: skip
        return tuple(name for name, one in is_given.items() if one)

    def refuse_for(self, source: object) -> None:
        """Raise UserError where something is said of a table and the source is a study."""
        if self.given and not is_table(source):
            where = "study.yaml" if isinstance(source, Study) else source
            what = f"is for a table, and {where} is a study"
            fix = "Its columns are ours; scales and references stand in the study file."
            raise UserError(Problem(name, what, "a table such as ratings.csv", fix) for name in self.given)

    def refuse_robots(self, source: object, *, robots: bool) -> None:
        """Raise UserError where the rehearsal of a table is asked for."""
        if robots and is_table(source):
            raise UserError(Problem("--robots", f"is for a study, and {source} is a table", "a study"))


class OwnTable(NamedTuple):
    """A table of a researcher, with what was made of it."""

    table: pd.DataFrame
    """As analyses take it."""
    notes: tuple[str, ...]
    """How it was read, in parts of sentences; none where it is as we write it."""
    findings: tuple[SanityFinding, ...]
    scales: Mapping[str, RatingScale]
    """By question; of scores only."""


def load_table(path: Path, options: TableOptions | None = None) -> OwnTable:
    """Return any table of ratings as analyses take it, or raise UserError with every problem."""
    options = options or TableOptions()
    own = None if options.columns.single or options.columns.wide else _as_written(path)
    table, notes, scales = _checked(own, path, options) if own is not None else _from_sheet(path, options)
    if options.scale is not None:
        table = table.assign(scale_min=options.scale.low, scale_max=options.scale.high)
    table = _with_reference(table, options.reference, path)
    return OwnTable(table, notes, tuple(rating_findings(table[table["use"]])), scales)


_TOOLKIT_COLUMNS = (*_TOOLKIT_NAMES, "condition", "content")


def _as_written(path: Path) -> pd.DataFrame | None:
    """Return a table that is as we write them: CSV, with our columns and numbers; None of any other."""
    if path.suffix.lower() != ".csv" or not path.is_file():
        return None
    with path.open("rb") as file:
        text, encoding = decode(file.readline())
    header = next(csv.reader(io.StringIO(text)), [])
    if encoding != "UTF-8" or not any(set(names) <= set(header) for names in (_REQUIRED_COLUMNS, _TOOLKIT_COLUMNS)):
        return None
    try:
        return load_ratings(path)
    except UserError as error:
        # Words of a scale, commas and codes are read, or told, as those of any other table.
        if all(problem.what.startswith(("value is", "has rows", "cannot be read")) for problem in error.problems):
            return None
        raise


def _checked(
    table: pd.DataFrame, path: Path, options: TableOptions
) -> tuple[pd.DataFrame, tuple[str, ...], dict[str, RatingScale]]:
    """Return a table as we write them, with what is outside its scale refused, or taken as missing and told."""
    mine = table[(table["kind"] == "score") & table["use"]]
    if mine.empty:
        return table, (), {}
    cells = mine["value"].map(lambda value: "" if value != value else f"{value!r}")
    read = read_values(
        cells, mine["question"], lambda at: f"{path}:{at + 2}", scale=options.scale, declared=_declared(mine),
        missing=options.missing,
    )  # fmt: skip
    if read.numbers.isna().sum() != mine["value"].isna().sum():
        table = table.assign(value=table["value"].where(~table.index.isin(mine.index), read.numbers))
    return table, read.notes, dict(read.scales)


def _declared(table: pd.DataFrame) -> dict[str, RatingScale]:
    """Return the scale of each question that has one in its columns."""
    if not {"scale_min", "scale_max"} <= set(table.columns):
        return {}
    ends = table.groupby("question", sort=False).agg({"scale_min": "min", "scale_max": "max"}).dropna()
    return {
        str(name): RatingScale(float(low), float(high), is_declared=True)
        for name, low, high in ends.itertuples()
        if low < high
    }


def _from_sheet(path: Path, options: TableOptions) -> tuple[pd.DataFrame, tuple[str, ...], dict[str, RatingScale]]:
    """Return a table of others under our names, what was found out about it, and its scales."""
    sheet = read_sheet(path, options.sheet)
    roles = find_roles(sheet, options.columns)
    long = to_long(sheet, roles)
    rows = long.cells["row"].to_numpy()
    table = long.cells.drop(columns="row")
    for name in [name for name in _NUMBER_COLUMNS if name in table]:
        table[name] = pd.to_numeric(table[name].str.replace(",", ".", regex=False), errors="coerce").astype(float)
    if "use" in table:
        table["use"] = ~table["use"].str.casefold().isin(("false", "0", "no", "n"))
    notes = [*([f"read with {join_names(sheet.notes)}"] if sheet.notes else []), *roles.notes, *long.notes]
    if "run" in table:
        table["run"], numbered = _run_numbers(table["run"])
        notes += numbered
    if "is_reference" in table:
        is_marked = table.pop("is_reference").str.casefold().isin(("1", "1.0", "true", "yes", "y", "ref", "reference"))
        table["role"] = np.where(is_marked, "reference", table.get("role", "test"))
    questions = table["question"] if "question" in table else pd.Series("rating", index=table.index)
    questions = questions.where(questions != "", "rating")
    is_score = table["kind"].isin(("", "score")) if "kind" in table else pd.Series(True, index=table.index)
    table["question"] = questions
    problems = list(long.problems)
    try:
        read = read_values(
            table["value"], questions, lambda at: sheet.place(int(rows[at])),
            column=roles.single.get("rank", roles.single.get("value", "value")),
            scale=options.scale, missing=options.missing,
            declared=_declared(table) | dict.fromkeys(questions[~is_score].unique(), _ANY),
        )  # fmt: skip
    except UserError as error:
        raise UserError([*problems, *error.problems]) from None
    if "rank" in roles.single:
        read, of_ranks = turn_ranks(read, questions, lambda at: sheet.place(int(rows[at])), roles.single["rank"])
        problems += of_ranks
        table["method"] = table.get("method", "rank")
    if len(table) and read.numbers.isna().all() and "kind" not in table:
        what = "has no rating: every cell is empty or stands for a missing answer"
        fix = f"Is it another column? Columns: {first_names(list(map(str, sheet.cells.columns)), 20)}."
        problems.append(Problem(str(path), what, "ratings", f"{fix} --columns value=NAME says which."))
    if problems:
        raise UserError(problems)
    table["value"] = read.numbers
    scales = {name: scale for name, scale in read.scales.items() if scale is not _ANY}
    if scales and not {"scale_min", "scale_max"} <= set(table.columns):
        table["scale_min"] = questions.map({name: scale.low for name, scale in scales.items()})
        table["scale_max"] = questions.map({name: scale.high for name, scale in scales.items()})
    if options.reference is None and "role" not in table:
        named = [name for name in table["condition"].unique() if plain_name(name) in _REFERENCE_NAMES]
        notes += [f"no condition is marked as the reference (--reference {named[0]!r} does)"] if named else []
    empty = int((long.cells["value"] == "").sum())
    notes += [*read.notes, *_scale_words(scales), *([f"{plain_count(empty, 'cell')} empty"] if empty else [])]
    return _filled(table, str(path), lambda at: sheet.place(int(rows[at]))), tuple(notes), scales


_REFERENCE_NAMES = ("reference", "ref", "hidden reference", "original")
_NUMBER_COLUMNS = ("scale_min", "scale_max", "position", "response_ms", "raw_value", "draw_probability")
_ANY = RatingScale(-math.inf, math.inf, is_declared=True)
"""The scale of what is no score: grades and choices have ends of their own, which are checked later."""


def _scale_words(scales: Mapping[str, RatingScale]) -> list[str]:
    """Return what the scales were taken to be, where nobody said it."""
    words = {scale.words for scale in scales.values() if not scale.is_declared and not scale.name}
    return [f"scale {listed(sorted(words), 'and')}, by its values"] if words else []


def _run_numbers(runs: pd.Series) -> tuple[pd.Series, list[str]]:
    """Return runs as numbers: names of runs are numbered in their order."""
    numbers = pd.to_numeric(runs, errors="coerce")
    if numbers.notna().all() and (numbers % 1 == 0).all():
        return numbers.astype(int), []
    names = sorted(runs.unique())
    places = {name: place for place, name in enumerate(names, 1)}
    return runs.map(places), [f"runs {first_names(names, 3)} are numbered from 1"]


def _with_reference(table: pd.DataFrame, reference: str | None, path: Path) -> pd.DataFrame:
    """Return the table with a condition as its reference, or raise UserError where there is no such condition."""
    if reference is None:
        return table
    names = sorted(table["condition"].unique())
    near = [name for name in names if name.casefold() == reference.casefold()]
    if reference not in names and len(near) != 1:
        what = f"{reference!r} is no condition of {path}"
        raise UserError(Problem("--reference", what, first_names(names, 20), did_you_mean(reference, names)))
    is_mine = table["condition"] == (reference if reference in names else near[0])
    return table.assign(role=table["role"].where(~is_mine, "reference"))
