"""Writing tables and JSON: whole files or none, the same bytes for the same values."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
# What spreadsheets take for the beginning of a formula, or drop before looking for one.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def table_bytes(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> bytes:
    """Return rows as CSV (UTF-8, commas, `\\n`); None and NaN are empty cells."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([cell(row.get(column)) for column in columns] for row in rows)
    return utf8(text.getvalue())


def json_bytes(value: Any) -> bytes:
    """Return a value as indented JSON. NaN is not JSON, so it is an error of ours."""
    return utf8(json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def utf8(text: str) -> bytes:
    """Return any text as UTF-8. Half a character, which a browser can send inside JSON, becomes U+FFFD."""
    return _LONE_SURROGATE.sub("\ufffd", text).encode()


def write_table(path: Path, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Write rows as one CSV file."""
    write_whole(path, table_bytes(columns, rows))


def write_json(path: Path, value: Any) -> None:
    """Write a value as one JSON file."""
    write_whole(path, json_bytes(value))


def write_together(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files so that all of them are new or, where one cannot be written, all are as they were."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".new.") as room:
        new, old = Path(room, "new"), Path(room, "old")
        new.mkdir()
        old.mkdir()
        for name, content in files.items():
            (new / name).write_bytes(content)
            if (folder / name).is_file():
                shutil.copy2(folder / name, old / name)
        placed: list[str] = []
        try:
            for name in files:
                (new / name).replace(folder / name)
                placed.append(name)
        # A table that is open in a spreadsheet cannot be replaced on Windows; the ones before it go back.
        except BaseException:
            for name in placed:
                if (old / name).exists():
                    (old / name).replace(folder / name)
                else:
                    (folder / name).unlink()
            raise


def write_whole(path: Path, content: bytes) -> None:
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
        return json.dumps(value, ensure_ascii=False, sort_keys=True)
    # The writer leaves a lone carriage return bare, and every reader of CSV would begin a new row there.
    return str(value).replace("\r\n", "\n").replace("\r", "\n")


def as_text(value: Any) -> Any:
    """Return what a participant typed, with an apostrophe before anything that a spreadsheet would run as a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def number(value: float) -> str:
    """Return a number with up to ten significant digits and no needless ones."""
    text = f"{value:.10g}"
    return "0" if text == "-0" else text
