"""What is true of forgetting and watching in every store."""

from __future__ import annotations

import asyncio

from beholder.errors import Refused
from beholder.store.contract import (
    Coming,
    Events,
    Link,
    Posed,
    Told,
)
from beholder.testing.store_facts import (
    HOUR,
    NOON,
    TABLES,
    Opener,
    answer,
    claim,
    come,
    end,
    expect,
    known,
    rows,
    study_record,
)


async def erasing_takes_the_facts_and_leaves_a_tombstone(open_: Opener) -> None:
    async with open_("one") as store:
        await store.begin(study_record())
        ann, bob = await come(store, "ann"), await come(store, "bob")
        await claim(store, ann)
        for session in (ann, bob):
            await store.append(
                [
                    answer(session),
                    Events(session, "trial:1", "tab", 0, [], NOON),
                    Told(session, "trial:1", "watch", "fail", "", {}, NOON),
                    Posed(session, "training:1:1", "x", {}, {}, NOON),
                ]
            )
        await store.append([end(ann, "withdrawn")])
        assert await store.erase(ann, NOON + HOUR) == 4
        assert await store.erase(ann, NOON + 2 * HOUR) == 4, "erasing again changes nothing"
        facts = await known(store, ann)
        assert (facts.erased, facts.answers, facts.list) == (True, {}, 1)
        assert facts.end == end(ann, "withdrawn")
        for table in ("answers", "events", "told", "posed"):
            assert {row["session"] for row in await rows(store, table)} == {bob}, f"{table} of somebody else"
        assert await rows(store, "erasures") == [{"session": ann, "rows": 4, "at": NOON + HOUR}]
        assert len(await rows(store, "sessions")) == 2, "the session stays"
        assert not (await known(store, bob)).erased
        await expect(LookupError, store.erase("nobody", NOON), "erasing nobody")


async def nothing_is_kept_of_a_session_after_its_erasure(open_: Opener) -> None:
    async with open_("one") as store:
        await store.begin(study_record())
        session = await come(store, "ann")
        late = [answer(session, f"trial:{number}") for number in range(20)]
        results = await asyncio.gather(
            *(store.append([each]) for each in late[:10]),
            store.erase(session, NOON),
            *(store.append([each]) for each in late[10:]),
            return_exceptions=True,
        )
        for result in results:
            assert not isinstance(result, BaseException) or isinstance(result, Refused), repr(result)
        refusal = await expect(Refused, store.append([answer(session, "trial:99")]), "an answer after the erasure")
        assert isinstance(refusal, Refused)
        assert refusal.status == 410
        await store.append([end(session, "withdrawn")])
        assert await rows(store, "answers") == []
        assert (await known(store, session)).answers == {}


async def a_platform_id_is_nowhere_among_the_facts(open_: Opener) -> None:
    async with open_("one") as store:
        await store.begin(study_record())
        session = await come(store, "ann")
        await store.identify(Link("p-ann", "prolific", "5f3a-secret-id"), Coming(session, "post", "sub-secret-id"))
        await store.identify(Link("p-ann", "prolific", "5f3a-secret-id"))
        await store.append([answer(session)])
        for table in TABLES:
            assert "secret-id" not in repr(await rows(store, table)), f"{table} holds a platform id"


async def counts_are_of_people(open_: Opener) -> None:
    async with open_("one") as store:
        await store.begin(study_record())
        empty = {"arrived": 0, "live": 0, "completed": 0, "finished": 0, "ended": 0, "answers": 0, "lists": 3}
        assert dict(await store.counts(NOON)) == empty
        robby = await come(store, "robby", mode="robot")
        await claim(store, robby)
        await store.append([answer(robby), end(robby)])
        assert dict(await store.counts(NOON)) == empty, "robots are not people"
        done, out, live, gone, _ = [await come(store, name) for name in ("done", "out", "live", "gone", "new")]
        for session, until in ((done, HOUR), (out, HOUR), (live, HOUR), (gone, -HOUR)):
            await claim(store, session, until=NOON + until)
            await store.append([answer(session)])
        await store.append([end(done)])
        await store.append([end(out, "failed_checks")])
        found = {"arrived": 5, "live": 1, "completed": 1, "finished": 1, "ended": 1, "answers": 4, "lists": 3}
        assert dict(await store.counts(NOON)) == found


async def a_store_is_ready_while_it_is_open(open_: Opener) -> None:
    async with open_("one") as store:
        assert await store.ready()
