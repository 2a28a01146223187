"""Lists in SQLite: who claims which, for how long, and whether there is another one."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection
from datetime import datetime

from beholder.store.contract import Claim
from beholder.store.rules import outdated_session, population, unknown_session
from beholder.store.tables import to_iso
from beholder.types import Mode

_CURRENT = "SELECT plan_digest FROM studies WHERE digest = (SELECT value FROM meta WHERE name = 'digest')"

_LISTS_TAKEN = f"""
SELECT list FROM sessions JOIN claims USING (session) JOIN studies USING (digest) LEFT JOIN ends USING (session)
WHERE participant = ? AND CASE WHEN mode IN ('robot', 'preview') THEN mode ELSE 'people' END = ? AND run = ?
  AND coalesce(outcome, '') <> 'wrong_device' AND plan_digest = ({_CURRENT})
ORDER BY claims.rowid
"""

_CLAIM = """
INSERT INTO claims (session, list, at)
SELECT :session, lists.list, :now
FROM lists
LEFT JOIN (
  SELECT list, count(*) AS sessions FROM leases
  WHERE plan_digest = :plan AND population = :population AND until > :now
  GROUP BY list
) AS filled ON filled.list = lists.list
WHERE lists.plan_digest = :plan AND (:per_list IS NULL OR coalesce(filled.sessions, 0) < :per_list)
  AND lists.list NOT IN (SELECT value FROM json_each(:barred))
ORDER BY coalesce(filled.sessions, 0), lists.list NOT IN (SELECT value FROM json_each(:preferred)), lists.list
LIMIT 1
"""

_FREE = """
INSERT INTO claims (session, list, at)
SELECT :session, lists.list, :now
FROM lists
WHERE lists.plan_digest = :plan AND lists.list NOT IN (SELECT value FROM json_each(:barred)) AND NOT EXISTS (
  SELECT 1 FROM leases
  WHERE leases.plan_digest = :plan AND population = :population AND leases.list = lists.list AND until > :now
) {among}
ORDER BY lists.list
LIMIT 1
"""
_AMONG = ("AND lists.list IN (SELECT value FROM json_each(:preferred))", "")

_ROOM = f"""
SELECT EXISTS (
  SELECT 1 FROM lists WHERE plan_digest = ({_CURRENT}) AND list NOT IN (SELECT value FROM json_each(:barred))
    AND NOT EXISTS (
      SELECT 1 FROM leases WHERE leases.plan_digest = lists.plan_digest AND population = 'people'
        AND leases.list = lists.list AND until > :now
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
    """Return the lists of the current plan that somebody has claimed, oldest first."""
    found = connection.execute(_LISTS_TAKEN, (participant, population(mode), run)).fetchall()
    return tuple(number for (number,) in found)


def has_room(connection: sqlite3.Connection, now: datetime, barred: Collection[int]) -> bool:
    """Return whether a list is neither finished nor taken."""
    values = {"now": to_iso(now), "barred": json.dumps(list(barred))}
    return bool(connection.execute(_ROOM, values).fetchone()[0])


def claim(connection: sqlite3.Connection, wanted: Claim) -> tuple[int, datetime] | None:
    """Return the list of a session and since when it has it, claiming the least-filled list where it has none."""
    session = wanted.session
    found = connection.execute(
        "SELECT mode, plan_digest, claims.list FROM sessions JOIN studies USING (digest)"
        " LEFT JOIN claims USING (session) WHERE session = ?",
        (session,),
    ).fetchone()
    if found is None:
        raise unknown_session(session)
    mode, plan, claimed = found
    if claimed is None:
        if connection.execute(_CURRENT).fetchone()[0] != plan:
            raise outdated_session()
        values = {
            "session": session, "now": to_iso(wanted.now), "plan": plan, "population": population(mode),
            "per_list": wanted.per_list, "barred": json.dumps(list(wanted.barred)),
            "preferred": json.dumps(list(wanted.preferred)),
        }  # fmt: skip
        # One that nobody holds is found without counting what is held of all the others.
        tries = [_FREE.format(among=among) for among in _AMONG] if wanted.per_list == 1 else [_CLAIM]
        if not any(connection.execute(query, values).rowcount for query in tries):
            return None
    renew(connection, session, wanted.until)
    number, at = connection.execute("SELECT list, at FROM claims WHERE session = ?", (session,)).fetchone()
    return number, datetime.fromisoformat(at)


def renew(connection: sqlite3.Connection, session: str, until: datetime) -> None:
    """Let the lease of a claimed session last until then."""
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
