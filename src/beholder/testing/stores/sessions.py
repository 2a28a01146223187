"""What is true of beginning and arriving in every store."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from beholder.errors import Refused, StoreError
from beholder.testing.store_facts import (
    HOUR,
    NOON,
    Opener,
    claim,
    come,
    expect,
    rows,
    study_record,
    visit,
)


async def a_store_gives_back_the_study_that_began(open_: Opener) -> None:
    async with open_("one") as store:
        assert await store.current() is None, "an empty store has no study"
        await store.begin(study_record())
        await store.begin(study_record())
        assert await store.current() == study_record()
        assert len(await rows(store, "studies")) == 1, "the same study again is no second one"
        assert [row["list"] for row in await rows(store, "lists")] == [1, 2, 3]


async def a_secret_is_made_once_and_differs_between_stores(open_: Opener) -> None:
    async with open_("one") as store:
        secret = store.secret
    async with open_("one") as again, open_("two") as other:
        assert len(secret) == 32, f"{len(secret)} bytes instead of 32"
        assert again.secret == secret, "the secret changed"
        assert other.secret != secret, "two stores share a secret"


async def a_text_may_change_and_people_keep_their_session(open_: Opener) -> None:
    async with open_("one") as store:
        await store.begin(study_record())
        session = await come(store, "ann")
        assert await claim(store, session) == 1
        await store.begin(study_record("d2"))
        current = await store.current()
        assert current is not None
        assert current.digest == "d2"
        assert len(await rows(store, "lists")) == 3, "the plan is written once"
        again, is_new = await store.arrive(visit("ann", digest="d2"))
        assert (again.session, again.digest, is_new) == (session, "d1", False)
        assert await claim(store, await come(store, "bob", digest="d2")) == 2, "claims under the old text count"
        await store.begin(study_record("d1"))
        undone = await store.current()
        assert undone is not None
        assert undone.digest == "d1", "an undone change is current again"


async def a_plan_may_change_until_a_person_has_claimed_a_list(open_: Opener) -> None:
    async with open_("one") as store:
        await store.begin(study_record())
        await claim(store, await come(store, "robby", mode="robot"))
        early = await come(store, "ann")
        await store.begin(study_record("d2", "p2", lists=2))
        await expect(Refused, claim(store, early), "a claim under the plan that is gone")
        late, is_new = await store.arrive(visit("ann", digest="d2"))
        assert is_new, "under another plan it is another session"
        assert await claim(store, late.session) == 1
        error = await expect(StoreError, store.begin(study_record("d3", "p3")), "a third plan")
        assert "1 person has already claimed lists of the plan before this change" in str(error)
        await claim(store, await come(store, "bob", digest="d2"))
        error = await expect(StoreError, store.begin(study_record("d1", "p1")), "going back to the first plan")
        assert "2 people have already claimed lists of the plan before this change" in str(error)
        current = await store.current()
        assert current is not None
        assert current.digest == "d2", "a refused study changes nothing"
        assert len(await rows(store, "studies")) == 2


async def a_plan_grows_and_what_is_there_stays(open_: Opener) -> None:
    async with open_("one") as store:
        await store.begin(study_record(lists=2))
        ann, bob = await come(store, "ann"), await come(store, "bob")
        assert [await claim(store, ann, per_list=1), await claim(store, bob, per_list=1)] == [1, 2]
        late = await come(store, "late")
        assert await claim(store, late, per_list=1) is None, "both lists are taken"
        before = await rows(store, "lists")
        await store.begin(study_record("d2", lists=4))
        assert (await rows(store, "lists"))[:2] == before, "lists that were there stay"
        assert [row["list"] for row in await rows(store, "lists")] == [1, 2, 3, 4]
        assert (await store.counts(NOON))["lists"] == 4
        assert await claim(store, late, per_list=1) == 3, "who came before finds the lists that were added"
        await store.begin(study_record("d1", lists=2))
        assert len(await rows(store, "lists")) == 4, "fewer lists take nothing away"
        other = study_record("d3", lists=6)
        other = replace(other, lists=[*other.lists[:3], {"list": 4, "trials": []}, *other.lists[4:]])
        error = await expect(StoreError, store.begin(other), "lists that follow others than those that are there")
        assert "holds 4 lists of this plan that are not those to which lists are added" in str(error)
        assert len(await rows(store, "lists")) == 4


async def runs_have_plans_people_and_counts_of_their_own(open_: Opener) -> None:
    async with open_("one") as store:
        await store.begin(study_record())
        await claim(store, await come(store, "ann"))
        await come(store, "bob")
        await claim(store, await come(store, "robby", mode="robot"))
        await store.begin(study_record("d2", "p2", lists=2), 2)
        current = await store.current()
        assert current is not None
        assert (current.digest, len(current.lists)) == ("d2", 2), "a second run begins although people took the first"
        assert await store.runs_taken("p-ann", "link") == {1}
        assert await store.runs_taken("p-ann", "panel") == {1}, "people are the same people whichever way they come"
        assert await store.runs_taken("p-ann", "robot") == set(), "a robot of the same name is somebody else"
        assert await store.runs_taken("p-robby", "robot") == {1}
        assert await store.runs_taken("p-bob", "link") == set(), "who has claimed nothing has not taken part"
        assert await claim(store, await come(store, "bob", digest="d2", run=2), per_list=1) == 1
        assert await store.runs_taken("p-bob", "link") == {2}
        counts = [dict(await store.counts(NOON, run))["arrived"] for run in (1, 2, 3)]
        assert counts == [2, 1, 0], f"{counts} arrived in runs 1, 2 and 3"
        error = await expect(StoreError, store.begin(study_record("d3", "p3"), 2), "another plan of the second run")
        assert "1 person has already claimed lists of the plan before this change" in str(error)
        await store.begin(study_record(), 1)
        again = await store.current()
        assert again is not None
        assert again.digest == "d1", "the first run goes on where it was"
        assert await claim(store, await come(store, "cat"), per_list=1) == 2


async def a_store_holds_one_study(open_: Opener) -> None:
    async with open_("one") as store:
        await store.begin(study_record())
        error = await expect(StoreError, store.begin(study_record("d9", "p9", "talk")), "another study")
        assert "holds the study walk, not talk" in str(error)
        await expect(StoreError, store.begin(study_record("d1", "p9")), "the same text with another plan")


async def the_same_visit_gets_the_same_session(open_: Opener) -> None:
    async with open_("one") as store:
        await store.begin(study_record())
        first = visit("ann")
        second = replace(first, session="other", device={}, at=NOON + HOUR)
        arrivals = await asyncio.gather(*(store.arrive(each) for each in (first, second) * 5))
        assert sum(is_new for _, is_new in arrivals) == 1, "one of ten arrivals is new"
        assert all(session == arrivals[0][0] for session, _ in arrivals), "all of them get the same session"
        assert (await store.arrive(visit("ann", number=2)))[1], "a second visit is a session of its own"
        assert (await store.arrive(visit("ann", mode="robot")))[1], "a robot of the same name is somebody else"
        assert len(await rows(store, "sessions")) == 3
        await expect(LookupError, store.arrive(visit("bob", digest="d9")), "arriving at a study that never began")
        await expect(ValueError, store.arrive(replace(visit("cat"), session=arrivals[0][0].session)), "a taken id")
