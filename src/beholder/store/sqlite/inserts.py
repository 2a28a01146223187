"""Appending rows with few statements."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from functools import cache

from beholder.store.contract import Table
from beholder.store.rules import erased_session, unknown_session
from beholder.store.tables import SHAPES, Row

_SIZES = (64, 32, 16, 8, 4, 2, 1)
"""Few different statements, so that all of them stay prepared; 64 rows stay below 999 parameters."""


@cache
def _insert(table: Table, count: int) -> str:
    shape = SHAPES[table]
    row = f"({', '.join('?' * len(shape.columns))})"
    return f"INSERT INTO {table} ({shape.quoted}) VALUES {', '.join([row] * count)} ON CONFLICT DO NOTHING"


def insert_rows(connection: sqlite3.Connection, rows: Sequence[tuple[Table, Row]]) -> bool:
    """Insert the rows that are new; return whether all of them were."""
    by_table: dict[Table, list[Row]] = {}
    for table, row in rows:
        by_table.setdefault(table, []).append(row)
    inserted = 0
    for table, waiting in by_table.items():
        start = 0
        for size in _SIZES:
            while len(waiting) - start >= size:
                values = [value for row in waiting[start : start + size] for value in row]
                try:
                    inserted += connection.execute(_insert(table, size), values).rowcount
                except sqlite3.IntegrityError as error:
                    raise _meaning(error, waiting[start][0]) from error
                start += size
    return inserted == len(rows)


def _meaning(error: sqlite3.IntegrityError, session: str) -> Exception:
    if error.sqlite_errorcode == sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY:
        return unknown_session(session)
    if error.sqlite_errorcode == sqlite3.SQLITE_CONSTRAINT_TRIGGER:
        return erased_session()
    return error


def stored_at(connection: sqlite3.Connection, row: tuple[Table, Row]) -> str:
    """Return when a fact with the key of this row was stored, as text."""
    table, values = row
    key = SHAPES[table].key
    same = " AND ".join(f'"{column}" = ?' for column in key)
    found: str = connection.execute(f"SELECT at FROM {table} WHERE {same}", values[: len(key)]).fetchone()[0]
    return found
