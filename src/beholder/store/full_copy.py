"""A consistent copy of a whole store while it is served, as files of SQLite; and such a copy put into a database.

A copy of a PostgreSQL store has the same form as one of an SQLite store, so that either can be read, verified and
restored on any machine, and into either.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

from beholder.errors import Problem, StoreError
from beholder.store.contract import Fact, Session, StudyRecord, Table
from beholder.store.open import display_address, folder_of, is_postgresql, read_tables
from beholder.store.sqlite.database_files import (
    FACTS,
    IDENTITY,
    LEDGER,
    Lock,
    connect_read,
    connect_write,
    damaged,
    make_folder,
    make_secret,
)
from beholder.store.sqlite.study import begin, insert_row
from beholder.store.tables import SHAPES, fact_row, session_row, to_iso

FILES = {FACTS: "sqlite", IDENTITY: "sqlite-identity", LEDGER: "sqlite-ledger"}
"""The files of a copy and their schemas, in this order: who is in the facts has come before, so is among the identities
that are copied later."""
_FACTS: tuple[Table, ...] = tuple(table for table in SHAPES if table != "ledger")
"""In this order a row comes after those that it refers to."""
_CHUNK = 500
_FOR_EVER = "9999"
"""When the lease of a finished session ends, as SQLite keeps it; infinity in PostgreSQL."""
_CLAIMED: dict[str, tuple[str, ...]] = {
    "leases": ("session", "until", "plan_digest", "population", "list"),
    "occupancy": ("plan_digest", "population", "list", "sessions", "expires"),
}
"""Which lists are taken, by their columns."""
_ENDS = ("until", "expires")
"""Columns that may be for ever."""
_LINKS, _COMINGS = ("participant", "platform", "platform_id"), ("session", "posting", "submission")
_PEOPLE: dict[str, tuple[str, ...]] = {"links": _LINKS, "comings": _COMINGS}
_MOVED = ("secret", "digest", "wipe")
"""What is kept of `meta`."""

Counts = dict[str, dict[str, int]]
"""The number of rows by file and table."""


def copy_store(url: str | Path, folder: Path) -> Counts:
    """Copy the store at an address into an empty folder, and return what the copy holds.

    Nobody who answers waits for it. What was erased is in no gap of the copy: it is written anew, row by row.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if is_postgresql(url):
        from beholder.aio import block_on

        block_on(copy_postgresql(str(url), folder))
    else:
        store = folder_of(url)
        for name, schema in FILES.items():
            if (store / name).is_file():
                _copy_file(store / name, schema, folder / name)
    return copy_counts(folder)


def _copy_file(path: Path, schema: str, copy: Path) -> None:
    os.close(os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        with closing(connect_read(path, schema)) as source:
            source.execute("VACUUM INTO ?", (str(copy),))
        with closing(sqlite3.connect(copy)) as target:
            target.execute("PRAGMA journal_mode = DELETE")  # one file, which needs no log beside it
    except sqlite3.Error as error:
        raise damaged(path, str(error)) from error


def copy_counts(folder: Path) -> Counts:
    """Return the number of rows of a copy by file and table, or raise StoreError where a file is not whole."""
    return {name: table_counts(folder / name) for name in FILES if (folder / name).is_file()}


def table_counts(path: Path, *, is_checked: bool = True) -> dict[str, int]:
    """Return the number of rows of every table of a file, after looking at all of its pages."""
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=30)) as connection:
            if is_checked and (found := connection.execute("PRAGMA integrity_check(1)").fetchone()[0]) != "ok":
                raise damaged(path, str(found))
            tables = connection.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
            ).fetchall()
            # Names come from our own schema.
            return {name: connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for (name,) in tables}
    except sqlite3.Error as error:
        raise damaged(path, str(error)) from error


def live_counts(url: str | Path) -> Counts:
    """Return the number of rows of a store that is served, without its leases and settings, which change all the time.

    As facts are only added and erased, the same counts mean the same store.
    """
    if is_postgresql(url):
        from beholder.aio import block_on

        counts: Counts = block_on(_count_postgresql(str(url)))
    else:
        store = folder_of(url)
        counts = {name: table_counts(store / name, is_checked=False) for name in FILES if (store / name).is_file()}
    return {
        file: {table: count for table, count in tables.items() if table not in ("leases", "occupancy", "meta")}
        for file, tables in counts.items()
    }


_COMPARED = {"sessions": (FACTS, "session"), "answers": (FACTS, "session, key"), "ledger": (LEDGER, "kind, event, at")}
"""By what rows of two stores are told to be the same."""


def rows_beyond(store: Path, copy: Path) -> dict[str, int]:
    """Return how many sessions, answers and entries of the ledger a store in a folder has that a copy has not."""
    counts: dict[str, int] = {}
    for table, (file, columns) in _COMPARED.items():
        counts[table] = 0
        if not (store / file).is_file():
            continue
        try:
            with closing(connect_read(store / file, FILES[file])) as connection:
                query = f"SELECT {columns} FROM {table}"
                if (copy / file).is_file():
                    connection.execute("ATTACH ? AS other", (str(copy / file),))
                    query = f"{query} EXCEPT SELECT {columns} FROM other.{table}"
                counts[table] = connection.execute(f"SELECT count(*) FROM ({query})").fetchone()[0]
        except sqlite3.Error as error:
            raise damaged(store / file, str(error)) from error
    return counts


def store_origin(url: str | Path) -> str:
    """Return what tells a store from all others, and its copies not from it: its first study text, and when it came."""
    first = read_tables(url, ("studies",))["studies"][:1]
    text = f"{first[0]['digest']} {to_iso(first[0]['at'])}" if first else ""
    return f"o{hashlib.sha256(text.encode()).hexdigest()[:7]}"


# A store out of facts that were gathered elsewhere


def fill_store(
    folder: Path,
    record: StudyRecord,
    sessions: Sequence[Session],
    claims: Sequence[tuple[str, int, datetime]],
    facts: Sequence[Fact],
) -> None:
    """Write a study with all sessions in it to the store in a folder, in one commit; `claims` are lists with times."""
    make_folder(folder)
    lock = Lock(folder)
    try:
        with closing(connect_write(folder / FACTS, "sqlite")) as connection:
            make_secret(connection)
            connection.execute("BEGIN")
            begin(connection, str(folder), record, 1)
            rows: dict[Table, list[Sequence[Any]]] = {table: [] for table in _FACTS}
            rows["sessions"] = [_in_text(session_row(one)) for one in sessions]
            rows["claims"] = [(session, number, to_iso(at)) for session, number, at in claims]
            for fact in facts:
                table, row = fact_row(fact)
                rows[table].append(_in_text(row))
            for table in _FACTS:
                connection.executemany(insert_row(table), rows[table])
            connection.execute("COMMIT")
    finally:
        lock.release()


def _in_text(row: Sequence[Any]) -> Sequence[Any]:
    """Return a row as SQLite keeps it: the last column is the time."""
    return (*row[:-1], to_iso(row[-1]))


# From PostgreSQL


async def _connect(url: str) -> Any:
    """Return a connection that finds our tables, or raise StoreError."""
    from beholder.store.postgresql.connection import open_pool

    return await open_pool(url)


async def _count_postgresql(url: str) -> Counts:
    from beholder.store.postgresql.connection import transaction

    pool = await _connect(url)
    try:
        async with transaction(pool, isolation="repeatable_read") as connection:
            counts: Counts = {FACTS: {}, IDENTITY: {}, LEDGER: {}}
            for file, tables in ((FACTS, _FACTS), (IDENTITY, ("identity.links", "identity.comings"))):
                for table in tables:
                    name = table.rpartition(".")[2]
                    counts[file][name] = int(await connection.fetchval(f"SELECT count(*) FROM {table}"))
            counts[LEDGER]["ledger"] = int(await connection.fetchval("SELECT count(*) FROM ledger"))
            return counts
    finally:
        await pool.close()


async def copy_postgresql(url: str, folder: Path) -> None:
    """Write every table of a database, as it is at one moment, into files of SQLite in a folder."""
    from beholder.store.postgresql.connection import check_schema, transaction

    pool = await _connect(url)
    try:
        await check_schema(pool, display_address(url))
        async with transaction(pool, isolation="repeatable_read") as connection:
            with closing(connect_write(folder / FACTS, "sqlite", journal="DELETE")) as facts:
                for table in _FACTS:
                    await _move(connection, f"SELECT {SHAPES[table].quoted} FROM {table} ORDER BY n", facts, table)
                facts.execute("DELETE FROM leases")  # those that the ends of sessions have made
                # Occupancy comes after the leases, by which it would be counted again.
                for name, columns in _CLAIMED.items():
                    await _move(connection, f"SELECT {_finite(columns)} FROM {name}", facts, name, columns)
                meta = f"SELECT name, value FROM meta WHERE name IN {_MOVED}"
                await _move(connection, meta, facts, "meta", ("name", "value"))
            with closing(connect_write(folder / IDENTITY, "sqlite-identity", journal="DELETE")) as people:
                links = "SELECT participant, platform, platform_id FROM identity.links ORDER BY participant"
                await _move(connection, links, people, "links", _LINKS)
                visits = "SELECT session, posting, submission FROM identity.comings ORDER BY n"
                await _move(connection, visits, people, "comings", _COMINGS)
            with closing(connect_write(folder / LEDGER, "sqlite-ledger", journal="DELETE")) as ledger:
                entries = f"SELECT {SHAPES['ledger'].quoted} FROM ledger ORDER BY entry"
                await _move(connection, entries, ledger, "ledger")
    finally:
        await pool.close()


async def _move(
    source: Any, query: str, target: sqlite3.Connection, table: str, columns: Sequence[str] | None = None
) -> None:
    """Insert the rows of a query into a table of SQLite."""
    names = columns or SHAPES[table].columns  # type: ignore[index]
    quoted = ", ".join(f'"{name}"' for name in names)
    insert = f"INSERT INTO {table} ({quoted}) VALUES ({', '.join('?' * len(names))})"
    target.execute("BEGIN")
    rows: list[list[Any]] = []
    async for row in source.cursor(query, prefetch=_CHUNK):
        rows.append([_as_text(value, name) for name, value in zip(names, row, strict=True)])
        if len(rows) == _CHUNK:
            target.executemany(insert, rows)
            rows.clear()
    target.executemany(insert, rows)
    target.execute("COMMIT")


def _finite(columns: Iterable[str]) -> str:
    """Return columns of a query: what is for ever there is no time in Python."""
    return ", ".join(f"nullif({name}, 'infinity')" if name in _ENDS else name for name in columns)


def _as_text(value: Any, name: str) -> Any:
    if name in _ENDS and value is None:
        return _FOR_EVER
    return to_iso(value) if isinstance(value, datetime) else value


# Into PostgreSQL


async def load_copy(folder: Path, url: str) -> None:
    """Put a copy into an empty PostgreSQL database, all of it or nothing; raise StoreError where it is not empty."""
    from beholder.store.open import open_store
    from beholder.store.postgresql.connection import set_meta, transaction

    async with open_store(url, alone=True):  # makes the tables, and keeps others from writing
        pool = await _connect(url)
        try:
            async with transaction(pool) as connection:
                if await connection.fetchval("SELECT 1 FROM studies UNION ALL SELECT 1 FROM ledger LIMIT 1"):
                    fix = "Name an empty database: nothing in this one was changed."
                    raise StoreError(Problem(display_address(url), "holds a study already", "", fix))
                with closing(connect_read(folder / FACTS, "sqlite")) as facts:
                    for table in _FACTS:
                        await _load(connection, table, _rows(facts, table, SHAPES[table].columns))
                    await connection.execute("DELETE FROM leases")  # those that the ends of sessions have made
                    for name, columns in _CLAIMED.items():
                        await _load(connection, name, _rows(facts, name, columns), columns)
                    for name, value in facts.execute(f"SELECT name, value FROM meta WHERE name IN {_MOVED}"):
                        await set_meta(connection, name, value)
                if (folder / IDENTITY).is_file():
                    with closing(connect_read(folder / IDENTITY, "sqlite-identity")) as people:
                        for name, columns in _PEOPLE.items():
                            rows = _rows(people, name, columns)
                            await connection.copy_records_to_table(
                                name, records=rows, columns=columns, schema_name="identity"
                            )
                if (folder / LEDGER).is_file():
                    with closing(connect_read(folder / LEDGER, "sqlite-ledger")) as ledger:
                        await _load(connection, "ledger", _rows(ledger, "ledger", SHAPES["ledger"].columns))
        finally:
            await pool.close()


async def _load(
    connection: Any, table: str, rows: Iterable[Sequence[Any]], columns: Sequence[str] | None = None
) -> None:
    names = list(columns or SHAPES[table].columns)  # type: ignore[index]
    await connection.copy_records_to_table(table, records=rows, columns=names, schema_name="facts")


def _rows(source: sqlite3.Connection, table: str, columns: Sequence[str]) -> Iterable[list[Any]]:
    """Yield the rows of a table in the order of insertion, as PostgreSQL takes them."""
    quoted = ", ".join(f'"{name}"' for name in columns)
    order = "list" if table == "occupancy" else "rowid"  # which has no rowid
    for row in source.execute(f"SELECT {quoted} FROM {table} ORDER BY {order}"):
        yield [_as_time(value) if name in ("at", *_ENDS) else value for name, value in zip(columns, row, strict=True)]


def _as_time(text: str) -> datetime:
    from datetime import UTC

    # asyncpg sends the last moment as infinity.
    return datetime.max.replace(tzinfo=UTC) if text == _FOR_EVER else datetime.fromisoformat(text)


def held(counts: Mapping[str, Mapping[str, int]], table: str) -> int:
    """Return how many rows of a table a copy holds."""
    return next((tables[table] for tables in counts.values() if table in tables), 0)
