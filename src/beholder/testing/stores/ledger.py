"""Checks of the ledger, of platform identities, and of erasure, removal and counts."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from beholder.errors import LedgerError, Refused
from beholder.store.contract import (
    Events,
    Fact,
    LedgerEntry,
    PlatformIdentity,
    PlatformVisit,
    PosedAttempt,
    StoredVerdict,
)
from beholder.testing.stores.facts import (
    HOUR,
    NOON,
    TABLES,
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

_OWED = LedgerEntry(
    "bonus", "planned", NOON, "sub-1", "p-ann", "s-ann", 150, "GBP", "quality", "the best tenth: Größe 2 \0", "", "",
    {"rank": 1, "of": [10, None]},
)  # fmt: skip


async def the_ledger_numbers_its_entries_and_gives_them_back(open_: StoreOpener) -> None:
    async with open_("one") as store:
        assert await store.ledger.entries() == ()
        assert await rows(store, "ledger") == []
        first = await store.ledger.append([_OWED, replace(_OWED, event="confirmed", batch="b1")])
        second = await store.ledger.append([LedgerEntry("shut_out", "done", NOON + HOUR, participant="p-bob")])
        assert [entry.entry for entry in (*first, *second)] == [1, 2, 3]
    async with open_("one") as store:
        kept = await store.ledger.entries()
        text = _OWED.reason_text.replace("\0", "\ufffd")
        assert kept[0] == replace(_OWED, reason_text=text, entry=1)
        assert [entry.event for entry in kept] == ["planned", "confirmed", "done"]
        assert await store.ledger.entries(after=2) == second
        assert await store.ledger.entries(after=3) == ()
        assert [row["entry"] for row in await rows(store, "ledger")] == [1, 2, 3]
        assert (await rows(store, "ledger"))[0]["evidence"] == {"rank": 1, "of": [10, None]}


async def the_same_debt_is_planned_once_and_a_batch_sent_once(open_: StoreOpener) -> None:
    async with open_("one") as store:
        other = replace(_OWED, reason_code="quantity")
        await store.ledger.append([_OWED, other, replace(_OWED, kind="approve"), replace(_OWED, submission="sub-2")])
        new = replace(_OWED, submission="sub-3")
        error = await expect(LedgerError, store.ledger.append([new, _OWED]), "the same debt again")
        assert "the bonus quality of submission sub-1 is planned already." in str(error)
        assert len(await store.ledger.entries()) == 4, "of entries that belong together all are kept, or none"
        sent = LedgerEntry("bonus", "pay_sent", NOON, batch="b1", reason_code="1")
        await store.ledger.append([sent, replace(sent, batch="b2"), replace(sent, reason_code="2")])
        error = await expect(LedgerError, store.ledger.append([sent]), "sending a batch again")
        assert "batch b1 has been sent already." in str(error)
        places = LedgerEntry("places", "planned", NOON)
        added = [(await store.ledger.append([places]))[0].entry for _ in range(2)]
        assert added == [8, 9], "what has no submission may be planned again"


async def of_many_who_plan_the_same_debt_at_once_one_does(open_: StoreOpener) -> None:
    async with open_("one") as store:
        results = await asyncio.gather(*(store.ledger.append([_OWED]) for _ in range(5)), return_exceptions=True)
        refused = [result for result in results if isinstance(result, LedgerError)]
        assert len(refused) == 4, repr(results)
        assert len(await store.ledger.entries()) == 1


async def one_at_a_time_may_send(open_: StoreOpener) -> None:
    async with open_("one") as store:
        async with store.ledger.hold():
            error = await expect(LedgerError, store.ledger.hold().__aenter__(), "sending while another sends")
            assert "somebody is sending money or messages already (" in str(error)
            await store.ledger.append([_OWED])
        async with store.ledger.hold():
            assert len(await store.ledger.entries()) == 1


async def who_is_who_is_known_until_it_is_erased_or_purged(open_: StoreOpener) -> None:
    ann, bob = PlatformIdentity("p-ann", "prolific", "5f3a"), PlatformIdentity("p-bob", "prolific", "77bc")
    async with open_("one") as store:
        await store.begin(study_record())
        assert (list(await store.platform_identities()), list(await store.platform_visits())) == ([], [])
        first, second = await arrive(store, "ann"), await arrive(store, "ann", number=2)
        third = await arrive(store, "bob")
        comings = [
            PlatformVisit(second, "post", "v1"),
            PlatformVisit(first, "post", "v1"),
            PlatformVisit(first, "post", "v2"),
        ]
        for coming in (*comings, comings[0]):
            await store.identify(ann, coming)
        await store.identify(bob)
        await store.identify(bob, PlatformVisit(third, "", "v3"))
        assert set(await store.platform_identities()) == {ann, bob}
        assert list(await store.platform_visits()) == [*comings, PlatformVisit(third, "", "v3")]
        await store.erase(first, NOON)
        assert list(await store.platform_visits()) == [comings[0], PlatformVisit(third, "", "v3")], (
            "an erasure takes its visits"
        )
        assert set(await store.platform_identities()) == {ann, bob}, "the other session is still theirs"
        await store.erase(second, NOON)
        assert list(await store.platform_identities()) == [bob]
        secret = store.secret
        assert await store.purge_identity() == 1
        assert (list(await store.platform_identities()), list(await store.platform_visits())) == ([], [])
        assert await store.purge_identity() == 0
        assert store.secret != secret, "with the old one an id would lead to its pseudonym again"
        secret = store.secret
    async with open_("one") as store:
        assert store.secret == secret


async def of_two_people_who_come_by_one_visit_at_once_one_is_kept(open_: StoreOpener) -> None:
    async with open_("one") as store:
        await store.begin(study_record())
        people = {
            await arrive(store, name): PlatformIdentity(f"p-{name}", "prolific", name) for name in ("ann", "bob", "eve")
        }
        await asyncio.gather(
            *(store.platform_identities() for _ in people)
        )  # so that no connection has to be opened first
        kept = await asyncio.gather(
            *(store.identify(link, PlatformVisit(session, "post", "v1"), seen=()) for session, link in people.items())
        )
        assert sorted(kept) == [False, False, True]
        (first,) = await store.platform_visits()
        assert list(await store.platform_identities()) == [people[first.session]], "of the others nothing is kept"
        assert await store.identify(people[first.session], first, seen=()), "the same visit of the same session"
        second = await arrive(store, "ann", number=2)
        assert await store.identify(people[first.session], PlatformVisit(second, "post", "v1"), seen=[first.session])
        assert len(await store.platform_visits()) == 2


async def a_purged_ledger_says_what_was_paid_and_not_to_whom(open_: StoreOpener) -> None:
    row: Json = {
        "pay": "reject",
        "use": False,
        "category": "LOW_EFFORT",
        "message": "You chose 3",
        "sessions": ["s-ann"],
    }
    entries = [
        LedgerEntry("decisions", "done", NOON, evidence={"by": "Ann", "rows": {"sub-1": row}}),
        _OWED,
        replace(_OWED, reason_code="session:s-2"),
        replace(_OWED, reason_code="session:s-2", event="settled"),
        replace(_OWED, reason_code="session:s-3", session="s-3"),
        LedgerEntry("forget", "done", NOON, submission="sub-2", session="s-bob", evidence={"rows": 3}),
        LedgerEntry("shut_out", "done", NOON, participant="p-bob", reason_text="twice"),
    ]
    async with open_("one") as store:
        assert await store.ledger.purge_identity() == 0, "there is none yet"
        await store.ledger.append(entries)
        assert await store.ledger.purge_identity() == 6
        assert await store.ledger.purge_identity() == 0
        paid = replace(_OWED, participant="", session="", reason_text="")
        assert [replace(one, entry=0) for one in await store.ledger.entries()] == [
            replace(
                entries[0],
                evidence={
                    "by": "Ann", "rows": {"sub-1": {"pay": "reject", "use": False, "category": "LOW_EFFORT"}}
                },
            ),
            paid,
            replace(paid, reason_code="session:1"),
            replace(paid, reason_code="session:1", event="settled"),
            replace(paid, reason_code="session:2"),
            replace(entries[5], submission=""),
            entries[6],
        ]  # fmt: skip


# Erasure and counts


async def erasing_takes_the_facts_and_leaves_a_tombstone(open_: StoreOpener) -> None:
    async with open_("one") as store:
        await store.begin(study_record())
        ann, bob = await arrive(store, "ann"), await arrive(store, "bob")
        await claim(store, ann)
        for session in (ann, bob):
            await store.append(
                [
                    answer(session),
                    Events(session, "trial:1", "tab", 0, [], NOON),
                    StoredVerdict(session, "trial:1", "watch", "fail", "", {}, NOON),
                    PosedAttempt(session, "training:1:1", "x", {}, {}, NOON),
                ]
            )
        await store.append([end(ann, "withdrawn")])
        assert await store.erase(ann, NOON + HOUR) == 4
        assert await store.erase(ann, NOON + 2 * HOUR) == 4, "erasing again changes nothing"
        facts = await session_facts(store, ann)
        assert (facts.erased, facts.answers, facts.list) == (True, {}, 1)
        assert facts.session.device == {}, "on what a person was"
        assert facts.end == end(ann, "withdrawn")
        for table in ("answers", "events", "told", "posed"):
            assert {row["session"] for row in await rows(store, table)} == {bob}, f"{table} of somebody else"
        assert await rows(store, "erasures") == [{"session": ann, "rows": 4, "at": NOON + HOUR}]
        assert len(await rows(store, "sessions")) == 2, "the session stays"
        assert not (await session_facts(store, bob)).erased
        await expect(LookupError, store.erase("nobody", NOON), "erasing nobody")
        assert await store.wipe() is None, "no byte of it is left"
        assert await store.wipe() is None, "and nothing is to be done"
        assert len(await rows(store, "answers")) == 1, "of somebody else all is there"


async def nothing_is_kept_of_a_session_after_its_erasure(open_: StoreOpener) -> None:
    async with open_("one") as store:
        await store.begin(study_record())
        session = await arrive(store, "ann")
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
        assert (await session_facts(store, session)).answers == {}


async def whoever_only_arrived_is_removed_and_still_counted(open_: StoreOpener) -> None:
    noted: dict[str, list[Fact]] = {
        "looked": [
            Events("", "consent", "tab", 0, [], NOON),
            StoredVerdict("", "consent", "device", "pass", "", {}, NOON),
            PosedAttempt("", "check:1", "x", {}, {}, NOON),
        ],
        "answered": [answer("")],
        "ended": [end("", "technical")],
    }
    async with open_("one") as store:
        await store.begin(study_record())
        names = ("left", "looked", "answered", "ended", "claimed", "erased", "twice", "later", "runs")
        sessions = {name: await arrive(store, name) for name in names}
        for name, session in sessions.items():
            visit = PlatformVisit(session, "post", name)
            await store.identify(PlatformIdentity(f"p-{name}", "prolific", f"id-{name}"), visit)
            if name in noted:
                await store.append([replace(fact, session=session) for fact in noted[name]])
        await claim(store, sessions["claimed"])
        await store.erase(sessions["erased"], NOON)
        await store.append([answer(await arrive(store, "twice", number=2))])
        await store.arrive(replace(session_of("later", number=2), at=NOON + 2 * HOUR))
        second = await arrive(store, "runs", number=2, run=2)
        await arrive(store, "robby", mode="robot")
        before, arrived = NOON + HOUR, dict(await store.counts(NOON))
        assert await store.unanswered(NOON) == [], "nobody came before noon"
        due = await store.unanswered(before)
        assert [one.session for one in due] == [sessions["left"], sessions["looked"], sessions["runs"], second]
        assert await store.unanswered(before, most=1) == due[:1]
        assert await store.unanswered(before, after="p-left", most=1) == due[1:2]
        assert await store.remove_unanswered([f"p-{name}" for name in (*names, "robby")], before, NOON + 3 * HOUR) == 4
        assert await store.remove_unanswered(["p-left"], before, NOON + 3 * HOUR) == 0, "removing again changes nothing"
        kept = {"p-answered", "p-ended", "p-claimed", "p-erased", "p-twice", "p-later", "p-robby"}
        assert {row["participant"] for row in await rows(store, "sessions")} == kept
        assert {one.participant for one in await store.platform_identities()} == kept - {"p-erased", "p-robby"}
        assert {one.submission for one in await store.platform_visits()} == {
            "answered",
            "ended",
            "claimed",
            "twice",
            "later",
        }
        for table in ("events", "told", "posed"):
            assert await rows(store, table) == [], table
        at = NOON + 3 * HOUR
        noted_rows = [
            {"run": 1, "participants": 3, "sessions": 3, "at": at},
            {"run": 2, "participants": 1, "sessions": 1, "at": at},
        ]
        assert await rows(store, "removals") == noted_rows, "one entry for each run"
        assert dict(await store.counts(NOON)) == arrived, "whoever came has come"
        assert (await store.counts(NOON, 2))["arrived"] == 1
        assert await store.session_facts(sessions["left"]) is None
        await expect(LookupError, store.append([answer(sessions["left"])]), "an answer to a session that is gone")
        assert await store.wipe() is None, "no byte of it is left"
        assert await store.unanswered(before) == []
    async with open_("one") as store:
        assert await store.session_facts(sessions["looked"]) is None
        anew, is_new = await store.arrive(replace(session_of("left"), session="s-anew", at=NOON + 4 * HOUR))
        assert (anew.session, is_new) == ("s-anew", True), "whoever comes back begins anew"
        await store.identify(PlatformIdentity("p-left", "prolific", "id-left"), PlatformVisit("s-anew", "post", "left"))
        assert (await store.counts(NOON))["arrived"] == arrived["arrived"] + 1


async def whoever_answers_while_visits_are_removed_is_whole_or_gone(open_: StoreOpener) -> None:
    async with open_("one") as store:
        await store.begin(study_record(lists=40))
        names = [f"{number:02}" for number in range(40)]
        sessions = {name: await arrive(store, name) for name in names}
        for name, session in sessions.items():
            visit = PlatformVisit(session, "post", name)
            await store.identify(PlatformIdentity(f"p-{name}", "prolific", name), visit)

        async def agree(name: str) -> bool:
            try:
                await claim(store, sessions[name])
                await store.append([answer(sessions[name])])
            except LookupError:
                return False
            return True

        async def remove(some: list[str]) -> int:
            return await store.remove_unanswered([f"p-{name}" for name in some], NOON + HOUR, NOON + HOUR)

        # The first half agrees while visits are removed, the second half afterwards.
        answered, removed = await asyncio.gather(
            asyncio.gather(*(agree(name) for name in names[:20])),
            asyncio.gather(*(remove(names[first::4]) for first in (0, 1, 2, 3, 0))),
        )
        answered += await asyncio.gather(*(agree(name) for name in names[20:]))
        whole = {name for name, is_kept in zip(names, answered, strict=True) if is_kept}
        assert sum(removed) == len(names) - len(whole), "removed once"
        assert {row["participant"] for row in await rows(store, "sessions")} == {f"p-{name}" for name in whole}
        assert {one.platform_id for one in await store.platform_identities()} == whole
        assert {one.submission for one in await store.platform_visits()} == whole
        assert {row["session"] for row in await rows(store, "answers")} == {sessions[name] for name in whole}
        assert sum(row["sessions"] for row in await rows(store, "removals")) == sum(removed)
        assert (await store.counts(NOON))["arrived"] == len(names)


async def a_platform_id_is_nowhere_among_the_facts(open_: StoreOpener) -> None:
    async with open_("one") as store:
        await store.begin(study_record())
        session = await arrive(store, "ann")
        await store.identify(
            PlatformIdentity("p-ann", "prolific", "5f3a-secret-id"), PlatformVisit(session, "post", "sub-secret-id")
        )
        await store.identify(PlatformIdentity("p-ann", "prolific", "5f3a-secret-id"))
        await store.append([answer(session)])
        for table in TABLES:
            assert "secret-id" not in repr(await rows(store, table)), f"{table} holds a platform id"


async def counts_are_of_people(open_: StoreOpener) -> None:
    async with open_("one") as store:
        await store.begin(study_record())
        empty = {"arrived": 0, "live": 0, "completed": 0, "finished": 0, "ended": 0, "answers": 0, "lists": 3}
        assert dict(await store.counts(NOON)) == empty
        robby = await arrive(store, "robby", mode="robot")
        await claim(store, robby)
        await store.append([answer(robby), end(robby)])
        assert dict(await store.counts(NOON)) == empty, "robots are not people"
        done, out, live, gone, _ = [await arrive(store, name) for name in ("done", "out", "live", "gone", "new")]
        for session, until in ((done, HOUR), (out, HOUR), (live, HOUR), (gone, -HOUR)):
            await claim(store, session, until=NOON + until)
            await store.append([answer(session)])
        await store.append([end(done)])
        await store.append([end(out, "failed_checks")])
        expected = {"arrived": 5, "live": 1, "completed": 1, "finished": 1, "ended": 1, "answers": 4, "lists": 3}
        assert dict(await store.counts(NOON)) == expected
        assert await store.senders(NOON) >= {done, out, live, gone}
        assert await store.senders(NOON + HOUR) == frozenset()


async def a_store_is_ready_while_it_is_open(open_: StoreOpener) -> None:
    async with open_("one") as store:
        assert await store.ready()
