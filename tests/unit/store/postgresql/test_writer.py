"""Appending to PostgreSQL from two servers."""

from __future__ import annotations

import asyncio

from beholder.store.open import open_store
from beholder.testing.stores.facts import (
    NOON,
    answer,
    arrive,
    end,
    rows,
    session_facts,
    study_record,
)


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
