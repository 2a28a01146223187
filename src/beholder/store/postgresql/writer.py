"""Batched writes to PostgreSQL: the facts of many requests in one transaction."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from functools import cache
from typing import Any, Generic, TypeAlias, TypeVar

import asyncpg

from beholder.store.contract import AppendResult, Table
from beholder.store.postgresql.connection import transaction
from beholder.store.rules import erased_session, unknown_session
from beholder.store.tables import ERASABLE, SHAPES, Row

Rows: TypeAlias = Sequence[tuple[Table, Row]]
_TYPES = {"text": "text", "json": "text", "time": "timestamptz", "int": "bigint", "real": "double precision"}

# Holding each session blocks an erasure until we have committed, and waits for an earlier one, which only a later
# statement can see.
_HOLD = "SELECT session FROM sessions WHERE session = ANY($1::text[]) ORDER BY session FOR KEY SHARE"
_ERASED = "SELECT session FROM erasures WHERE session = ANY($1::text[])"


def _arrays(table: Table, columns: Sequence[str]) -> str:
    shape = SHAPES[table]
    kinds = dict(zip(shape.columns, shape.kinds, strict=True))
    return ", ".join(f"${place}::{_TYPES[kinds[column]]}[]" for place, column in enumerate(columns, start=1))


def _key(table: Table) -> str:
    return ", ".join(f'"{column}"' for column in SHAPES[table].key)


@cache
def _insert(table: Table) -> str:
    quoted, key = SHAPES[table].quoted, _key(table)
    return (
        f"INSERT INTO {table} ({quoted}) SELECT {quoted}"
        f" FROM unnest({_arrays(table, SHAPES[table].columns)}) WITH ORDINALITY AS rows ({quoted}, place)"
        f" ORDER BY place ON CONFLICT DO NOTHING RETURNING {key}"
    )


@cache
def _select_at(table: Table) -> str:
    key = _key(table)
    return (
        f"SELECT at FROM unnest({_arrays(table, SHAPES[table].key)}) WITH ORDINALITY AS keys ({key}, place)"
        f" JOIN {table} USING ({key}) ORDER BY place"
    )


async def append(pool: Any, requests: Sequence[Rows]) -> list[AppendResult | Exception]:
    """Return for each request the result of its append, or why nothing of it was stored."""
    for _ in range(3):
        try:
            return await _append(pool, requests)
        except asyncpg.DeadlockDetectedError:
            # Two servers stored the same facts of several sessions in different orders; the other one has stored them.
            continue
        except asyncpg.PostgresError as error:
            if len(requests) == 1:
                return [error]
            break
    return [(await append(pool, [request]))[0] for request in requests]


async def _append(pool: Any, requests: Sequence[Rows]) -> list[AppendResult | Exception]:
    async with transaction(pool) as connection:
        named = sorted({row[0] for request in requests for _, row in request})
        known = {row[0] for row in await connection.fetch(_HOLD, named)}
        erased = {row[0] for row in await connection.fetch(_ERASED, named)}
        refusals = [_refusal(request, known, erased) for request in requests]
        taken = [request for request, refusal in zip(requests, refusals, strict=True) if refusal is None]
        stored = iter(await _store(connection, taken))
        return [refusal or next(stored) for refusal in refusals]


def _refusal(request: Rows, known: set[str], erased: set[str]) -> Exception | None:
    for table, row in request:
        if row[0] not in known:
            return unknown_session(row[0])
        if row[0] in erased and table in ERASABLE:
            return erased_session()
    return None


async def _store(connection: Any, requests: Sequence[Rows]) -> list[AppendResult]:
    """Insert the first row of each request, and the others of those whose first row was new."""
    leads = [request[0] for request in requests]
    is_new = await _insert_rows(connection, leads)
    await _insert_rows(
        connection, [row for request, new in zip(requests, is_new, strict=True) if new for row in request[1:]]
    )
    repeated = iter(await _stored_at(connection, [row for row, new in zip(leads, is_new, strict=True) if not new]))
    return [AppendResult(row[1][-1] if new else next(repeated), new) for row, new in zip(leads, is_new, strict=True)]


async def _insert_rows(connection: Any, rows: Rows) -> list[bool]:
    """Insert the rows that are new; return for each whether it was."""
    is_new = [False] * len(rows)
    for table, places in _by_table(rows):
        columns = zip(*(rows[place][1] for place in places), strict=True)
        new = {tuple(key) for key in await connection.fetch(_insert(table), *map(list, columns))}
        for place in places:
            key = rows[place][1][: len(SHAPES[table].key)]
            is_new[place] = key in new
            new.discard(key)  # of two rows with the same key the first was stored
    return is_new


async def _stored_at(connection: Any, rows: Rows) -> list[datetime]:
    """Return for each row when the fact with its key was stored."""
    stored_at: dict[int, datetime] = {}
    for table, places in _by_table(rows):
        keys = zip(*(rows[place][1][: len(SHAPES[table].key)] for place in places), strict=True)
        times = await connection.fetch(_select_at(table), *map(list, keys))
        stored_at |= {place: at for place, (at,) in zip(places, times, strict=True)}
    return [stored_at[place] for place in range(len(rows))]


def _by_table(rows: Rows) -> list[tuple[Table, list[int]]]:
    """Return the places of the rows of each table; always in one order, which keeps deadlocks rare."""
    places: dict[Table, list[int]] = {}
    for place, (table, _) in enumerate(rows):
        places.setdefault(table, []).append(place)
    return sorted(places.items())


# Batches

Q = TypeVar("Q")
R = TypeVar("R")
_LARGEST = 256


class Batcher(Generic[Q, R]):
    """Turns single requests into batches, a few of them at a time.

    `run` answers every request of a batch with a result or an exception of its own; raising fails the whole batch.
    """

    def __init__(self, run: Callable[[Sequence[Q]], Awaitable[Sequence[R | Exception]]], *, at_once: int = 1) -> None:
        self._run, self._at_once = run, at_once
        self._waiting: list[tuple[Q, asyncio.Future[R]]] = []
        self._tasks: set[asyncio.Task[None]] = set()

    async def submit(self, request: Q) -> R:
        """Return the result of one request."""
        future: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self._waiting.append((request, future))
        if len(self._tasks) < self._at_once:
            # A separate task: a caller may be cancelled while others wait for the same batch.
            self._tasks.add(asyncio.create_task(self._work()))
        return await future

    async def close(self) -> None:
        """Finish waiting requests."""
        await asyncio.gather(*self._tasks)

    async def _work(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting[:_LARGEST], self._waiting[_LARGEST:]
            try:
                answers: Sequence[R | Exception] = await self._run([request for request, _ in batch])
            except Exception as error:
                answers = [error] * len(batch)
            for (_, future), answer in zip(batch, answers, strict=True):
                if future.done():
                    continue
                if isinstance(answer, Exception):
                    future.set_exception(answer)
                else:
                    future.set_result(answer)
        # Here and not in a callback, which runs a turn later: a request in between would wait for ever.
        task = asyncio.current_task()
        assert task is not None
        self._tasks.discard(task)
