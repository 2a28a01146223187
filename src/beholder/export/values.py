"""Values as their column's kind has them, the same in CSV and in Parquet; what is missing is None."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from beholder.clean.tables import cell, utf8
from beholder.export.columns import Kind
from beholder.store.tables import to_iso, to_time

_TEXT = {str, type(None)}


def of_kind(kind: Kind, values: Sequence[Any]) -> list[Any]:
    """Return a column of values as text, whole numbers, numbers, truth values or UTC times."""
    return _KINDS[kind](values)


def _texts(values: Sequence[Any]) -> list[str | None]:
    if set(map(type, values)) <= _TEXT:
        joined = "".join(filter(None, values))
        if joined.isascii() and "\r" not in joined and "\0" not in joined:
            return [value or None for value in values]
    return [_text(value) for value in values]


def _text(value: Any) -> str | None:
    """Return a value as text that every file and reader takes; JSON where it is a list or a map."""
    text = cell(value)
    if not text.isascii() or "\0" in text:
        text = utf8(text.replace("\0", "\ufffd")).decode()
    return text or None


def _integers(values: Sequence[Any]) -> list[int | None]:
    return [None if value is None else int(value) for value in values]


def _numbers(values: Sequence[Any]) -> list[float | None]:
    return [None if value is None or value != value else float(value) for value in values]


def _times(values: Sequence[datetime | None]) -> list[datetime | None]:
    known = {value: None if value is None else to_time(value) for value in set(values)}  # many are the same
    return [known[value] for value in values]


_KINDS: Mapping[Kind, Callable[[Sequence[Any]], list[Any]]] = {
    "text": _texts,
    "integer": _integers,
    "number": _numbers,
    "boolean": list,
    "time": _times,
}


def as_cells(kind: Kind, values: Sequence[Any]) -> Sequence[Any]:
    """Return a column of such values as the writer of CSV takes it."""
    if kind in ("text", "integer"):
        return values
    known = {value: to_iso(value) if isinstance(value, datetime) else cell(value) for value in set(values)}
    return [known[value] for value in values]
