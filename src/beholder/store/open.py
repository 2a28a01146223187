"""Opening a store: a folder for SQLite, a URL for PostgreSQL; and reading whole tables."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from beholder.aio import block_on
from beholder.errors import Problem, StoreError
from beholder.store.contract import Store, Table


@asynccontextmanager
async def open_store(url: str | Path, *, write: bool = True, alone: bool = False) -> AsyncIterator[Store]:
    """Yield the store at a folder, `sqlite:///folder` or `postgresql://...`, and close it at the end.

    With write, it is created if missing, and migrated; without, it must exist.
    One process at a time writes to SQLite; with alone, no other may write to PostgreSQL either.
    """
    store = await _open(url, write, alone)
    try:
        yield store
    finally:
        await store.close()


async def _open(url: str | Path, write: bool, alone: bool) -> Store:
    if is_postgresql(url):
        from beholder.store.postgresql.store import PostgresqlStore

        return await PostgresqlStore.open(str(url), write=write, alone=alone)
    from beholder.store.sqlite.store import SqliteStore

    return await SqliteStore.open(folder_of(url), write=write)


def is_postgresql(url: str | Path) -> bool:
    """Return whether this is the URL of a PostgreSQL database."""
    return isinstance(url, str) and url.startswith(("postgresql://", "postgres://"))


def folder_of(url: str | Path) -> Path:
    """Return the folder of an SQLite store; any other address raises StoreError."""
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
    """Return the rows of these tables, without a lock, also while another process writes.

    Blocks until they are read, also where an event loop is running already (a notebook).
    """
    return block_on(_read_tables(url, tuple(tables)))


async def _read_tables(url: str | Path, tables: tuple[Table, ...]) -> dict[str, list[dict[str, Any]]]:
    rows: dict[str, list[dict[str, Any]]] = {}
    async with open_store(url, write=False) as store:
        for table in tables:
            rows[table] = await read_rows(store, table)
    return rows


async def read_rows(store: Store, table: Table) -> list[dict[str, Any]]:
    """Return the rows of a table of an open store."""
    async with aclosing(store.rows(table)) as rows:
        return [row async for row in rows]


def display_address(url: str) -> str:
    """Return the address of a store without user and password, for messages."""
    if not url.startswith(("postgresql://", "postgres://")):
        return url
    parts = urlsplit(url)
    try:
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return _UNREADABLE
    # A password with a / or a # in it ends up in what looks like the rest of the address.
    is_readable = "@" not in parts.path + parts.query + parts.fragment
    return f"postgresql://{parts.hostname or ''}{port}{parts.path}" if is_readable else _UNREADABLE


_UNREADABLE = "postgresql://…"


def is_readable_address(url: str) -> bool:
    """Return whether user, password, host and database of a PostgreSQL URL can be told apart."""
    return display_address(url) != _UNREADABLE
