"""Connections to PostgreSQL: the pool, locks, migrations, and which errors mean that it is unavailable."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from importlib.resources.abc import Traversable
from typing import Any

import asyncpg

from beholder.errors import Problem, StoreError, no_answers
from beholder.formats import plain_count
from beholder.store.contract import StoreUnavailable
from beholder.store.open import display_address, is_readable_address
from beholder.store.rules import check_current, due_migrations, in_use, migrations
from beholder.store.tables import SHAPES

SCHEMA = "facts"
LOCK_SCHEMA, LOCK_PLAN, LOCK_ARRIVAL, LOCK_LEDGER, LOCK_SENDER = 0xBE401, 0xBE402, 0xBE403, 0xBE404, 0xBE405
LOCK_WRITING, LOCK_WIPE, LOCK_BACKUP, LOCK_LEAD = 0xBE406, 0xBE407, 0xBE409, 0xBE40A
"""Advisory locks: for migrating, for plans, which claims share, for arriving, for appending to the ledger, for sending
money and messages; for writing, which all writers share and an exclusive writer takes alone; for rewriting tables, for
making backups, and with a task for leading it. The functions of the schema name the lock of plans, and 0xBE408 for
ending leases, by their numbers."""
POOL_SIZE = 9
"""Connections that a server opens as it needs them, and keeps."""

_UNAVAILABLE = (
    OSError, asyncpg.PostgresConnectionError, asyncpg.InterfaceError,
    asyncpg.InsufficientResourcesError, asyncpg.OperatorInterventionError, asyncpg.ReadOnlySQLTransactionError,
    asyncpg.PostgresSystemError, asyncpg.InternalClientError,
)  # fmt: skip


@contextmanager
def unavailable_on_failure() -> Iterator[None]:
    """Turn every failure to reach or write the database into StoreUnavailable."""
    try:
        yield
    except _UNAVAILABLE as error:
        raise _unavailable(error) from error


def _unavailable(error: Exception) -> StoreUnavailable:
    return StoreUnavailable(f"{type(error).__name__}: {error}")


async def open_pool(url: str, *, write: bool = False) -> Any:
    """Return a pool for this address, or raise StoreError with the message of the server.

    For writing, each of its connections holds the shared lock of writers.
    """

    async def lock_shared(connection: Any) -> None:
        if write:
            await connection.execute("SELECT pg_advisory_lock_shared($1)", LOCK_WRITING)

    async def skip_reset(connection: Any) -> None:
        """Reset nothing: no session state is ever set, and a reset would cost a round trip per batch."""

    if not is_readable_address(url):
        raise StoreError(
            Problem(
                display_address(url),
                "is not an address that can be read",
                "postgresql://user@host:5432/database",
                "In a password, write / as %2F, # as %23, ? as %3F and @ as %40; or set PGPASSWORD and leave it out.",
            )
        )
    try:
        return await asyncpg.create_pool(
            url,
            min_size=1,
            max_size=POOL_SIZE,
            init=lock_shared,
            reset=skip_reset,
            max_inactive_connection_lifetime=0,
            timeout=10,
            command_timeout=60,
            server_settings={
                "application_name": "beholder",
                "search_path": SCHEMA,
                "synchronous_commit": "on",
                "jit": "off",
                "timezone": "UTC",
            },
        )
    except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, ValueError) as error:
        raise StoreError(
            Problem(
                display_address(url),
                f"cannot be opened ({_words(error)})",
                fix="Check the address, and that the server runs and lets you in.",
            )
        ) from None  # what the driver raised may quote the address, with its password


def _words(error: Exception) -> str:
    """Return what a driver said, in one line; a time-out says nothing."""
    return " ".join(str(error).split()) or "no answer within 10 seconds"


async def lock_exclusively(pool: Any, where: str) -> None:
    """Prevent others from writing until the pool is closed, or raise InUseError; no reset drops the lock."""
    async with connected(pool) as connection:
        if not await connection.fetchval("SELECT pg_try_advisory_lock($1)", LOCK_WRITING):
            raise in_use(where, "")


@asynccontextmanager
async def connected(pool: Any) -> AsyncIterator[Any]:
    """Yield a connection; any failure to get one means that the store is unavailable."""
    try:
        connection = await pool.acquire(timeout=10)
    except (*_UNAVAILABLE, asyncpg.PostgresError) as error:
        raise _unavailable(error) from error
    try:
        with unavailable_on_failure():
            yield connection
    finally:
        await pool.release(connection)


@asynccontextmanager
async def transaction(pool: Any, *, lock: int | None = None, isolation: str | None = None) -> AsyncIterator[Any]:
    """Yield a connection in a transaction. With a lock, its statements see everything committed before."""
    async with connected(pool) as connection, connection.transaction(isolation=isolation):
        if lock is not None:
            await connection.execute("SELECT pg_advisory_xact_lock($1)", lock)
        yield connection


async def schema_version(connection: Any) -> int:
    """Return the number of the last migration; 0 in a new database."""
    if await connection.fetchval("SELECT to_regclass($1)", f"{SCHEMA}.meta") is None:
        return 0
    return int(await connection.fetchval("SELECT value FROM meta WHERE name = 'schema_version'") or 0)


async def migrate(pool: Any, where: str, schema: str | Traversable = "postgresql") -> None:
    """Migrate a database to the newest schema in one transaction, one process at a time, and generate its secret."""
    steps = migrations(schema)
    try:
        async with transaction(pool, lock=LOCK_SCHEMA) as connection:
            version = await schema_version(connection)
            due = due_migrations(where, version, steps)
            if version == 0:
                await connection.execute(
                    f"CREATE SCHEMA {SCHEMA}; CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);"
                )
            for step in due:
                await connection.execute(step.sql)
                await set_meta(connection, "schema_version", str(step.number))
            await connection.execute(
                "INSERT INTO meta VALUES ('secret', $1) ON CONFLICT DO NOTHING", secrets.token_hex(32)
            )
    except (asyncpg.InsufficientPrivilegeError, asyncpg.DuplicateSchemaError) as error:
        raise StoreError(
            Problem(
                where,
                f"cannot take the tables of a study ({error})",
                fix="Give this study an empty database of its own.",
            )
        ) from error


async def check_schema(pool: Any, where: str) -> None:
    """Raise StoreError unless the database can be read as it is."""
    async with transaction(pool) as connection:
        version = await schema_version(connection)
    if version == 0:
        raise StoreError(no_answers(where))
    check_current(where, version, migrations("postgresql"))


async def read_secret(pool: Any, where: str) -> bytes:
    """Return the secret of a store, or raise StoreError where it or a table is missing."""
    async with transaction(pool) as connection:
        names = [f"{SCHEMA}.{table}" for table in (*SHAPES, "leases", "occupancy", "meta")] + [
            "identity.links",
            "identity.comings",
        ]
        rows = await connection.fetch(
            "SELECT name FROM unnest($1::text[]) AS name WHERE to_regclass(name) IS NULL", names
        )
        missing = [row["name"] for row in rows]
        secret = await connection.fetchval("SELECT value FROM meta WHERE name = 'secret'") if not missing else None
    if missing or secret is None:
        what = f"lacks {plain_count(len(missing), 'table')}: {', '.join(missing)}" if missing else "lacks its secret"
        fix = "Restore the database from a backup, such as one of pg_dump; nothing is written to it until then."
        raise StoreError(Problem(where, what, fix=fix))
    return bytes.fromhex(secret)


async def set_meta(connection: Any, name: str, value: str) -> None:
    """Store a value that is not a fact."""
    await connection.execute(
        "INSERT INTO meta VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value", name, value
    )
