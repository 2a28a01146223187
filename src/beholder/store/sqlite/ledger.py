"""The ledger of an embedded store: a file of its own, which any process opens for as long as one call takes."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from beholder.errors import StoreError
from beholder.store.contract import Entry
from beholder.store.nameless import NAMING, changes
from beholder.store.rules import held_ledger, repeated_entry
from beholder.store.sqlite.files import LEDGER, away, connect_read, connect_write
from beholder.store.sqlite.lock import Lock
from beholder.store.tables import SHAPES, entry_row, read_entry, to_iso

T = TypeVar("T")
_COLUMNS = SHAPES["ledger"].quoted
_INSERT = f"INSERT INTO ledger ({_COLUMNS}) VALUES ({', '.join('?' * len(SHAPES['ledger'].columns))})"
_SELECT = f"SELECT {_COLUMNS} FROM ledger WHERE entry > ? ORDER BY entry"
_UPDATE = f"UPDATE ledger SET ({', '.join(NAMING)}) = ({', '.join('?' * len(NAMING))}) WHERE entry = ?"


class SqliteLedger:
    """What was done about people and money, beside the facts. It is made by the first entry."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._path = folder, folder / LEDGER

    async def append(self, entries: Sequence[Entry]) -> tuple[Entry, ...]:
        return await self._reach(lambda: self._append(entries))

    async def entries(self, after: int = 0) -> tuple[Entry, ...]:
        return await self._reach(lambda: self._entries(after))

    async def purge_identity(self) -> int:
        return await self._reach(self._purge)

    @asynccontextmanager
    async def hold(self) -> AsyncIterator[None]:
        lock = await asyncio.to_thread(Lock, self._folder, "ledger-lock.sqlite", "sender.json", held_ledger)
        try:
            yield
        finally:
            lock.release()

    async def _reach(self, work: Callable[[], T]) -> T:
        try:
            return await asyncio.to_thread(work)
        except sqlite3.Error as error:
            raise away(error) or error from error

    def _connect(self) -> sqlite3.Connection:
        return connect_write(self._path, "sqlite-ledger", journal="DELETE", timeout=20)

    def _append(self, entries: Sequence[Entry]) -> tuple[Entry, ...]:
        with closing(self._connect()) as connection:
            connection.execute("BEGIN IMMEDIATE")
            numbered = [self._insert(connection, entry) for entry in entries]
            connection.execute("COMMIT")  # closing without it takes everything back
        return tuple(numbered)

    def _insert(self, connection: sqlite3.Connection, entry: Entry) -> Entry:
        _, *values, at = entry_row(entry)
        try:
            cursor = connection.execute(_INSERT, (None, *values, to_iso(at)))
        except sqlite3.IntegrityError as error:
            raise repeated_entry(str(self._folder), entry) from error
        return replace(entry, entry=cursor.lastrowid or 0)

    def _entries(self, after: int) -> tuple[Entry, ...]:
        if not self._path.is_file():
            return ()
        try:
            # To write, although it reads: only so what a process left half done when it died is taken back.
            connection = self._connect()
        except StoreError:
            connection = connect_read(self._path, "sqlite-ledger")
        with closing(connection):
            return tuple(read_entry(row) for row in connection.execute(_SELECT, (after,)))

    def _purge(self) -> int:
        if not self._path.is_file():
            return 0
        with closing(self._connect()) as connection:
            connection.execute("BEGIN IMMEDIATE")
            changed = changes([read_entry(row) for row in connection.execute(_SELECT, (0,))])
            connection.executemany(_UPDATE, changed)
            connection.execute("COMMIT")
        return len(changed)
