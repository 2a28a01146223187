"""The study in SQLite: its text, its stimuli, its plan, and how far it is."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from datetime import datetime

from beholder.store.contract import StudyRecord, Table
from beholder.store.rules import Held, check_begin, check_growth
from beholder.store.tables import SHAPES, list_rows, read_record, stimulus_rows, study_row, to_iso

_ELSEWHERE = """
SELECT count(DISTINCT participant) FROM claims JOIN sessions USING (session) JOIN studies USING (digest)
WHERE plan_digest <> ? AND run = ? AND mode NOT IN ('robot', 'preview')
"""

_LISTS = "SELECT list, trials FROM lists WHERE plan_digest = ? ORDER BY list DESC LIMIT 1"

_COUNTS = """
SELECT
  count(*),
  count(CASE WHEN outcome IS NULL AND leases.until > :now THEN 1 END),
  count(CASE WHEN outcome = 'completed' THEN 1 END),
  count(DISTINCT CASE WHEN leases.until = '9999' THEN leases.list END),
  count(CASE WHEN outcome <> 'completed' THEN 1 END),
  coalesce(sum((SELECT count(*) FROM answers WHERE answers.session = sessions.session)), 0),
  (SELECT count(*) FROM lists WHERE plan_digest =
    (SELECT plan_digest FROM studies WHERE digest = (SELECT value FROM meta WHERE name = 'digest')))
FROM sessions LEFT JOIN ends USING (session) LEFT JOIN leases USING (session)
WHERE run = :run AND mode NOT IN ('robot', 'preview')
"""


def select(table: Table, where: str = "") -> str:
    """Return the query for the rows of a table in the order of insertion."""
    return f"SELECT {SHAPES[table].quoted} FROM {table} {where} ORDER BY rowid"


def _insert(table: Table) -> str:
    shape = SHAPES[table]
    return f"INSERT INTO {table} ({shape.quoted}) VALUES ({', '.join('?' * len(shape.columns))})"


def begin(connection: sqlite3.Connection, where: str, record: StudyRecord, run: int) -> None:
    """Write a study text once, its plan once, and make it the current one."""
    first = connection.execute("SELECT study FROM studies LIMIT 1").fetchone()
    same = connection.execute("SELECT plan_digest, software FROM studies WHERE digest = ?", (record.digest,)).fetchone()
    (people,) = connection.execute(_ELSEWHERE, (record.plan_digest, run)).fetchone()
    check_begin(where, record, Held(first and first[0], same and same[0], same and same[1], people))
    if same is None:
        row = study_row(record)
        connection.execute(_insert("studies"), (*row[:-1], to_iso(row[-1])))
        connection.executemany(_insert("stimuli"), stimulus_rows(record))
    there = connection.execute(_LISTS, (record.plan_digest,)).fetchone()
    held, last = there or (0, None)
    check_growth(where, record, held, last)
    connection.executemany(_insert("lists"), list_rows(record)[held:])
    connection.execute("INSERT OR REPLACE INTO meta VALUES ('digest', ?)", (record.digest,))


def current(connection: sqlite3.Connection) -> StudyRecord | None:
    """Return the study text that began last."""
    where = "WHERE digest = (SELECT value FROM meta WHERE name = 'digest')"
    study = connection.execute(select("studies", where)).fetchone()
    if study is None:
        return None
    stimuli = connection.execute(select("stimuli", where)).fetchall()
    lists = connection.execute(select("lists", "WHERE plan_digest = ?"), (study[1],)).fetchall()
    return read_record(study, stimuli, lists)


def counts(connection: sqlite3.Connection, now: datetime, run: int) -> Mapping[str, int]:
    """Return how far the people of a run are."""
    row = connection.execute(_COUNTS, {"now": to_iso(now), "run": run}).fetchone()
    return dict(zip(("arrived", "live", "completed", "finished", "ended", "answers", "lists"), row, strict=True))


def touch(connection: sqlite3.Connection) -> None:
    """Write something that means nothing, to see whether writing works."""
    # Something new each time: SQLite leaves a page alone that would not change.
    connection.execute("INSERT OR REPLACE INTO meta VALUES ('touched', hex(randomblob(8)))")
