"""The one thread that writes: what waits is committed together, and answered after the commit."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from beholder.store.contract import StoreAway
from beholder.store.sqlite.files import OpenFile, away
from beholder.store.sqlite.inserts import Appended, Rows, append

T = TypeVar("T")
_TOGETHER = 512


@dataclass
class _Request:
    """One thing to commit: either rows to append, or any work on the connection.

    `after` sees the result on the loop's thread, in the order of execution, before anybody waiting for it does.
    """

    future: asyncio.Future[Any]
    after: Callable[[Any], None]
    rows: Rows = ()
    work: Callable[[sqlite3.Connection], Any] | None = None
    wipes: bool = False
    result: Any = None
    error: BaseException | None = field(default=None)


class Writer:
    """Commits requests in groups: while one group syncs, the next one gathers."""

    def __init__(self, connection: sqlite3.Connection, file: OpenFile) -> None:
        self.file = file
        self._connection = connection
        self._loop = asyncio.get_running_loop()
        self._queue: SimpleQueue[_Request | None] = SimpleQueue()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="beholder-store", daemon=True)
        self._thread.start()

    async def do(
        self,
        work: Callable[[sqlite3.Connection], T],
        after: Callable[[T], None] = lambda _: None,
        *,
        wipes: bool = False,
    ) -> T:
        """Return what `work` returns, once it is durable. It may run twice, so it must change nothing else.

        With `wipes`, what it deletes is gone from the disk too: the log in which it was written is emptied.
        """
        request = _Request(self._loop.create_future(), after, work=work, wipes=wipes)
        return await self._submit(request)  # type: ignore[no-any-return]

    async def append(self, rows: Rows, after: Callable[[Appended], None]) -> Appended:
        """Return what became of the rows of one request, once that is durable."""
        return await self._submit(_Request(self._loop.create_future(), after, rows=rows))  # type: ignore[no-any-return]

    async def close(self) -> None:
        """Finish what waits, then let go of the file."""
        if not self._closed:
            self._closed = True
            self._queue.put(None)
        await asyncio.to_thread(self._thread.join)

    def _submit(self, request: _Request) -> asyncio.Future[Any]:
        if self._closed:
            raise StoreAway("the store is closed")
        self._queue.put(request)
        return request.future

    def _run(self) -> None:
        open_ = True
        while open_:
            waiting = [self._queue.get()]
            with suppress(Empty):
                while len(waiting) < _TOGETHER:
                    waiting.append(self._queue.get_nowait())
            open_ = None not in waiting
            group = [request for request in waiting if request is not None]
            if group:
                self._commit(group)
                if any(request.wipes for request in group):
                    with suppress(sqlite3.Error):  # a reader is in the way: the next one, or closing, empties it
                        self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                lost = self.file.lost()
                with suppress(RuntimeError):  # the loop was closed without closing the store
                    self._loop.call_soon_threadsafe(_settle, group, lost)
        self._connection.close()

    def _commit(self, group: list[_Request]) -> None:
        # Appends go first, as few statements: each statement hands the interpreter lock over and back.
        group.sort(key=lambda request: request.work is not None)
        try:
            try:
                self._transact(group, self._together)
            except Exception as error:
                if away(error) is not None:
                    raise
                self._transact(group, self._one_by_one)
        except Exception as error:
            for request in group:
                request.error = away(error) or error

    def _transact(self, group: list[_Request], run: Callable[[list[_Request]], None]) -> None:
        connection = self._connection
        connection.execute("BEGIN IMMEDIATE")
        try:
            run(group)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:  # a full disk has rolled back by itself
                connection.execute("ROLLBACK")
            raise

    def _together(self, group: list[_Request]) -> None:
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
                self._together([request])
            except Exception as error:
                if away(error) is not None:
                    raise
                request.error = error
                self._connection.execute("ROLLBACK TO request")
            self._connection.execute("RELEASE request")


def _settle(group: list[_Request], lost: StoreAway | None) -> None:
    for request in group:
        if request.error is None:
            # Also when the file is lost: what is remembered is what the open file holds, should it come back.
            request.after(request.result)
        if request.future.done():  # whoever asked has gone away; what they asked for is stored all the same
            continue
        error = lost or request.error
        if error is None:
            request.future.set_result(request.result)
        else:
            request.future.set_exception(error)
