"""What only PostgreSQL does: several servers at once, and coming back after a lost connection."""

from __future__ import annotations

import asyncio
from typing import Any

import asyncpg
import pytest

from beholder.errors import StoreError
from beholder.store.contract import LedgerEntry, PlatformIdentity, StoredVerdict, StoreUnavailable
from beholder.store.open import open_store, read_tables
from beholder.testing.stores.facts import (
    NOON,
    answer,
    arrive,
    claim,
    end,
    rows,
    session_facts,
    session_of,
    study_record,
)


async def sql(url: str, statement: str) -> list[Any]:
    connection = await asyncpg.connect(url)
    try:
        return [tuple(row) for row in await connection.fetch(statement)]
    finally:
        await connection.close()


async def test_two_servers_claim_every_list_once(postgresql_url: str) -> None:
    async with open_store(postgresql_url) as one, open_store(postgresql_url) as two:
        await asyncio.gather(one.begin(study_record(lists=40)), two.begin(study_record(lists=40)))
        assert one.secret == two.secret
        servers = (one, two) * 25
        sessions = await asyncio.gather(*(arrive(server, str(number)) for number, server in enumerate(servers)))
        wanted = zip(servers, sessions, strict=True)
        claimed = await asyncio.gather(*(claim(server, session, per_list=1) for server, session in wanted))
        assert sorted(number for number in claimed if number is not None) == list(range(1, 41))


async def test_one_visit_at_two_servers_with_two_texts_is_one_session(postgresql_url: str) -> None:
    async with open_store(postgresql_url) as one, open_store(postgresql_url) as two:
        await one.begin(study_record("d1"))
        await two.begin(study_record("d2"))
        for number in range(5):
            arrivals = await asyncio.gather(
                one.arrive(session_of(f"ann{number}", digest="d1")), two.arrive(session_of(f"ann{number}", digest="d2"))
            )
            assert arrivals[0][0] == arrivals[1][0]


async def test_an_answer_at_one_server_is_known_at_the_other(postgresql_url: str) -> None:
    async with open_store(postgresql_url) as one, open_store(postgresql_url) as two:
        await one.begin(study_record())
        session = await arrive(one, "ann")
        assert (await session_facts(two, session)).answers == {}
        results = await asyncio.gather(one.append([answer(session, value=1)]), two.append([answer(session, value=2)]))
        assert {result.at for result in results} == {NOON}
        stored = answer(session, value=1 if results[0].is_new else 2)
        assert results[0].is_new != results[1].is_new
        assert (
            (await session_facts(one, session)).answers
            == (await session_facts(two, session)).answers
            == {"trial:1": stored}
        )
        assert len(await rows(one, "answers")) == 1
        await one.erase(session, NOON)
        assert (await session_facts(two, session)).erased
        assert (await session_facts(two, session)).answers == {}


async def test_the_loser_of_a_race_between_two_servers_stores_nothing(postgresql_url: str) -> None:
    async with open_store(postgresql_url) as one, open_store(postgresql_url) as two:
        await one.begin(study_record())
        sessions = [await arrive(one, str(number)) for number in range(20)]
        going = [one.append([answer(session, value="yes")]) for session in sessions]
        ending = [two.append([answer(session, value="no"), end(session)]) for session in reversed(sessions)]
        results = await asyncio.gather(*going, *ending)
        won = [result.is_new for result in results]
        assert [one != two for one, two in zip(won[:20], reversed(won[20:]), strict=True)] == [True] * 20
        assert len(await rows(one, "ends")) == won[20:].count(True)
        for session, is_new in zip(sessions, won[:20], strict=True):
            facts = await session_facts(two, session)
            assert facts.answers == {"trial:1": answer(session, value="yes" if is_new else "no")}
            assert (facts.end is None) == is_new


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


async def test_a_database_is_read_inside_a_running_loop(postgresql_url: str) -> None:
    with pytest.raises(StoreError, match=r"holds no facts yet. Run `beholder serve` or `beholder simulate` first."):
        read_tables(postgresql_url, ["answers"])
    async with open_store(postgresql_url) as store:
        await store.begin(study_record())
        await store.append([answer(await arrive(store, "ann"))])
    assert [row["key"] for row in read_tables(postgresql_url, ["answers"])["answers"]] == ["trial:1"]
    async with open_store(postgresql_url, write=False) as reader:
        with pytest.raises(StoreError, match=r"is open for reading only. Open it with write=True."):
            await reader.begin(study_record())


async def test_what_one_server_told_is_known_at_the_other(postgresql_url: str) -> None:
    async with open_store(postgresql_url) as one, open_store(postgresql_url) as two:
        await one.begin(study_record())
        session = await arrive(one, "ann")
        assert (await session_facts(two, session)).verdicts == {}
        told = [StoredVerdict(session, f"check:colour:{n}", "colour", "fail", "", {}, NOON) for n in (1, 2)]
        for server, each in zip((one, two), told, strict=True):
            await server.append([each])
        assert list((await session_facts(one, session)).verdicts.values()) == told
        assert await session_facts(one, session) == await session_facts(two, session)
        await one.erase(session, NOON)
        assert (await session_facts(two, session)).verdicts == {}


async def test_a_newer_database_is_refused(postgresql_url: str) -> None:
    async with open_store(postgresql_url):
        pass
    await sql(postgresql_url, "UPDATE facts.meta SET value = '7' WHERE name = 'schema_version'")
    with pytest.raises(StoreError, match=r"was written by a newer Beholder \(schema 7, this one knows 4\)"):
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
            "  was written before the first release of Beholder (schema 3, this one reads 4)."
            " Read it with the version that wrote it, or begin a new folder or database."
        )


async def test_an_address_that_cannot_be_opened_is_shown_without_its_password() -> None:
    with pytest.raises(StoreError) as refused:
        async with open_store("postgresql://ann:hush@127.0.0.1:1/study"):
            pass
    assert str(refused.value).startswith("postgresql://127.0.0.1:1/study  cannot be opened (")
    assert str(refused.value).endswith("). Check the address, and that the server runs and lets you in.")
    assert "hush" not in str(refused.value)
