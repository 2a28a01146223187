"""The servers that share a database: which of them leads, what each tells of itself, and the clock of the database."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import asyncpg

from beholder.store.contract import TASKS, StoreUnavailable, Task
from beholder.store.postgresql.connection import LOCK_LEAD, connected, set_meta, transaction, unavailable_on_failure
from beholder.types import Json

_PATIENCE_S = 5.0
_KEEPALIVE = "SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3"
"""So that the database notices within half a minute when the machine of a leader is gone."""
_NOTE = "server:"
_KEPT = timedelta(hours=1)
"""After so long, what a server that was killed told of itself is deleted."""


class Leadership:
    """The tasks that this process leads, for as long as one connection to the database lives.

    The connection holds an advisory lock for each. Where process, machine or database ends, so do the locks.
    """

    def __init__(self, pool: Any) -> None:
        self._pool = pool
        self._connection: Any = None
        self._held: set[Task] = set()
        self._asking = asyncio.Lock()

    async def lead(self, task: Task) -> bool:
        """Return whether this process leads a task, now that the database was asked; take it if nobody does."""
        async with self._asking:
            try:
                return await self._lead(task)
            except (StoreUnavailable, asyncpg.PostgresError, TimeoutError):
                await self._let_go()
                return False

    async def _lead(self, task: Task) -> bool:
        with unavailable_on_failure():
            if self._connection is None:
                self._connection = await self._pool.acquire(timeout=_PATIENCE_S)
                await self._connection.execute(_KEEPALIVE, timeout=_PATIENCE_S)
            if task in self._held:
                await self._connection.fetchval("SELECT 1", timeout=_PATIENCE_S)
                return True
            query = "SELECT pg_try_advisory_lock($1, $2)"
            if await self._connection.fetchval(query, LOCK_LEAD, TASKS.index(task), timeout=_PATIENCE_S):
                self._held.add(task)
        if not self._held:
            await self._let_go()
        return task in self._held

    async def resign(self) -> None:
        """Lead nothing any more, so that another server can at once."""
        async with self._asking:
            await self._let_go()

    async def _let_go(self) -> None:
        """Give the connection back without its locks; one that is lost has none."""
        connection, self._connection = self._connection, None
        held, self._held = self._held, set()
        if connection is None:
            return
        try:
            for task in held:
                query = "SELECT pg_advisory_unlock($1, $2)"
                await connection.execute(query, LOCK_LEAD, TASKS.index(task), timeout=_PATIENCE_S)
        except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, TimeoutError):
            with contextlib.suppress(asyncpg.InterfaceError):  # the pool has taken it back, because it is lost
                connection.terminate()  # the locks end with it
        finally:
            await self._pool.release(connection)


async def clock(pool: Any) -> datetime:
    """Return what time it is at the database."""
    async with connected(pool) as connection:
        at: datetime = await connection.fetchval("SELECT clock_timestamp()", timeout=_PATIENCE_S)
    return at


async def announce(pool: Any, name: str, about: Mapping[str, Json] | None) -> None:
    """Keep what a server tells of itself, by the clock of the database; None takes it away."""
    async with transaction(pool) as connection:
        now, told = await _told(connection)
        gone = [other for other, one in told.items() if _at(one) < now - _KEPT]
        await connection.execute(
            "DELETE FROM meta WHERE name = ANY($1::text[])", [_NOTE + one for one in (name, *gone)]
        )
        if about is not None:
            await set_meta(connection, _NOTE + name, json.dumps({**about, "at": now.isoformat()}))


async def servers(pool: Any, within: timedelta) -> Mapping[str, Mapping[str, Json]]:
    """Return what the servers tell of themselves that spoke within a time, by their names."""
    async with transaction(pool) as connection:
        now, told = await _told(connection)
    return {name: about for name, about in told.items() if _at(about) >= now - within}


async def _told(connection: Any) -> tuple[datetime, dict[str, dict[str, Json]]]:
    """Return the time at the database, and what all servers told of themselves."""
    now: datetime = await connection.fetchval("SELECT clock_timestamp()")
    rows = await connection.fetch("SELECT name, value FROM meta WHERE name LIKE $1 ORDER BY name", f"{_NOTE}%")
    return now, {row["name"].removeprefix(_NOTE): json.loads(row["value"]) for row in rows}


def _at(about: Mapping[str, Json]) -> datetime:
    return datetime.fromisoformat(str(about["at"]))
