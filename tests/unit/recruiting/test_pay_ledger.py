"""Budget and balance while paying: hard limits over everything that was or may be paid."""

from __future__ import annotations

from pathlib import Path

from beholder.recruiting.closure import stop_recruiting
from beholder.recruiting.fake import FakeProlific
from beholder.recruiting.ledger import cost_beyond_quote
from beholder.recruiting.preflight import cost_of_runs
from beholder.store.contract import LedgerEntry
from support.payable_study import BONUS, JUST, payment_setup, write_bonuses


async def test_a_budget_is_a_hard_cap_and_says_by_how_much(folder: Path) -> None:
    async with payment_setup(folder, 2, budget="6.50 GBP", clean=BONUS) as s:
        write_bonuses(s.study, ("p-0", "quantity", "0.50"), ("p-1", "quantity", "0.50"))
        await s.sign(s0="approve", s1="approve")
        payment = await s.pay(send=True)
        assert [str(problem) for problem in payment.problems] == [
            "study.yaml:11  budget is 6.50 GBP, and with the 1.40 GBP that are due now the study comes "
            "to 6.98 GBP: 0.48 GBP more. Nothing of it was sent. Raise the budget to 6.98 GBP, or sign fewer payments."
        ]
        assert [line.status for line in payment.lines] == ["paid", "owed", "paid", "owed"], "approvals are not held up"
        assert s.fake.bonuses.calls == []


async def test_a_balance_that_is_too_small_is_told(folder: Path) -> None:
    async with payment_setup(folder, 1, fake=FakeProlific(balance=300), clean=BONUS) as s:
        write_bonuses(s.study, ("p-0", "quantity", "0.50"))
        await s.sign(s0="approve")
        payment = await s.pay(send=True)
        assert [str(problem) for problem in payment.problems] == [
            "Prolific  asks for 0.70 GBP with its fees, and the balance is 0.21 GBP. Nothing of it was sent. "
            "Top it up by 0.49 GBP."
        ]
        s.fake.wallet.balance += 1000
        assert (await s.pay(send=True)).is_settled
        assert s.got(s.ids[0]) == [("reward", 200), ("bonus", 50)]


async def test_late_approvals_keep_to_the_budget(folder: Path) -> None:
    fake = FakeProlific(approves_timed_out=True)
    async with payment_setup(folder, 2, fake=fake, finished=False, budget="8.50 GBP") as s:
        posting = s.visits[0].submission.study
        fake.advance(hours=20)
        others = fake.people.finish(posting, 2)  # in the places of those who ran out of time
        await s.sign(s0="approve", s1="approve")
        payment = await s.pay(send=True)
        assert [len(s.got(one)) for one in s.ids] == [1, 0]
        assert [str(one) for one in payment.problems] == [
            "study.yaml:11  budget is 8.50 GBP, and with the 2.79 GBP that are due now the study comes to 11.17 GBP: "
            "2.67 GBP more. Nothing of it was sent. Raise the budget to 11.17 GBP, or sign fewer payments."
        ]
        await s.context.recruiter.approve([one.submission.id for one in others])
        fake.advance(minutes=1)
        assert 100_000 - fake.balance <= 850


async def test_screen_outs_that_may_still_come_are_set_aside(folder: Path) -> None:
    recruit = {"screen_out": "1.00 GBP"}
    async with payment_setup(folder, 2, recruit=recruit, budget="7.50 GBP", clean=BONUS) as s:
        await s.context.recruiter.set_places(s.visits[0].submission.study, 3)  # with slots for two who do not fit
        write_bonuses(s.study, ("p-0", "quantity", "0.50"))
        await s.sign(s0="approve", s1="approve")
        assert "the study comes to 11.88 GBP" in str((await s.pay(send=True)).problems[0])
        await stop_recruiting(s.context)
        assert (await s.pay(send=True)).is_settled, "nobody comes any more, so that nothing is set aside"


async def test_what_was_paid_beyond_the_places_counts_for_the_budget(folder: Path) -> None:
    async with payment_setup(folder, 2, finished=False) as s:
        s.fake.advance(hours=20)
        await s.sign(s0="approve", s1="approve")
        await s.pay(send=True)
        posting = s.visits[0].submission.study
        evidence = {"total": "5.58 GBP", "places": 2}
        await s.context.store.ledger.append(
            [LedgerEntry("publish", "done", JUST, provider_ref=posting, evidence=evidence)]  # type: ignore[arg-type]
        )
        assert cost_beyond_quote(await s.books(), posting) == 558
        entries = await s.context.store.ledger.entries()
        assert str(cost_of_runs(s.study, entries, "GBP")) == "11.16 GBP"
