"""The contract of a store as a suite that anybody can run against theirs.

    await check_store(lambda name: open_store(folder / name))

Each check is one sentence about every store; it opens stores by name, and two names are two stores.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

from beholder.errors import Refused, StoreError
from beholder.store.contract import (
    Answer,
    End,
    Events,
    Posed,
    Session,
    SessionFacts,
    Store,
    StudyRecord,
    Table,
    Told,
)
from beholder.types import Json, Mode, Outcome

Opener: TypeAlias = Callable[[str], AbstractAsyncContextManager[Store]]
"""Opens the store of a name for writing: an empty one the first time, the same one again after it was closed."""
Check: TypeAlias = Callable[[Opener], Awaitable[None]]

NOON = datetime(2026, 5, 4, 12, 0, 0, 123456, tzinfo=UTC)
HOUR = timedelta(hours=1)


async def check_store(open_: Opener, *, only: Collection[str] | None = None) -> tuple[str, ...]:
    """Run the checks of every store and return their names; the first that fails raises AssertionError with it."""
    names = tuple(name for name in STORE_CHECKS if only is None or name in only)
    for name in names:
        try:
            await STORE_CHECKS[name](lambda store, name=name: open_(f"{name}_{store}"))  # type: ignore[misc]
        except AssertionError as failure:
            raise AssertionError(f"not true of this store: {name.replace('_', ' ')}. {failure}") from failure
    return names


def study_record(digest: str = "d1", plan: str = "p1", study: str = "walk", lists: int = 3) -> StudyRecord:
    """Return a small study as it begins."""
    stimulus: dict[str, Json] = {
        "stimulus": "a/b", "content": "b", "condition": "a", "role": "test", "medium": "video", "sha256": "00",
        "probe": {"ms": 9960, "fps": 29.97}, "factors": {"rate": "low"},
    }  # fmt: skip
    planned: list[Json] = [{"list": number, "trials": [["t1", {"x": None}]]} for number in range(1, lists + 1)]
    return StudyRecord(
        digest, plan, study, f"name: {study}\n# Grüße {digest}\n", "beholder 0", [stimulus], planned, NOON
    )


def visit(name: str, *, mode: Mode = "link", digest: str = "d1", number: int = 1) -> Session:
    """Return a session of a participant of this name."""
    session = f"s-{name}-{mode}-{digest}-{number}"
    return Session(session, f"p-{name}", digest, 1, mode, number, {"screen": [1920, 1080]}, NOON)


def answer(session: str, key: str = "trial:1", value: Json = 72, *, at: datetime = NOON) -> Answer:
    """Return an answer with one score."""
    scores: Json = {"scores": {"q1": {"s1": value}}}
    return Answer(session, key, scores, {"s1": {"plays": 1}}, 10.5, 2000.25, "mouse", "tab", at)


def end(session: str, outcome: Outcome = "completed") -> End:
    """Return an end."""
    return End(session, outcome, "", "C7", "R-1", NOON)


async def rows(store: Store, table: Table) -> list[dict[str, Any]]:
    """Return all rows of a table."""
    return [row async for row in store.rows(table)]


async def known(store: Store, session: str) -> SessionFacts:
    """Return the facts of a session that must be there."""
    facts = await store.session_facts(session)
    assert facts is not None, f"session {session} is not there"
    return facts


async def come(store: Store, name: str, *, mode: Mode = "link", digest: str = "d1", number: int = 1) -> str:
    """Return the id of a session that has just arrived."""
    session, _ = await store.arrive(visit(name, mode=mode, digest=digest, number=number))
    return session.session


async def claim(
    store: Store, session: str, *, now: datetime = NOON, until: datetime = NOON + HOUR, per_list: int | None = None
) -> int | None:
    """Claim with a lease of an hour."""
    return await store.claim(session, now=now, until=until, per_list=per_list)


# Beginning


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
        await _expect(Refused, claim(store, early), "a claim under the plan that is gone")
        late, is_new = await store.arrive(visit("ann", digest="d2"))
        assert is_new, "under another plan it is another session"
        assert await claim(store, late.session) == 1
        error = await _expect(StoreError, store.begin(study_record("d3", "p3")), "a third plan")
        assert "1 person has already claimed lists of the plan before this change" in str(error)
        await claim(store, await come(store, "bob", digest="d2"))
        error = await _expect(StoreError, store.begin(study_record("d1", "p1")), "going back to the first plan")
        assert "2 people have already claimed lists of the plan before this change" in str(error)
        current = await store.current()
        assert current is not None
        assert current.digest == "d2", "a refused study changes nothing"
        assert len(await rows(store, "studies")) == 2


async def a_store_holds_one_study(open_: Opener) -> None:
    async with open_("one") as store:
        await store.begin(study_record())
        error = await _expect(StoreError, store.begin(study_record("d9", "p9", "talk")), "another study")
        assert "holds the study walk, not talk" in str(error)
        await _expect(StoreError, store.begin(study_record("d1", "p9")), "the same text with another plan")


# Arriving and claiming


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
        await _expect(LookupError, store.arrive(visit("bob", digest="d9")), "arriving at a study that never began")
        await _expect(ValueError, store.arrive(replace(visit("cat"), session=arrivals[0][0].session)), "a taken id")


async def no_list_is_claimed_twice_by_200_at_once(open_: Opener) -> None:
    async with open_("one") as store:
        await store.begin(study_record(lists=150))
        sessions = await asyncio.gather(*(come(store, str(number)) for number in range(200)))
        claimed = await asyncio.gather(*(claim(store, session, per_list=1) for session in sessions))
        taken = [number for number in claimed if number is not None]
        assert sorted(taken) == list(range(1, 151)), "every list once, and none for the other 50"
        stored = {row["session"]: row["list"] for row in await rows(store, "claims")}
        assert stored == {s: n for s, n in zip(sessions, claimed, strict=True) if n is not None}


async def the_least_filled_list_goes_first(open_: Opener) -> None:
    async with open_("one") as store:
        await store.begin(study_record(lists=4))
        sessions = await asyncio.gather(*(come(store, str(number)) for number in range(10)))
        claimed = Counter([await claim(store, session) for session in sessions])
        assert claimed == {1: 3, 2: 3, 3: 2, 4: 2}, f"filled unevenly: {dict(claimed)}"
        assert await claim(store, sessions[3]) == 4, "a session keeps its list"
        assert len(await rows(store, "claims")) == 10


async def an_expired_lease_opens_its_list_and_a_finished_session_keeps_it(open_: Opener) -> None:
    async with open_("one") as store:
        await store.begin(study_record(lists=2))
        gone, done, late = [await come(store, name) for name in ("gone", "done", "late")]
        assert [await claim(store, gone, per_list=1), await claim(store, done, per_list=1)] == [1, 2]
        await store.append([answer(done), end(done)])
        assert await claim(store, late, now=NOON + HOUR / 2, per_list=1) is None, "both lists are full"
        assert (await known(store, late)).list is None
        after = NOON + 2 * HOUR
        assert await claim(store, late, now=after, until=after + HOUR, per_list=1) == 1, "the lease ran out"
        assert await claim(store, gone, now=after, until=after + HOUR, per_list=1) == 1, "who comes back goes on"
        other = await come(store, "other")
        assert await claim(store, other, now=after, until=after + HOUR, per_list=2) == 2, "list 1 counts twice now"


async def a_lease_is_renewed_and_released(open_: Opener) -> None:
    async with open_("one") as store:
        await store.begin(study_record(lists=1))
        first, second = await come(store, "first"), await come(store, "second")
        await store.renew(first, NOON + HOUR)
        assert await claim(store, first, until=NOON + HOUR, per_list=1) == 1
        await store.renew(first, NOON + 3 * HOUR)
        assert await claim(store, second, now=NOON + 2 * HOUR, per_list=1) is None, "the lease was renewed"
        await store.release(first)
        assert await claim(store, second, until=NOON + HOUR, per_list=1) == 1, "the lease was released"
        await _expect(LookupError, store.renew("nobody", NOON), "renewing for nobody")
        await _expect(LookupError, store.release("nobody"), "releasing for nobody")
        await _expect(LookupError, claim(store, "nobody"), "claiming for nobody")


async def a_session_that_ended_early_or_was_erased_opens_its_list(open_: Opener) -> None:
    async with open_("one") as store:
        await store.begin(study_record(lists=1))
        first, second, third = [await come(store, name) for name in ("first", "second", "third")]
        assert await claim(store, first, per_list=1) == 1
        await store.append([end(first, "screened_out")])
        assert await claim(store, second, per_list=1) == 1, "a session that was screened out does not count"
        await store.append([end(second)])
        assert await claim(store, third, per_list=1) is None, "a finished session counts"
        await store.erase(second, NOON)
        assert await claim(store, third, per_list=1) == 1, "a session that was erased does not count"


async def robots_and_people_are_leased_apart(open_: Opener) -> None:
    async with open_("one") as store:
        await store.begin(study_record(lists=1))
        for mode in ("robot", "link"):
            assert await claim(store, await come(store, "a", mode=mode), per_list=1) == 1, f"{mode} found it taken"
        assert await claim(store, await come(store, "b", mode="robot"), per_list=1) is None
        assert await claim(store, await come(store, "b", mode="lab"), per_list=1) is None, "lab and link are people"


# Appending


async def a_repeated_answer_changes_nothing_and_returns_the_first_time(open_: Opener) -> None:
    async with open_("one") as store:
        await store.begin(study_record())
        session = await come(store, "ann")
        assert await store.append([answer(session)]) == NOON
        later = answer(session, value=3, at=NOON + HOUR)
        assert await store.append([later]) == NOON, "a repeat returns the time of the first"
        batch = Events(session, "trial:1", "tab", 0, [[1, "shown", None, None]], NOON + HOUR)
        assert await store.append([batch, later]) == NOON + HOUR, "a new fact is stored beside a repeated one"
        assert await store.append([replace(batch, events=[], at=NOON + 2 * HOUR)]) == NOON + HOUR
        assert await store.append([replace(batch, tab="other")]) == NOON + HOUR
        assert await store.append([replace(batch, first=1)]) == NOON + HOUR
        assert (await known(store, session)).answers == {"trial:1": answer(session)}
        assert len(await rows(store, "answers")) == 1
        assert [(row["tab"], row["from"]) for row in await rows(store, "events")] == [
            ("tab", 0),
            ("other", 0),
            ("tab", 1),
        ]


async def of_many_at_once_exactly_one_is_stored(open_: Opener) -> None:
    async with open_("one") as store:
        await store.begin(study_record())
        sessions = await asyncio.gather(*(come(store, str(number)) for number in range(20)))
        at = [NOON + timedelta(seconds=second) for second in range(5)]
        repeats = [answer(session, value=moment.second, at=moment) for session in sessions for moment in at]
        times = await asyncio.gather(*(store.append([each]) for each in repeats))
        stored = {row["session"]: row for row in await rows(store, "answers")}
        assert len(stored) == len(await rows(store, "answers")) == 20, "one answer for each session"
        for each, time in zip(repeats, times, strict=True):
            assert time == stored[each.session]["at"], "every caller learns when the stored one was stored"
        for session in sessions:
            facts = (await known(store, session)).answers["trial:1"]
            assert facts == Answer(**stored[session]), "what is known is what is stored"


async def all_facts_of_a_request_are_stored_or_none(open_: Opener) -> None:
    async with open_("one") as store:
        await store.begin(study_record())
        session = await come(store, "ann")
        await _expect(LookupError, store.append([answer(session), answer("nobody")]), "a fact of nobody")
        assert await rows(store, "answers") == []
        assert (await known(store, session)).answers == {}
        await _expect(ValueError, store.append([]), "a request without facts")
        await _expect(ValueError, store.append([answer(session, value=float("nan"))]), "a number that is not JSON")
        await _expect(ValueError, store.append([answer(session, at=NOON.replace(tzinfo=None))]), "a time without zone")


async def a_bad_request_does_not_hurt_its_neighbours(open_: Opener) -> None:
    async with open_("one") as store:
        await store.begin(study_record())
        session = await come(store, "ann")
        good = [answer(session, f"trial:{number}") for number in range(1, 41)]
        bad = [answer(f"nobody-{number}") for number in range(3)]
        mixed = [*good[:15], bad[0], *good[15:30], *bad[1:], *good[30:]]
        results = await asyncio.gather(*(store.append([each]) for each in mixed), return_exceptions=True)
        failed = [each for each, result in zip(mixed, results, strict=True) if isinstance(result, BaseException)]
        assert failed == bad, "exactly the bad ones failed"
        assert {row["key"] for row in await rows(store, "answers")} == {each.key for each in good}
        assert set((await known(store, session)).answers) == {each.key for each in good}


async def everything_comes_back_as_it_was_after_reopening(open_: Opener) -> None:
    async with open_("one") as store:
        await store.begin(study_record())
        session = await come(store, "ann")
        assert await claim(store, session, now=NOON) == 1
        await store.append(
            [
                answer(session),
                Events(session, "trial:1", "tab", 7, [[1.5, "play", "s1", {"a": [1, None]}]], NOON),
                Told(session, "check:colour:1", "colour", "fail", "plates", {"seen": [3, 5]}, NOON),
                Posed(session, "check:colour:1", "seed", {"plates": 3}, NOON),
                end(session),
            ]
        )
        before = await known(store, session)
    assert before == SessionFacts(visit("ann"), 1, NOON, {"trial:1": answer(session)}, end(session), False)
    async with open_("one") as store:
        assert await known(store, session) == before, "the facts of a session changed by reopening"
        assert await store.session_facts("nobody") is None
        assert await rows(store, "told") == [
            {"session": session, "key": "check:colour:1", "check": "colour", "verdict": "fail", "reason": "plates",
             "evidence": {"seen": [3, 5]}, "at": NOON},
        ]  # fmt: skip
        assert await rows(store, "posed") == [
            {"session": session, "key": "check:colour:1", "seed": "seed", "public": {"plates": 3}, "at": NOON}
        ]
        assert await rows(store, "events") == [
            {"session": session, "key": "trial:1", "tab": "tab", "from": 7, "at": NOON,
             "events": [[1.5, "play", "s1", {"a": [1, None]}]]},
        ]  # fmt: skip
        assert [tuple(row) for row in await rows(store, "answers")] == [
            ("session", "key", "answer", "playback", "shown_ms", "sent_ms", "input", "tab", "at")
        ]


async def rows_come_in_the_order_of_insertion(open_: Opener) -> None:
    async with open_("one") as store:
        await store.begin(study_record())
        session = await come(store, "ann")
        keys = [f"trial:{number * 7 % 1201}" for number in range(1201)]
        await store.append([answer(session, key) for key in keys[:1]])
        await store.append([answer(session, key) for key in keys[1:]])
        assert [row["key"] for row in await rows(store, "answers")] == keys
        assert list((await known(store, session)).answers) == keys


async def any_text_is_safe_and_times_keep_their_moment(open_: Opener) -> None:
    async with open_("one") as store:
        await store.begin(study_record())
        session = await come(store, "ann")
        texts = ["Grüße 漢字 🎬", "NUL \0 inside", "lone \ud83c surrogate", "'; DROP TABLE answers; --", '"\\', "NaN"]
        east = datetime(2026, 5, 4, 21, 0, tzinfo=UTC).astimezone()
        for number, text in enumerate(texts):
            each = replace(answer(session, f"trial:{number}", text, at=east), tab=text, input=text)
            assert await store.append([each]) == east
            assert await store.append([each]) == east, f"{text!r} is not found again"
        found = await rows(store, "answers")
        assert [row["answer"]["scores"]["q1"]["s1"] for row in found] == texts, "JSON comes back as it was"
        assert found[1]["tab"] == "NUL \ufffd inside"
        assert found[2]["tab"] == "lone \ufffd surrogate"
        assert [row["tab"] for row in found[:1] + found[3:]] == texts[:1] + texts[3:]
        assert all(row["at"] == east and row["at"].utcoffset() == timedelta(0) for row in found), "times are UTC"
        cached = (await known(store, session)).answers
        assert [Answer(**row) for row in found] == list(cached.values())


# Forgetting


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
                    Posed(session, "training:1:1", "x", {}, NOON),
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
        await _expect(LookupError, store.erase("nobody", NOON), "erasing nobody")


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
        refusal = await _expect(Refused, store.append([answer(session, "trial:99")]), "an answer after the erasure")
        assert isinstance(refusal, Refused)
        assert refusal.status == 410
        await store.append([end(session, "withdrawn")])
        assert await rows(store, "answers") == []
        assert (await known(store, session)).answers == {}


async def a_platform_id_is_nowhere_among_the_facts(open_: Opener) -> None:
    async with open_("one") as store:
        await store.begin(study_record())
        session = await come(store, "ann")
        await store.identify("p-ann", "prolific", "5f3a-secret-id")
        await store.identify("p-ann", "prolific", "5f3a-secret-id")
        await store.append([answer(session)])
        for table in TABLES:
            assert "5f3a-secret-id" not in repr(await rows(store, table)), f"{table} holds a platform id"


# Watching


async def counts_are_of_people(open_: Opener) -> None:
    async with open_("one") as store:
        await store.begin(study_record())
        empty = {"arrived": 0, "live": 0, "completed": 0, "ended": 0, "answers": 0}
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
        assert dict(await store.counts(NOON)) == {"arrived": 5, "live": 1, "completed": 1, "ended": 1, "answers": 4}


async def a_store_is_ready_while_it_is_open(open_: Opener) -> None:
    async with open_("one") as store:
        assert await store.ready()


async def _expect(kind: type[Exception], doing: Awaitable[object], what: str) -> Exception:
    try:
        await doing
    except kind as error:
        return error
    raise AssertionError(f"{what} was accepted")


TABLES: tuple[Table, ...] = (
    "studies", "stimuli", "lists", "sessions", "claims", "posed", "answers", "events", "told", "ends", "erasures",
)  # fmt: skip

STORE_CHECKS: Mapping[str, Check] = {
    check.__name__: check
    for check in (
        a_store_gives_back_the_study_that_began,
        a_secret_is_made_once_and_differs_between_stores,
        a_text_may_change_and_people_keep_their_session,
        a_plan_may_change_until_a_person_has_claimed_a_list,
        a_store_holds_one_study,
        the_same_visit_gets_the_same_session,
        no_list_is_claimed_twice_by_200_at_once,
        the_least_filled_list_goes_first,
        an_expired_lease_opens_its_list_and_a_finished_session_keeps_it,
        a_lease_is_renewed_and_released,
        a_session_that_ended_early_or_was_erased_opens_its_list,
        robots_and_people_are_leased_apart,
        a_repeated_answer_changes_nothing_and_returns_the_first_time,
        of_many_at_once_exactly_one_is_stored,
        all_facts_of_a_request_are_stored_or_none,
        a_bad_request_does_not_hurt_its_neighbours,
        everything_comes_back_as_it_was_after_reopening,
        rows_come_in_the_order_of_insertion,
        any_text_is_safe_and_times_keep_their_moment,
        erasing_takes_the_facts_and_leaves_a_tombstone,
        nothing_is_kept_of_a_session_after_its_erasure,
        a_platform_id_is_nowhere_among_the_facts,
        counts_are_of_people,
        a_store_is_ready_while_it_is_open,
    )
}
"""Every check by name, for a test of its own each."""
