"""Checks of beginning a study, arriving, and claiming lists."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from random import Random

from beholder.errors import Refused, StoreError
from beholder.store.contract import Store
from beholder.testing.stores.facts import (
    HOUR,
    NOON,
    StoreOpener,
    answer,
    arrive,
    claim,
    end,
    expect,
    rows,
    session_facts,
    session_of,
    study_record,
)
from beholder.types import Json


async def a_store_gives_back_the_study_that_began(open_: StoreOpener) -> None:
    async with open_("one") as store:
        assert await store.current() is None, "an empty store has no study"
        await store.begin(study_record())
        await store.begin(study_record())
        assert await store.current() == study_record()
        assert len(await rows(store, "studies")) == 1, "the same study again is no second one"
        assert [row["list"] for row in await rows(store, "lists")] == [1, 2, 3]


async def a_secret_is_made_once_and_differs_between_stores(open_: StoreOpener) -> None:
    async with open_("one") as store:
        secret = store.secret
    async with open_("one") as again, open_("two") as other:
        assert len(secret) == 32, f"{len(secret)} bytes instead of 32"
        assert again.secret == secret, "the secret changed"
        assert other.secret != secret, "two stores share a secret"


async def a_text_may_change_and_people_keep_their_session(open_: StoreOpener) -> None:
    async with open_("one") as store:
        await store.begin(study_record())
        session = await arrive(store, "ann")
        assert await claim(store, session) == 1
        await store.begin(study_record("d2"))
        current = await store.current()
        assert current is not None
        assert current.digest == "d2"
        assert len(await rows(store, "lists")) == 3, "the plan is written once"
        again, is_new = await store.arrive(session_of("ann", digest="d2"))
        assert (again.session, again.digest, is_new) == (session, "d1", False)
        assert await claim(store, await arrive(store, "bob", digest="d2")) == 2, "claims under the old text count"
        await store.begin(study_record("d1"))
        undone = await store.current()
        assert undone is not None
        assert undone.digest == "d1", "an undone change is current again"


async def a_plan_may_change_until_a_person_has_claimed_a_list(open_: StoreOpener) -> None:
    async with open_("one") as store:
        await store.begin(study_record())
        await claim(store, await arrive(store, "robby", mode="robot"))
        early = await arrive(store, "ann")
        await store.begin(study_record("d2", "p2", lists=2))
        await expect(Refused, claim(store, early), "a claim under the plan that is gone")
        late, is_new = await store.arrive(session_of("ann", digest="d2"))
        assert is_new, "under another plan it is another session"
        assert await claim(store, late.session) == 1
        error = await expect(StoreError, store.begin(study_record("d3", "p3")), "a third plan")
        assert "1 person has already claimed lists of the plan before this change" in str(error)
        await claim(store, await arrive(store, "bob", digest="d2"))
        error = await expect(StoreError, store.begin(study_record("d1", "p1")), "going back to the first plan")
        assert "2 people have already claimed lists of the plan before this change" in str(error)
        current = await store.current()
        assert current is not None
        assert current.digest == "d2", "a refused study changes nothing"
        assert len(await rows(store, "studies")) == 2


async def a_plan_grows_and_what_is_there_stays(open_: StoreOpener) -> None:
    async with open_("one") as store:
        await store.begin(study_record(lists=2))
        ann, bob = await arrive(store, "ann"), await arrive(store, "bob")
        assert [await claim(store, ann, per_list=1), await claim(store, bob, per_list=1)] == [1, 2]
        late = await arrive(store, "late")
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


async def lists_are_added_whole_once_and_for_one_population(open_: StoreOpener) -> None:
    async with open_("one") as store:
        await store.begin(study_record(lists=2))
        before = await rows(store, "lists")
        ann = await arrive(store, "ann")
        more: list[Json] = [{"list": 3, "trials": []}, {"list": 4, "trials": []}]
        assert not await store.grow("p1", 1, more, "people"), "the plan holds two lists, and not one"
        added = await asyncio.gather(*(store.grow("p1", 2, more, "robot") for _ in range(4)))
        assert sorted(added) == [False, False, False, True], f"{added}: of several at once one adds its lists"
        stored = await rows(store, "lists")
        assert (stored[:2], [row["list"] for row in stored]) == (before, [1, 2, 3, 4])
        assert [row["trials"] for row in stored[2:]] == more
        assert await claim(store, ann, per_list=1, barred=[1, 2]) is None, "lists of robots are not for people"
        assert not await store.has_free_list(NOON, [1, 2])
        robby = await arrive(store, "robby", mode="robot")
        assert await claim(store, robby, per_list=1, barred=[1, 2]) == 3, "robots have them, and those of before"
        assert await store.grow("p1", 4, [{"list": 5, "trials": []}], "people")
        assert await store.has_free_list(NOON, [1, 2])
        assert await claim(store, ann, per_list=1, barred=[1, 2]) == 5
        assert (await store.counts(NOON))["lists"] == 5


async def runs_have_plans_people_and_counts_of_their_own(open_: StoreOpener) -> None:
    async with open_("one") as store:
        await store.begin(study_record())
        await claim(store, await arrive(store, "ann"))
        await arrive(store, "bob")
        await claim(store, await arrive(store, "robby", mode="robot"))
        await store.begin(study_record("d2", "p2", lists=2), 2)
        current = await store.current()
        assert current is not None
        assert (current.digest, len(current.lists)) == ("d2", 2), "a second run begins although people took the first"
        assert await store.runs_taken("p-ann", "link") == {1}
        assert await store.runs_taken("p-ann", "panel") == {1}, "people are the same people whichever way they come"
        assert await store.runs_taken("p-ann", "robot") == set(), "a robot of the same name is somebody else"
        assert await store.runs_taken("p-robby", "robot") == {1}
        assert await store.runs_taken("p-bob", "link") == set(), "who has claimed nothing has not taken part"
        assert await claim(store, await arrive(store, "bob", digest="d2", run=2), per_list=1) == 1
        assert await store.runs_taken("p-bob", "link") == {2}
        counts = [dict(await store.counts(NOON, run))["arrived"] for run in (1, 2, 3)]
        assert counts == [2, 1, 0], f"{counts} arrived in runs 1, 2 and 3"
        error = await expect(StoreError, store.begin(study_record("d3", "p3"), 2), "another plan of the second run")
        assert "1 person has already claimed lists of the plan before this change" in str(error)
        await store.begin(study_record(), 1)
        again = await store.current()
        assert again is not None
        assert again.digest == "d1", "the first run goes on where it was"
        assert await claim(store, await arrive(store, "cat"), per_list=1) == 2


async def a_store_holds_one_study(open_: StoreOpener) -> None:
    async with open_("one") as store:
        await store.begin(study_record())
        error = await expect(StoreError, store.begin(study_record("d9", "p9", "talk")), "another study")
        assert "holds the study walk, not talk" in str(error)
        await expect(StoreError, store.begin(study_record("d1", "p9")), "the same text with another plan")


async def the_same_visit_gets_the_same_session(open_: StoreOpener) -> None:
    async with open_("one") as store:
        await store.begin(study_record())
        first = session_of("ann")
        second = replace(first, session="other", device={}, at=NOON + HOUR)
        arrivals = await asyncio.gather(*(store.arrive(each) for each in (first, second) * 5))
        assert sum(is_new for _, is_new in arrivals) == 1, "one of ten arrivals is new"
        assert all(session == arrivals[0][0] for session, _ in arrivals), "all of them get the same session"
        assert (await store.arrive(session_of("ann", number=2)))[1], "a second visit is a session of its own"
        assert (await store.arrive(session_of("ann", mode="robot")))[1], "a robot of the same name is somebody else"
        assert len(await rows(store, "sessions")) == 3
        await expect(LookupError, store.arrive(session_of("bob", digest="d9")), "arriving at a study that never began")
        await expect(ValueError, store.arrive(replace(session_of("cat"), session=arrivals[0][0].session)), "a taken id")


# Claims


async def no_list_is_claimed_twice_by_200_at_once(open_: StoreOpener) -> None:
    async with open_("one") as store:
        await store.begin(study_record(lists=200))
        sessions = await asyncio.gather(*(arrive(store, str(number)) for number in range(250)))
        first = await asyncio.gather(*(claim(store, session, per_list=1) for session in sessions[:200]))
        assert sorted(number or 0 for number in first) == list(range(1, 201)), "every list once"
        assert not await store.has_free_list(NOON)
        late = await asyncio.gather(*(claim(store, session, per_list=1) for session in sessions[200:]))
        assert late == [None] * 50, "and none for the other 50"
        claimed = [*first, *late]
        stored = {row["session"]: row["list"] for row in await rows(store, "claims")}
        assert stored == {s: n for s, n in zip(sessions, claimed, strict=True) if n is not None}


async def the_least_filled_list_goes_first(open_: StoreOpener) -> None:
    async with open_("one") as store:
        await store.begin(study_record(lists=4))
        sessions = await asyncio.gather(*(arrive(store, str(number)) for number in range(10)))
        claimed = Counter([await claim(store, session) for session in sessions])
        assert claimed == {1: 3, 2: 3, 3: 2, 4: 2}, f"filled unevenly: {dict(claimed)}"
        assert await claim(store, sessions[3]) == 4, "a session keeps its list"
        assert len(await rows(store, "claims")) == 10


async def an_expired_lease_opens_its_list_and_a_finished_session_keeps_it(open_: StoreOpener) -> None:
    async with open_("one") as store:
        await store.begin(study_record(lists=2))
        gone, done, late = [await arrive(store, name) for name in ("gone", "done", "late")]
        assert [await claim(store, gone, per_list=1), await claim(store, done, per_list=1)] == [1, 2]
        await store.append([answer(done), end(done)])
        assert await claim(store, late, now=NOON + HOUR / 2, per_list=1) is None, "both lists are full"
        assert (await session_facts(store, late)).list is None
        after = NOON + 2 * HOUR
        assert await claim(store, late, now=after, until=after + HOUR, per_list=1) == 1, "the lease ran out"
        assert await claim(store, gone, now=after, until=after + HOUR, per_list=1) == 1, "who comes back goes on"
        other = await arrive(store, "other")
        assert await claim(store, other, now=after, until=after + HOUR, per_list=2) == 2, "list 1 counts twice now"


async def a_lease_is_renewed_and_released(open_: StoreOpener) -> None:
    async with open_("one") as store:
        await store.begin(study_record(lists=1))
        first, second = await arrive(store, "first"), await arrive(store, "second")
        await store.renew(first, NOON + HOUR)
        assert await claim(store, first, until=NOON + HOUR, per_list=1) == 1
        await store.renew(first, NOON + 3 * HOUR)
        assert await claim(store, second, now=NOON + 2 * HOUR, per_list=1) is None, "the lease was renewed"
        await store.release(first)
        assert await claim(store, second, until=NOON + HOUR, per_list=1) == 1, "the lease was released"
        await expect(LookupError, store.renew("nobody", NOON), "renewing for nobody")
        await expect(LookupError, store.release("nobody"), "releasing for nobody")
        await expect(LookupError, claim(store, "nobody"), "claiming for nobody")


async def a_session_that_ended_early_or_was_erased_opens_its_list(open_: StoreOpener) -> None:
    async with open_("one") as store:
        await store.begin(study_record(lists=1))
        first, second, third = [await arrive(store, name) for name in ("first", "second", "third")]
        assert await claim(store, first, per_list=1) == 1
        await store.append([end(first, "screened_out")])
        assert await claim(store, second, per_list=1) == 1, "a session that was screened out does not count"
        await store.append([end(second)])
        assert await claim(store, third, per_list=1) is None, "a finished session counts"
        await store.erase(second, NOON)
        assert await claim(store, third, per_list=1) == 1, "a session that was erased does not count"


async def barred_lists_are_not_given_and_preferred_ones_go_first(open_: StoreOpener) -> None:
    async with open_("one") as store:
        await store.begin(study_record(lists=4))
        ann, bob, cat, eve, joe = [await arrive(store, name) for name in ("ann", "bob", "cat", "eve", "joe")]
        assert await claim(store, ann, per_list=1, preferred=(3, 4)) == 3, "of lists equally filled a preferred one"
        assert await claim(store, bob, per_list=1, barred=(1,), preferred=(1, 3)) == 2, "which is free, and not barred"
        assert await claim(store, cat, per_list=1, barred=(1, 2, 3, 4)) is None
        assert not await store.has_free_list(NOON, (1, 4))
        assert await store.has_free_list(NOON, (1, 2, 3))
        assert await claim(store, cat, per_list=2, preferred=(2,)) == 1, "an emptier list goes before a preferred one"
        assert await claim(store, eve, per_list=1) == 4
        assert not await store.has_free_list(NOON)
        assert await store.has_free_list(NOON + 2 * HOUR), "all leases ran out"
        assert await claim(store, joe, barred=(1, 2, 4)) == 3, "where lists are shared, a second one"


async def the_lists_that_somebody_had_are_known(open_: StoreOpener) -> None:
    async with open_("one") as store:
        await store.begin(study_record(lists=5))
        first = await arrive(store, "ann")
        assert await store.lists_taken("p-ann", "link") == ()
        await claim(store, first)
        await store.append([end(first, "wrong_device")])
        assert await store.lists_taken("p-ann", "link") == (), "a device that did not fit has shown nothing"
        for number, list_ in ((2, 4), (3, 2)):
            session = await arrive(store, "ann", number=number)
            await claim(store, session, preferred=(list_,))
            await store.append([end(session)])
        await claim(store, await arrive(store, "bob"))
        assert await store.lists_taken("p-ann", "link") == (4, 2), "oldest first"
        assert await store.lists_taken("p-ann", "lab") == (4, 2), "people are the same people whichever way they come"
        assert await store.lists_taken("p-ann", "robot") == ()
        assert await store.lists_taken("p-ann", "link", 2) == (), "another run has other lists"


async def a_list_that_was_finished_twice_leaves_the_others_open(open_: StoreOpener) -> None:
    async with open_("one") as store:
        await store.begin(study_record(lists=2))
        slow, other = await arrive(store, "slow"), await arrive(store, "other")
        assert await claim(store, slow, until=NOON + HOUR, per_list=1) == 1
        after = NOON + 2 * HOUR
        assert await claim(store, other, now=after, until=after + HOUR, per_list=1) == 1
        for session in (other, slow):
            await store.append([end(session)])
            await store.renew(session, after + HOUR)
            await store.release(session)
        counts = await store.counts(after)
        assert (counts["completed"], counts["finished"]) == (2, 1), f"{dict(counts)}"
        late = after + 100 * HOUR
        assert await store.has_free_list(late), "list 2 is empty"
        assert not await store.has_free_list(late, (2,)), "what was finished stays so, whatever is renewed or released"
        assert await claim(store, await arrive(store, "third"), now=late, until=late + HOUR, per_list=1) == 2


async def robots_and_people_are_leased_apart(open_: StoreOpener) -> None:
    async with open_("one") as store:
        await store.begin(study_record(lists=1))
        for mode in ("robot", "link"):
            assert await claim(store, await arrive(store, "a", mode=mode), per_list=1) == 1, f"{mode} found it taken"
        assert await claim(store, await arrive(store, "b", mode="robot"), per_list=1) is None
        assert await claim(store, await arrive(store, "b", mode="lab"), per_list=1) is None, "lab and link are people"


@dataclass
class _Leases:
    """The rule of claims by its words, counting all leases anew each time; minutes instead of times."""

    lists: int = 6
    until: dict[str, float] = field(default_factory=dict)
    list_of: dict[str, int] = field(default_factory=dict)
    over: set[str] = field(default_factory=set)

    def filled(self, number: int, now: float) -> int:
        return sum(self.list_of[one] == number and until > now for one, until in self.until.items())

    def claim(
        self, session: str, now: float, per_list: int | None, barred: Collection[int], preferred: Collection[int]
    ) -> int | None:
        if session not in self.list_of:
            most = math.inf if per_list is None else per_list
            numbers = [one for one in range(1, self.lists + 1) if one not in barred and self.filled(one, now) < most]
            if not numbers:
                return None
            order = {one: (self.filled(one, now), one not in preferred, one) for one in numbers}
            self.list_of[session] = min(numbers, key=order.__getitem__)
        self.renew(session, now + 60)
        return self.list_of[session]

    def renew(self, session: str, until: float) -> None:
        if session not in self.over:
            self.until[session] = until

    def end(self, session: str, *, is_finished: bool) -> None:
        self.over.add(session)
        self.until[session] = math.inf if is_finished else -math.inf


async def claims_follow_their_rule_whatever_happened_before(open_: StoreOpener) -> None:
    rng, now, leases = Random(3), 0, _Leases()  # noqa: S311 (a simulation)
    async with open_("one") as store:
        await store.begin(study_record(lists=leases.lists))
        for step in range(120):
            now += rng.choice((0, 6, 24))
            barred, preferred = (rng.sample(range(1, 7), rng.choice((0, 0, 2, 5))) for _ in range(2))
            about = rng.choice(sorted(leases.list_of)) if leases.list_of and rng.random() < 0.6 else ""
            if about:
                await _do(store, leases, about, now, rng)
            else:
                per_list = rng.choice((None, 1, 2))
                session = await arrive(store, f"{step}")
                moment = NOON + now * HOUR / 60
                given = await claim(store, session, now=moment, until=moment + HOUR, per_list=per_list,
                                    barred=barred, preferred=preferred)  # fmt: skip
                expected = leases.claim(session, now, per_list, barred, preferred)
                assert given == expected, f"step {step}: list {given} instead of {expected}"
            if step == 80:
                leases.lists = 8
                await store.begin(study_record("d2", lists=8))
            free = [one for one in range(1, leases.lists + 1) if one not in barred and not leases.filled(one, now)]
            found = await store.has_free_list(NOON + now * HOUR / 60, barred)
            assert found == bool(free), f"step {step}: {free} are free, and has_free_list says {found}"


async def _do(store: Store, leases: _Leases, session: str, now: int, rng: Random) -> None:
    """Do something about a session that has a list, in the store and by the rule."""
    what = rng.choice(("renew", "renew", "release", "finish", "leave", "erase", "return"))
    if what == "renew":
        later = now + rng.randrange(120)
        await store.renew(session, NOON + later * HOUR / 60)
        leases.renew(session, later)
    elif what == "release":
        await store.release(session)
        leases.renew(session, -math.inf)
    elif what == "erase":
        await store.erase(session, NOON)
        leases.end(session, is_finished=False)
    elif what == "return":
        given = await claim(store, session, now=NOON + now * HOUR / 60, until=NOON + (now / 60 + 1) * HOUR, per_list=1)
        assert given == leases.claim(session, now, 1, (), ()), "a session keeps its list"
    elif session not in leases.over:
        await store.append([end(session, "completed" if what == "finish" else "screened_out")])
        leases.end(session, is_finished=what == "finish")
