"""Checks of appending and reading facts, and small facts to test stores with."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

from beholder.store.contract import (
    Answer,
    AppendResult,
    End,
    Events,
    Fact,
    PosedAttempt,
    Session,
    SessionFacts,
    Store,
    StoredVerdict,
    StudyRecord,
    Table,
)
from beholder.study.recruitment import Mode
from beholder.types import Json, Outcome

StoreOpener: TypeAlias = Callable[[str], AbstractAsyncContextManager[Store]]
"""Opens a store by name for writing: empty the first time, the same one after it was closed."""

NOON = datetime(2026, 5, 4, 12, 0, 0, 123456, tzinfo=UTC)
HOUR = timedelta(hours=1)
TABLES: tuple[Table, ...] = (
    "studies", "stimuli", "lists", "sessions", "claims", "posed", "answers", "events", "told", "ends", "erasures",
    "removals", "ledger",
)  # fmt: skip


def study_record(digest: str = "d1", plan: str = "p1", study: str = "walk", lists: int = 3) -> StudyRecord:
    """Return the record of a small study."""
    stimulus: dict[str, Json] = {
        "stimulus": "a/b", "content": "b", "condition": "a", "role": "test", "medium": "video", "sha256": "00",
        "probe": {"ms": 9960, "fps": 29.97}, "factors": {"rate": "low"},
    }  # fmt: skip
    planned: list[Json] = [{"list": number, "trials": [["t1", {"x": None}]]} for number in range(1, lists + 1)]
    return StudyRecord(
        digest, plan, study, f"name: {study}\n# Grüße {digest}\n", "beholder 0", [stimulus], planned, NOON
    )


def session_of(name: str, *, mode: Mode = "link", digest: str = "d1", number: int = 1, run: int = 1) -> Session:
    """Return a session of the participant with this name."""
    session = f"s-{name}-{mode}-{digest}-{number}"
    return Session(session, f"p-{name}", digest, run, mode, number, {"screen": [1920, 1080]}, NOON)


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


async def session_facts(store: Store, session: str) -> SessionFacts:
    """Return the facts of a session, which must exist."""
    facts = await store.session_facts(session)
    assert facts is not None, f"session {session} is not there"
    return facts


async def arrive(
    store: Store, name: str, *, mode: Mode = "link", digest: str = "d1", number: int = 1, run: int = 1
) -> str:
    """Return the id of a new session."""
    session, _ = await store.arrive(session_of(name, mode=mode, digest=digest, number=number, run=run))
    return session.session


async def claim(
    store: Store,
    session: str,
    *,
    now: datetime = NOON,
    until: datetime = NOON + HOUR,
    per_list: int | None = None,
    barred: Collection[int] = (),
    preferred: Collection[int] = (),
) -> int | None:
    """Claim a list with a lease of one hour."""
    return await store.claim(session, now=now, until=until, per_list=per_list, barred=barred, preferred=preferred)


async def expect(kind: type[Exception], operation: Awaitable[object], what: str) -> Exception:
    """Return the error that an operation must raise."""
    try:
        await operation
    except kind as error:
        return error
    raise AssertionError(f"{what} was accepted")


# Appending and reading


async def a_repeated_answer_changes_nothing_and_returns_the_first_time(open_: StoreOpener) -> None:
    async with open_("one") as store:
        await store.begin(study_record())
        session = await arrive(store, "ann")
        assert await store.append([answer(session)]) == AppendResult(NOON, is_new=True)
        later = answer(session, value=3, at=NOON + HOUR)
        assert await store.append([later]) == AppendResult(NOON, is_new=False), "a repeat returns the time of the first"
        batch = Events(session, "trial:1", "tab", 0, [[1, "shown", None, None]], NOON + HOUR)
        new, repeated = AppendResult(NOON + HOUR, is_new=True), AppendResult(NOON + HOUR, is_new=False)
        assert await store.append([batch, later]) == new, "a new fact is stored before a repeated one"
        assert await store.append([replace(batch, events=[], at=NOON + 2 * HOUR)]) == repeated
        assert await store.append([replace(batch, tab="other")]) == new
        assert await store.append([replace(batch, first=1)]) == new
        assert (await session_facts(store, session)).answers == {"trial:1": answer(session)}
        assert len(await rows(store, "answers")) == 1
        assert [(row["tab"], row["from"]) for row in await rows(store, "events")] == [
            ("tab", 0),
            ("other", 0),
            ("tab", 1),
        ]
        elsewhere = replace(batch, key="trial:2")
        await store.append([elsewhere])
        assert await store.step_events(session, "trial:2") == [elsewhere]
        assert [(one.tab, one.first) for one in await store.step_events(session, "trial:1")] == [
            ("tab", 0),
            ("other", 0),
            ("tab", 1),
        ]


async def of_many_at_once_exactly_one_is_stored(open_: StoreOpener) -> None:
    async with open_("one") as store:
        await store.begin(study_record())
        sessions = await asyncio.gather(*(arrive(store, str(number)) for number in range(20)))
        at = [NOON + timedelta(seconds=second) for second in range(5)]
        repeats = [answer(session, value=moment.second, at=moment) for session in sessions for moment in at]
        results = await asyncio.gather(*(store.append([each]) for each in repeats))
        stored = {row["session"]: row for row in await rows(store, "answers")}
        assert len(stored) == len(await rows(store, "answers")) == 20, "one answer for each session"
        for each, result in zip(repeats, results, strict=True):
            is_stored = each.at == stored[each.session]["at"]
            assert result == AppendResult(stored[each.session]["at"], is_stored), (
                "every caller learns which one was stored"
            )
        for session in sessions:
            facts = (await session_facts(store, session)).answers["trial:1"]
            assert facts == Answer(**stored[session]), "what is known is what is stored"


async def all_facts_of_a_request_are_stored_or_none(open_: StoreOpener) -> None:
    async with open_("one") as store:
        await store.begin(study_record())
        session = await arrive(store, "ann")
        await expect(LookupError, store.append([answer(session), answer("nobody")]), "a fact of nobody")
        assert await rows(store, "answers") == []
        assert (await session_facts(store, session)).answers == {}
        await expect(ValueError, store.append([]), "a request without facts")
        await expect(ValueError, store.append([answer(session, value=float("nan"))]), "a number that is not JSON")
        await expect(ValueError, store.append([answer(session, at=NOON.replace(tzinfo=None))]), "a time without zone")


async def a_bad_request_does_not_hurt_its_neighbours(open_: StoreOpener) -> None:
    async with open_("one") as store:
        await store.begin(study_record())
        session = await arrive(store, "ann")
        good = [answer(session, f"trial:{number}") for number in range(1, 41)]
        bad = [answer(f"nobody-{number}") for number in range(3)]
        mixed = [*good[:15], bad[0], *good[15:30], *bad[1:], *good[30:]]
        results = await asyncio.gather(*(store.append([each]) for each in mixed), return_exceptions=True)
        failed = [each for each, result in zip(mixed, results, strict=True) if isinstance(result, BaseException)]
        assert failed == bad, "exactly the bad ones failed"
        assert {row["key"] for row in await rows(store, "answers")} == {each.key for each in good}
        assert set((await session_facts(store, session)).answers) == {each.key for each in good}


async def everything_comes_back_as_it_was_after_reopening(open_: StoreOpener) -> None:
    async with open_("one") as store:
        await store.begin(study_record())
        session = await arrive(store, "ann")
        assert await claim(store, session, now=NOON) == 1
        await store.append(
            [
                answer(session),
                Events(session, "trial:1", "tab", 7, [[1.5, "play", "s1", {"a": [1, None]}]], NOON),
                StoredVerdict(session, "check:colour:1", "colour", "fail", "plates", {"seen": [3, 5]}, NOON),
                PosedAttempt(session, "check:colour:1", "seed", {"plates": 3}, {"key": [29]}, NOON),
                end(session),
            ]
        )
        before = await session_facts(store, session)
    verdict = StoredVerdict(session, "check:colour:1", "colour", "fail", "plates", {"seen": [3, 5]}, NOON)
    posed = PosedAttempt(session, "check:colour:1", "seed", {"plates": 3}, {"key": [29]}, NOON)
    keyed = {"check:colour:1": verdict}, {"check:colour:1": posed}
    assert before == SessionFacts(session_of("ann"), 1, NOON, {"trial:1": answer(session)}, *keyed, end(session), False)
    async with open_("one") as store:
        assert await session_facts(store, session) == before, "the facts of a session changed by reopening"
        assert await store.session_facts("nobody") is None
        assert await rows(store, "told") == [
            {"session": session, "key": "check:colour:1", "check": "colour", "verdict": "fail", "reason": "plates",
             "evidence": {"seen": [3, 5]}, "at": NOON},
        ]  # fmt: skip
        assert await rows(store, "posed") == [
            {"session": session, "key": "check:colour:1", "seed": "seed", "public": {"plates": 3},
             "private": {"key": [29]}, "at": NOON}
        ]  # fmt: skip
        assert await rows(store, "events") == [
            {"session": session, "key": "trial:1", "tab": "tab", "from": 7, "at": NOON,
             "events": [[1.5, "play", "s1", {"a": [1, None]}]]},
        ]  # fmt: skip
        assert [tuple(row) for row in await rows(store, "answers")] == [
            ("session", "key", "answer", "playback", "shown_ms", "sent_ms", "input", "tab", "at")
        ]


async def rows_come_in_the_order_of_insertion(open_: StoreOpener) -> None:
    async with open_("one") as store:
        await store.begin(study_record())
        session = await arrive(store, "ann")
        keys = [f"trial:{number * 7 % 1201}" for number in range(1201)]
        await store.append([answer(session, key) for key in keys[:1]])
        await store.append([answer(session, key) for key in keys[1:]])
        assert [row["key"] for row in await rows(store, "answers")] == keys
        assert list((await session_facts(store, session)).answers) == keys


async def any_text_is_safe_and_times_keep_their_moment(open_: StoreOpener) -> None:
    async with open_("one") as store:
        await store.begin(study_record())
        session = await arrive(store, "ann")
        texts = ["Grüße 漢字 🎬", "NUL \0 inside", "lone \ud83c surrogate", "'; DROP TABLE answers; --", '"\\', "NaN"]
        east = datetime(2026, 5, 4, 21, 0, tzinfo=UTC).astimezone()
        for number, text in enumerate(texts):
            each = replace(answer(session, f"trial:{number}", text, at=east), tab=text, input=text)
            assert await store.append([each]) == AppendResult(east, is_new=True)
            assert await store.append([each]) == AppendResult(east, is_new=False), f"{text!r} is not found again"
        stored = await rows(store, "answers")
        assert [row["answer"]["scores"]["q1"]["s1"] for row in stored] == texts, "JSON comes back as it was"
        assert stored[1]["tab"] == "NUL \ufffd inside"
        assert stored[2]["tab"] == "lone \ufffd surrogate"
        assert [row["tab"] for row in stored[:1] + stored[3:]] == texts[:1] + texts[3:]
        assert all(row["at"] == east and row["at"].utcoffset() == timedelta(0) for row in stored), "times are UTC"
        cached = (await session_facts(store, session)).answers
        assert [Answer(**row) for row in stored] == list(cached.values())


async def what_was_told_is_known_at_once_and_after_reopening(open_: StoreOpener) -> None:
    async with open_("one") as store:
        await store.begin(study_record())
        session = await arrive(store, "ann")
        keys = ["check:colour:1", "check:colour:2", "device:1", "training:1:0"]
        verdicts = [StoredVerdict(session, key, key.split(":")[1], "fail", "", {"answer": [1]}, NOON) for key in keys]
        await store.append([answer(session), verdicts[0]])
        assert (await session_facts(store, session)).verdicts == {keys[0]: verdicts[0]}
        await store.append([*verdicts[1:]])
        assert not (await store.append([replace(verdicts[1], verdict="pass", at=NOON + HOUR)])).is_new
        await store.append([replace(verdicts[2], check="other", verdict="pass")])
        facts = await session_facts(store, session)
        assert list(facts.verdicts.values()) == verdicts, "in the order in which it was told, the first of each key"
        assert len(await rows(store, "told")) == 5
    async with open_("one") as store:
        assert await session_facts(store, session) == facts


async def a_person_brings_along_what_other_sessions_were_told(open_: StoreOpener) -> None:
    async with open_("one") as store:
        await store.begin(study_record())
        first, second, bob = (
            await arrive(store, "ann"),
            await arrive(store, "ann", number=2),
            await arrive(store, "bob"),
        )
        robot, lab = await arrive(store, "ann", mode="robot"), await arrive(store, "ann", mode="lab")

        def verdict(session: str, key: str) -> StoredVerdict:
            return StoredVerdict(session, key, "colour", "pass", "", {"answer": {"a": 1}}, NOON)

        for session in (second, first, bob, robot, lab):
            await store.append([verdict(session, "check:colour:1")])
        await store.append([verdict(first, "check:colour:2")])
        earlier = await store.earlier_verdicts(second)
        assert [one for _, one in earlier] == [
            verdict(first, "check:colour:1"), verdict(lab, "check:colour:1"), verdict(first, "check:colour:2"),
        ], "of the same person, robots apart, oldest first"  # fmt: skip
        assert [session for session, _ in earlier] == [
            session_of("ann"),
            session_of("ann", mode="lab"),
            session_of("ann"),
        ]
        assert (
            await store.earlier_verdicts(bob)
            == await store.earlier_verdicts(robot)
            == await store.earlier_verdicts("nobody")
            == []
        )
        await store.erase(first, NOON)
        assert [session.mode for session, _ in await store.earlier_verdicts(second)] == ["lab"], (
            "what was erased is gone"
        )
        assert (await session_facts(store, first)).verdicts == {}


# Races: of several requests for one key, one wins


async def a_repeat_with_more_facts_stores_none_of_them(open_: StoreOpener) -> None:
    async with open_("one") as store:
        await store.begin(study_record())
        session = await arrive(store, "ann")
        await store.append([answer(session)])
        more: list[Fact] = [
            answer(session, value=3, at=NOON + HOUR),
            answer(session, "trial:2"),
            Events(session, "trial:1", "late", 0, [], NOON + HOUR),
            StoredVerdict(session, "trial:1", "watch", "fail", "", {}, NOON + HOUR),
            PosedAttempt(session, "training:1:1", "x", {}, {}, NOON + HOUR),
            end(session),
        ]
        assert await store.append(more) == AppendResult(NOON, is_new=False)
        assert [row["key"] for row in await rows(store, "answers")] == ["trial:1"]
        assert await rows(store, "events") == await rows(store, "told") == []
        assert await rows(store, "posed") == await rows(store, "ends") == []
        facts = await session_facts(store, session)
        assert (facts.answers, facts.end) == ({"trial:1": answer(session)}, None)


async def the_loser_of_a_race_stores_nothing(open_: StoreOpener) -> None:
    async with open_("one") as store:
        await store.begin(study_record())
        sessions = await asyncio.gather(*(arrive(store, str(number)) for number in range(40)))
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
        facts = [await session_facts(store, session) for session in sessions]
        assert {each.session.session for each in facts if each.end is not None} == ended, "what is known is not stored"
    async with open_("one") as store:
        assert [await session_facts(store, session) for session in sessions] == facts, "reopening changed what is known"


async def two_in_the_same_tick_have_one_winner(open_: StoreOpener) -> None:
    async with open_("one") as store:
        await store.begin(study_record())
        for name in ("ann", "bob", "eve"):
            session = await arrive(store, name)
            results = await asyncio.gather(*(store.append([answer(session, value=value)]) for value in (10, 20, 30)))
            late = await store.append([answer(session, value=40)])
            assert {result.at for result in (*results, late)} == {NOON}
            assert [result.is_new for result in results].count(True) == 1, "times do not tell who was first"
            assert not late.is_new
            value = (10, 20, 30)[[result.is_new for result in results].index(True)]
            assert (await session_facts(store, session)).answers == {"trial:1": answer(session, value=value)}


async def an_end_that_leads_and_one_that_follows_are_one_end(open_: StoreOpener) -> None:
    async with open_("one") as store:
        await store.begin(study_record())
        sessions = await asyncio.gather(*(arrive(store, str(number)) for number in range(20)))
        last: list[list[Fact]] = [[answer(session), end(session)] for session in sessions]
        withdrawn: list[list[Fact]] = [[end(session, "withdrawn")] for session in sessions]
        results = await asyncio.gather(*(store.append(facts) for facts in [*last, *withdrawn]))
        assert all(result.is_new for result in results[:20]), "an answer depends on its own key only"
        ends = {row["session"]: row["outcome"] for row in await rows(store, "ends")}
        assert len(ends) == len(await rows(store, "ends")) == 20
        for session, result in zip(sessions, results[20:], strict=True):
            stored = (await session_facts(store, session)).end
            assert stored == end(session, ends[session]), "what is known is not what is stored"
            assert result.is_new == (ends[session] == "withdrawn")
