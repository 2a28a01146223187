"""Paying on a platform: who is owed what, sent once, and what a person is told."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from beholder.errors import LedgerError
from beholder.recruiting.fake import FakeProlific
from support.payable_study import BONUS, MESSAGE, PAY, come, connect, in_memory, shop, write_bonuses


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield from in_memory(tmp_path)


async def test_a_dry_run_names_every_effect_and_does_nothing(folder: Path) -> None:
    async with shop(folder, clean=BONUS) as s:
        write_bonuses(s.study, ("p-0", "quantity", "0.50"))
        await s.sign(s0="approve", s1={"pay": "reject", "category": "LOW_EFFORT", "message": MESSAGE}, s2="return")
        before = await s.context.store.ledger.entries()
        requests = len(s.fake.requests)
        found = await s.pay()
        assert [(line.kind, line.submission, line.reason, str(line.amount), line.status) for line in found.lines] == [
            ("approve", s.ids[0], "reward", "2.00 GBP", "owed"),
            ("bonus", s.ids[0], "quantity", "0.50 GBP", "owed"),
            ("reject", s.ids[1], "LOW_EFFORT", "0.00 ", "owed"),
            ("return", s.ids[2], "return", "0.00 ", "owed"),
        ]
        assert str(found.total("owed")) == "2.50 GBP"
        assert (found.is_sent, found.problems, found.is_settled) == (False, (), False)
        assert await s.context.store.ledger.entries() == before
        assert {one.split()[0] for one in s.fake.requests[requests:]} == {"GET"}


async def test_everybody_gets_what_was_signed_once(folder: Path) -> None:
    async with shop(folder, clean=BONUS) as s:
        write_bonuses(s.study, ("p-0", "quantity", "0.50"))
        await s.sign(s0="approve", s1={"pay": "reject", "category": "LOW_EFFORT", "message": MESSAGE}, s2="approve")
        told: list[str] = []
        found = await s.pay(send=True, tell=told.append)
        assert (found.problems, found.notes, found.is_settled) == ((), (), True)
        assert told == [
            "Waiting for Prolific to show 2 approvals, for 35 seconds at most.",
            "Waiting for Prolific to show payment B1, for 125 seconds at most.",
        ]
        assert [(line.kind, line.reason, line.status) for line in found.lines] == [
            ("approve", "reward", "paid"),
            ("bonus", "quantity", "paid"),
            ("reject", "LOW_EFFORT", "done"),
            ("approve", "reward", "paid"),
            ("bonus", "quantity", "nothing"),
        ]
        assert s.got(s.ids[0]) == [("reward", 200), ("bonus", 50)]
        assert s.got(s.ids[1]) == []
        assert s.fake.submissions.find(s.ids[1]).rejection == MESSAGE
        assert s.got(s.ids[2]) == [("reward", 200)]
        moved, requests = list(s.fake.payments), list(s.fake.requests)
        again = await s.pay(send=True, tell=told.append)
        assert (again.lines, len(told)) == (found.lines, 2)
        assert s.fake.payments == moved
        assert not [one for one in s.fake.requests[len(requests) :] if not one.startswith("GET")]


async def test_nothing_is_owed_that_nobody_has_signed(folder: Path) -> None:
    async with shop(folder, clean=BONUS) as s:
        write_bonuses(s.study, ("p-0", "quantity", "0.50"))
        assert (await s.pay(send=True)).lines == ()
        await s.sign("run", s0={"pay": "reject", "category": "LOW_EFFORT", "message": MESSAGE}, s1="return", s2="look")
        sent = [(line.kind, line.submission) for line in (await s.pay(send=True)).lines]
        assert sent == [("return", s.ids[1])], "what is against anybody needs a person"
        assert s.fake.payments == []


async def test_who_was_approved_by_the_platform_still_gets_the_bonus(folder: Path) -> None:
    async with shop(folder, 2, clean=BONUS) as s:
        write_bonuses(s.study, ("p-0", "quantity", "0.50"))
        s.fake.advance(days=22)
        await s.sign("run", s0="nothing", s1="nothing")
        found = await s.pay(send=True)
        assert [(line.kind, line.status) for line in found.lines] == [
            ("approve", "paid"),
            ("bonus", "paid"),
            ("approve", "paid"),
            ("bonus", "nothing"),
        ]
        assert s.got(s.ids[0]) == [("reward", 200), ("bonus", 50)]


@pytest.mark.parametrize("takes_late", [True, False])
async def test_who_ran_out_of_time_is_approved_or_gets_the_reward_as_a_bonus(folder: Path, takes_late: bool) -> None:
    fake = FakeProlific(approves_timed_out=takes_late)
    async with shop(folder, 2, fake=fake, finished=False) as s:
        fake.advance(hours=20)
        await s.sign(s0="approve", s1="approve")
        found = await s.pay(send=True)
        assert (found.problems, found.is_settled) == ((), True)
        kind = "reward" if takes_late else "bonus"
        assert [s.got(one) for one in s.ids] == [[(kind, 200)]] * 2
        assert [(line.kind, line.what) for line in found.lines] == [
            ("approve", "the reward") if takes_late else ("bonus", "the reward, as a bonus")
        ] * 2


async def test_who_was_forgotten_after_signing_still_gets_the_bonus(folder: Path) -> None:
    async with shop(folder, 1, clean=BONUS) as s:
        write_bonuses(s.study, ("p-0", "quantity", "0.50"))
        await s.sign(s0="approve")
        await s.context.store.purge_identity()
        assert (await s.pay(send=True)).is_settled
        assert s.got(s.ids[0]) == [("reward", 200), ("bonus", 50)]


async def test_who_gave_it_back_after_finishing_is_not_paid(folder: Path) -> None:
    async with shop(folder, 2, clean=BONUS) as s:
        write_bonuses(s.study, ("p-0", "quantity", "0.50"))
        await s.sign(s0="approve", s1="approve")
        s.visits[0].return_place()
        found = await s.pay(send=True)
        assert found.is_settled
        assert [line.submission for line in found.lines] == [s.ids[1]] * 2
        assert s.got(s.ids[0]) == []


async def test_who_did_not_fit_is_paid_for_that_and_asked_to_return(folder: Path) -> None:
    async with shop(folder, 1, recruit={"screen_out": "0.30 GBP"}) as s:
        await s.sign("run", s0="screen_out")
        found = await s.pay(send=True)
        assert [(line.kind, line.reason, line.status) for line in found.lines] == [
            ("bonus", "screen_out", "paid"),
            ("return", "screen_out", "done"),
        ]
        assert s.got(s.ids[0]) == [("bonus", 30)]
        assert len(s.fake.messages) == 1
        await s.pay(send=True)
        assert len(s.fake.messages) == 1, "nobody is asked twice"


async def test_further_sessions_of_a_visit_are_bonuses_and_bonuses_grow(folder: Path) -> None:
    async with shop(folder, 1, clean=BONUS) as s:
        write_bonuses(s.study, ("p-0", "quantity", "0.50"))
        more = await come(s.context.store, "0", s.visits[0], mode="prolific", number=2)
        await s.sign(s0={"pay": "approve", "further": [more]})
        found = await s.pay(send=True)
        assert s.got(s.ids[0]) == [("reward", 200), ("bonus", 250)], "one payment for all that is owed"
        assert [line.reason for line in found.lines] == ["reward", f"session:{more}", "quantity"]
        write_bonuses(s.study, ("p-0", "quantity", "1.00"))
        found = await s.pay(send=True)
        assert s.got(s.ids[0])[2:] == [("bonus", 50)]
        assert found.lines[-1].reason == "quantity:100"
        write_bonuses(s.study)
        assert (await s.pay(send=True)).is_settled
        assert len(s.got(s.ids[0])) == 3, "what was paid is not taken back"


async def test_a_top_up_brings_everybody_to_the_least_pay(folder: Path) -> None:
    async with shop(folder, 2, recruit={"hourly_minimum": "9.00 GBP"}) as s:
        await s.sign(s0="approve", s1="approve")
        await s.pay(send=True)
        found = await s.pay(send=True, top_up=True)
        assert [(line.reason, str(line.amount)) for line in found.lines[2:]] == [("fair_pay", "1.00 GBP")] * 2
        assert [s.got(one)[1:] for one in s.ids] == [[("bonus", 100)]] * 2, "20 minutes at 9.00 an hour are 3.00"
        await s.pay(send=True, top_up=True)
        assert len(s.fake.payments) == 4


async def test_a_budget_is_a_hard_cap_and_says_by_how_much(folder: Path) -> None:
    async with shop(folder, 2, budget="6.50 GBP", clean=BONUS) as s:
        write_bonuses(s.study, ("p-0", "quantity", "0.50"), ("p-1", "quantity", "0.50"))
        await s.sign(s0="approve", s1="approve")
        found = await s.pay(send=True)
        assert [str(problem) for problem in found.problems] == [
            "study.yaml:11  budget is 6.50 GBP, and with the 1.40 GBP that are due now the study comes "
            "to 6.98 GBP: 0.48 GBP more. Nothing of it was sent. Raise the budget to 6.98 GBP, or sign fewer payments."
        ]
        assert [line.status for line in found.lines] == ["paid", "owed", "paid", "owed"], "approvals are not held up"
        assert s.fake.bonuses.calls == []


async def test_a_balance_that_is_too_small_is_told(folder: Path) -> None:
    async with shop(folder, 1, fake=FakeProlific(balance=300), clean=BONUS) as s:
        write_bonuses(s.study, ("p-0", "quantity", "0.50"))
        await s.sign(s0="approve")
        found = await s.pay(send=True)
        assert [str(problem) for problem in found.problems] == [
            "Prolific  asks for 0.70 GBP with its fees, and the balance is 0.21 GBP. Nothing of it was sent. "
            "Top it up by 0.49 GBP."
        ]
        s.fake.wallet.balance += 1000
        assert (await s.pay(send=True)).is_settled
        assert s.got(s.ids[0]) == [("reward", 200), ("bonus", 50)]


async def test_a_rejection_that_says_too_little_is_not_sent(folder: Path) -> None:
    async with shop(folder, 1) as s:
        await s.sign(s0={"pay": "reject", "category": "", "message": "Too fast."})
        found = await s.pay(send=True)
        assert [str(problem) for problem in found.problems] == [
            f"decide  the rejection of {s.ids[0]} has a message of 9 characters and no category. Allowed: a category, "
            "and 100 characters or more. Write in decide/decisions.csv what was asked for and what was done, and sign "
            "it again."
        ]
        assert s.fake.submissions.find(s.ids[0]).status == "AWAITING REVIEW"


async def test_an_unknown_payment_holds_up_nobody_else_and_waits_for_a_person(folder: Path) -> None:
    async with shop(folder, 2, clean=BONUS) as s:
        write_bonuses(s.study, ("p-0", "quantity", "0.50"))
        await s.sign(s0="approve")
        s.fake.faults.next(PAY, "cut_before")
        found = await s.pay(send=True)
        sent = s.fake.now
        words, until = found.unknown[0].words, sent + timedelta(days=1)
        assert [str(problem) for problem in found.problems] == [
            f"B1  nobody knows whether 0.50 GBP arrived: {s.ids[0]} ({words}). It was sent on {sent:%Y-%m-%d %H:%M} "
            f"UTC and is never sent again by itself; each `beholder pay` looks. From {until:%Y-%m-%d %H:%M} UTC on, "
            "where nobody has got it, `beholder pay --resend B1` sends it once more."
        ]
        assert [line.submission for line in found.unknown] == [s.ids[0]]
        write_bonuses(s.study, ("p-0", "quantity", "0.50"), ("p-1", "quantity", "0.50"))
        await s.sign(s1="approve")
        await s.pay(send=True)
        assert (s.got(s.ids[0]), s.got(s.ids[1])) == ([("reward", 200)], [("reward", 200), ("bonus", 50)])
        too_soon = await s.pay(resend=["B1"])
        assert str(too_soon.problems[0]) == (
            f"--resend B1  it was sent on {sent:%Y-%m-%d %H:%M} UTC, and money may take 24 h to show. Nothing was sent "
            f"again. From {until:%Y-%m-%d %H:%M} UTC on it may be."
        )
        s.fake.advance(hours=24)
        assert (await s.pay(send=True)).unknown, "a person has to say so"
        assert (await s.pay(resend=["B1"])).is_settled
        assert s.got(s.ids[0]) == [("reward", 200), ("bonus", 50)]
        refused = await s.pay(resend=["B1", "B9"])
        assert [str(problem) for problem in refused.problems] == [
            "--resend B1  it is settled, and not unknown. Allowed: none now. Nothing was sent again.",
            "--resend B9  there is no such payment. Allowed: none now. Nothing was sent again.",
        ]


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
async def test_an_unknown_payment_that_arrived_is_settled_by_reading(
    folder: Path, kind: str, request: pytest.FixtureRequest
) -> None:
    url = "" if kind == "sqlite" else request.getfixturevalue("postgresql_url")
    async with shop(folder, 2, clean=BONUS, url=url) as s:
        write_bonuses(s.study, ("p-0", "quantity", "0.50"), ("p-1", "quantity", "0.50"))
        await s.sign(s0="approve", s1="approve")
        s.fake.faults.next(PAY, "cut_after")
        assert len((await s.pay(send=True)).unknown) == 2
        s.fake.advance(minutes=3)
        found = await s.pay(send=True)
        assert (found.is_settled, found.problems) == (True, ())
        assert [s.got(one) for one in s.ids] == [[("reward", 200), ("bonus", 50)]] * 2
        assert len(s.fake.bonuses.calls) == 1


async def test_a_payment_that_only_some_have_got_is_never_sent_again(folder: Path) -> None:
    async with shop(folder, 2, clean=BONUS) as s:
        write_bonuses(s.study, ("p-0", "quantity", "0.50"), ("p-1", "quantity", "0.50"))
        await s.sign(s0="approve", s1="approve")
        s.fake.faults.next(PAY, "cut_before")
        await s.pay(send=True)
        s.fake.advance(hours=25)
        s.fake.submissions.find(s.ids[0]).bonuses.append(50)
        found = await s.pay(resend=["B1"])
        assert str(found.problems[0]) == (
            "--resend B1  1 of 2 people have got it. Allowed: a payment that nobody has got. Sent again it would pay "
            "them twice. Pay the others on the platform, then say so with `beholder pay --settle B1`."
        )
        assert [line.submission for line in found.unknown] == [s.ids[1]]
        assert (await s.pay(settle=["B1"])).is_settled
        assert s.fake.bonuses.calls == []
        wrong = await s.pay(settle=["B1"])
        assert str(wrong.problems[0]) == "--settle B1  it is settled, and not unknown. Allowed: none now."


@pytest.mark.parametrize("fault", ["429", "refused"])
async def test_a_payment_that_was_refused_is_sent_by_the_next_call(folder: Path, fault: str) -> None:
    async with shop(folder, 1, clean=BONUS) as s:
        write_bonuses(s.study, ("p-0", "quantity", "0.50"))
        await s.sign(s0="approve")
        s.fake.faults.next(PAY, fault)  # type: ignore[arg-type]
        found = await s.pay(send=True)
        assert [line.status for line in found.lines] == ["paid", "owed"]
        assert len(found.problems) == 1
        assert (await s.pay(send=True)).is_settled
        assert s.got(s.ids[0]) == [("reward", 200), ("bonus", 50)]


async def test_an_approval_that_is_refused_is_told_and_tried_again_and_never_becomes_a_bonus(folder: Path) -> None:
    async with shop(folder, 1) as s:
        await s.sign(s0="approve")
        through = s.fake.transport()

        class Stern(httpx.AsyncBaseTransport):
            async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
                if request.url.path.endswith("/transition/"):
                    return httpx.Response(400, json={"error": {"title": "No", "detail": "Not enough funds"}})
                return await through.handle_async_request(request)

        stern = replace(s, context=connect(s.study, s.context.store, s.fake, Stern()))
        found = await stern.pay(send=True)
        assert [str(problem) for problem in found.problems] == [
            f"{s.ids[0]}  was not approved: No: Not enough funds (400). See to it on the platform, as by a top-up "
            "where money is missing; `beholder pay --send` tries again."
        ]
        assert [line.status for line in found.lines] == ["owed"]
        await s.sign(s0="bonus")
        assert (await stern.pay(send=True)).problems == found.problems == (await stern.pay()).problems
        await stern.context.recruiter.close()
        found = await s.pay(send=True)
        assert (found.problems, found.is_settled) == ((), True)
        s.fake.advance(days=22)
        assert s.got(s.ids[0]) == [("reward", 200)]


async def test_one_row_that_a_platform_refuses_holds_up_nobody_else(folder: Path) -> None:
    async with shop(folder, 3, clean=BONUS) as s:
        write_bonuses(s.study, *((f"p-{n}", "quantity", "0.50") for n in range(3)))
        await s.sign(s0="approve", s1="approve", s2="approve")
        stranger, through = s.ids[1], s.fake.transport()

        class Choosy(httpx.AsyncBaseTransport):
            async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
                if request.url.path.endswith("/bonus-payments/") and stranger in (await request.aread()).decode():
                    return httpx.Response(400, json={"error": {"status": 400, "title": "No", "detail": "not this one"}})
                return await through.handle_async_request(request)

        choosy = replace(s, context=connect(s.study, s.context.store, s.fake, Choosy()))
        found = await choosy.pay(send=True)
        assert [line.submission for line in found.of("owed")] == [stranger]
        assert [str(problem) for problem in found.problems] == [
            f"{stranger}  cannot be paid a bonus: {found.of('owed')[0].words}."
        ]
        assert [s.got(one)[1:] for one in s.ids] == [[("bonus", 50)], [], [("bonus", 50)]]
        await choosy.context.recruiter.close()


async def test_the_second_of_two_who_pay_at_once_is_told(folder: Path) -> None:
    async with shop(folder, 1) as s:
        await s.sign(s0="approve")
        async with s.context.store.ledger.hold():
            with pytest.raises(LedgerError, match="somebody is sending money or messages already"):
                await s.pay(send=True)
            assert len((await s.pay()).lines) == 1, "looking is free"
        assert s.fake.payments == []


@pytest.mark.long
async def test_more_than_two_hundred_go_in_several_payments(folder: Path, whole: bool) -> None:
    fake, people = FakeProlific(balance=10_000_000), 201 if whole else 5
    async with shop(folder, people, fake=fake, clean=BONUS) as s:
        write_bonuses(s.study, *((f"p-{n}", "quantity", "0.50") for n in range(people)))
        await s.sign(**{f"s{n}": "approve" for n in range(people)})
        found = await s.pay(send=True)
        assert (found.is_settled, found.problems) == (True, ())
        assert [len(bulk.rows) for bulk in fake.bonuses.all.values()] == ([200, 1] if whole else [5])
        assert sorted(moved.amount for moved in fake.payments) == [50] * people + [200] * people
