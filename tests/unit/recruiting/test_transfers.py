"""Transfers: a bonus of unknown outcome is never sent again by itself, and refusals hold up nobody else."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from beholder.recruiting.fake import FakeProlific
from support.payable_study import BONUS, MESSAGE, PAY, connect, payment_setup, write_bonuses


async def test_an_unknown_payment_holds_up_nobody_else_and_waits_for_a_person(folder: Path) -> None:
    async with payment_setup(folder, 2, clean=BONUS) as s:
        write_bonuses(s.study, ("p-0", "quantity", "0.50"))
        await s.sign(s0="approve")
        s.fake.faults.next(PAY, "cut_before")
        payment = await s.pay(send=True)
        sent = s.fake.now
        words, until = payment.unknown[0].words, sent + timedelta(days=1)
        assert [str(problem) for problem in payment.problems] == [
            f"B1  nobody knows whether 0.50 GBP arrived: {s.ids[0]} ({words}). It was sent on {sent:%Y-%m-%d %H:%M} "
            f"UTC and is never sent again by itself; each `beholder pay` looks. From {until:%Y-%m-%d %H:%M} UTC on, "
            "where nobody has got it, `beholder pay --resend B1` sends it once more."
        ]
        assert [line.submission for line in payment.unknown] == [s.ids[0]]
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
    async with payment_setup(folder, 2, clean=BONUS, url=url) as s:
        write_bonuses(s.study, ("p-0", "quantity", "0.50"), ("p-1", "quantity", "0.50"))
        await s.sign(s0="approve", s1="approve")
        s.fake.faults.next(PAY, "cut_after")
        assert len((await s.pay(send=True)).unknown) == 2
        s.fake.advance(minutes=3)
        payment = await s.pay(send=True)
        assert (payment.is_settled, payment.problems) == (True, ())
        assert [s.got(one) for one in s.ids] == [[("reward", 200), ("bonus", 50)]] * 2
        assert len(s.fake.bonuses.calls) == 1


async def test_a_payment_that_only_some_have_got_is_never_sent_again(folder: Path) -> None:
    async with payment_setup(folder, 2, clean=BONUS) as s:
        write_bonuses(s.study, ("p-0", "quantity", "0.50"), ("p-1", "quantity", "0.50"))
        await s.sign(s0="approve", s1="approve")
        s.fake.faults.next(PAY, "cut_before")
        await s.pay(send=True)
        s.fake.advance(hours=25)
        s.fake.submissions.find(s.ids[0]).bonuses.append(50)
        payment = await s.pay(resend=["B1"])
        assert str(payment.problems[0]) == (
            "--resend B1  1 of 2 people have got it. Allowed: a payment that nobody has got. Sent again it would pay "
            "them twice. Pay the others on the platform, then say so with `beholder pay --settle B1`."
        )
        assert [line.submission for line in payment.unknown] == [s.ids[1]]
        assert (await s.pay(settle=["B1"])).is_settled
        assert s.fake.bonuses.calls == []
        wrong = await s.pay(settle=["B1"])
        assert str(wrong.problems[0]) == "--settle B1  it is settled, and not unknown. Allowed: none now."


@pytest.mark.parametrize("fault", ["429", "refused"])
async def test_a_payment_that_was_refused_is_sent_by_the_next_call(folder: Path, fault: str) -> None:
    async with payment_setup(folder, 1, clean=BONUS) as s:
        write_bonuses(s.study, ("p-0", "quantity", "0.50"))
        await s.sign(s0="approve")
        s.fake.faults.next(PAY, fault)  # type: ignore[arg-type]
        payment = await s.pay(send=True)
        assert [line.status for line in payment.lines] == ["paid", "owed"]
        assert len(payment.problems) == 1
        assert (await s.pay(send=True)).is_settled
        assert s.got(s.ids[0]) == [("reward", 200), ("bonus", 50)]


async def test_an_approval_that_is_refused_is_told_and_tried_again_and_never_becomes_a_bonus(folder: Path) -> None:
    async with payment_setup(folder, 1) as s:
        await s.sign(s0="approve")
        through = s.fake.transport()

        class Stern(httpx.AsyncBaseTransport):
            async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
                if request.url.path.endswith("/transition/"):
                    return httpx.Response(400, json={"error": {"title": "No", "detail": "Not enough funds"}})
                return await through.handle_async_request(request)

        stern = replace(s, context=connect(s.study, s.context.store, s.fake, Stern()))
        payment = await stern.pay(send=True)
        assert [str(problem) for problem in payment.problems] == [
            f"{s.ids[0]}  was not approved: No: Not enough funds (400). See to it on the platform, as by a top-up "
            "where money is missing; `beholder pay --send` tries again."
        ]
        assert [line.status for line in payment.lines] == ["owed"]
        await s.sign(s0="bonus")
        assert (await stern.pay(send=True)).problems == payment.problems == (await stern.pay()).problems
        await stern.context.recruiter.close()
        payment = await s.pay(send=True)
        assert (payment.problems, payment.is_settled) == ((), True)
        s.fake.advance(days=22)
        assert s.got(s.ids[0]) == [("reward", 200)]


async def test_one_row_that_a_platform_refuses_holds_up_nobody_else(folder: Path) -> None:
    async with payment_setup(folder, 3, clean=BONUS) as s:
        write_bonuses(s.study, *((f"p-{n}", "quantity", "0.50") for n in range(3)))
        await s.sign(s0="approve", s1="approve", s2="approve")
        stranger, through = s.ids[1], s.fake.transport()

        class Choosy(httpx.AsyncBaseTransport):
            async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
                if request.url.path.endswith("/bonus-payments/") and stranger in (await request.aread()).decode():
                    return httpx.Response(400, json={"error": {"status": 400, "title": "No", "detail": "not this one"}})
                return await through.handle_async_request(request)

        choosy = replace(s, context=connect(s.study, s.context.store, s.fake, Choosy()))
        payment = await choosy.pay(send=True)
        assert [line.submission for line in payment.of("owed")] == [stranger]
        assert [str(problem) for problem in payment.problems] == [
            f"{stranger}  cannot be paid a bonus: {payment.of('owed')[0].words}."
        ]
        assert [s.got(one)[1:] for one in s.ids] == [[("bonus", 50)], [], [("bonus", 50)]]
        await choosy.context.recruiter.close()


@pytest.mark.long
async def test_more_than_two_hundred_go_in_several_payments(folder: Path, whole: bool) -> None:
    fake, people = FakeProlific(balance=10_000_000), 201 if whole else 5
    async with payment_setup(folder, people, fake=fake, clean=BONUS) as s:
        write_bonuses(s.study, *((f"p-{n}", "quantity", "0.50") for n in range(people)))
        await s.sign(**{f"s{n}": "approve" for n in range(people)})
        payment = await s.pay(send=True)
        assert (payment.is_settled, payment.problems) == (True, ())
        assert [len(bulk.rows) for bulk in fake.bonuses.all.values()] == ([200, 1] if whole else [5])
        assert sorted(moved.amount for moved in fake.payments) == [50] * people + [200] * people


ADD = "POST /api/v1/submissions/bonus-payments/"


async def test_what_was_packed_and_is_owed_no_more_is_not_sent(folder: Path) -> None:
    async with payment_setup(folder, 2, finished=False) as s:
        s.fake.advance(hours=20)
        await s.sign(s0="approve", s1="approve")
        s.fake.faults.every(ADD, "refused", share=1, seed=1)
        await s.pay(send=True)
        assert {debt.state for debt in (await s.books()).debts.values()} == {"refused", "setup_sent"}
        s.fake.faults.clear()
        s.fake.approves_timed_out = True
        s.fake.submissions.approve(s.visits[0].submission)  # by a person, on its page
        payment = await s.pay(send=True)
        assert (payment.is_settled, payment.problems) == (True, ())
        assert [s.got(one) for one in s.ids] == [[("reward", 200)], [("bonus", 200)]]


async def test_who_returns_it_while_it_is_approved_holds_up_nothing(folder: Path) -> None:
    async with payment_setup(folder, 2) as s:
        await s.sign(s0="approve", s1="approve")
        through = s.fake.transport()

        class Hasty(httpx.AsyncBaseTransport):
            async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
                answer = await through.handle_async_request(request)
                if request.url.path.endswith("/bulk-approve/"):
                    s.visits[0].return_place()
                return answer

        hasty = replace(s, context=connect(s.study, s.context.store, s.fake, Hasty()))
        payment = await hasty.pay(send=True)
        assert (payment.is_settled, payment.problems, [line.submission for line in payment.lines]) == (
            True,
            (),
            [s.ids[1]],
        )
        await hasty.context.recruiter.close()


async def test_a_rejection_of_ours_is_known_as_ours_although_its_answer_was_lost(folder: Path) -> None:
    async with payment_setup(folder, 1) as s:
        await s.sign(s0={"pay": "reject", "category": "LOW_EFFORT", "message": MESSAGE})
        s.fake.faults.next("POST /api/v1/submissions/{id}/transition/", "cut_after")
        s.fake.faults.every("POST /api/v1/submissions/{id}/transition/", "refused", share=1, seed=1)
        await s.pay(send=True)
        assert s.visits[0].submission.status == "REJECTED"
        s.fake.faults.clear()
        payment = await s.pay(send=True)
        assert [(line.kind, line.status) for line in payment.lines] == [("reject", "done")]
