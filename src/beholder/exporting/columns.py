"""Export tables: columns with their kinds and descriptions, keys and foreign keys; and the conversion of values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from beholder.columns import Column, Kind
from beholder.files import cell, cells, text_of, utf8
from beholder.store.tables import to_iso, to_time


class ForeignKey(NamedTuple):
    """Columns whose values are in columns of another table."""

    columns: tuple[str, ...]
    table: str
    others: tuple[str, ...]


@dataclass(frozen=True)
class ExportTable:
    """A table of the export; `text` says what a row is."""

    name: str
    text: str
    columns: tuple[Column, ...]
    key: tuple[str, ...] = ()
    links: tuple[ForeignKey, ...] = ()


@dataclass(frozen=True)
class TableRows:
    """A table with its rows, which are read once."""

    table: ExportTable
    rows: Iterable[Mapping[str, Any]]


KEY = Column("key", "text", "The step that was answered: consent, trial:7, check:colour:2 (attempt), and the like.")
POSITION = Column("position", "integer", "Of a trial: its place in the list, from 1.")

OF_SESSION = ForeignKey(("session",), "sessions", ("session",))
OF_PARTICIPANT = ForeignKey(("participant",), "participants", ("participant",))
OF_TEXT = ForeignKey(("digest",), "studies", ("digest",))
OF_STIMULUS = ForeignKey(("digest", "stimulus"), "stimuli", ("digest", "stimulus"))


def factor_columns(names: Iterable[str]) -> tuple[Column, ...]:
    """Return a column for each further column of the manifest."""
    return tuple(Column(f"factor_{name}", "text", f"{name}, as the manifest or the design has it.") for name in names)


# Values


_TEXT = {str, type(None)}


def convert(kind: Kind, values: Sequence[Any]) -> list[Any]:
    """Return a column of values as text, whole numbers, numbers, booleans or UTC times; missing values are None."""
    return _KINDS[kind](values)


def _texts(values: Sequence[Any]) -> list[str | None]:
    if set(map(type, values)) <= _TEXT:
        joined = "".join(filter(None, values))
        if joined.isascii() and "\r" not in joined and "\0" not in joined:
            return [value or None for value in values]
    return [_text(value) for value in values]


def _text(value: Any) -> str | None:
    """Return a value as text that every file and reader accepts; lists and maps as JSON."""
    text = text_of(value)
    if not text.isascii():
        text = utf8(text).decode()
    return text or None


def _integers(values: Sequence[Any]) -> list[int | None]:
    return [None if value is None else int(value) for value in values]


def _numbers(values: Sequence[Any]) -> list[float | None]:
    return [None if value is None or value != value else float(value) for value in values]


def _times(values: Sequence[datetime | None]) -> list[datetime | None]:
    known = {value: None if value is None else to_time(value) for value in set(values)}  # many are equal
    return [known[value] for value in values]


_KINDS: Mapping[Kind, Callable[[Sequence[Any]], list[Any]]] = {
    "text": _texts,
    "integer": _integers,
    "number": _numbers,
    "boolean": list,
    "time": _times,
}


def as_cells(kind: Kind, values: Sequence[Any]) -> Sequence[Any]:
    """Return a column of converted values for the CSV writer."""
    if kind in ("text", "integer"):
        return cells(values)
    known = {value: to_iso(value) if isinstance(value, datetime) else cell(value) for value in set(values)}
    return [known[value] for value in values]
