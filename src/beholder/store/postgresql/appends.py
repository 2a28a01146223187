"""Appending to PostgreSQL: the facts of many requests in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import cache
from typing import Any, TypeAlias

import asyncpg

from beholder.store.contract import Table
from beholder.store.postgresql.connection import transaction
from beholder.store.rules import erased_session, unknown_session
from beholder.store.tables import ERASABLE, SHAPES, Row

Request: TypeAlias = Sequence[tuple[Table, Row]]
_TYPES = {"text": "text", "json": "text", "time": "timestamptz", "int": "bigint", "real": "double precision"}

# Holding each session keeps an erasure out until we have committed, and waits for one that was first. Whether there
# was one, only a later statement can see.
_HOLD = "SELECT session FROM sessions WHERE session = ANY($1::text[]) ORDER BY session FOR KEY SHARE"
_ERASED = "SELECT session FROM erasures WHERE session = ANY($1::text[])"


def _arrays(table: Table, columns: Sequence[str]) -> str:
    shape = SHAPES[table]
    kinds = dict(zip(shape.columns, shape.kinds, strict=True))
    return ", ".join(f"${place}::{_TYPES[kinds[column]]}[]" for place, column in enumerate(columns, start=1))


@cache
def _insert(table: Table) -> str:
    quoted = SHAPES[table].quoted
    return (
        f"INSERT INTO {table} ({quoted}) SELECT {quoted}"
        f" FROM unnest({_arrays(table, SHAPES[table].columns)}) WITH ORDINALITY AS rows ({quoted}, place)"
        " ORDER BY place ON CONFLICT DO NOTHING"
    )


@cache
def _stored_at(table: Table) -> str:
    key = ", ".join(f'"{column}"' for column in SHAPES[table].key)
    return (
        f"SELECT at FROM unnest({_arrays(table, SHAPES[table].key)}) WITH ORDINALITY AS keys ({key}, place)"
        f" JOIN {table} USING ({key}) ORDER BY place"
    )


async def append(pool: Any, requests: Sequence[Request]) -> list[datetime | Exception]:
    """Return for each request when its first fact was first stored, or why nothing of it was."""
    for _ in range(3):
        try:
            return await _append(pool, requests)
        except asyncpg.DeadlockDetectedError:
            # Two servers stored the same facts of several sessions in another order; the other one has them now.
            continue
        except asyncpg.PostgresError as error:
            if len(requests) == 1:
                return [error]
            break
    return [(await append(pool, [request]))[0] for request in requests]


async def _append(pool: Any, requests: Sequence[Request]) -> list[datetime | Exception]:
    async with transaction(pool) as connection:
        named = sorted({row[0] for request in requests for _, row in request})
        known = {row[0] for row in await connection.fetch(_HOLD, named)}
        erased = {row[0] for row in await connection.fetch(_ERASED, named)}
        answers: list[datetime | Exception] = []
        by_table: dict[Table, list[Row]] = {}
        for request in requests:
            refusal = _refusal(request, known, erased)
            answers.append(refusal or request[0][1][-1])
            if refusal is None:
                for table, row in request:
                    by_table.setdefault(table, []).append(row)
        for table in sorted(by_table):
            rows = by_table[table]
            status: str = await connection.execute(_insert(table), *map(list, zip(*rows, strict=True)))
            if int(status.split()[-1]) < len(rows):
                await _correct(connection, table, requests, answers)
        return answers


def _refusal(request: Request, known: set[str], erased: set[str]) -> Exception | None:
    for table, row in request:
        if row[0] not in known:
            return unknown_session(row[0])
        if row[0] in erased and table in ERASABLE:
            return erased_session()
    return None


async def _correct(
    connection: Any, table: Table, requests: Sequence[Request], answers: list[datetime | Exception]
) -> None:
    """Put the first time in the place of ours, where the first fact of a request was there before."""
    places = [
        place
        for place, request in enumerate(requests)
        if request[0][0] == table and not isinstance(answers[place], Exception)
    ]
    if not places:
        return
    width = len(SHAPES[table].key)
    keys = [requests[place][0][1][:width] for place in places]
    stored = await connection.fetch(_stored_at(table), *map(list, zip(*keys, strict=True)))
    for place, (at,) in zip(places, stored, strict=True):
        answers[place] = at
