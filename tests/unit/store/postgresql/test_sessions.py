"""What only PostgreSQL does: several servers at once, and coming back after a lost connection."""

from __future__ import annotations

import asyncio
import json
from collections import Counter

import asyncpg

from beholder.store.contract import StoredVerdict
from beholder.store.open import open_store
from beholder.testing.stores.facts import (
    HOUR,
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


async def test_three_servers_fill_lists_evenly(postgresql_url: str) -> None:
    async with (
        open_store(postgresql_url) as one,
        open_store(postgresql_url) as two,
        open_store(postgresql_url) as three,
    ):
        await one.begin(study_record(lists=7))
        servers = (one, two, three) * 25
        sessions = await asyncio.gather(*(arrive(server, str(number)) for number, server in enumerate(servers)))
        both = [*zip(servers, sessions, strict=True), *zip(reversed(servers), sessions, strict=True)]
        claimed = await asyncio.gather(*(claim(server, session) for server, session in both))
        assert claimed[:75] == claimed[75:], "a session has one list, whichever server it asks"
        filled = Counter(claimed[:75])
        assert sorted(filled.values()) == [10, 10, 11, 11, 11, 11, 11], f"{dict(filled)}"
        await asyncio.gather(*(one.release(session) for session in sessions[:30]))
        again = await asyncio.gather(*(arrive(server, f"again{number}") for number, server in enumerate(servers[:30])))
        refilled = await asyncio.gather(*(claim(s, session) for s, session in zip(servers, again, strict=False)))
        filled = Counter([*claimed[30:75], *refilled])
        assert max(filled.values()) - min(filled.values()) <= 1, f"after drop-outs: {dict(filled)}"


async def test_a_claim_passes_by_lists_that_others_are_claiming_and_waits_for_the_last_one(postgresql_url: str) -> None:
    async with open_store(postgresql_url) as store:
        await store.begin(study_record(lists=2))
        ann, bob, cat = [await arrive(store, name) for name in ("ann", "bob", "cat")]
        other = await asyncpg.connect(postgresql_url, server_settings={"search_path": "facts"})
        watching = await asyncpg.connect(postgresql_url)
        try:
            await other.execute("BEGIN")
            request = {"session": ann, "now": NOON.isoformat(), "until": (NOON + HOUR).isoformat(), "per_list": 1}
            requests = json.dumps([{**request, "barred": [], "preferred": []}])
            claimed = await other.fetchrow("SELECT outcome, number FROM claim_lists($1, false)", requests)
            assert tuple(claimed) == ("given", 1), "a server that has not committed yet"
            assert await claim(store, bob, per_list=1) == 2, "another claim does not wait for it"
            waiting = asyncio.create_task(claim(store, cat, per_list=1))
            blocked = (
                "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%claim_lists%'"
            )
            while not await watching.fetchval(blocked):
                assert not waiting.done(), "full was said before the last list was known to be taken"
            await other.execute("ROLLBACK")
            assert await waiting == 1, "the list of a claim that failed is free"
        finally:
            await other.close()
            await watching.close()


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
