"""Sessions in SQLite: arriving, reading their facts, claiming lists and leases."""

from __future__ import annotations

import json
import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from datetime import datetime

from beholder.store.contract import Claim, Events, Session, SessionFacts, StoredVerdict, Table
from beholder.store.rules import outdated_session, population, refused_arrival, unknown_session
from beholder.store.tables import (
    SHAPES,
    Row,
    read_answer,
    read_end,
    read_events,
    read_posed,
    read_session,
    read_told,
    session_row,
    to_iso,
)
from beholder.study.recruitment import NOT_PEOPLE, Mode

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

_EARLIER_VERDICTS = f"""
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
    stored = connection.execute(_FIND, known).fetchone()
    if stored:
        return read_session(stored), False
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
    """Return the runs in which a participant has claimed a list."""
    runs = connection.execute(_RUNS_TAKEN, (participant, population(mode))).fetchall()
    return frozenset(run for (run,) in runs)


def load_facts(connection: sqlite3.Connection, session: str) -> SessionFacts | None:
    """Return the facts of a session; None if it never arrived."""

    def rows(table: Table) -> list[Row]:
        query = f"SELECT {SHAPES[table].quoted} FROM {table} WHERE session = ? ORDER BY rowid"
        return connection.execute(query, (session,)).fetchall()

    sessions = rows("sessions")
    if not sessions:
        return None
    claims, ends = rows("claims"), rows("ends")
    answers = [read_answer(row) for row in rows("answers")]
    return SessionFacts(
        session=read_session(sessions[0]),
        list=claims[0][1] if claims else None,
        claimed_at=datetime.fromisoformat(claims[0][2]) if claims else None,
        answers={answer.key: answer for answer in answers},
        verdicts=_by_key(read_told(row) for row in rows("told")),
        posed={posed.key: posed for posed in map(read_posed, rows("posed"))},
        end=read_end(ends[0]) if ends else None,
        erased=bool(rows("erasures")),
    )


def _by_key(verdicts: Iterable[StoredVerdict]) -> dict[str, StoredVerdict]:
    """Return the first verdict on each step."""
    first: dict[str, StoredVerdict] = {}
    for verdict in verdicts:
        first.setdefault(verdict.key, verdict)
    return first


def load_step_events(connection: sqlite3.Connection, session: str, key: str) -> list[Events]:
    """Return the batches of events of one step, in the order of insertion."""
    query = f"SELECT {SHAPES['events'].quoted} FROM events WHERE session = ? AND key = ? ORDER BY rowid"
    return [read_events(row) for row in connection.execute(query, (session, key)).fetchall()]


def load_earlier_verdicts(connection: sqlite3.Connection, session: str) -> list[tuple[Session, StoredVerdict]]:
    """Return the verdicts on the same participant in other sessions of the same population, oldest first."""
    rows = connection.execute(_EARLIER_VERDICTS, (session,)).fetchall()
    width = len(SHAPES["sessions"].columns)
    return [(read_session(row[:width]), read_told(row[width:])) for row in rows]


def without_erasable(facts: SessionFacts) -> SessionFacts:
    """Return the remaining facts of a session that was erased."""
    session = replace(facts.session, device={})
    return replace(facts, session=session, answers={}, verdicts={}, posed={}, erased=True)


class SessionCache:
    """A cache of current sessions. It is always valid, because no other process writes to an SQLite store."""

    def __init__(self) -> None:
        self._facts: OrderedDict[str, SessionFacts] = OrderedDict()

    def get(self, session: str) -> SessionFacts | None:
        """Return the cached facts of a session."""
        facts = self._facts.get(session)
        if facts is not None:
            self._facts.move_to_end(session)
        return facts

    def put(self, facts: SessionFacts | None) -> None:
        """Cache a session, and drop the least recently used one."""
        if facts is None:
            return
        self._facts[facts.session.session] = facts
        if len(self._facts) > _CACHED:
            self._facts.popitem(last=False)

    def add(self, table: Table, row: Row) -> None:
        """Add a committed row; the first of each key counts."""
        facts = self._facts.get(row[0]) if table != "events" else None
        if facts is None:
            return
        if table == "answers" and row[1] not in facts.answers:
            self._facts[row[0]] = replace(facts, answers={**facts.answers, row[1]: read_answer(row)})
        elif table == "posed" and row[1] not in facts.posed:
            self._facts[row[0]] = replace(facts, posed={**facts.posed, row[1]: read_posed(row)})
        elif table == "told" and row[1] not in facts.verdicts:
            self._facts[row[0]] = replace(facts, verdicts={**facts.verdicts, row[1]: read_told(row)})
        elif table == "ends" and facts.end is None:
            self._facts[row[0]] = replace(facts, end=read_end(row))

    def drop(self, session: str) -> None:
        """Drop a session that was removed."""
        self._facts.pop(session, None)

    def change(self, session: str, update: Callable[[SessionFacts], SessionFacts]) -> None:
        """Apply another committed change."""
        if session in self._facts:
            self._facts[session] = update(self._facts[session])


# Lists and leases

_CURRENT = "SELECT plan_digest FROM studies WHERE digest = (SELECT value FROM meta WHERE name = 'digest')"

_LISTS_TAKEN = f"""
SELECT list FROM sessions JOIN claims USING (session) JOIN studies USING (digest) LEFT JOIN ends USING (session)
WHERE participant = ? AND CASE WHEN mode IN ('robot', 'preview') THEN mode ELSE 'people' END = ? AND run = ?
  AND coalesce(outcome, '') <> 'wrong_device' AND plan_digest = ({_CURRENT})
ORDER BY claims.rowid
"""

_ADD_OCCUPANCY = """
INSERT INTO occupancy (plan_digest, population, list, sessions, expires)
SELECT lists.plan_digest, :population, lists.list, count(session), coalesce(min(until), '9999')
FROM lists LEFT JOIN leases
  ON leases.plan_digest = lists.plan_digest AND leases.population = :population AND leases.list = lists.list
WHERE lists.plan_digest = :plan
GROUP BY lists.list
ON CONFLICT DO NOTHING
"""

_LEASES = "FROM leases WHERE plan_digest = ? AND population = ? AND list = ?"
_DUE = "SELECT plan_digest, population, list FROM occupancy WHERE expires <> '9999' AND expires <= ?"
_EXPIRES = f"""
UPDATE occupancy SET expires = (SELECT coalesce(min(until), '9999') {_LEASES})
WHERE plan_digest = ? AND population = ? AND list = ?
"""

_OPEN = """
FROM occupancy WHERE plan_digest = :plan AND population = :population AND (:per_list IS NULL OR sessions < :per_list)
  AND list NOT IN (SELECT value FROM json_each(:barred))
"""
_EMPTIEST = f"SELECT list, sessions {_OPEN} ORDER BY sessions, list LIMIT 1"
_PREFERRED = f"""
SELECT list {_OPEN} AND list IN (SELECT value FROM json_each(:preferred)) AND sessions = :sessions
ORDER BY list LIMIT 1
"""

_HAS_FREE_LIST = f"""
SELECT EXISTS (
  SELECT 1 FROM occupancy WHERE plan_digest = ({_CURRENT}) AND population = 'people' AND sessions = 0
    AND list NOT IN (SELECT value FROM json_each(:barred))
) OR EXISTS (
  SELECT 1 FROM occupancy WHERE plan_digest = ({_CURRENT}) AND population = 'people'
    AND expires <> '9999' AND expires <= :now AND list NOT IN (SELECT value FROM json_each(:barred))
    AND NOT EXISTS (
      SELECT 1 FROM leases WHERE leases.plan_digest = occupancy.plan_digest AND leases.population = 'people'
        AND leases.list = occupancy.list AND until > :now
    )
)
"""

_RENEW = """
INSERT INTO leases (session, until, plan_digest, population, list)
SELECT session, ?, plan_digest, CASE WHEN mode IN ('robot', 'preview') THEN mode ELSE 'people' END, list
FROM claims JOIN sessions USING (session) JOIN studies USING (digest)
WHERE session = ? AND session NOT IN (SELECT session FROM ends) AND session NOT IN (SELECT session FROM erasures)
ON CONFLICT DO UPDATE SET until = excluded.until
"""


def lists_taken(connection: sqlite3.Connection, participant: str, mode: Mode, run: int) -> tuple[int, ...]:
    """Return the lists of the current plan that a participant has claimed, oldest first."""
    numbers = connection.execute(_LISTS_TAKEN, (participant, population(mode), run)).fetchall()
    return tuple(number for (number,) in numbers)


def has_free_list(connection: sqlite3.Connection, now: datetime, barred: Collection[int]) -> bool:
    """Return whether a list is neither finished nor claimed."""
    values = {"now": to_iso(now), "barred": json.dumps(list(barred))}
    return bool(connection.execute(_HAS_FREE_LIST, values).fetchone()[0])


def claim(connection: sqlite3.Connection, request: Claim) -> tuple[int, datetime] | None:
    """Return the list of a session and when it was claimed, claiming the least-filled list if it has none."""
    session = request.session
    row = connection.execute(
        "SELECT mode, plan_digest, claims.list FROM sessions JOIN studies USING (digest)"
        " LEFT JOIN claims USING (session) WHERE session = ?",
        (session,),
    ).fetchone()
    if row is None:
        raise unknown_session(session)
    mode, plan, claimed = row
    if claimed is None:
        if connection.execute(_CURRENT).fetchone()[0] != plan:
            raise outdated_session()
        _sweep(connection, to_iso(request.now))
        number = _emptiest(connection, plan, population(mode), request)
        if number is None:
            return None
        connection.execute("INSERT INTO claims (session, list, at) VALUES (?, ?, ?)",
                           (session, number, to_iso(request.now)))  # fmt: skip
    renew(connection, session, request.until)
    number, at = connection.execute("SELECT list, at FROM claims WHERE session = ?", (session,)).fetchone()
    return number, datetime.fromisoformat(at)


def _sweep(connection: sqlite3.Connection, now: str) -> None:
    """End the leases that have run out."""
    for place in connection.execute(_DUE, (now,)).fetchall():
        connection.execute(f"DELETE {_LEASES} AND until <= ?", (*place, now))
        connection.execute(_EXPIRES, (*place, *place))


def _emptiest(connection: sqlite3.Connection, plan: str, kind: str, request: Claim) -> int | None:
    """Return the list with the fewest sessions, of equal ones a preferred one, then the lowest number."""
    values = {
        "plan": plan, "population": kind, "per_list": request.per_list, "barred": json.dumps(list(request.barred)),
        "preferred": json.dumps(list(request.preferred)),
    }  # fmt: skip
    found = connection.execute(_EMPTIEST, values).fetchone()
    if found is None:
        known = "SELECT 1 FROM occupancy WHERE plan_digest = ? AND population = ?"
        if not connection.execute(known, (plan, kind)).fetchone():
            add_occupancy(connection, plan, kind)
            found = connection.execute(_EMPTIEST, values).fetchone()
    if found is None:
        return None
    if request.preferred:
        preferred = connection.execute(_PREFERRED, {**values, "sessions": found[1]}).fetchone()
        found = preferred or found
    return int(found[0])


def add_occupancy(connection: sqlite3.Connection, plan: str, kind: str) -> None:
    """Add the missing rows of how many sessions of a population have each list of a plan."""
    connection.execute(_ADD_OCCUPANCY, {"plan": plan, "population": kind})


def renew(connection: sqlite3.Connection, session: str, until: datetime) -> None:
    """Extend the lease of a claimed session."""
    changed = connection.execute(
        _RENEW,
        (to_iso(until), session),
    ).rowcount
    if not changed:
        check_known(connection, session)


def release(connection: sqlite3.Connection, session: str) -> None:
    """End the lease of a session; one that has finished keeps its list."""
    lease = "DELETE FROM leases WHERE session = ? AND session NOT IN (SELECT session FROM ends)"
    if not connection.execute(lease, (session,)).rowcount:
        check_known(connection, session)


def check_known(connection: sqlite3.Connection, session: str) -> None:
    """Raise LookupError unless this session arrived."""
    if not connection.execute("SELECT 1 FROM sessions WHERE session = ?", (session,)).fetchone():
        raise unknown_session(session)
