"""Sessions in PostgreSQL: arriving, reading their facts, claiming lists and leases."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

import asyncpg

from beholder.store.contract import Answer, Claim, Events, PosedAttempt, Session, SessionFacts, StoredVerdict, Table
from beholder.store.postgresql.connection import LOCK_ARRIVAL, connected, transaction
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
    to_time,
)
from beholder.study.recruitment import NOT_PEOPLE, Mode

_CACHED = 1024

_FIND = f"""
SELECT {SHAPES["sessions"].quoted} FROM sessions
WHERE run = $1 AND mode = $2 AND participant = $3 AND visit = $4 AND digest IN
  (SELECT digest FROM studies WHERE plan_digest = (SELECT plan_digest FROM studies WHERE digest = $5))
"""

_RUNS_TAKEN = """
SELECT DISTINCT run FROM sessions JOIN claims USING (session)
WHERE participant = $1 AND CASE WHEN mode IN ('robot', 'preview') THEN mode ELSE 'people' END = $2
"""

_STATE = f"""
SELECT sessions.session, claims.list, claims.at,
  EXISTS (SELECT 1 FROM erasures WHERE erasures.session = sessions.session),
  ARRAY(SELECT key FROM answers WHERE answers.session = sessions.session ORDER BY n),
  ARRAY(SELECT key FROM told WHERE told.session = sessions.session ORDER BY n),
  ARRAY(SELECT key FROM posed WHERE posed.session = sessions.session ORDER BY n),
  {", ".join(f"ends.{column}" for column in SHAPES["ends"].columns)}
FROM sessions LEFT JOIN claims USING (session) LEFT JOIN ends ON ends.session = sessions.session
WHERE sessions.session = ANY($1::text[])
"""
_SESSIONS = f"SELECT {SHAPES['sessions'].quoted} FROM sessions WHERE session = ANY($1::text[])"
_ANSWERS = f"""
SELECT {SHAPES["answers"].quoted} FROM answers
JOIN unnest($1::text[], $2::text[]) AS wanted (session, key) USING (session, key)
"""
_TOLD = f"""
SELECT {SHAPES["told"].quoted} FROM told
JOIN unnest($1::text[], $2::text[]) AS wanted (session, key) USING (session, key) ORDER BY n
"""
_POSED = f"""
SELECT {SHAPES["posed"].quoted} FROM posed
JOIN unnest($1::text[], $2::text[]) AS wanted (session, key) USING (session, key)
"""
_EARLIER_VERDICTS = f"""
SELECT {", ".join(f'theirs."{column}"' for column in SHAPES["sessions"].columns)},
  {", ".join(f'told."{column}"' for column in SHAPES["told"].columns)}
FROM sessions AS mine
JOIN sessions AS theirs ON theirs.participant = mine.participant AND theirs.session <> mine.session
  AND (theirs.mode = mine.mode OR (theirs.mode NOT IN {NOT_PEOPLE} AND mine.mode NOT IN {NOT_PEOPLE}))
JOIN told ON told.session = theirs.session
WHERE mine.session = $1
ORDER BY told.n
"""


async def arrive(pool: Any, arrivals: Sequence[Session]) -> list[tuple[Session, bool] | Exception]:
    """Return for each the session of the same visit under the same plan, and whether it is new."""
    results: list[tuple[Session, bool] | Exception] = []
    # The lock covers what no unique key can: one visit under two texts of the same plan, at two servers.
    async with transaction(pool, lock=LOCK_ARRIVAL) as connection:
        for session in arrivals:
            row = session_row(session)
            known = await connection.fetchrow(_FIND, session.run, session.mode, row[1], session.visit, session.digest)
            if known:
                results.append((read_session(known), False))
                continue
            try:
                async with connection.transaction():
                    await connection.execute(
                        f"INSERT INTO sessions ({SHAPES['sessions'].quoted}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
                        *row,
                    )
            except asyncpg.IntegrityConstraintViolationError as error:
                is_known = not isinstance(error, asyncpg.ForeignKeyViolationError)
                results.append(refused_arrival(session, study_is_known=is_known))
            else:
                results.append((read_session(row), True))
    return results


async def runs_taken(pool: Any, participant: str, mode: Mode) -> frozenset[int]:
    """Return the runs in which a participant has claimed a list."""
    async with connected(pool) as connection:
        return frozenset(row[0] for row in await connection.fetch(_RUNS_TAKEN, participant, population(mode)))


async def load_step_events(pool: Any, session: str, key: str) -> list[Events]:
    """Return the batches of events of one step, in the order of insertion."""
    query = f"SELECT {SHAPES['events'].quoted} FROM events WHERE session = $1 AND key = $2 ORDER BY n"
    async with connected(pool) as connection:
        return [read_events(tuple(row)) for row in await connection.fetch(query, session, key)]


async def load_earlier_verdicts(pool: Any, session: str) -> list[tuple[Session, StoredVerdict]]:
    """Return the verdicts on the same participant in other sessions of the same population, oldest first."""
    width = len(SHAPES["sessions"].columns)
    async with connected(pool) as connection:
        rows = [tuple(row) for row in await connection.fetch(_EARLIER_VERDICTS, session)]
    return [(read_session(row[:width]), read_told(row[width:])) for row in rows]


class _StoredSession(NamedTuple):
    """The facts of a session that never change, decoded."""

    session: Session
    answers: dict[str, Answer]
    verdicts: dict[str, StoredVerdict]
    posed: dict[str, PosedAttempt]


class SessionReader:
    """Reads the facts of sessions. Stored facts never change, so each is read and decoded once."""

    def __init__(self, pool: Any) -> None:
        self._pool = pool
        self._known: OrderedDict[str, _StoredSession] = OrderedDict()

    async def read(self, sessions: Sequence[str]) -> list[SessionFacts | None]:
        """Return the facts of each session, None for one that never arrived."""
        async with connected(self._pool) as connection:
            states = {row[0]: row for row in await connection.fetch(_STATE, list(set(sessions)))}
            known = await self._load_missing(connection, states)
        for session, one in known.items():
            self._known[session] = one
            self._known.move_to_end(session)
        while len(self._known) > _CACHED:
            self._known.popitem(last=False)
        return [_facts(states[session], known[session]) if session in states else None for session in sessions]

    def add(self, table: Table, row: Row) -> None:
        """Take note of a row that this server has just stored as new, so that it is not read back."""
        known = self._known.get(row[0])
        if known is not None and table == "answers":
            known.answers[row[1]] = read_answer(row)

    async def _load_missing(self, connection: Any, states: dict[str, Any]) -> dict[str, _StoredSession]:
        known = {session: self._known[session] for session in states if session in self._known}
        missing = [session for session in states if session not in known]
        if missing:
            for row in await connection.fetch(_SESSIONS, missing):
                known[row[0]] = _StoredSession(read_session(row), {}, {}, {})
        for row in await _fetch(connection, _ANSWERS, [
            (session, key) for session in states for key in states[session][4] if key not in known[session].answers
        ]):  # fmt: skip
            known[row[0]].answers[row[1]] = read_answer(row)
        for row in await _fetch(connection, _TOLD, [
            (session, key) for session in states for key in states[session][5] if key not in known[session].verdicts
        ]):  # fmt: skip
            known[row[0]].verdicts.setdefault(row[1], read_told(row))
        for row in await _fetch(connection, _POSED, [
            (session, key) for session in states for key in states[session][6] if key not in known[session].posed
        ]):  # fmt: skip
            known[row[0]].posed[row[1]] = read_posed(row)
        return known


async def _fetch(connection: Any, query: str, keys: Sequence[tuple[str, str]]) -> list[Any]:
    return list(await connection.fetch(query, *map(list, zip(*keys, strict=True)))) if keys else []


def _facts(state: Any, known: _StoredSession) -> SessionFacts:
    _, number, claimed_at, erased, keys, verdicts, posed, *end = state
    if erased:
        known.answers.clear()
        known.verdicts.clear()
        known.posed.clear()
    return SessionFacts(
        session=replace(known.session, device={}) if erased else known.session,
        list=number,
        claimed_at=claimed_at,
        # An answer that was erased between two of our queries has a key and nothing else.
        answers={key: known.answers[key] for key in keys if key in known.answers},
        verdicts={key: known.verdicts[key] for key in verdicts if key in known.verdicts},
        posed={key: known.posed[key] for key in posed if key in known.posed},
        end=read_end(end) if end[0] is not None else None,
        erased=erased,
    )


# Lists and leases

_LISTS_TAKEN = """
SELECT list FROM sessions JOIN claims USING (session) JOIN studies USING (digest) LEFT JOIN ends USING (session)
WHERE participant = $1 AND CASE WHEN mode IN ('robot', 'preview') THEN mode ELSE 'people' END = $2 AND run = $3
  AND coalesce(outcome, '') <> 'wrong_device'
  AND plan_digest = (SELECT plan_digest FROM studies WHERE digest = (SELECT value FROM meta WHERE name = 'digest'))
ORDER BY claims.n
"""

_HAS_FREE_LIST = """
WITH plan AS (SELECT plan_digest FROM studies WHERE digest = (SELECT value FROM meta WHERE name = 'digest'))
SELECT EXISTS (
  SELECT 1 FROM occupancy WHERE plan_digest = (TABLE plan) AND population = 'people' AND sessions = 0
    AND NOT list = ANY($2::int[])
) OR EXISTS (
  SELECT 1 FROM occupancy WHERE plan_digest = (TABLE plan) AND population = 'people' AND expires <= $1
    AND expires <> 'infinity'
    AND NOT list = ANY($2::int[]) AND NOT EXISTS (
      SELECT 1 FROM leases WHERE leases.plan_digest = occupancy.plan_digest AND leases.population = 'people'
        AND leases.list = occupancy.list AND until > $1
    )
)
"""

_CLAIM = "SELECT outcome, number FROM claim_lists($1, $2)"
_SWEEP = "SELECT sweep_leases($1)"

_RENEW = """
INSERT INTO leases (session, until, plan_digest, population, list)
SELECT session, wanted.until, plan_digest, CASE WHEN mode IN ('robot', 'preview') THEN mode ELSE 'people' END, list
FROM unnest($1::text[], $2::timestamptz[]) AS wanted (session, until)
JOIN claims USING (session) JOIN sessions USING (session) JOIN studies USING (digest)
WHERE NOT EXISTS (SELECT 1 FROM ends WHERE ends.session = wanted.session)
  AND NOT EXISTS (SELECT 1 FROM erasures WHERE erasures.session = wanted.session)
ON CONFLICT (session) DO UPDATE SET until = excluded.until WHERE leases.until < 'infinity'
"""


async def lists_taken(pool: Any, participant: str, mode: Mode, run: int) -> tuple[int, ...]:
    """Return the lists of the current plan that a participant has claimed, oldest first."""
    async with connected(pool) as connection:
        return tuple(row[0] for row in await connection.fetch(_LISTS_TAKEN, participant, population(mode), run))


async def has_free_list(pool: Any, now: datetime, barred: Collection[int]) -> bool:
    """Return whether a list is neither finished nor claimed."""
    async with connected(pool) as connection:
        return bool(await connection.fetchval(_HAS_FREE_LIST, to_time(now), list(barred)))


async def claim(pool: Any, claims: Sequence[Claim]) -> list[int | Exception | None]:
    """Return the list of each session, claiming the least-filled one where it has none."""
    numbers: list[int | Exception | None] = [None] * len(claims)
    waiting, is_swept = list(range(len(claims))), False
    async with connected(pool) as connection:
        while waiting:
            try:
                rows = await connection.fetch(_CLAIM, _requests([claims[place] for place in waiting]), is_swept)
            except asyncpg.DeadlockDetectedError:
                # Somebody came back to a list at the moment at which another server ended a session of it.
                continue
            expired = [place for place, row in zip(waiting, rows, strict=True) if row[0] == "expired"]
            again = [place for place, row in zip(waiting, rows, strict=True) if row[0] in ("expired", "later")]
            for place, (outcome, number) in zip(waiting, rows, strict=True):
                numbers[place] = _refusal(outcome, claims[place].session) or number
            if expired:
                await connection.execute(_SWEEP, to_time(max(claims[place].now for place in expired)))
                is_swept = True
            waiting = again
    return numbers


def _requests(claims: Sequence[Claim]) -> str:
    return json.dumps([
        {
            "session": each.session, "now": to_time(each.now).isoformat(), "until": to_time(each.until).isoformat(),
            "per_list": each.per_list, "barred": list(each.barred), "preferred": list(each.preferred),
        }
        for each in claims
    ])  # fmt: skip


def _refusal(outcome: str, session: str) -> Exception | None:
    if outcome == "unknown":
        return unknown_session(session)
    return outdated_session() if outcome == "outdated" else None


async def renew(pool: Any, session: str, until: datetime) -> None:
    """Extend the lease of a claimed session."""
    async with connected(pool) as connection:
        status: str = await connection.execute(_RENEW, [session], [to_time(until)])
        await _check_known(connection, session, status)


async def release(pool: Any, session: str) -> None:
    """End the lease of a session; one that has finished keeps its list."""
    async with connected(pool) as connection:
        status: str = await connection.execute("DELETE FROM leases WHERE session = $1 AND until < 'infinity'", session)
        await _check_known(connection, session, status)


async def _check_known(connection: Any, session: str, status: str) -> None:
    if status.endswith(" 0") and not await connection.fetchval("SELECT 1 FROM sessions WHERE session = $1", session):
        raise unknown_session(session)
