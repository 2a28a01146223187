"""The writer thread of an SQLite store: waiting requests are committed as a group, and answered after the commit."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple, TypeAlias, TypeVar

from beholder.store.contract import StoreUnavailable, Table
from beholder.store.rules import erased_session, unknown_session
from beholder.store.sqlite.database_files import OpenFile, unavailable
from beholder.store.tables import SHAPES, Row

# Inserting rows with few statements

Rows: TypeAlias = Sequence[tuple[Table, Row]]
_SIZES = (64, 32, 16, 8, 4, 2, 1)
"""Few different statements, so that all of them stay prepared; 64 rows stay below 999 parameters."""


class AppendedRows(NamedTuple):
    """The result of an append: when its first row was stored, and which rows this request stored."""

    at: str
    rows: Rows


def append(connection: sqlite3.Connection, requests: Sequence[Rows]) -> list[AppendedRows]:
    """Insert the first row of each request, and the others of those whose first row was new."""
    leads = _insert_rows(connection, [rows[0] for rows in requests])
    followers = [row for rows, is_new in zip(requests, leads, strict=True) if is_new for row in rows[1:]]
    followed = iter(_insert_rows(connection, followers))
    return [
        AppendedRows(rows[0][1][-1], [rows[0], *(row for row in rows[1:] if next(followed))])
        if is_new
        else AppendedRows(_stored_at(connection, rows[0]), ())
        for rows, is_new in zip(requests, leads, strict=True)
    ]


@cache
def _insert(table: Table, count: int) -> str:
    shape = SHAPES[table]
    row = f"({', '.join('?' * len(shape.columns))})"
    return f"INSERT INTO {table} ({shape.quoted}) VALUES {', '.join([row] * count)} ON CONFLICT DO NOTHING"


def _insert_rows(connection: sqlite3.Connection, rows: Rows) -> list[bool]:
    """Insert the rows that are new; return for each whether it was."""
    is_new = [True] * len(rows)
    by_table: dict[Table, list[int]] = {}
    for place, (table, _) in enumerate(rows):
        by_table.setdefault(table, []).append(place)
    for table, places in by_table.items():
        start = 0
        for size in _SIZES:
            while len(places) - start >= size:
                chunk = places[start : start + size]
                values = [value for place in chunk for value in rows[place][1]]
                try:
                    cursor = connection.execute(_insert(table, size), values)
                except sqlite3.IntegrityError as error:
                    raise _domain_error(error, values[0]) from error
                if cursor.rowcount < size:
                    new = _last_keys(connection, table, cursor)
                    for place in chunk:
                        key = rows[place][1][: len(SHAPES[table].key)]
                        is_new[place] = key in new
                        new.discard(key)  # of two rows with the same key the first was stored
                start += size
    return is_new


def _last_keys(connection: sqlite3.Connection, table: Table, inserted: sqlite3.Cursor) -> set[Row]:
    """Return the keys of the rows that a statement has just inserted."""
    # Row ids ascend. RETURNING would work as well, but costs every statement a step per row.
    key = ", ".join(f'"{column}"' for column in SHAPES[table].key)
    last, count = inserted.lastrowid, inserted.rowcount
    query = f"SELECT {key} FROM {table} WHERE rowid > ? AND rowid <= ?"
    return set(connection.execute(query, (last - count, last))) if last and count else set()


def _domain_error(error: sqlite3.IntegrityError, session: str) -> Exception:
    if error.sqlite_errorcode == sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY:
        return unknown_session(session)
    if error.sqlite_errorcode == sqlite3.SQLITE_CONSTRAINT_TRIGGER:
        return erased_session()
    return error


def _stored_at(connection: sqlite3.Connection, row: tuple[Table, Row]) -> str:
    """Return when a fact with the key of this row was stored, as text."""
    table, values = row
    key = SHAPES[table].key
    same = " AND ".join(f'"{column}" = ?' for column in key)
    at: str = connection.execute(f"SELECT at FROM {table} WHERE {same}", values[: len(key)]).fetchone()[0]
    return at


# The writer thread

T = TypeVar("T")
_LARGEST_GROUP = 512


@dataclass
class _Request:
    """A request to commit: either rows to append, or any work on the connection.

    `after` gets the result on the loop's thread, in the order of execution, before any waiting coroutine.
    """

    future: asyncio.Future[Any]
    after: Callable[[Any], None]
    rows: Rows = ()
    work: Callable[[sqlite3.Connection], Any] | None = None
    is_alone: bool = False
    result: Any = None
    error: BaseException | None = field(default=None)


class CommitWriter:
    """Commits requests in groups: while one group syncs, the next one collects."""

    def __init__(self, connection: sqlite3.Connection, file: OpenFile) -> None:
        self.file = file
        self._connection = connection
        self._loop = asyncio.get_running_loop()
        self._queue: SimpleQueue[_Request | None] = SimpleQueue()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="beholder-store", daemon=True)
        self._thread.start()

    async def do(self, work: Callable[[sqlite3.Connection], T], after: Callable[[T], None] = lambda _: None) -> T:
        """Return the result of `work` after a durable commit. It may run twice, so it must change nothing else."""
        return await self._submit(_Request(self._loop.create_future(), after, work=work))  # type: ignore[no-any-return]

    async def do_alone(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Return the result of `work`, which runs outside any transaction, while nothing is committed."""
        request = _Request(self._loop.create_future(), lambda _: None, work=work, is_alone=True)
        return await self._submit(request)  # type: ignore[no-any-return]

    async def append(self, rows: Rows, after: Callable[[AppendedRows], None]) -> AppendedRows:
        """Append the rows of one request; return the result after a durable commit."""
        return await self._submit(_Request(self._loop.create_future(), after, rows=rows))  # type: ignore[no-any-return]

    async def close(self) -> None:
        """Finish waiting requests, then close the file."""
        if not self._closed:
            self._closed = True
            self._queue.put(None)
        await asyncio.to_thread(self._thread.join)

    def _submit(self, request: _Request) -> asyncio.Future[Any]:
        if self._closed:
            raise StoreUnavailable("the store is closed")
        self._queue.put(request)
        return request.future

    def _run(self) -> None:
        is_open = True
        while is_open:
            waiting = [self._queue.get()]
            with suppress(Empty):
                while len(waiting) < _LARGEST_GROUP:
                    waiting.append(self._queue.get_nowait())
            is_open = None not in waiting
            group = [request for request in waiting if request is not None and not request.is_alone]
            if group:
                self._commit(group)
                self._reply(group)
            for request in waiting:
                if request is not None and request.is_alone:
                    self._run_alone(request)
                    self._reply([request])
        self._connection.close()

    def _reply(self, group: list[_Request]) -> None:
        lost = self.file.lost()
        with suppress(RuntimeError):  # the loop was closed without closing the store
            self._loop.call_soon_threadsafe(_resolve, group, lost)

    def _run_alone(self, request: _Request) -> None:
        assert request.work is not None
        try:
            request.result = request.work(self._connection)
        except Exception as error:
            request.error = unavailable(error) or error

    def _commit(self, group: list[_Request]) -> None:
        # Appends go first, in few statements: each statement releases and takes the interpreter lock.
        group.sort(key=lambda request: request.work is not None)
        try:
            try:
                self._transact(group, self._run_group)
            except Exception as error:
                if unavailable(error) is not None:
                    raise
                self._transact(group, self._one_by_one)
        except Exception as error:
            for request in group:
                request.error = unavailable(error) or error

    def _transact(self, group: list[_Request], run: Callable[[list[_Request]], None]) -> None:
        connection = self._connection
        connection.execute("BEGIN IMMEDIATE")
        try:
            run(group)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:  # on a full disk SQLite has rolled back already
                connection.execute("ROLLBACK")
            raise

    def _run_group(self, group: list[_Request]) -> None:
        appends = [request for request in group if request.work is None]
        results = append(self._connection, [request.rows for request in appends])
        for request, result in zip(appends, results, strict=True):
            request.result = result
        for request in group[len(appends) :]:
            assert request.work is not None
            request.result = request.work(self._connection)

    def _one_by_one(self, group: list[_Request]) -> None:
        for request in group:
            self._connection.execute("SAVEPOINT request")
            try:
                self._run_group([request])
            except Exception as error:
                if unavailable(error) is not None:
                    raise
                request.error = error
                self._connection.execute("ROLLBACK TO request")
            self._connection.execute("RELEASE request")


def _resolve(group: list[_Request], lost: StoreUnavailable | None) -> None:
    for request in group:
        if request.error is None:
            # Also when the file is lost: the cache reflects the open file, should its path come back.
            request.after(request.result)
        if request.future.done():  # the caller was cancelled; the request is stored all the same
            continue
        error = lost or request.error
        if error is None:
            request.future.set_result(request.result)
        else:
            request.future.set_exception(error)
