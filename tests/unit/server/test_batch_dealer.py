"""Dealing beside requests: who gets which lists, when the next batch is made, and who waits for it."""

from __future__ import annotations

import asyncio
from pathlib import Path

from beholder.clock import utc_now
from beholder.methods import load_study
from beholder.server.batch_dealer import Dealer, VoteReader
from beholder.server.process import RunningServer, run_server
from beholder.store.contract import Answer, End
from beholder.testing.stores.facts import arrive, rows
from support.active_studies import batches_of, write_active_study


async def people_with_lists(server: RunningServer, *names: str) -> list[str]:
    digest = server.service.served.digest
    sessions = [await arrive(server.store, name, digest=digest) for name in names]
    for session in sessions:
        facts = await server.store.session_facts(session)
        assert facts is not None
        assert await server.service.context.leases.claim(facts.session, (), utc_now())
    return sessions


async def test_who_comes_when_all_lists_are_taken_waits_for_the_next_batch_and_nobody_gets_the_same(
    tmp_path: Path,
) -> None:
    study = load_study(write_active_study(tmp_path, design={"participants": 9}))
    async with run_server(study, port=0) as server:
        sessions = [
            session
            for some in await asyncio.gather(*(people_with_lists(server, f"person{number}") for number in range(9)))
            for session in some
        ]
        claims = {row["session"]: row["list"] for row in await rows(server.store, "claims")}
        assert sorted(claims[session] for session in sessions) == list(range(1, 10)), "nine lists, and no tenth"
        dealer = server.service.context.dealer
        assert not dealer.can_deal("people")
        assert not await dealer.deal("people")
        late = await arrive(server.store, "late", digest=server.service.served.digest)
        facts = await server.store.session_facts(late)
        assert facts is not None
        assert await server.service.context.leases.claim(facts.session, (), utc_now()) is None
        assert not await server.service.context.leases.has_free_list(utc_now())


async def test_the_next_batch_is_made_when_half_of_the_last_one_is_taken(tmp_path: Path) -> None:
    study = load_study(write_active_study(tmp_path, design={"participants": 40, "pairs": {"active": {"batch": 4}}}))
    async with run_server(study, port=0) as server:
        served = server.service.served
        await people_with_lists(server, "one", "two")
        assert len(served.lists) == 4
        await people_with_lists(server, "three")
        while len(served.lists) < 8:
            await asyncio.sleep(0)
        stored = await rows(server.store, "lists")
    assert sorted(batches_of(stored)) == [(1, ""), (2, "people")]


async def test_votes_are_the_last_answers_of_this_population_and_none_that_were_erased(tmp_path: Path) -> None:
    study = load_study(write_active_study(tmp_path))
    async with run_server(study, port=0) as server:
        store, now = server.store, utc_now()
        ann, bob = await people_with_lists(server, "ann", "bob")
        reader = VoteReader(server.service.served, store)
        assert (await reader.tally("people")).votes == 0

        def choice(session: str, key: str, better: str) -> Answer:
            return Answer(session, key, {"choices": {"q1": {"better": better}}}, {}, 0, 1, "mouse", "tab", now)

        await store.append([choice(ann, "trial:1", "s1"), choice(ann, "trial:2", "s1")])
        await store.append([choice(ann, "trial:1:2", "s2")])
        await store.append([Answer(ann, "questions:after", {}, {}, 0, 1, "mouse", "tab", now)])
        assert (await reader.tally("people")).votes == 2
        assert (await reader.tally("robot")).votes == 0
        await store.append([choice(bob, "trial:1", "s1")])
        await store.append([End(bob, "completed", "", "", "receipt", now)])
        assert (await reader.tally("people")).votes == 3
        await store.erase(bob, now)
        assert (await reader.tally("people")).votes == 2


async def test_a_server_that_is_started_again_goes_on_where_the_last_batch_was(tmp_path: Path) -> None:
    study = load_study(write_active_study(tmp_path, design={"participants": 9}))
    async with run_server(study, port=0) as server:
        await people_with_lists(server, *"abc")
        before = await rows(server.store, "lists")
    async with run_server(load_study(tmp_path), port=0) as server:
        assert len(server.service.served.lists) >= len(before)
        await people_with_lists(server, *"defghi")
        after = await rows(server.store, "lists")
    assert after[: len(before)] == before
    assert [number for number, _ in sorted(batches_of(after))] == [1, 2, 3, 4, 5]


async def test_a_fixed_plan_is_never_dealt(tmp_path: Path) -> None:
    study = load_study(write_active_study(tmp_path, design={"pairs": "all"}))
    async with run_server(study, port=0) as server:
        dealer: Dealer = server.service.context.dealer
        assert (dealer.is_active, dealer.can_deal("people"), dealer.barred("robot")) == (False, False, frozenset())
        assert not await dealer.deal("people")
        dealer.look_ahead("people", 1)
        assert len(await rows(server.store, "lists")) == 12
