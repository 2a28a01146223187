"""What only PostgreSQL does: several servers at once, and coming back after a lost connection."""

from __future__ import annotations

import asyncio

from beholder.store.contract import StoredVerdict
from beholder.store.open import open_store
from beholder.testing.stores.facts import (
    NOON,
    arrive,
    claim,
    session_facts,
    session_of,
    study_record,
)


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


async def test_what_one_server_told_is_known_at_the_other(postgresql_url: str) -> None:
    async with open_store(postgresql_url) as one, open_store(postgresql_url) as two:
        await one.begin(study_record())
        session = await arrive(one, "ann")
        assert (await session_facts(two, session)).verdicts == {}
        verdicts = [StoredVerdict(session, f"check:colour:{n}", "colour", "fail", "", {}, NOON) for n in (1, 2)]
        for server, each in zip((one, two), verdicts, strict=True):
            await server.append([each])
        assert list((await session_facts(one, session)).verdicts.values()) == verdicts
        assert await session_facts(one, session) == await session_facts(two, session)
        await one.erase(session, NOON)
        assert (await session_facts(two, session)).verdicts == {}
