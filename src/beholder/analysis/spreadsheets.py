"""Spreadsheets as people have them: delimited text, Excel and Parquet, read into cells of text with their places.

Separator, encoding, lines above the header and doubled names are found out, and told.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from beholder.errors import Problem, UserError
from beholder.formats import first_names, plain_count

_TEXT = (".csv", ".tsv", ".tab", ".txt")
_EXCEL = (".xlsx", ".xlsm")
_PARQUET = (".parquet", ".pq")
SUFFIXES = (*_TEXT, *_EXCEL, *_PARQUET)
"""The endings of files that are tables; everything else is a study."""
_OLD = {".xls": "Excel's old format", ".ods": "OpenDocument", ".sav": "SPSS", ".mat": "MATLAB", ".rds": "R"}
"""Tables that we do not read, and whose owner is told what to do."""
_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_MOST_BYTES = 500_000_000
"""Of a table, unpacked: ten million ratings. A workbook of a few kilobytes can hold more zeros than there is memory."""
_SHOWN = 3
_LOOKED_AT = 200
"""Lines from which the separator is found out."""
_MAX_PROBLEMS = 20
MISSING_WORDS = frozenset(
    ("", "na", "n/a", "n.a.", "nan", "none", "null", "-", "–", "—", ".", "?", "missing", "#n/a", "#null!", "x")
)
"""Cells without an answer."""
_NUMBER = re.compile(r"[-+]?(\d+([.,]\d*)?|[.,]\d+)(e[-+]?\d+)?", re.IGNORECASE)


@dataclass(frozen=True)
class Sheet:
    """The cells of a table, all of them text, and what was found out about its file."""

    path: Path
    cells: pd.DataFrame
    """One column for each name of the header; no two names are the same."""
    lines: tuple[int, ...]
    """The line of each row in the file."""
    notes: tuple[str, ...] = ()

    def place(self, row: int) -> str:
        """Return where a row is, for messages."""
        return f"{self.path}:{self.lines[row]}"


def is_table(source: object) -> bool:
    """Return whether a source is the file of a table, and not a study."""
    return isinstance(source, str | Path) and Path(source).suffix.lower() in (*SUFFIXES, *_OLD)


def is_number(text: str) -> bool:
    """Return whether a cell holds a number, with a point or a comma."""
    return _NUMBER.fullmatch(text.strip()) is not None


def leading_number(text: str) -> str | None:
    """Return the number of an answer such as `4 (Good)` or `5 - Excellent`; None where it is none."""
    match = re.fullmatch(r"([-+]?\d+(?:[.,]\d+)?)\s*[-–:=.)(]+\s*([^\W\d].*?)\)?", text.strip())
    return match[1] if match else None


def read_sheet(path: Path, sheet: str | None = None) -> Sheet:
    """Return the cells of a table, or raise UserError; `sheet` names one of a workbook."""
    suffix = path.suffix.lower()
    if suffix in _OLD:
        fix = f"{_OLD[suffix]} is not read: save it as .csv or .xlsx."
        raise UserError(Problem(str(path), f"ends in {suffix}", ", ".join(SUFFIXES), fix))
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "is not there"
        raise UserError(Problem(str(path), what, "", "Give another file."))
    if sheet is not None and suffix not in _EXCEL:
        raise UserError(Problem("--sheet", f"is {sheet}, and {path} is no workbook", "a file that ends in .xlsx"))
    _check_size(path, path.stat().st_size)
    if suffix in _EXCEL:
        name, rows = _read_excel(path, sheet)
        notes = [f"sheet {name!r}"] if name else []
    elif suffix in _PARQUET:
        rows, notes = _read_parquet(path), []
    else:
        rows, notes = _read_text(path)
    return _with_header(path, rows, notes)


def _check_size(path: Path, size: int) -> None:
    if size > _MOST_BYTES:
        what = f"has {plain_count(size, 'byte')}"
        raise UserError(Problem(str(path), what, f"at most {_MOST_BYTES}", "Take a part of the table."))


class _SheetLine(NamedTuple):
    number: int
    cells: list[str]


# Delimited text


def decode(content: bytes) -> tuple[str, str]:
    """Return the text of a file and its encoding: by its mark, by its zeros, as UTF-8, or as Western European."""
    for mark, name in ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if content.startswith(mark):
            return content.decode(name, errors="replace"), "UTF-16" if name == "utf-16" else "UTF-8"
    head = content[:2000]
    for first, name in ((1, "utf-16-le"), (0, "utf-16-be")):
        # Latin letters in UTF-16 have a zero in every other place, and text in any other encoding has none.
        if len(head) > 3 and head[first::2].count(0) > len(head) / 4:
            return content.decode(name, errors="replace"), "UTF-16"
    try:
        return content.decode("utf-8"), "UTF-8"
    except UnicodeDecodeError:
        pass
    try:
        return content.decode("cp1252"), "Windows-1252"
    except UnicodeDecodeError:
        return content.decode("latin-1"), "Latin-1"


def _read_text(path: Path) -> tuple[list[_SheetLine], list[str]]:
    content = path.read_bytes()
    text, encoding = decode(content)
    if not text.strip():
        raise UserError(Problem(str(path), "is empty", "a header line, and a line for each rating"))
    if "\0" in text or content[:4] in (b"PK\x03\x04", b"PAR1"):
        what = "is a workbook under another name" if content[:2] == b"PK" else "is no text"
        raise UserError(Problem(str(path), what, ", ".join(SUFFIXES), "Give it the ending of what it is."))
    notes = [] if encoding == "UTF-8" else [encoding]
    first, _, rest = text.partition("\n")
    skipped = 0
    declared = re.fullmatch(r"\s*sep=(.)\s*", first)
    if declared:
        text, skipped = rest, 1
    separator = declared[1] if declared else _separator(text)
    if separator is None:
        allowed = "comma, semicolon, tab or bar between the cells, and a header line"
        raise UserError(Problem(str(path), "has one column only", allowed))
    if separator != ",":
        notes.append(f"{_SEPARATORS.get(separator, repr(separator))} between the cells")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True)
    lines, before = [], skipped
    for cells in reader:
        # A cell may hold line ends: a row is where it begins.
        lines.append(_SheetLine(before + 1, [cell.strip() for cell in cells]))
        before = reader.line_num + skipped
    return lines, notes


def _separator(text: str) -> str | None:
    """Return which sign cuts the lines into the same number of cells; None where none does."""
    head = "\n".join(text.splitlines()[:_LOOKED_AT])
    best: tuple[float, int] = (0.0, 1)
    found = None
    for sign in _SEPARATORS:
        try:
            rows = [row for row in csv.reader(io.StringIO(head, newline=""), delimiter=sign) if any(row)]
        except csv.Error:
            continue
        sizes = Counter(len(row) for row in rows if len(row) > 1)
        if not sizes:
            continue
        size, often = sizes.most_common(1)[0]
        # The header has names, in which the separator of another table hardly occurs.
        has_header = any(len(row) == size and not any(map(is_number, row)) for row in rows[:10])
        ranked = (round(often / len(rows), 1) + has_header, size)
        if ranked > best:
            best, found = ranked, sign
    return found


# Workbooks and Parquet


def _read_excel(path: Path, sheet: str | None) -> tuple[str, list[_SheetLine]]:
    try:
        from openpyxl import load_workbook
    except ImportError:
        fix = "Install it with `pip install beholder[excel]`, or save the sheet as CSV."
        raise UserError(Problem(str(path), "is a workbook, and needs openpyxl", "", fix)) from None
    import zipfile

    try:
        with zipfile.ZipFile(path) as packed:
            _check_size(path, sum(one.file_size for one in packed.infolist()))
        book = load_workbook(path, read_only=True, data_only=True)
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise UserError(Problem(str(path), f"cannot be read as a workbook: {error}", "an .xlsx file")) from None
    try:
        read = {}
        for one in book.worksheets:
            # A workbook may declare less than it holds, and then only that would be read.
            one.reset_dimensions()
            rows = one.iter_rows(values_only=True)
            lines = [_SheetLine(number, [_cell_text(cell) for cell in row]) for number, row in enumerate(rows, 1)]
            if sum(sum(cell != "" for cell in line.cells) > 1 for line in lines) > 1:
                read[str(one.title)] = lines
    finally:
        book.close()
    names = first_names(list(read), 20)
    if not read:
        raise UserError(Problem(str(path), "has no sheet with a table", "a header line, and a line for each rating"))
    if sheet is not None and sheet not in read:
        raise UserError(Problem("--sheet", f"{sheet!r} is no sheet with a table in {path}", names))
    if sheet is None and len(read) > 1:
        fix = f'Say which: --sheet "{next(iter(read))}".'
        raise UserError(Problem(str(path), f"has {len(read)} sheets with tables: {names}", "one of them", fix))
    name = sheet or next(iter(read))
    return ("" if len(book.sheetnames) == 1 else name), read[name]


def _read_parquet(path: Path) -> list[_SheetLine]:
    try:
        import pyarrow  # noqa: F401
        from pyarrow.parquet import ParquetFile
    except ImportError:
        fix = "Install it with `pip install beholder[parquet]`, or save the table as CSV."
        raise UserError(Problem(str(path), "is Parquet, and needs pyarrow", "", fix)) from None
    try:
        packed = ParquetFile(path).metadata
        _check_size(path, sum(packed.row_group(place).total_byte_size for place in range(packed.num_row_groups)))
        table = pd.read_parquet(path)
    except (OSError, ValueError) as error:
        reason = str(error).strip().splitlines()[0]
        raise UserError(Problem(str(path), f"cannot be read as Parquet: {reason}", "a .parquet file")) from None
    if not isinstance(table.index, pd.RangeIndex):
        table = table.reset_index()
    rows = table.astype(object).where(table.notna(), None).itertuples(index=False)
    lines = [_SheetLine(number, [_cell_text(cell) for cell in row]) for number, row in enumerate(rows, 2)]
    return [_SheetLine(1, [str(name) for name in table.columns]), *lines]


def _cell_text(cell: Any) -> str:
    """Return a cell as it would be written in a text file: a whole number without a point."""
    if cell is None:
        return ""
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < 1e15 else repr(cell)
    return str(cell.item() if hasattr(cell, "item") else cell).strip()


# From lines to a table


def _with_header(path: Path, lines: Sequence[_SheetLine], notes: Iterable[str]) -> Sheet:
    filled = [line for line in lines if any(line.cells)]
    # What stands above the header: a title, who measured when, or a comment.
    start = next((at for at, line in enumerate(filled) if _is_header(line)), None)
    if start is None or start + 1 == len(filled):
        what = "has no ratings below its header" if start is not None else "has no header line with two names or more"
        raise UserError(Problem(str(path), what, "a header line, and a line for each rating"))
    header, body = filled[start], filled[start + 1 :]
    found = list(notes)
    if start:
        found.append(f"the header in line {header.number}")
    names, doubled = _unique_names(header.cells)
    if all(map(is_number, filter(None, header.cells))):
        shown = first_names([cell for cell in header.cells if cell], _SHOWN)
        raise UserError(
            Problem(f"{path}:{header.number}", f"has numbers where the header is: {shown}", "a name for each column")
        )
    long = [line for line in body if any(line.cells[len(names) :])]
    if long:
        raise UserError([_too_long(path, line, len(names)) for line in long[:_MAX_PROBLEMS]])
    rows = [[*line.cells, *[""] * (len(names) - len(line.cells))][: len(names)] for line in body]
    cells = pd.DataFrame(rows, columns=pd.Index(names, dtype=object), dtype=object)
    is_empty = [not name and not cells.iloc[:, at].any() for at, name in enumerate(_stretched(header.cells, names))]
    cells = cells.loc[:, [not one for one in is_empty]]
    if doubled:
        found.append(f"{plain_count(len(doubled), 'name')} twice in the header ({first_names(doubled, _SHOWN)})")
    return Sheet(path, cells, tuple(line.number for line in body), tuple(found))


def _is_header(line: _SheetLine) -> bool:
    return sum(cell != "" for cell in line.cells) > 1 and not line.cells[0].startswith("#")


def _stretched(cells: Sequence[str], names: Sequence[str]) -> list[str]:
    return [*cells, *[""] * (len(names) - len(cells))]


def _unique_names(cells: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the names of the columns, a doubled one with its number behind, and which are doubled."""
    names: list[str] = []
    doubled: list[str] = []
    for at, cell in enumerate(cells, 1):
        name, number = cell or f"column {at}", 2
        if cell and cell in cells[: at - 1] and cell not in doubled:
            doubled.append(cell)
        while name in names:
            name, number = f"{cell} ({number})", number + 1
        names.append(name)
    return names, doubled


def _too_long(path: Path, line: _SheetLine, width: int) -> Problem:
    fix = "Is there a decimal comma or a comma in a name? Put such cells in quotes, or save it with semicolons."
    what = f"has {plain_count(len(line.cells), 'cell')}, and the header {plain_count(width, 'name')}"
    return Problem(f"{path}:{line.number}", what, "as many cells as names", fix)
