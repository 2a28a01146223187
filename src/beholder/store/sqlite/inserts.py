"""Appending rows with few statements."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple, TypeAlias

from beholder.store.contract import Table
from beholder.store.rules import erased_session, unknown_session
from beholder.store.tables import SHAPES, Row

Rows: TypeAlias = Sequence[tuple[Table, Row]]
_SIZES = (64, 32, 16, 8, 4, 2, 1)
"""Few different statements, so that all of them stay prepared; 64 rows stay below 999 parameters."""


class Appended(NamedTuple):
    """What became of a request: when its first row was first stored, and which of its rows it stored."""

    at: str
    rows: Rows


def append(connection: sqlite3.Connection, requests: Sequence[Rows]) -> list[Appended]:
    """Insert the first row of each request, and the others of those whose first row was new."""
    leads = _insert_rows(connection, [rows[0] for rows in requests])
    followers = [row for rows, is_new in zip(requests, leads, strict=True) if is_new for row in rows[1:]]
    followed = iter(_insert_rows(connection, followers))
    return [
        Appended(rows[0][1][-1], [rows[0], *(row for row in rows[1:] if next(followed))])
        if is_new
        else Appended(_stored_at(connection, rows[0]), ())
        for rows, is_new in zip(requests, leads, strict=True)
    ]


@cache
def _insert(table: Table, count: int) -> str:
    shape = SHAPES[table]
    row = f"({', '.join('?' * len(shape.columns))})"
    return f"INSERT INTO {table} ({shape.quoted}) VALUES {', '.join([row] * count)} ON CONFLICT DO NOTHING"


def _insert_rows(connection: sqlite3.Connection, rows: Rows) -> list[bool]:
    """Insert the rows that are new; return for each whether it was."""
    is_new = [True] * len(rows)
    by_table: dict[Table, list[int]] = {}
    for place, (table, _) in enumerate(rows):
        by_table.setdefault(table, []).append(place)
    for table, places in by_table.items():
        start = 0
        for size in _SIZES:
            while len(places) - start >= size:
                chunk = places[start : start + size]
                values = [value for place in chunk for value in rows[place][1]]
                try:
                    cursor = connection.execute(_insert(table, size), values)
                except sqlite3.IntegrityError as error:
                    raise _meaning(error, values[0]) from error
                if cursor.rowcount < size:
                    new = _last_keys(connection, table, cursor)
                    for place in chunk:
                        key = rows[place][1][: len(SHAPES[table].key)]
                        is_new[place] = key in new
                        new.discard(key)  # of two with the same key the first was stored
                start += size
    return is_new


def _last_keys(connection: sqlite3.Connection, table: Table, inserted: sqlite3.Cursor) -> set[Row]:
    """Return the keys of the rows that a statement has just inserted."""
    # Rows get ascending numbers. RETURNING would tell as well, but costs every statement a step per row.
    key = ", ".join(f'"{column}"' for column in SHAPES[table].key)
    last, count = inserted.lastrowid, inserted.rowcount
    query = f"SELECT {key} FROM {table} WHERE rowid > ? AND rowid <= ?"
    return set(connection.execute(query, (last - count, last))) if last and count else set()


def _meaning(error: sqlite3.IntegrityError, session: str) -> Exception:
    if error.sqlite_errorcode == sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY:
        return unknown_session(session)
    if error.sqlite_errorcode == sqlite3.SQLITE_CONSTRAINT_TRIGGER:
        return erased_session()
    return error


def _stored_at(connection: sqlite3.Connection, row: tuple[Table, Row]) -> str:
    """Return when a fact with the key of this row was stored, as text."""
    table, values = row
    key = SHAPES[table].key
    same = " AND ".join(f'"{column}" = ?' for column in key)
    found: str = connection.execute(f"SELECT at FROM {table} WHERE {same}", values[: len(key)]).fetchone()[0]
    return found
