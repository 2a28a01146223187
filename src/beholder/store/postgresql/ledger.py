"""The ledger in PostgreSQL."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import asyncpg

from beholder.store.contract import Entry
from beholder.store.nameless import NAMING, changes
from beholder.store.postgresql.connection import LOCK_LEDGER, LOCK_SENDER, connected, transaction
from beholder.store.rules import held_ledger, repeated_entry
from beholder.store.tables import SHAPES, entry_row, read_entry

_COLUMNS = SHAPES["ledger"].quoted
_PLACES = ", ".join(f"${place}" for place in range(1, len(SHAPES["ledger"].columns) + 1))
_INSERT = f"INSERT INTO ledger ({_COLUMNS}) VALUES ({_PLACES})"
_UPDATE = (
    f"UPDATE ledger SET ({', '.join(NAMING)}) = ({', '.join(f'${place}' for place in range(1, len(NAMING) + 1))})"
    f" WHERE entry = ${len(NAMING) + 1}"
)
_HOLDER = """
SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted AND classid = 0 AND objid = $1
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""


class PostgresqlLedger:
    """What was done about people and money, in the database of the facts."""

    def __init__(self, pool: Any, where: str) -> None:
        self._pool, self._where = pool, where

    async def append(self, entries: Sequence[Entry]) -> tuple[Entry, ...]:
        numbered = []
        # One after the other, so that whoever has read up to a number has missed nothing before it.
        async with transaction(self._pool, lock=LOCK_LEDGER) as connection:
            last = await connection.fetchval("SELECT coalesce(max(entry), 0) FROM ledger")
            for number, entry in enumerate(entries, last + 1):
                numbered.append(replace(entry, entry=number))
                try:
                    await connection.execute(_INSERT, *entry_row(numbered[-1]))
                except asyncpg.UniqueViolationError as error:
                    raise repeated_entry(self._where, entry) from error
        return tuple(numbered)

    async def entries(self, after: int = 0) -> tuple[Entry, ...]:
        query = f"SELECT {_COLUMNS} FROM ledger WHERE entry > $1 ORDER BY entry"
        async with connected(self._pool) as connection:
            return tuple(read_entry(row) for row in await connection.fetch(query, after))

    async def purge_identity(self) -> int:
        async with transaction(self._pool, lock=LOCK_LEDGER) as connection:
            found = await connection.fetch(f"SELECT {_COLUMNS} FROM ledger ORDER BY entry")
            changed = changes([read_entry(row) for row in found])
            await connection.executemany(_UPDATE, changed)
        return len(changed)

    @asynccontextmanager
    async def hold(self) -> AsyncIterator[None]:
        async with connected(self._pool) as connection:
            if not await connection.fetchval("SELECT pg_try_advisory_lock($1)", LOCK_SENDER):
                holder = await connection.fetchval(_HOLDER, LOCK_SENDER)
                raise held_ledger(self._where, f" (server process {holder})" if holder else "")
            try:
                yield
            finally:
                if not connection.is_closed():  # with a lost connection the lock is gone
                    await connection.execute("SELECT pg_advisory_unlock($1)", LOCK_SENDER)
