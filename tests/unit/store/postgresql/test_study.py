"""Facts in PostgreSQL are append-only, and identities have a schema of their own."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import pytest

from beholder.store.contract import LedgerEntry, PlatformIdentity, Remains
from beholder.store.open import open_store
from beholder.testing.stores.facts import (
    NOON,
    answer,
    arrive,
    claim,
    study_record,
)
from support.planted_bytes import plant, planted_in
from support.postgresql_queries import sql


@pytest.mark.parametrize("table", ["studies", "stimuli", "lists", "sessions", "claims", "answers", "ledger"])
async def test_facts_are_append_only(postgresql_url: str, table: str) -> None:
    async with open_store(postgresql_url) as store:
        await store.begin(study_record())
        session = await arrive(store, "ann")
        await claim(store, session)
        await store.append([answer(session)])
        await store.ledger.append([LedgerEntry("stop", "done", NOON)])
    for statement in (
        f"UPDATE facts.{table} SET n = DEFAULT",
        f"DELETE FROM facts.{table}",
        f"TRUNCATE facts.{table} CASCADE",
    ):
        with pytest.raises(asyncpg.IntegrityConstraintViolationError, match="facts are append-only"):
            await sql(postgresql_url, statement)


async def test_who_is_who_lies_in_a_schema_of_its_own_and_is_forgotten(postgresql_url: str) -> None:
    links = "SELECT * FROM identity.links"
    async with open_store(postgresql_url) as store:
        await store.begin(study_record())
        first, second = await arrive(store, "ann"), await arrive(store, "ann", number=2)
        await store.identify(PlatformIdentity("p-ann", "prolific", "5f3a"))
        await store.erase(first, NOON)
        assert await sql(postgresql_url, links) == [("p-ann", "prolific", "5f3a")]
        await store.erase(second, NOON)
        assert await sql(postgresql_url, links) == []


async def test_no_byte_of_what_was_erased_is_in_any_file_of_the_server(postgresql_url: str) -> None:
    """Except in its write-ahead log, which the server itself recycles."""
    ((folder,),) = await sql(postgresql_url, "SHOW data_directory")
    data = Path(folder)
    async with open_store(postgresql_url) as store:
        session, other = await plant(store, "ann"), await plant(store, "bob")
        await sql(postgresql_url, "ANALYZE")
        await sql(postgresql_url, "CHECKPOINT")
        assert planted_in(data, "ann", besides="pg_wal"), "else there is nothing to look for"
        await store.erase(session, NOON)
        assert await store.wipe() is None
        await sql(postgresql_url, "CHECKPOINT")
        assert planted_in(data, "ann", besides="pg_wal") == {}
        assert planted_in(data, "bob", besides="pg_wal")
        await store.erase(other, NOON)
        secret = store.secret.hex().encode()
        await store.purge_identity()
        assert await store.wipe() is None
        await sql(postgresql_url, "CHECKPOINT")
        assert planted_in(data, "bob", besides="pg_wal") == {}
        kept = [path for path in data.rglob("*") if path.is_file() and "pg_wal" not in path.parts]
        assert not [path for path in kept if secret in path.read_bytes()], "the secret by which ids lead to pseudonyms"


async def test_a_reader_that_still_sees_what_was_erased_holds_it_up_and_is_named(postgresql_url: str) -> None:
    async with open_store(postgresql_url) as store:
        session = await plant(store, "ann")
        reader = await asyncpg.connect(postgresql_url, server_settings={"application_name": "export"})
        try:
            async with reader.transaction(isolation="repeatable_read"):
                await reader.fetch("SELECT 1")
                await store.erase(session, NOON)
                remains = await store.wipe()
                assert remains is not None
                assert re.fullmatch(r"export \(server process \d+\) is reading and still sees it", remains.words)
                assert remains.is_read
            async with reader.transaction():
                await reader.fetch("SELECT * FROM facts.answers")
                remains = await store.wipe()
                assert remains is not None
                assert (remains.words, remains.is_read) == ("another program is reading the tables", True)
        finally:
            await reader.close()
        assert (await store.wipe(largest=0)) is not None, "still to be done"
        assert await store.wipe() is None
        assert await store.wipe(largest=0) is None


async def test_tables_of_another_role_are_not_taken_for_rewritten(postgresql_url: str) -> None:
    async with open_store(postgresql_url) as store:
        session = await plant(store, "ann", trials=1)
    parts = urlsplit(postgresql_url)
    guest = urlunsplit(parts._replace(netloc="guest@"))
    for statement in (
        "CREATE ROLE guest LOGIN",
        "GRANT USAGE ON SCHEMA facts, identity TO guest",
        "GRANT ALL ON ALL TABLES IN SCHEMA facts, identity TO guest",
    ):
        await sql(postgresql_url, statement)
    try:
        async with open_store(guest) as store:
            await store.erase(session, NOON)
            remains = await store.wipe()
        assert remains == Remains(
            "the tables belong to another role of the database, which has to rewrite them by VACUUM FULL", is_read=False
        )
        async with open_store(postgresql_url) as store:
            assert not await store.is_wipe_due(), "whoever opens it as their owner has done it"
    finally:
        await sql(postgresql_url, "DROP OWNED BY guest")
        await sql(postgresql_url, "DROP ROLE guest")
