"""The study in PostgreSQL: its text, stimuli and plan, counts, erasure, identities, and the ledger."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any

import asyncpg

from beholder.store.contract import (
    LedgerEntry,
    PlatformIdentity,
    PlatformVisit,
    Population,
    Remains,
    Session,
    StudyRecord,
    Table,
)
from beholder.store.postgresql.connection import (
    LOCK_ARRIVAL,
    LOCK_LEDGER,
    LOCK_PLAN,
    LOCK_SENDER,
    LOCK_WIPE,
    connected,
    set_meta,
    transaction,
)
from beholder.store.rules import (
    IDENTIFYING,
    LAST_FACT,
    StoreContents,
    anonymised_values,
    check_begin,
    check_growth,
    ledger_in_use,
    removal_rows,
    repeated_entry,
    unknown_session,
)
from beholder.store.tables import (
    ERASABLE,
    SHAPES,
    Row,
    entry_row,
    list_rows,
    read_entry,
    read_record,
    read_session,
    stimulus_rows,
    study_row,
    to_json,
    to_text,
    to_time,
)
from beholder.study.recruitment import NOT_PEOPLE
from beholder.types import Json

_PEOPLE_IN_OTHER_PLANS = """
SELECT count(DISTINCT participant) FROM claims JOIN sessions USING (session) JOIN studies USING (digest)
WHERE plan_digest <> $1 AND run = $2 AND mode NOT IN ('robot', 'preview')
"""

_LISTS = "SELECT list, trials FROM lists WHERE plan_digest = $1 ORDER BY list DESC LIMIT 1"

_ADD_OCCUPANCY = """
SELECT add_occupancy($1, population)
FROM (SELECT 'people' AS population UNION SELECT population FROM occupancy WHERE plan_digest = $1) AS populations
"""

_COUNTS = """
SELECT
  count(*) + (SELECT coalesce(sum(sessions), 0) FROM removals WHERE run = $2)::bigint AS arrived,
  count(*) FILTER (WHERE outcome IS NULL AND leases.until > $1) AS live,
  count(*) FILTER (WHERE outcome = 'completed') AS completed,
  count(DISTINCT leases.list) FILTER (WHERE leases.until = 'infinity') AS finished,
  count(*) FILTER (WHERE outcome <> 'completed') AS ended,
  coalesce(sum((SELECT count(*) FROM answers WHERE answers.session = sessions.session)), 0)::bigint AS answers,
  (SELECT count(*) FROM lists WHERE plan_digest =
    (SELECT plan_digest FROM studies WHERE digest = (SELECT value FROM meta WHERE name = 'digest'))) AS lists
FROM sessions LEFT JOIN ends USING (session) LEFT JOIN leases USING (session)
WHERE run = $2 AND mode NOT IN ('robot', 'preview')
"""


def select(table: Table, where: str = "") -> str:
    """Return the query for the rows of a table in the order of insertion."""
    return f"SELECT {SHAPES[table].quoted} FROM {table} {where} ORDER BY n"


async def begin(pool: Any, where: str, record: StudyRecord, run: int) -> None:
    """Write a study text once, its plan once, and make it the current one, while no list is claimed."""
    async with transaction(pool, lock=LOCK_PLAN) as connection:
        first = await connection.fetchval("SELECT study FROM studies LIMIT 1")
        same = await connection.fetchrow("SELECT plan_digest, software FROM studies WHERE digest = $1", record.digest)
        people = await connection.fetchval(_PEOPLE_IN_OTHER_PLANS, record.plan_digest, run)
        check_begin(where, record, StoreContents(first, same and same[0], same and same[1], people))
        if same is None:
            await _copy(connection, "studies", [study_row(record)])
            await _copy(connection, "stimuli", stimulus_rows(record))
        held, last = await connection.fetchrow(_LISTS, record.plan_digest) or (0, None)
        check_growth(where, record, held, last)
        if held < len(record.lists):
            await _copy(connection, "lists", list_rows(record)[held:])
            await connection.execute(_ADD_OCCUPANCY, record.plan_digest)
        await set_meta(connection, "digest", record.digest)


_KNOWN = "SELECT 1 FROM occupancy WHERE plan_digest = $1 AND population = $2 LIMIT 1"
_FREE_LISTS = """
INSERT INTO occupancy (plan_digest, population, list, sessions, expires)
SELECT $1, $2, number, 0, 'infinity' FROM generate_series($3::integer, $4::integer) AS number
"""


async def grow(pool: Any, plan: str, held: int, lists: Sequence[Json], population: Population) -> bool:
    """Add lists to a plan of so many for one population; return whether it was of so many."""
    async with transaction(pool, lock=LOCK_PLAN) as connection:
        if await connection.fetchval("SELECT count(*) FROM lists WHERE plan_digest = $1", plan) != held:
            return False
        if await connection.fetchval(_KNOWN, plan, population) is None:
            await connection.execute("SELECT add_occupancy($1, $2)", plan, population)
        await _copy(connection, "lists", [(plan, number, to_json(one)) for number, one in enumerate(lists, held + 1)])
        # Not by `add_occupancy`: it would add the lists of other populations, too.
        await connection.execute(_FREE_LISTS, plan, population, held + 1, held + len(lists))
    return True


async def _copy(connection: Any, table: Table, rows: list[Row]) -> None:
    await connection.copy_records_to_table(table, records=rows, columns=list(SHAPES[table].columns))


async def current(pool: Any) -> StudyRecord | None:
    """Return the study text that began last."""
    async with transaction(pool, isolation="repeatable_read") as connection:
        where = "WHERE digest = (SELECT value FROM meta WHERE name = 'digest')"
        study = await connection.fetchrow(select("studies", where))
        if study is None:
            return None
        stimuli = await connection.fetch(select("stimuli", where))
        lists = await connection.fetch(select("lists", "WHERE plan_digest = $1"), study[1])
    return read_record(study, stimuli, lists)


async def senders(pool: Any, since: datetime) -> frozenset[str]:
    """Return the sessions that have begun, answered or sent events since a moment."""
    parts = (f"SELECT session FROM {table} WHERE at >= $1" for table in ("sessions", "answers", "events"))
    async with transaction(pool) as connection:
        rows = await connection.fetch(" UNION ".join(parts), to_time(since))
    return frozenset(row["session"] for row in rows)


async def counts(pool: Any, now: datetime, run: int) -> Mapping[str, int]:
    """Return the counts of the participants of a run."""
    async with transaction(pool) as connection:
        return dict(await connection.fetchrow(_COUNTS, to_time(now), run))


async def last_fact(pool: Any) -> datetime | None:
    """Return when the last fact about a person was stored."""
    async with connected(pool) as connection:
        last: datetime | None = await connection.fetchval(f"SELECT max(at) FROM ({LAST_FACT}) AS facts")
    return last


async def erase(pool: Any, session: str, at: datetime) -> int:
    """Return how many facts of a session were deleted; a repeat deletes nothing and returns the same."""
    async with transaction(pool) as connection:
        # Waits for appends that hold the session, and blocks new ones.
        held = "SELECT participant FROM sessions WHERE session = $1 FOR UPDATE"
        participant = await connection.fetchval(held, session)
        if participant is None:
            raise unknown_session(session)
        done = await connection.fetchval("SELECT rows FROM erasures WHERE session = $1", session)
        if done is not None:
            return int(done)
        count = 0
        for table in ERASABLE:
            count += await connection.fetchval(f"SELECT count(*) FROM {table} WHERE session = $1", session)
        await connection.execute(
            "INSERT INTO erasures (session, rows, at) VALUES ($1, $2, $3)", session, count, to_time(at)
        )
        for table in ERASABLE:
            await connection.execute(f"DELETE FROM {table} WHERE session = $1", session)
        await connection.execute("UPDATE sessions SET device = '{}' WHERE session = $1", session)
        await note_erasure(connection)
        await connection.execute("DELETE FROM identity.comings WHERE session = $1", session)
        await connection.execute(
            "DELETE FROM identity.links WHERE participant = $1 AND NOT EXISTS"
            " (SELECT 1 FROM sessions WHERE participant = $1 AND session NOT IN (SELECT session FROM erasures))",
            participant,
        )
        return count


# Visits that never went further

_UNANSWERED = f"""
SELECT {SHAPES["sessions"].quoted} FROM sessions WHERE participant IN (
  SELECT participant FROM sessions
  WHERE participant > $2 AND mode NOT IN {NOT_PEOPLE} AND ($4::text[] IS NULL OR participant = ANY($4))
  GROUP BY participant
  HAVING max(at) < $1
    AND count(*) = (SELECT count(*) FROM unanswered WHERE unanswered.participant = sessions.participant)
  ORDER BY participant LIMIT $3
)
ORDER BY participant, visit
"""


async def unanswered(pool: Any, before: datetime, after: str, most: int) -> list[Session]:
    """Return all sessions of people who only arrived, the last time before a moment."""
    async with connected(pool) as connection:
        return [read_session(row) for row in await connection.fetch(_UNANSWERED, to_time(before), after, most, None)]


async def remove_unanswered(pool: Any, participants: Collection[str], before: datetime, at: datetime) -> int:
    """Delete the sessions of those who still only arrived, with their identities; return how many."""
    people = [to_text(one) for one in participants]
    # Nobody arrives, is identified or claims a list meanwhile; appends that hold a session are waited for.
    async with transaction(pool, lock=LOCK_ARRIVAL) as connection:
        await connection.execute("SELECT pg_advisory_xact_lock($1)", LOCK_PLAN)
        held = "SELECT 1 FROM sessions WHERE participant = ANY($1::text[]) ORDER BY session FOR UPDATE"
        await connection.execute(held, people)
        rows = await connection.fetch(_UNANSWERED, to_time(before), "", None, people)
        removed = [read_session(row) for row in rows]
        if not removed:
            return 0
        sessions = [one.session for one in removed]
        for table in (*ERASABLE, "sessions", "identity.comings"):
            await connection.execute(f"DELETE FROM {table} WHERE session = ANY($1::text[])", sessions)
        gone = [one.participant for one in removed]
        await connection.execute("DELETE FROM identity.links WHERE participant = ANY($1::text[])", gone)
        await _copy(connection, "removals", [(*row, to_time(at)) for row in removal_rows(removed)])
        await note_erasure(connection)
        return len(removed)


# Removing the bytes of what was erased

_WIPED = (*ERASABLE, "sessions", "ledger", "meta", "identity.links", "identity.comings")
_LOCK_WAIT_MS = 500
_DUE = "SELECT value FROM meta WHERE name = 'wipe'"
_SIZE = f"SELECT sum(pg_total_relation_size(name::regclass))::bigint FROM unnest(ARRAY{list(_WIPED)}) AS name"
_FOREIGN = f"""
SELECT count(*) FROM unnest(ARRAY{list(_WIPED)}) AS name JOIN pg_class ON pg_class.oid = name::regclass
WHERE NOT pg_has_role(relowner, 'MEMBER')
"""
_READER = """
SELECT pid, application_name FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_xmin IS NOT NULL
  AND age(backend_xmin) >= age($1::text::xid8::xid) ORDER BY age(backend_xmin) DESC LIMIT 1
"""
"""Who still sees what the transaction $1 has deleted: a table is rewritten with rows that anybody may see."""


async def note_erasure(connection: Any) -> None:
    """Note the transaction that deletes rows whose bytes have to go from the files."""
    await set_meta(connection, "wipe", await connection.fetchval("SELECT pg_current_xact_id()::text"))


async def is_wipe_due(pool: Any) -> bool:
    """Return whether bytes of what was erased may still be in the files."""
    async with connected(pool) as connection:
        return await connection.fetchval(_DUE) is not None


async def wipe(pool: Any, largest: int | None = None) -> Remains | None:
    """Rewrite the tables without what was deleted, and return what still holds it up.

    VACUUM alone would free the rows and leave their bytes in the pages until other rows take the place.
    """
    async with connected(pool) as connection:
        due = await connection.fetchval(_DUE)
        if due is None:
            return None
        size = await connection.fetchval(_SIZE)
        if largest is not None and size > largest:
            words = f"the tables ({size / 1e6:.0f} MB) are rewritten without it when nobody is in the study"
            return Remains(words, is_read=False)
        if await connection.fetchval(_FOREIGN):  # PostgreSQL would pass over them without an error
            words = "the tables belong to another role of the database, which has to rewrite them by VACUUM FULL"
            return Remains(words, is_read=False)
        reader = await connection.fetchrow(_READER, due)
        if reader is not None:
            words = f"{reader[1] or 'another program'} (server process {reader[0]}) is reading and still sees it"
            return Remains(words, is_read=True)
        # One server at a time. Whoever waits for the lock of a table makes all others wait behind it, so not for long.
        if not await connection.fetchval("SELECT pg_try_advisory_lock($1)", LOCK_WIPE):
            return Remains("another server is rewriting the tables", is_read=True)
        try:
            await connection.execute(f"SET lock_timeout = {_LOCK_WAIT_MS}")
            for table in _WIPED:
                await connection.execute(f"VACUUM FULL {table}", timeout=3600)
            await connection.execute("DELETE FROM meta WHERE name = 'wipe' AND value = $1", due)
        except asyncpg.LockNotAvailableError:
            return Remains("another program is reading the tables", is_read=True)
        except asyncpg.PostgresConnectionError:
            raise
        except asyncpg.PostgresError as error:  # a full disk among them
            return Remains(f"the tables cannot be rewritten without it ({error.args[0]})", is_read=False)
        finally:
            await connection.execute("RESET lock_timeout")
            await connection.execute("SELECT pg_advisory_unlock($1)", LOCK_WIPE)
    return None


# Identities, in a schema of their own


async def identify(
    pool: Any, identity: PlatformIdentity, visit: PlatformVisit | None, seen: Collection[str] | None
) -> bool:
    """Store an identity and a visit; nothing, and return False, where the visit has led to an unknown session."""
    async with transaction(pool, lock=LOCK_ARRIVAL) as connection:
        if visit is not None and seen is not None:
            query = "SELECT session FROM identity.comings WHERE posting = $1 AND submission = $2"
            known = await connection.fetch(query, visit.posting, visit.submission)
            if {row["session"] for row in known} - {visit.session, *seen}:
                return False
        await connection.execute("INSERT INTO identity.links VALUES ($1, $2, $3) ON CONFLICT DO NOTHING", *identity)
        if visit is not None:
            await connection.execute(
                "INSERT INTO identity.comings (session, posting, submission) VALUES ($1, $2, $3)"
                " ON CONFLICT DO NOTHING",
                *visit,
            )
        return True


async def platform_identities(pool: Any) -> Sequence[PlatformIdentity]:
    """Return all identities."""
    async with connected(pool) as connection:
        return [PlatformIdentity(*row) for row in await connection.fetch("SELECT * FROM identity.links")]


async def platform_visits(pool: Any) -> Sequence[PlatformVisit]:
    """Return which visits led to which sessions, oldest first."""
    query = "SELECT session, posting, submission FROM identity.comings ORDER BY n"
    async with connected(pool) as connection:
        return [PlatformVisit(*row) for row in await connection.fetch(query)]


async def purge_identity(pool: Any, secret: bytes) -> int:
    """Delete all identities and visits, replace the secret, and return the number of participants."""
    async with transaction(pool) as connection:
        await connection.execute("UPDATE meta SET value = $1 WHERE name = 'secret'", secret.hex())
        await connection.execute("DELETE FROM identity.comings")
        await note_erasure(connection)
        return int((await connection.execute("DELETE FROM identity.links")).split()[-1])


# Ledger

_COLUMNS = SHAPES["ledger"].quoted
_PLACES = ", ".join(f"${place}" for place in range(1, len(SHAPES["ledger"].columns) + 1))
_INSERT = f"INSERT INTO ledger ({_COLUMNS}) VALUES ({_PLACES})"
_NEW_VALUES = ", ".join(f"${place}" for place in range(1, len(IDENTIFYING) + 1))
_UPDATE = f"UPDATE ledger SET ({', '.join(IDENTIFYING)}) = ({_NEW_VALUES}) WHERE entry = ${len(IDENTIFYING) + 1}"
_HOLDER = """
SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted AND classid = 0 AND objid = $1
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""


class PostgresqlLedger:
    """The ledger, in the database of the facts."""

    def __init__(self, pool: Any, where: str) -> None:
        self._pool, self._where = pool, where

    async def append(self, entries: Sequence[LedgerEntry]) -> tuple[LedgerEntry, ...]:
        numbered = []
        # One append at a time, so that a reader of a number has seen all lower ones.
        async with transaction(self._pool, lock=LOCK_LEDGER) as connection:
            last = await connection.fetchval("SELECT coalesce(max(entry), 0) FROM ledger")
            for number, entry in enumerate(entries, last + 1):
                numbered.append(replace(entry, entry=number))
                try:
                    await connection.execute(_INSERT, *entry_row(numbered[-1]))
                except asyncpg.UniqueViolationError as error:
                    raise repeated_entry(self._where, entry) from error
        return tuple(numbered)

    async def entries(self, after: int = 0) -> tuple[LedgerEntry, ...]:
        query = f"SELECT {_COLUMNS} FROM ledger WHERE entry > $1 ORDER BY entry"
        async with connected(self._pool) as connection:
            return tuple(read_entry(row) for row in await connection.fetch(query, after))

    async def purge_identity(self) -> int:
        async with transaction(self._pool, lock=LOCK_LEDGER) as connection:
            rows = await connection.fetch(f"SELECT {_COLUMNS} FROM ledger ORDER BY entry")
            changed = anonymised_values([read_entry(row) for row in rows])
            await connection.executemany(_UPDATE, changed)
            if changed:
                await note_erasure(connection)
        return len(changed)

    @asynccontextmanager
    async def hold(self) -> AsyncIterator[None]:
        async with connected(self._pool) as connection:
            if not await connection.fetchval("SELECT pg_try_advisory_lock($1)", LOCK_SENDER):
                holder = await connection.fetchval(_HOLDER, LOCK_SENDER)
                raise ledger_in_use(self._where, f" (server process {holder})" if holder else "")
            try:
                yield
            finally:
                if not connection.is_closed():  # a lost connection has released the lock
                    await connection.execute("SELECT pg_advisory_unlock($1)", LOCK_SENDER)
