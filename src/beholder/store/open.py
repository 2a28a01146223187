"""Opening a store: a folder for SQLite, an address for PostgreSQL."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Coroutine, Iterable
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from beholder.errors import Problem, StoreError
from beholder.store.contract import Store, Table

T = TypeVar("T")


@asynccontextmanager
async def open_store(url: str | Path, *, write: bool = True) -> AsyncIterator[Store]:
    """Give the store at a folder, `sqlite:///folder` or `postgresql://...`, and close it in the end.

    With write, it is made where there is none and brought up to date; without, it must be there.
    """
    store = await _open(url, write)
    try:
        yield store
    finally:
        await store.close()


async def _open(url: str | Path, write: bool) -> Store:
    if is_postgresql(url):
        from beholder.store.postgresql.store import PostgresqlStore

        return await PostgresqlStore.open(str(url), write=write)
    from beholder.store.sqlite.store import SqliteStore

    return await SqliteStore.open(folder_of(url), write=write)


def is_postgresql(url: str | Path) -> bool:
    """Return whether this is the address of a PostgreSQL database."""
    return isinstance(url, str) and url.startswith(("postgresql://", "postgres://"))


def folder_of(url: str | Path) -> Path:
    """Return the folder of an embedded store; any other address raises StoreError."""
    if isinstance(url, str) and "://" in url:
        scheme, _, rest = url.partition("://")
        if scheme != "sqlite" or not rest.startswith("/"):
            raise StoreError(
                Problem(
                    f"{scheme}://",
                    "is not the address of a store",
                    allowed="a folder, sqlite:///folder, postgresql://user@host/database",
                )
            )
        url = rest[1:]
    return Path(url)


def read_tables(url: str | Path, tables: Iterable[Table]) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of these tables, without a lock and beside whoever writes.

    Waits for the result, also where an event loop is running already (a notebook).
    """
    return _wait_for(_read_tables(url, tuple(tables)))


async def _read_tables(url: str | Path, tables: tuple[Table, ...]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    async with open_store(url, write=False) as store:
        for table in tables:
            async with aclosing(store.rows(table)) as rows:  # type: ignore[type-var]
                found[table] = [row async for row in rows]
    return found


def _wait_for(coroutine: Coroutine[Any, Any, T]) -> T:
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(asyncio.run(coroutine))
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, name="beholder-read")
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]
