"""Numbered migrations: what `schema/<database>/0001.sql` and its followers hold, and which of them are due."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import NamedTuple

from beholder.errors import Problem, StoreError


class Migration(NamedTuple):
    """One step of the schema."""

    number: int
    sql: str


def migrations(folder: str | Traversable) -> tuple[Migration, ...]:
    """Return the migrations of a folder, in order; a name means a folder of this package."""
    place = files("beholder.store").joinpath("schema", folder) if isinstance(folder, str) else folder
    named = sorted((item.name, item) for item in place.iterdir() if item.name.endswith(".sql"))
    found = tuple(Migration(int(name.removesuffix(".sql")), item.read_text("utf-8")) for name, item in named)
    if [step.number for step in found] != list(range(1, len(found) + 1)):
        raise ValueError(f"migrations must be numbered 1, 2, 3: {[name for name, _ in named]}")
    return found


def due(where: str, version: int, steps: Sequence[Migration]) -> tuple[Migration, ...]:
    """Return the steps after this version; a version that is newer than ours raises StoreError."""
    if version > len(steps):
        raise StoreError(
            Problem(
                where,
                f"was written by a newer Beholder (schema {version}, this one knows {len(steps)})",
                fix="Update Beholder: pip install --upgrade beholder.",
            )
        )
    return tuple(steps[version:])


def check_current(where: str, version: int, steps: Sequence[Migration], oldest: int | None = None) -> None:
    """Raise StoreError unless a store can be read as it is: an older one can where `oldest` says so."""
    if due(where, version, steps) and (oldest is None or version < oldest):
        raise StoreError(
            Problem(
                where,
                f"was written by an older Beholder (schema {version}, this one reads {len(steps)})",
                fix="Run `beholder serve` once: it brings the store up to date.",
            )
        )


def statements(script: str) -> Iterator[str]:
    """Yield the statements of an SQLite script: `executescript` would commit before it begins."""
    waiting = ""
    for line in script.splitlines(keepends=True):
        waiting += line
        if sqlite3.complete_statement(waiting):
            yield waiting
            waiting = ""
    if any(line.strip() and not line.startswith("--") for line in waiting.splitlines()):
        raise ValueError(f"unfinished statement: {waiting.strip()}")
