"""What is true of the ledger, and of who is who, in every store."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from beholder.errors import LedgerError
from beholder.store.contract import Coming, Entry, Link
from beholder.testing.store_facts import HOUR, NOON, Opener, come, expect, rows, study_record
from beholder.types import Json

_OWED = Entry(
    "bonus", "planned", NOON, "sub-1", "p-ann", "s-ann", 150, "GBP", "quality", "the best tenth: Größe 2 \0", "", "",
    {"rank": 1, "of": [10, None]},
)  # fmt: skip


async def the_ledger_numbers_its_entries_and_gives_them_back(open_: Opener) -> None:
    async with open_("one") as store:
        assert await store.ledger.entries() == ()
        assert await rows(store, "ledger") == []
        first = await store.ledger.append([_OWED, replace(_OWED, event="confirmed", batch="b1")])
        second = await store.ledger.append([Entry("shut_out", "done", NOON + HOUR, participant="p-bob")])
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


async def the_same_debt_is_planned_once_and_a_batch_sent_once(open_: Opener) -> None:
    async with open_("one") as store:
        other = replace(_OWED, reason_code="quantity")
        await store.ledger.append([_OWED, other, replace(_OWED, kind="approve"), replace(_OWED, submission="sub-2")])
        new = replace(_OWED, submission="sub-3")
        error = await expect(LedgerError, store.ledger.append([new, _OWED]), "the same debt again")
        assert "the bonus quality of submission sub-1 is planned already." in str(error)
        assert len(await store.ledger.entries()) == 4, "of entries that belong together all are kept, or none"
        sent = Entry("bonus", "pay_sent", NOON, batch="b1", reason_code="1")
        await store.ledger.append([sent, replace(sent, batch="b2"), replace(sent, reason_code="2")])
        error = await expect(LedgerError, store.ledger.append([sent]), "sending a batch again")
        assert "batch b1 has been sent already." in str(error)
        places = Entry("places", "planned", NOON)
        added = [(await store.ledger.append([places]))[0].entry for _ in range(2)]
        assert added == [8, 9], "what has no submission may be planned again"


async def of_many_who_plan_the_same_debt_at_once_one_does(open_: Opener) -> None:
    async with open_("one") as store:
        results = await asyncio.gather(*(store.ledger.append([_OWED]) for _ in range(5)), return_exceptions=True)
        refused = [result for result in results if isinstance(result, LedgerError)]
        assert len(refused) == 4, repr(results)
        assert len(await store.ledger.entries()) == 1


async def one_at_a_time_may_send(open_: Opener) -> None:
    async with open_("one") as store:
        async with store.ledger.hold():
            error = await expect(LedgerError, store.ledger.hold().__aenter__(), "sending while another sends")
            assert "somebody is sending money or messages already (" in str(error)
            await store.ledger.append([_OWED])
        async with store.ledger.hold():
            assert len(await store.ledger.entries()) == 1


async def who_is_who_is_known_until_it_is_erased_or_purged(open_: Opener) -> None:
    ann, bob = Link("p-ann", "prolific", "5f3a"), Link("p-bob", "prolific", "77bc")
    async with open_("one") as store:
        await store.begin(study_record())
        assert (list(await store.links()), list(await store.comings())) == ([], [])
        first, second = await come(store, "ann"), await come(store, "ann", number=2)
        third = await come(store, "bob")
        comings = [Coming(second, "post", "v1"), Coming(first, "post", "v1"), Coming(first, "post", "v2")]
        for coming in (*comings, comings[0]):
            await store.identify(ann, coming)
        await store.identify(bob)
        await store.identify(bob, Coming(third, "", "v3"))
        assert set(await store.links()) == {ann, bob}
        assert list(await store.comings()) == [*comings, Coming(third, "", "v3")]
        await store.erase(first, NOON)
        assert list(await store.comings()) == [comings[0], Coming(third, "", "v3")], "an erasure takes its visits"
        assert set(await store.links()) == {ann, bob}, "the other session is still theirs"
        await store.erase(second, NOON)
        assert list(await store.links()) == [bob]
        secret = store.secret
        assert await store.purge_identity() == 1
        assert (list(await store.links()), list(await store.comings())) == ([], [])
        assert await store.purge_identity() == 0
        assert store.secret != secret, "with the old one an id would lead to its pseudonym again"
        secret = store.secret
    async with open_("one") as store:
        assert store.secret == secret


async def of_two_people_who_come_by_one_visit_at_once_one_is_kept(open_: Opener) -> None:
    async with open_("one") as store:
        await store.begin(study_record())
        people = {await come(store, name): Link(f"p-{name}", "prolific", name) for name in ("ann", "bob", "eve")}
        await asyncio.gather(*(store.links() for _ in people))  # nobody's connection has to be opened first
        kept = await asyncio.gather(
            *(store.identify(link, Coming(session, "post", "v1"), seen=()) for session, link in people.items())
        )
        assert sorted(kept) == [False, False, True]
        (first,) = await store.comings()
        assert list(await store.links()) == [people[first.session]], "of the others nothing is kept"
        assert await store.identify(people[first.session], first, seen=()), "the same visit of the same session"
        second = await come(store, "ann", number=2)
        assert await store.identify(people[first.session], Coming(second, "post", "v1"), seen=[first.session])
        assert len(await store.comings()) == 2


async def a_purged_ledger_says_what_was_paid_and_not_to_whom(open_: Opener) -> None:
    row: Json = {
        "pay": "reject",
        "use": False,
        "category": "LOW_EFFORT",
        "message": "You chose 3",
        "sessions": ["s-ann"],
    }
    entries = [
        Entry("decisions", "done", NOON, evidence={"by": "Ann", "rows": {"sub-1": row}}),
        _OWED,
        replace(_OWED, reason_code="session:s-2"),
        replace(_OWED, reason_code="session:s-2", event="settled"),
        replace(_OWED, reason_code="session:s-3", session="s-3"),
        Entry("forget", "done", NOON, submission="sub-2", session="s-bob", evidence={"rows": 3}),
        Entry("shut_out", "done", NOON, participant="p-bob", reason_text="twice"),
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
