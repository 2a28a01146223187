"""Forgetting in SQLite: the one way in which facts go."""

from __future__ import annotations

import sqlite3
from datetime import datetime

from beholder.store.rules import unknown_session
from beholder.store.tables import ERASABLE, to_iso


def last_of(connection: sqlite3.Connection, session: str) -> str | None:
    """Return the participant of a session when no other session of theirs is kept, else None."""
    found = connection.execute("SELECT participant FROM sessions WHERE session = ?", (session,)).fetchone()
    if found is None:
        raise unknown_session(session)
    others = connection.execute(
        "SELECT 1 FROM sessions WHERE participant = ? AND session <> ?"
        " AND session NOT IN (SELECT session FROM erasures)",
        (found[0], session),
    ).fetchone()
    return None if others else str(found[0])


def erase(connection: sqlite3.Connection, session: str, at: datetime) -> int:
    """Return how many facts of a session were deleted; a repeat deletes nothing and returns the same."""
    done = connection.execute("SELECT rows FROM erasures WHERE session = ?", (session,)).fetchone()
    if done:
        return int(done[0])
    count = 0
    for table in ERASABLE:
        count += connection.execute(f"SELECT count(*) FROM {table} WHERE session = ?", (session,)).fetchone()[0]
    connection.execute("INSERT INTO erasures (session, rows, at) VALUES (?, ?, ?)", (session, count, to_iso(at)))
    for table in ERASABLE:
        connection.execute(f"DELETE FROM {table} WHERE session = ?", (session,))
    return count
