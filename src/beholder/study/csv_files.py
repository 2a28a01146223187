"""CSV files that a study names, read as lines of cells under known columns."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from beholder.errors import Problem, did_you_mean
from beholder.files import unquoted
from beholder.formats import plural
from beholder.study.parts import link_fault, size_fault

MOST_TABLE_BYTES = 64_000_000
"""A manifest, plan or list of people of more bytes is a mistake: a plan of 20,000 lists has a tenth of it."""
DELIMITERS = (",", ";", "\t")
"""Delimiters: spreadsheets in half of Europe write semicolons."""

_LONGEST_LINE = 100_000
_CONTROL = dict.fromkeys((*range(32), 127), " ")


class CsvLine(NamedTuple):
    """One line of a CSV file: its place, as `plan.csv:7`, and its cells by column."""

    where: str
    cells: Mapping[str, str]


class CsvTable(NamedTuple):
    """A CSV file: its first line, the other lines with their numbers, and its delimiter."""

    heads: list[str]
    rows: list[tuple[int, list[str]]]
    delimiter: str


def read_lines(folder: Path, name: str, columns: Sequence[str], problems: list[Problem]) -> list[CsvLine]:
    """Return the lines of a CSV file with exactly these columns, in any order; problems are added to `problems`.

    Blank lines are skipped, a missing cell is empty.
    """
    fault = link_fault(folder, name)
    if fault is not None:
        problems.append(Problem(name, fault.what, fault.allowed, fault.fix))
        return []
    sheet = read_table(folder, name, columns, problems)
    if sheet is None:
        return []
    heads = [head.lower() for head in sheet.heads]
    wrong = list(_wrong_columns(f"{name}:1", heads, columns))
    problems.extend(wrong)
    return [] if wrong else list(_lines(name, heads, sheet.rows, problems))


def read_table(folder: Path, name: str, columns: Sequence[str], problems: list[Problem]) -> CsvTable | None:
    """Return a CSV file with any columns; None where it cannot be read, with a problem in `problems`.

    `columns` are the expected ones, by which the delimiter is recognised.
    """
    path = folder / name
    if not path.is_file():
        problems.append(Problem(name, "does not exist", "", f"Write it, with {_columns(columns)}."))
        return None
    if fault := size_fault(path, MOST_TABLE_BYTES):
        problems.append(Problem(name, fault.what, fault.allowed, fault.fix))
        return None
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        problems.append(Problem(name, "is not UTF-8 text", fix="Save it as CSV UTF-8."))
        return None
    delimiter = _delimiter(text, columns)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        lines = [(reader.line_num, [plain_text(unquoted(cell)) for cell in cells]) for cells in reader]
    except csv.Error as error:
        problems.append(Problem(f"{name}:{reader.line_num}", f"is no CSV: {error}"))
        return None
    return CsvTable(lines[0][1] if lines else [], lines[1:], delimiter)


def _columns(names: Sequence[str]) -> str:
    return f"the {plural(len(names), 'column')} {', '.join(names)}"


def plain_text(text: str) -> str:
    """Return a text with composed letters and without control characters, as the catalogue spells names."""
    return unicodedata.normalize("NFC", text.translate(_CONTROL)).strip()


def column_names(folder: Path, name: str) -> list[str]:
    """Return the columns of a CSV file in lower case; none where it cannot be read."""
    try:
        with (folder / name).open(encoding="utf-8-sig") as file:
            first = file.readline(_LONGEST_LINE)
    except (OSError, ValueError):
        return []
    cells = re.split("|".join(DELIMITERS), first)
    return [cell.strip(' "\r\n').lower() for cell in cells]


def _lines(
    name: str, heads: Sequence[str], lines: Sequence[tuple[int, list[str]]], problems: list[Problem]
) -> Iterator[CsvLine]:
    for number, cells in lines:
        where = f"{name}:{number}"
        if len(cells) > len(heads) and any(cells[len(heads) :]):
            problems.append(Problem(where, f"has {len(cells)} cells, the first line has {len(heads)}"))
        elif any(cells):
            by_head = dict(zip(heads, cells, strict=False))
            yield CsvLine(where, {head: by_head.get(head, "") for head in heads if head})


def _delimiter(text: str, columns: Collection[str]) -> str:
    """Return the delimiter with which the first line has most of the columns, then most cells."""
    first = text.partition("\n")[0]

    def matches(one: str) -> tuple[int, int]:
        cells = first.split(one)
        return len({cell.strip(' "\r').lower() for cell in cells} & {*columns}), len(cells)

    return max(DELIMITERS, key=matches)


def _wrong_columns(where: str, heads: Sequence[str], columns: Sequence[str]) -> Iterator[Problem]:
    allowed = ", ".join(columns)
    for column in columns:
        if column not in heads:
            yield Problem(where, f"column {column} is missing", allowed)
        elif heads.count(column) > 1:
            yield Problem(where, f"column {column} is there twice", allowed)
    for head in dict.fromkeys(heads):
        if head and head not in columns:
            missing = [column for column in columns if column not in heads]
            yield Problem(where, f"column {head} is unknown", allowed, did_you_mean(head, missing))
