"""Writing CSV and JSON files: atomically, the same bytes for the same values, and no cell that a spreadsheet runs.

This is the one place that writes tables for people. A text that a spreadsheet would take for a formula gets an
apostrophe before it, whoever wrote it: a participant, a platform, the name of a file. `unquoted` takes it away again
where we read.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beholder.errors import Problem, UserError

if TYPE_CHECKING:
    from pandas import DataFrame

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_BEGINNING = r"[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]"
"""What spreadsheets read as the beginning of a formula, or skip before one; also in the width of Chinese letters."""
_NUMBER = r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
_RUN = re.compile(rf"(?!{_NUMBER}\Z)'*{_BEGINNING}(?s:.)")
"""A text that is neither a number nor a lone sign, and begins like a formula; or like one that has its apostrophe."""
_QUOTED = re.compile(rf"''*{_BEGINNING}(?s:.)")
_FORMULA = re.compile(rf"\x01'*{_BEGINNING}")
"""In cells that each have \\x01 before them: one that has to be looked at by itself."""
_json = json.JSONEncoder(ensure_ascii=False, sort_keys=True).encode
_UNCHANGED = {int, type(None)}
_TEXT = {str, type(None)}
_REPETITIVE = {float, bool}
STAGING = ".new."
"""Prefix of the folder in which files are written before they are moved to their places."""
ORIGIN = "origin.json"
"""In the folder of a run on other stimuli, or on play money: what it was made of."""
_MANY = 100
"""Cells of a column from which on it is worth while to look for those that are the same."""
_BLOCK = 10_000
"""Lines that are written at a time."""


def table_bytes(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> bytes:
    """Return rows as CSV (UTF-8, commas, `\\n`); None and NaN are empty cells."""
    return b"".join(csv_blocks(columns, ([row.get(column) for column in columns] for row in rows)))


def csv_blocks(columns: Sequence[str], lines: Iterable[Sequence[Any]]) -> Iterator[bytes]:
    """Yield lines with a value for each column as CSV, like `table_bytes`, many at a time."""
    yield csv_block([cells(columns)])
    remaining = iter(lines)
    while block := list(islice(remaining, _BLOCK)):
        yield csv_block(zip(*(cells(column) for column in zip(*block, strict=True)), strict=True))


def text_blocks(columns: Sequence[str], texts: Iterable[str]) -> Iterator[bytes]:
    """Yield lines that are CSV already, below the names of the columns, many at a time."""
    yield csv_block([cells(columns)])
    remaining = iter(texts)
    while block := list(islice(remaining, _BLOCK)):
        yield utf8("".join(block))


def csv_text(values: Sequence[Any], delimiter: str = ",") -> str:
    """Return values as a part of a line of CSV."""
    text = io.StringIO(newline="")
    # The writer puts a cell into quotes for what ends a line only where it writes such an end itself.
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerow(cells(values))
    return text.getvalue()[:-1]


def csv_lines(lines: Iterable[Sequence[Any]], delimiter: str = ",") -> str:
    """Return lines of any length as CSV."""
    return "".join(f"{csv_text(line, delimiter)}\n" for line in lines)


def csv_block(lines: Iterable[Sequence[Any]]) -> bytes:
    """Return lines as CSV whose cells went through `cell` or `cells`."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(lines)
    return utf8(text.getvalue())


def json_bytes(value: Any) -> bytes:
    """Return a value as indented JSON. NaN is not JSON, so it is an error of ours."""
    return utf8(json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def utf8(text: str) -> bytes:
    """Return any text as UTF-8. A lone surrogate, which a browser can send in JSON, becomes U+FFFD."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return _LONE_SURROGATE.sub("\ufffd", text).encode()


def write_table(path: Path, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Write rows as one CSV file."""
    write_atomically(path, table_bytes(columns, rows))


def write_json(path: Path, value: Any) -> None:
    """Write a value as one JSON file."""
    write_atomically(path, json_bytes(value))


def write_all(folder: Path, files: Mapping[str, bytes | Iterable[bytes]], stale: Iterable[str] = ()) -> None:
    """Write all files or, where one cannot be written, leave all unchanged.

    Files named in `stale` that are not written again are deleted.
    """
    with staged(folder, stale) as staging:
        for name, content in files.items():
            with (staging / name).open("wb") as file:
                file.writelines([content] if isinstance(content, bytes) else content)


@contextmanager
def staged(folder: Path, stale: Iterable[str] = ()) -> Iterator[Path]:
    """Yield an empty folder; its files are moved to `folder` at the end, all or none.

    Files named in `stale` that were not written again are deleted.
    """
    with _staging_folder(folder) as staging:
        new, old = Path(staging, "new"), Path(staging, "old")
        new.mkdir()
        old.mkdir()
        yield new
        names = sorted(path.relative_to(new).as_posix() for path in new.rglob("*") if path.is_file())
        deleted = sorted(set(stale).difference(names))
        for name in (*names, *deleted):
            if (folder / name).is_file():
                (old / name).parent.mkdir(exist_ok=True)
                link_or_copy(folder / name, old / name)
        changed: list[str] = []
        try:
            for name in names:
                (folder / name).parent.mkdir(exist_ok=True)
                (new / name).replace(folder / name)
                changed.append(name)
            for name in deleted:
                (folder / name).unlink(missing_ok=True)
                changed.append(name)
        # A table that is open in a spreadsheet cannot be replaced on Windows; the ones before it go back.
        except BaseException:
            for name in changed:
                if (old / name).exists():
                    (old / name).replace(folder / name)
                else:
                    (folder / name).unlink(missing_ok=True)
            raise
        for emptied in {(folder / name).parent for name in deleted if "/" in name}:
            with suppress(OSError):  # where something else is in it, it stays
                emptied.rmdir()


def _staging_folder(folder: Path) -> tempfile.TemporaryDirectory[str]:
    """Return an empty folder within `folder`, which is created if missing."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return tempfile.TemporaryDirectory(dir=folder, prefix=STAGING)
    except OSError as error:
        what = f"cannot be written: {error.strerror}"
        raise UserError(Problem(str(folder), what, "a folder in which you may write")) from None


def link_or_copy(path: Path, other: Path) -> None:
    """Link a file under another name, or copy it where the disk has no hard links."""
    try:
        os.link(path, other)
    except OSError:
        shutil.copy2(path, other)


def write_atomically(path: Path, content: bytes | Iterable[bytes]) -> None:
    """Write a file, whole or in parts, so that a reader sees the old one or the new one, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines((content,) if isinstance(content, bytes) else content)
        # mkstemp makes files for the owner only; these are for colleagues and web servers too.
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def cells(column: Sequence[Any]) -> Sequence[Any]:
    """Return a column for the CSV writer: values that it writes as we do are unchanged, the rest become text."""
    kinds = set(map(type, column))
    if kinds <= _UNCHANGED:
        return column
    if kinds <= _TEXT:
        # One search of a whole column, each text once: almost none has one that needs more.
        text = "\x01".join(("", *filter(None, set(column) if len(column) > _MANY else column)))
        is_plain = "\0" not in text and "\r" not in text and _FORMULA.search(text) is None
        return column if is_plain else [cell(value) for value in column]
    if kinds == {datetime}:
        return list(map(datetime.isoformat, column))
    if len(kinds) == 1 and kinds <= _REPETITIVE:
        known = {value: cell(value) for value in set(column)}
        return [known[value] for value in column]
    return [cell(value) for value in column]


def cell(value: Any) -> str:
    """Return a value as text of a CSV cell, with an apostrophe before what a spreadsheet would run as a formula."""
    text = text_of(value)
    is_text = not isinstance(value, int | float)
    return f"'{text}" if is_text and _RUN.match(text) else text


def text_of(value: Any) -> str:
    """Return a value as text, the same for the same value."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return "" if value != value else number(value)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, list | tuple | dict):
        return _json(value)
    # The writer does not quote a lone carriage return, where every CSV reader would begin a new row; and a zero ends
    # the text for half of all readers.
    return str(value).replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")


def unquoted(text: str) -> str:
    """Return the text of a cell without the apostrophe that kept a spreadsheet from running it."""
    return text[1:] if _QUOTED.match(text) else text


def read_cells(path: Path) -> DataFrame:
    """Return a table of ours in which all cells are text as it was before it was written."""
    import pandas as pd

    table = pd.read_csv(path, dtype=str, keep_default_na=False, na_filter=False, encoding="utf-8-sig")
    for name in table.columns:
        if table[name].str.startswith("'").any():
            table[name] = table[name].map(unquoted)
    return table.rename(columns=unquoted)


def number(value: float) -> str:
    """Return a number with up to ten significant digits and no trailing zeros."""
    text = f"{value:.10g}"
    return "0" if text == "-0" else text


# Files with platform ids: for their owner only, and kept out of Git


def write_private(path: Path, content: bytes, ignored: str = "*\n") -> None:
    """Write a file atomically, for its owner only, into a folder that is kept out of Git."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not (path.parent / ".gitignore").exists():
        (path.parent / ".gitignore").write_text(ignored, "utf-8", newline="\n")
    temporary = path.with_name(f".{path.name}.new")
    temporary.unlink(missing_ok=True)
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
    temporary.replace(path)
