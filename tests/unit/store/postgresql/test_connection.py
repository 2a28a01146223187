"""Connections to PostgreSQL: lost ones, versions, and addresses without passwords."""

from __future__ import annotations

import pytest

from beholder.errors import StoreError
from beholder.store.contract import StoreUnavailable
from beholder.store.open import open_store
from beholder.testing.stores.facts import (
    answer,
    arrive,
    session_facts,
    study_record,
)
from support.postgresql_queries import sql


async def test_a_lost_connection_is_away_and_comes_back(postgresql_url: str) -> None:
    async with open_store(postgresql_url) as store:
        await store.begin(study_record())
        session = await arrive(store, "ann")
        await store.append([answer(session)])
        database = postgresql_url.split("?")[0].rsplit("/", 1)[1]
        other = postgresql_url.replace(f"/{database}", "/postgres", 1)
        await sql(other, f"ALTER DATABASE {database} ALLOW_CONNECTIONS false")
        end_all = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname ="
        assert (True,) in await sql(other, f"{end_all} '{database}'")
        try:
            with pytest.raises(StoreUnavailable):
                await store.append([answer(session, "trial:2")])
            assert not await store.ready()
        finally:
            await sql(other, f"ALTER DATABASE {database} ALLOW_CONNECTIONS true")
        assert await store.ready()
        await store.append([answer(session, "trial:2")])
        assert list((await session_facts(store, session)).answers) == ["trial:1", "trial:2"]


async def test_a_newer_database_is_refused(postgresql_url: str) -> None:
    async with open_store(postgresql_url):
        pass
    await sql(postgresql_url, "UPDATE facts.meta SET value = '8' WHERE name = 'schema_version'")
    with pytest.raises(StoreError, match=r"was written by a newer Beholder \(schema 8, this one knows 7\)"):
        async with open_store(postgresql_url):
            pass


async def test_a_database_from_before_the_first_release_is_refused(postgresql_url: str) -> None:
    async with open_store(postgresql_url):
        pass
    await sql(postgresql_url, "UPDATE facts.meta SET value = '3' WHERE name = 'schema_version'")
    for write in (True, False):
        with pytest.raises(StoreError) as refused:
            async with open_store(postgresql_url, write=write):
                pass
        assert str(refused.value).endswith(
            "  was written before the first release of Beholder (schema 3, this one reads 7)."
            " Read it with the version that wrote it, or begin a new folder or database."
        )


async def test_an_address_that_cannot_be_opened_is_shown_without_its_password() -> None:
    with pytest.raises(StoreError) as refused:
        async with open_store("postgresql://ann:hush@127.0.0.1:1/study"):
            pass
    assert str(refused.value).startswith("postgresql://127.0.0.1:1/study  cannot be opened (")
    assert str(refused.value).endswith("). Check the address, and that the server runs and lets you in.")
    assert "hush" not in str(refused.value)


async def test_a_password_that_breaks_its_address_is_not_repeated_and_how_to_write_it_is_said() -> None:
    for write in (True, False):
        with pytest.raises(StoreError) as refused:
            async with open_store("postgresql://ann:hu/sh@127.0.0.1:1/study", write=write):
                pass
        assert str(refused.value) == (
            "postgresql://…  is not an address that can be read. Allowed: postgresql://user@host:5432/database."
            " In a password, write / as %2F, # as %23, ? as %3F and @ as %40; or set PGPASSWORD and leave it out."
        )
        assert refused.value.__cause__ is None


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        ("DROP TABLE facts.answers CASCADE", "lacks 1 table: facts.answers"),
        ("DELETE FROM facts.meta WHERE name = 'secret'", "lacks its secret"),
    ],
)
async def test_a_database_that_lacks_something_is_said_and_left_alone(
    postgresql_url: str, statement: str, what: str
) -> None:
    async with open_store(postgresql_url):
        pass
    await sql(postgresql_url, statement)
    with pytest.raises(StoreError) as refused:
        async with open_store(postgresql_url, write=False):
            pass
    assert str(refused.value).endswith(
        f"  {what}. Restore the database from a backup, such as one of pg_dump; nothing is written to it until then."
    )


async def test_an_unknown_database_is_said(postgresql_url: str) -> None:
    database = postgresql_url.split("?")[0].rsplit("/", 1)[1]
    with pytest.raises(StoreError) as refused:
        async with open_store(postgresql_url.replace(f"/{database}", "/nowhere", 1)):
            pass
    assert 'cannot be opened (database "nowhere" does not exist). Check the address' in str(refused.value)
