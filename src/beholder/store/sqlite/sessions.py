"""Sessions in SQLite: arriving, claiming a list, and what is known of each."""

from __future__ import annotations

import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime

from beholder.store.contract import Session, SessionFacts, Table, Told
from beholder.store.rules import NOT_PEOPLE, population, refused_arrival
from beholder.store.tables import (
    SHAPES,
    Row,
    read_answer,
    read_end,
    read_posed,
    read_session,
    read_told,
    session_row,
    to_iso,
)  # fmt: skip
from beholder.types import Mode

_CACHED = 1024

_FIND = f"""
SELECT {SHAPES["sessions"].quoted} FROM sessions
WHERE run = ? AND mode = ? AND participant = ? AND visit = ? AND digest IN
  (SELECT digest FROM studies WHERE plan_digest = (SELECT plan_digest FROM studies WHERE digest = ?))
"""

_RUNS_TAKEN = """
SELECT DISTINCT run FROM sessions JOIN claims USING (session)
WHERE participant = ? AND CASE WHEN mode IN ('robot', 'preview') THEN mode ELSE 'people' END = ?
"""

_TOLD_TO = f"""
SELECT {", ".join(f'theirs."{column}"' for column in SHAPES["sessions"].columns)},
  {", ".join(f'told."{column}"' for column in SHAPES["told"].columns)}
FROM sessions AS mine
JOIN sessions AS theirs ON theirs.participant = mine.participant AND theirs.session <> mine.session
  AND (theirs.mode = mine.mode OR (theirs.mode NOT IN {NOT_PEOPLE} AND mine.mode NOT IN {NOT_PEOPLE}))
JOIN told ON told.session = theirs.session
WHERE mine.session = ?
ORDER BY told.rowid
"""


def arrive(connection: sqlite3.Connection, session: Session) -> tuple[Session, bool]:
    """Return the session of the same visit under the same plan, and whether it is new."""
    row = session_row(session)
    known = (session.run, session.mode, row[1], session.visit, session.digest)
    found = connection.execute(_FIND, known).fetchone()
    if found:
        return read_session(found), False
    try:
        connection.execute(
            f"INSERT INTO sessions ({SHAPES['sessions'].quoted}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (*row[:-1], to_iso(session.at)),
        )
    except sqlite3.IntegrityError as error:
        is_known = error.sqlite_errorcode != sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY
        raise refused_arrival(session, study_is_known=is_known) from error
    return read_session(row), True


def runs_taken(connection: sqlite3.Connection, participant: str, mode: Mode) -> frozenset[int]:
    """Return the runs in which somebody has claimed a list."""
    found = connection.execute(_RUNS_TAKEN, (participant, population(mode))).fetchall()
    return frozenset(run for (run,) in found)


def load_facts(connection: sqlite3.Connection, session: str) -> SessionFacts | None:
    """Return what is stored about a session."""

    def rows(table: Table) -> list[Row]:
        query = f"SELECT {SHAPES[table].quoted} FROM {table} WHERE session = ? ORDER BY rowid"
        return connection.execute(query, (session,)).fetchall()

    found = rows("sessions")
    if not found:
        return None
    claims, ends = rows("claims"), rows("ends")
    answers = [read_answer(row) for row in rows("answers")]
    return SessionFacts(
        session=read_session(found[0]),
        list=claims[0][1] if claims else None,
        claimed_at=datetime.fromisoformat(claims[0][2]) if claims else None,
        answers={answer.key: answer for answer in answers},
        told=_by_key(read_told(row) for row in rows("told")),
        posed={posed.key: posed for posed in map(read_posed, rows("posed"))},
        end=read_end(ends[0]) if ends else None,
        erased=bool(rows("erasures")),
    )


def _by_key(told: Iterable[Told]) -> dict[str, Told]:
    """Return what was told about each step; where two checks spoke, what was said first."""
    found: dict[str, Told] = {}
    for one in told:
        found.setdefault(one.key, one)
    return found


def load_told(connection: sqlite3.Connection, session: str) -> list[tuple[Session, Told]]:
    """Return what the same person was told in other sessions of the same population, oldest first."""
    told = connection.execute(_TOLD_TO, (session,)).fetchall()
    width = len(SHAPES["sessions"].columns)
    return [(read_session(row[:width]), read_told(row[width:])) for row in told]


def erased(facts: SessionFacts) -> SessionFacts:
    """Return what is left of a session that was erased."""
    return replace(facts, answers={}, told={}, posed={}, erased=True)


class Cache:
    """The sessions that are under way, as stored. True because nobody else writes to an embedded store."""

    def __init__(self) -> None:
        self._facts: OrderedDict[str, SessionFacts] = OrderedDict()

    def get(self, session: str) -> SessionFacts | None:
        """Return what is known without asking the file."""
        facts = self._facts.get(session)
        if facts is not None:
            self._facts.move_to_end(session)
        return facts

    def put(self, facts: SessionFacts | None) -> None:
        """Remember a session, and forget the one that was quiet for longest."""
        if facts is None:
            return
        self._facts[facts.session.session] = facts
        if len(self._facts) > _CACHED:
            self._facts.popitem(last=False)

    def add(self, table: Table, row: Row) -> None:
        """Take in a row that has been committed; the first of its key counts."""
        facts = self._facts.get(row[0])
        if facts is None:
            return
        if table == "answers" and row[1] not in facts.answers:
            self._facts[row[0]] = replace(facts, answers={**facts.answers, row[1]: read_answer(row)})
        elif table == "posed" and row[1] not in facts.posed:
            self._facts[row[0]] = replace(facts, posed={**facts.posed, row[1]: read_posed(row)})
        elif table == "told" and row[1] not in facts.told:
            self._facts[row[0]] = replace(facts, told={**facts.told, row[1]: read_told(row)})
        elif table == "ends" and facts.end is None:
            self._facts[row[0]] = replace(facts, end=read_end(row))

    def change(self, session: str, how: Callable[[SessionFacts], SessionFacts]) -> None:
        """Take in another change that has been committed."""
        if session in self._facts:
            self._facts[session] = how(self._facts[session])
