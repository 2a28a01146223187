"""Facts in PostgreSQL are append-only, and identities have a schema of their own."""

from __future__ import annotations

import asyncpg
import pytest

from beholder.store.contract import LedgerEntry, PlatformIdentity
from beholder.store.open import open_store
from beholder.testing.stores.facts import (
    NOON,
    answer,
    arrive,
    claim,
    study_record,
)
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
