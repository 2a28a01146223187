"""Lists in PostgreSQL: who claims which, for how long, and whether there is another one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import datetime
from heapq import heapify, heapreplace
from typing import Any

from beholder.store.contract import Claim
from beholder.store.postgresql.connection import LOCK_PLAN, connected, transaction
from beholder.store.rules import outdated_session, population, unknown_session
from beholder.store.tables import to_time
from beholder.types import Mode

_CLAIMANTS = """
SELECT session, mode, plan_digest, claims.list,
  plan_digest = (SELECT plan_digest FROM studies WHERE digest = (SELECT value FROM meta WHERE name = 'digest'))
FROM sessions JOIN studies USING (digest) LEFT JOIN claims USING (session) WHERE session = ANY($1::text[])
"""

_LISTS_TAKEN = """
SELECT list FROM sessions JOIN claims USING (session) JOIN studies USING (digest) LEFT JOIN ends USING (session)
WHERE participant = $1 AND CASE WHEN mode IN ('robot', 'preview') THEN mode ELSE 'people' END = $2 AND run = $3
  AND coalesce(outcome, '') <> 'wrong_device'
  AND plan_digest = (SELECT plan_digest FROM studies WHERE digest = (SELECT value FROM meta WHERE name = 'digest'))
ORDER BY claims.n
"""

# Lists are numbered from 1: their own rows hold the trials, and would have to be read.
_FREE = """
SELECT number, 0
FROM generate_series(1, (SELECT max(list) FROM lists WHERE plan_digest = $1)) AS number
WHERE NOT number = ANY($4::int[])
  AND number NOT IN (SELECT list FROM leases WHERE plan_digest = $1 AND population = $2 AND until > $3)
ORDER BY NOT number = ANY($5::int[]), number
LIMIT $6
"""

_EMPTIEST = """
SELECT number, coalesce(sessions, 0)
FROM generate_series(1, (SELECT max(list) FROM lists WHERE plan_digest = $1)) AS number
LEFT JOIN (
  SELECT list, count(*) AS sessions FROM leases
  WHERE plan_digest = $1 AND population = $2 AND until > $3
  GROUP BY list
) AS filled ON filled.list = number
WHERE NOT number = ANY($4::int[]) AND ($7::bigint IS NULL OR coalesce(sessions, 0) < $7)
ORDER BY coalesce(sessions, 0), NOT number = ANY($5::int[]), number
LIMIT $6
"""

_ROOM = """
WITH plan AS (SELECT plan_digest FROM studies WHERE digest = (SELECT value FROM meta WHERE name = 'digest'))
SELECT EXISTS (
  SELECT 1
  FROM (SELECT generate_series(1, (SELECT max(list) FROM lists WHERE plan_digest = (TABLE plan))) AS number) AS planned
  WHERE NOT number = ANY($2::int[]) AND number NOT IN (
    SELECT list FROM leases WHERE plan_digest = (TABLE plan) AND population = 'people' AND until > $1
  )
)
"""

_CLAIM = "INSERT INTO claims (session, list, at) SELECT * FROM unnest($1::text[], $2::int[], $3::timestamptz[])"

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
    """Return the lists of the current plan that somebody has claimed, oldest first."""
    async with connected(pool) as connection:
        return tuple(row[0] for row in await connection.fetch(_LISTS_TAKEN, participant, population(mode), run))


async def has_room(pool: Any, now: datetime, barred: Collection[int]) -> bool:
    """Return whether a list is neither finished nor taken."""
    async with connected(pool) as connection:
        return bool(await connection.fetchval(_ROOM, to_time(now), list(barred)))


async def claim(pool: Any, claims: Sequence[Claim]) -> list[int | Exception | None]:
    """Return for each the list of its session, claiming the least-filled one where it has none."""
    # The lock comes in a statement of its own, so that the claim sees everything that was claimed before.
    async with transaction(pool, lock=LOCK_PLAN) as connection:
        return await _claim(connection, claims)


async def _claim(connection: Any, claims: Sequence[Claim]) -> list[int | Exception | None]:
    known = {row[0]: row[1:] for row in await connection.fetch(_CLAIMANTS, [wanted.session for wanted in claims])}
    found: list[int | Exception | None] = [None] * len(claims)
    alike: dict[tuple[Any, ...], dict[str, list[int]]] = defaultdict(dict)
    for place, wanted in enumerate(claims):
        if wanted.session not in known:
            found[place] = unknown_session(wanted.session)
            continue
        mode, plan, number, is_current = known[wanted.session]
        if number is not None:
            found[place] = number
        elif not is_current:
            found[place] = outdated_session()
        else:
            terms = (plan, population(mode), wanted.per_list, tuple(wanted.barred), tuple(wanted.preferred))
            alike[terms].setdefault(wanted.session, []).append(place)
    for on, places in alike.items():
        first = [claims[each[0]] for each in places.values()]
        for each, number in zip(places.values(), await _take(connection, on, first), strict=True):
            for place in each:
                found[place] = number
    held = {wanted.session: wanted.until for wanted, number in zip(claims, found, strict=True) if type(number) is int}
    if held:
        await connection.execute(_RENEW, list(held), [to_time(until) for until in held.values()])
    return found


async def _take(connection: Any, terms: tuple[Any, ...], claims: Sequence[Claim]) -> list[int | None]:
    """Return a list for each of several who want one on the same terms, as if they came one after the other."""
    plan, people, per_list, barred, preferred = terms
    now = to_time(min(wanted.now for wanted in claims))
    values = (plan, people, now, barred, preferred, len(claims))
    if per_list == 1:
        rows = await connection.fetch(_FREE, *values)
    else:
        # Without statistics, as in a study that has just begun, nested loops look cheap: 85 ms at 10,000 lists.
        await connection.execute("SET LOCAL enable_nestloop = off")
        rows = await connection.fetch(_EMPTIEST, *values, per_list)
        await connection.execute("SET LOCAL enable_nestloop = on")
    # By how filled each is, then in the order in which they were found.
    filled = [(sessions, place, number) for place, (number, sessions) in enumerate(rows)]
    heapify(filled)
    taken: list[int | None] = []
    for _ in claims:
        if not filled or (per_list is not None and filled[0][0] >= per_list):
            taken.append(None)
            continue
        sessions, place, number = filled[0]
        heapreplace(filled, (sessions + 1, place, number))
        taken.append(number)
    new = [(each.session, number, to_time(each.now)) for each, number in zip(claims, taken, strict=True) if number]
    if new:
        await connection.execute(_CLAIM, *map(list, zip(*new, strict=True)))
    return taken


async def renew(pool: Any, session: str, until: datetime) -> None:
    """Let the lease of a claimed session last until then."""
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
