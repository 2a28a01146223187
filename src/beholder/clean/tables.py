"""Writing tables and JSON: whole files or none, the same bytes for the same values."""

from __future__ import annotations

import csv
import io
import json
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any


def write_table(path: Path, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Write rows as CSV (UTF-8, commas, `\\n`); None and NaN are empty cells."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([cell(row.get(column)) for column in columns] for row in rows)
    write_whole(path, text.getvalue().encode())


def write_json(path: Path, value: Any) -> None:
    """Write a value as indented JSON. NaN is not JSON, so it is an error of ours."""
    write_whole(path, (json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode())


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
    return str(value)


def number(value: float) -> str:
    """Return a number with up to ten significant digits and no needless ones."""
    text = f"{value:.10g}"
    return "0" if text == "-0" else text
