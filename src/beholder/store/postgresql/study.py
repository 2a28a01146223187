"""The study in PostgreSQL: its text, its stimuli, its plan, how far it is, and forgetting."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from beholder.store.contract import StudyRecord, Table
from beholder.store.postgresql.connection import LOCK_PLAN, set_meta, transaction
from beholder.store.rules import Held, check_begin, check_growth, unknown_session
from beholder.store.tables import (
    ERASABLE,
    SHAPES,
    Row,
    list_rows,
    read_record,
    stimulus_rows,
    study_row,
    to_time,
)  # fmt: skip

_ELSEWHERE = """
SELECT count(DISTINCT participant) FROM claims JOIN sessions USING (session) JOIN studies USING (digest)
WHERE plan_digest <> $1 AND run = $2 AND mode NOT IN ('robot', 'preview')
"""

_LISTS = "SELECT list, trials FROM lists WHERE plan_digest = $1 ORDER BY list DESC LIMIT 1"

_COUNTS = """
SELECT
  count(*) AS arrived,
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
    """Write a study text once, its plan once, and make it the current one. Nobody claims meanwhile."""
    async with transaction(pool, lock=LOCK_PLAN) as connection:
        first = await connection.fetchval("SELECT study FROM studies LIMIT 1")
        same = await connection.fetchrow("SELECT plan_digest, software FROM studies WHERE digest = $1", record.digest)
        people = await connection.fetchval(_ELSEWHERE, record.plan_digest, run)
        check_begin(where, record, Held(first, same and same[0], same and same[1], people))
        if same is None:
            await _copy(connection, "studies", [study_row(record)])
            await _copy(connection, "stimuli", stimulus_rows(record))
        held, last = await connection.fetchrow(_LISTS, record.plan_digest) or (0, None)
        check_growth(where, record, held, last)
        if held < len(record.lists):
            await _copy(connection, "lists", list_rows(record)[held:])
        await set_meta(connection, "digest", record.digest)


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


async def counts(pool: Any, now: datetime, run: int) -> Mapping[str, int]:
    """Return how far the people of a run are."""
    async with transaction(pool) as connection:
        return dict(await connection.fetchrow(_COUNTS, to_time(now), run))


async def erase(pool: Any, session: str, at: datetime) -> int:
    """Return how many facts of a session were deleted; a repeat deletes nothing and returns the same."""
    async with transaction(pool) as connection:
        # Waits for appends that hold the session, and keeps new ones out.
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
        await connection.execute("DELETE FROM identity.comings WHERE session = $1", session)
        await connection.execute(
            "DELETE FROM identity.links WHERE participant = $1 AND NOT EXISTS"
            " (SELECT 1 FROM sessions WHERE participant = $1 AND session NOT IN (SELECT session FROM erasures))",
            participant,
        )
        return count
