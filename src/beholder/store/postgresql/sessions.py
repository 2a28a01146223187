"""Sessions in PostgreSQL: arriving, claiming a list, and what is known of each."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, NamedTuple

import asyncpg

from beholder.store.contract import Answer, Posed, Session, SessionFacts, Told
from beholder.store.postgresql.connection import LOCK_ARRIVAL, connected, transaction
from beholder.store.rules import NOT_PEOPLE, population, refused_arrival
from beholder.store.tables import (
    SHAPES,
    read_answer,
    read_end,
    read_posed,
    read_session,
    read_told,
    session_row,
)
from beholder.types import Mode

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
_TOLD_TO = f"""
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
    found: list[tuple[Session, bool] | Exception] = []
    # The lock covers what no key can: one visit under two texts of the same plan, at two servers.
    async with transaction(pool, lock=LOCK_ARRIVAL) as connection:
        for session in arrivals:
            row = session_row(session)
            known = await connection.fetchrow(_FIND, session.run, session.mode, row[1], session.visit, session.digest)
            if known:
                found.append((read_session(known), False))
                continue
            try:
                async with connection.transaction():
                    await connection.execute(
                        f"INSERT INTO sessions ({SHAPES['sessions'].quoted}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
                        *row,
                    )
            except asyncpg.IntegrityConstraintViolationError as error:
                is_known = not isinstance(error, asyncpg.ForeignKeyViolationError)
                found.append(refused_arrival(session, study_is_known=is_known))
            else:
                found.append((read_session(row), True))
    return found


async def runs_taken(pool: Any, participant: str, mode: Mode) -> frozenset[int]:
    """Return the runs in which somebody has claimed a list."""
    async with connected(pool) as connection:
        return frozenset(row[0] for row in await connection.fetch(_RUNS_TAKEN, participant, population(mode)))


async def load_told(pool: Any, session: str) -> list[tuple[Session, Told]]:
    """Return what the same person was told in other sessions of the same population, oldest first."""
    width = len(SHAPES["sessions"].columns)
    async with connected(pool) as connection:
        found = [tuple(row) for row in await connection.fetch(_TOLD_TO, session)]
    return [(read_session(row[:width]), read_told(row[width:])) for row in found]


class _Known(NamedTuple):
    """What never changes once it is stored, decoded."""

    session: Session
    answers: dict[str, Answer]
    told: dict[str, Told]
    posed: dict[str, Posed]


class Reader:
    """Reads what is known of sessions. What is stored never changes, so it is read and decoded once."""

    def __init__(self, pool: Any) -> None:
        self._pool = pool
        self._known: OrderedDict[str, _Known] = OrderedDict()

    async def read(self, sessions: Sequence[str]) -> list[SessionFacts | None]:
        """Return what is stored about each session, None for a stranger."""
        async with connected(self._pool) as connection:
            states = {row[0]: row for row in await connection.fetch(_STATE, list(set(sessions)))}
            known = await self._learn(connection, states)
        for session, one in known.items():
            self._known[session] = one
            self._known.move_to_end(session)
        while len(self._known) > _CACHED:
            self._known.popitem(last=False)
        return [_facts(states[session], known[session]) if session in states else None for session in sessions]

    async def _learn(self, connection: Any, states: dict[str, Any]) -> dict[str, _Known]:
        known = {session: self._known[session] for session in states if session in self._known}
        strange = [session for session in states if session not in known]
        if strange:
            for row in await connection.fetch(_SESSIONS, strange):
                known[row[0]] = _Known(read_session(row), {}, {}, {})
        for row in await _fetch(connection, _ANSWERS, [
            (session, key) for session in states for key in states[session][4] if key not in known[session].answers
        ]):  # fmt: skip
            known[row[0]].answers[row[1]] = read_answer(row)
        for row in await _fetch(connection, _TOLD, [
            (session, key) for session in states for key in states[session][5] if key not in known[session].told
        ]):  # fmt: skip
            known[row[0]].told.setdefault(row[1], read_told(row))
        for row in await _fetch(connection, _POSED, [
            (session, key) for session in states for key in states[session][6] if key not in known[session].posed
        ]):  # fmt: skip
            known[row[0]].posed[row[1]] = read_posed(row)
        return known


async def _fetch(connection: Any, query: str, wanted: Sequence[tuple[str, str]]) -> list[Any]:
    return list(await connection.fetch(query, *map(list, zip(*wanted, strict=True)))) if wanted else []


def _facts(state: Any, known: _Known) -> SessionFacts:
    _, number, claimed_at, erased, keys, told, posed, *end = state
    if erased:
        known.answers.clear()
        known.told.clear()
        known.posed.clear()
    return SessionFacts(
        session=known.session,
        list=number,
        claimed_at=claimed_at,
        # An answer that was erased between two of our questions has a key and nothing else.
        answers={key: known.answers[key] for key in keys if key in known.answers},
        told={key: known.told[key] for key in told if key in known.told},
        posed={key: known.posed[key] for key in posed if key in known.posed},
        end=read_end(end) if end[0] is not None else None,
        erased=erased,
    )
