"""Writing tables and JSON: whole files or none, the same bytes for the same values."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

from beholder.errors import Problem, UserError

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
# What spreadsheets take for the beginning of a formula, or drop before looking for one.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
_json = json.JSONEncoder(ensure_ascii=False, sort_keys=True).encode
_WRITTEN_AS_IS = {int, type(None)}
_TEXT = {str, type(None)}
_OFTEN_ALIKE = {float, bool}
STAGING = ".new."
"""How the folder begins in which files are written before they stand in their places."""
_BLOCK = 10_000
"""Lines that are written at a time."""


def table_bytes(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> bytes:
    """Return rows as CSV (UTF-8, commas, `\\n`); None and NaN are empty cells."""
    return b"".join(csv_blocks(columns, ([row.get(column) for column in columns] for row in rows)))


def csv_blocks(columns: Sequence[str], lines: Iterable[Sequence[Any]]) -> Iterator[bytes]:
    """Yield lines with a value for each column as CSV, as `table_bytes` does, many at a time."""
    yield _block([columns])
    left = iter(lines)
    while block := list(islice(left, _BLOCK)):
        yield _block(zip(*(cells(column) for column in zip(*block, strict=True)), strict=True))


def text_blocks(columns: Sequence[str], texts: Iterable[str]) -> Iterator[bytes]:
    """Yield lines that are CSV already, below the names of the columns, many at a time."""
    yield _block([columns])
    left = iter(texts)
    while block := list(islice(left, _BLOCK)):
        yield utf8("".join(block))


def csv_text(values: Sequence[Any]) -> str:
    """Return values as a part of a line of CSV."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="").writerow(values)
    return text.getvalue()


def _block(lines: Iterable[Sequence[Any]]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(lines)
    return utf8(text.getvalue())


def json_bytes(value: Any) -> bytes:
    """Return a value as indented JSON. NaN is not JSON, so it is an error of ours."""
    return utf8(json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def utf8(text: str) -> bytes:
    """Return any text as UTF-8. Half a character, which a browser can send inside JSON, becomes U+FFFD."""
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
    """Write files so that all of them are new or, where one cannot be written, all are as they were.

    Files with the names in `stale` that are not among them are gone then.
    """
    with staged(folder, stale) as room:
        for name, content in files.items():
            with (room / name).open("wb") as file:
                file.writelines([content] if isinstance(content, bytes) else content)


@contextmanager
def staged(folder: Path, stale: Iterable[str] = ()) -> Iterator[Path]:
    """Give an empty folder; what is written there stands in `folder` in the end, all of it or nothing.

    Files with the names in `stale` that were not written again are gone then.
    """
    with _room(folder) as place:
        new, old = Path(place, "new"), Path(place, "old")
        new.mkdir()
        old.mkdir()
        yield new
        names = sorted(path.name for path in new.iterdir())
        gone = sorted(set(stale).difference(names))
        for name in (*names, *gone):
            if (folder / name).is_file():
                _keep(folder / name, old / name)
        changed: list[str] = []
        try:
            for name in names:
                (new / name).replace(folder / name)
                changed.append(name)
            for name in gone:
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


def _room(folder: Path) -> tempfile.TemporaryDirectory[str]:
    """Return an empty folder within `folder`, which is made where it is not there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return tempfile.TemporaryDirectory(dir=folder, prefix=STAGING)
    except OSError as error:
        what = f"cannot be written: {error.strerror}"
        raise UserError(Problem(str(folder), what, "a folder in which you may write")) from None


def _keep(path: Path, other: Path) -> None:
    """Give a file a second name, or a copy where the disk knows no second names."""
    try:
        os.link(path, other)
    except OSError:
        shutil.copy2(path, other)


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file so that a reader sees the old one or the new one, never half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        # mkstemp makes files that only the owner may read; these are for colleagues and web servers too.
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def cells(column: Sequence[Any]) -> Sequence[Any]:
    """Return a column as the writer of CSV takes it: what that writes as we do stays as it is, the rest is text."""
    kinds = set(map(type, column))
    if kinds <= _WRITTEN_AS_IS:
        return column
    if kinds <= _TEXT:
        return column if "\r" not in "".join(filter(None, column)) else [cell(value) for value in column]
    if kinds == {datetime}:
        return list(map(datetime.isoformat, column))
    if len(kinds) == 1 and kinds <= _OFTEN_ALIKE:
        known = {value: cell(value) for value in set(column)}
        return [known[value] for value in column]
    return [cell(value) for value in column]


def cell(value: Any) -> str:
    """Return a value as it stands in a CSV file."""
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
    # The writer leaves a lone carriage return bare, and every reader of CSV would begin a new row there.
    return str(value).replace("\r\n", "\n").replace("\r", "\n")


def as_text(value: Any) -> Any:
    """Return what a participant typed, with an apostrophe before anything that a spreadsheet would run as a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def number(value: float) -> str:
    """Return a number with up to ten significant digits and no needless ones."""
    text = f"{value:.10g}"
    return "0" if text == "-0" else text


# --- Files that say who people are on their platform: nobody but their owner reads them, and no repository takes them.


def write_private(path: Path, content: bytes, ignored: str = "*\n") -> None:
    """Write a file for its owner only, at every moment whole or not there, into a folder that is kept out of Git."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not (path.parent / ".gitignore").exists():
        (path.parent / ".gitignore").write_text(ignored, "utf-8", newline="\n")
    aside = path.with_name(f".{path.name}.new")
    aside.unlink(missing_ok=True)
    with os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
    aside.replace(path)
