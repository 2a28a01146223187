"""What is true of two requests for one key in every store: the first fact leads, and one request wins."""

from __future__ import annotations

import asyncio

from beholder.store.contract import Events, Fact, Posed, Stored, Told
from beholder.testing.store_facts import (
    HOUR,
    NOON,
    Opener,
    answer,
    come,
    end,
    known,
    rows,
    study_record,
)


async def a_repeat_with_more_facts_stores_none_of_them(open_: Opener) -> None:
    async with open_("one") as store:
        await store.begin(study_record())
        session = await come(store, "ann")
        await store.append([answer(session)])
        more: list[Fact] = [
            answer(session, value=3, at=NOON + HOUR),
            answer(session, "trial:2"),
            Events(session, "trial:1", "late", 0, [], NOON + HOUR),
            Told(session, "trial:1", "watch", "fail", "", {}, NOON + HOUR),
            Posed(session, "training:1:1", "x", {}, {}, NOON + HOUR),
            end(session),
        ]
        assert await store.append(more) == Stored(NOON, is_new=False)
        assert [row["key"] for row in await rows(store, "answers")] == ["trial:1"]
        assert await rows(store, "events") == await rows(store, "told") == []
        assert await rows(store, "posed") == await rows(store, "ends") == []
        facts = await known(store, session)
        assert (facts.answers, facts.end) == ({"trial:1": answer(session)}, None)


async def the_loser_of_a_race_stores_nothing(open_: Opener) -> None:
    async with open_("one") as store:
        await store.begin(study_record())
        sessions = await asyncio.gather(*(come(store, str(number)) for number in range(40)))
        tabs: list[tuple[str, str]] = []
        requests: list[list[Fact]] = []
        for number, session in enumerate(sessions):
            for tab in ("stays", "leaves") if number % 2 else ("leaves", "stays"):
                tabs.append((session, tab))
                requests.append([answer(session, value=tab), Events(session, "trial:1", tab, 0, [], NOON)])
                if tab == "leaves":
                    requests[-1].append(end(session))
        results = await asyncio.gather(*(store.append(request) for request in requests))
        winners = {tab for tab, result in zip(tabs, results, strict=True) if result.is_new}
        stored = [(row["session"], row["answer"]["scores"]["q1"]["s1"]) for row in await rows(store, "answers")]
        assert sorted(session for session, _ in winners) == sorted(sessions), "one winner for each session"
        assert set(stored) == winners, "the answer of a winner is the one that is stored"
        assert {(row["session"], row["tab"]) for row in await rows(store, "events")} == winners, "events of a loser"
        ended = {session for session, tab in winners if tab == "leaves"}
        assert {row["session"] for row in await rows(store, "ends")} == ended, "a loser ended the winner's session"
        facts = [await known(store, session) for session in sessions]
        assert {each.session.session for each in facts if each.end is not None} == ended, "what is known is not stored"
    async with open_("one") as store:
        assert [await known(store, session) for session in sessions] == facts, "reopening changed what is known"


async def two_in_the_same_tick_have_one_winner(open_: Opener) -> None:
    async with open_("one") as store:
        await store.begin(study_record())
        for name in ("ann", "bob", "eve"):
            session = await come(store, name)
            results = await asyncio.gather(*(store.append([answer(session, value=value)]) for value in (10, 20, 30)))
            late = await store.append([answer(session, value=40)])
            assert {result.at for result in (*results, late)} == {NOON}
            assert [result.is_new for result in results].count(True) == 1, "times do not tell who was first"
            assert not late.is_new
            value = (10, 20, 30)[[result.is_new for result in results].index(True)]
            assert (await known(store, session)).answers == {"trial:1": answer(session, value=value)}


async def an_end_that_leads_and_one_that_follows_are_one_end(open_: Opener) -> None:
    async with open_("one") as store:
        await store.begin(study_record())
        sessions = await asyncio.gather(*(come(store, str(number)) for number in range(20)))
        last: list[list[Fact]] = [[answer(session), end(session)] for session in sessions]
        withdrawn: list[list[Fact]] = [[end(session, "withdrawn")] for session in sessions]
        results = await asyncio.gather(*(store.append(facts) for facts in [*last, *withdrawn]))
        assert all(result.is_new for result in results[:20]), "an answer depends on its own key only"
        ends = {row["session"]: row["outcome"] for row in await rows(store, "ends")}
        assert len(ends) == len(await rows(store, "ends")) == 20
        for session, result in zip(sessions, results[20:], strict=True):
            found = (await known(store, session)).end
            assert found == end(session, ends[session]), "what is known is not what is stored"
            assert result.is_new == (ends[session] == "withdrawn")
