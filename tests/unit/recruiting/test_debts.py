"""Debts: what is due for each status of a submission and each signed decision, never twice."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from beholder.recruiting.context import recruiter_of
from beholder.recruiting.decisions import decide_study
from beholder.recruiting.fake import FakeProlific
from beholder.recruiting.payments import pay_study
from beholder.store.contract import LedgerEntry, PlatformVisit
from support.decision_store import decision_setup
from support.payable_study import BONUS, JUST, MESSAGE, PAY, come, payment_setup, write_bonuses


async def test_who_was_approved_by_the_platform_still_gets_the_bonus(folder: Path) -> None:
    async with payment_setup(folder, 2, clean=BONUS) as s:
        write_bonuses(s.study, ("p-0", "quantity", "0.50"))
        s.fake.advance(days=22)
        await s.sign("run", s0="nothing", s1="nothing")
        payment = await s.pay(send=True)
        assert [(line.kind, line.status) for line in payment.lines] == [
            ("approve", "paid"),
            ("bonus", "paid"),
            ("approve", "paid"),
            ("bonus", "nothing"),
        ]
        assert s.got(s.ids[0]) == [("reward", 200), ("bonus", 50)]


@pytest.mark.parametrize("takes_late", [True, False])
async def test_who_ran_out_of_time_is_approved_or_gets_the_reward_as_a_bonus(folder: Path, takes_late: bool) -> None:
    fake = FakeProlific(approves_timed_out=takes_late)
    async with payment_setup(folder, 2, fake=fake, finished=False) as s:
        fake.advance(hours=20)
        await s.sign(s0="approve", s1="approve")
        payment = await s.pay(send=True)
        assert (payment.problems, payment.is_settled) == ((), True)
        kind = "reward" if takes_late else "bonus"
        assert [s.got(one) for one in s.ids] == [[(kind, 200)]] * 2
        assert [(line.kind, line.what) for line in payment.lines] == [
            ("approve", "the reward") if takes_late else ("bonus", "the reward, as a bonus")
        ] * 2


async def test_who_gave_it_back_after_finishing_is_not_paid(folder: Path) -> None:
    async with payment_setup(folder, 2, clean=BONUS) as s:
        write_bonuses(s.study, ("p-0", "quantity", "0.50"))
        await s.sign(s0="approve", s1="approve")
        s.visits[0].return_place()
        payment = await s.pay(send=True)
        assert payment.is_settled
        assert [line.submission for line in payment.lines] == [s.ids[1]] * 2
        assert s.got(s.ids[0]) == []


async def test_who_did_not_fit_is_paid_for_that_and_asked_to_return(folder: Path) -> None:
    async with payment_setup(folder, 1, recruit={"screen_out": "0.30 GBP"}) as s:
        await s.sign("run", s0="screen_out")
        payment = await s.pay(send=True)
        assert [(line.kind, line.reason, line.status) for line in payment.lines] == [
            ("bonus", "screen_out", "paid"),
            ("return", "screen_out", "done"),
        ]
        assert s.got(s.ids[0]) == [("bonus", 30)]
        assert len(s.fake.messages) == 1
        await s.pay(send=True)
        assert len(s.fake.messages) == 1, "nobody is asked twice"


async def test_further_sessions_of_a_visit_are_bonuses_and_bonuses_grow(folder: Path) -> None:
    async with payment_setup(folder, 1, clean=BONUS) as s:
        write_bonuses(s.study, ("p-0", "quantity", "0.50"))
        more = await come(s.context.store, "0", s.visits[0], mode="prolific", number=2)
        await s.sign(s0={"pay": "approve", "further": [more]})
        payment = await s.pay(send=True)
        assert s.got(s.ids[0]) == [("reward", 200), ("bonus", 250)], "one payment for all that is owed"
        assert [line.reason for line in payment.lines] == ["reward", f"session:{more}", "quantity"]
        write_bonuses(s.study, ("p-0", "quantity", "1.00"))
        payment = await s.pay(send=True)
        assert s.got(s.ids[0])[2:] == [("bonus", 50)]
        assert payment.lines[-1].reason == "quantity:100"
        write_bonuses(s.study)
        assert (await s.pay(send=True)).is_settled
        assert len(s.got(s.ids[0])) == 3, "what was paid is not taken back"


async def test_a_top_up_brings_everybody_to_the_least_pay(folder: Path) -> None:
    async with payment_setup(folder, 2, recruit={"hourly_minimum": "9.00 GBP"}) as s:
        await s.sign(s0="approve", s1="approve")
        await s.pay(send=True)
        payment = await s.pay(send=True, top_up=True)
        assert [(line.reason, str(line.amount)) for line in payment.lines[2:]] == [("fair_pay", "1.00 GBP")] * 2
        assert [s.got(one)[1:] for one in s.ids] == [[("bonus", 100)]] * 2, "20 minutes at 9.00 an hour are 3.00"
        await s.pay(send=True, top_up=True)
        assert len(s.fake.payments) == 4


async def test_a_rejection_that_says_too_little_is_not_sent(folder: Path) -> None:
    async with payment_setup(folder, 1) as s:
        await s.sign(s0={"pay": "reject", "category": "", "message": "Too fast."})
        payment = await s.pay(send=True)
        assert [str(problem) for problem in payment.problems] == [
            f"decide  the rejection of {s.ids[0]} has a message of 9 characters and no category. Allowed: a category, "
            "and 100 characters or more. Write in decide/decisions.csv what was asked for and what was done, and sign "
            "it again."
        ]
        assert s.fake.submissions.find(s.ids[0]).status == "AWAITING REVIEW"


async def test_a_reward_as_a_bonus_is_an_approval_while_it_can_be(folder: Path) -> None:
    async with payment_setup(folder, 1) as s:
        await s.sign(s0="bonus")
        await s.pay(send=True)
        s.fake.advance(days=22)  # what nobody has approved by now the platform approves
        assert s.got(s.ids[0]) == [("reward", 200)]


async def test_who_finished_and_counts_as_screened_out_gets_the_rest_where_a_person_says_so(folder: Path) -> None:
    async with payment_setup(folder, 2, finished=False, recruit={"screen_out": "0.30 GBP"}) as s:
        codes = s.fake.studies.find(s.visits[0].submission.study).body["completion_codes"]
        s.visits[0].finish(next(one["code"] for one in codes if one["code_type"] == "SCREENED_OUT"))
        await s.sign(s0="bonus")
        payment = await s.pay(send=True)
        assert s.got(s.ids[0]) == [("screen_out", 30), ("bonus", 170)]
        assert payment.is_settled


async def test_one_session_is_paid_once_although_two_submissions_led_to_it(folder: Path) -> None:
    async with payment_setup(folder, 1, finished=False) as s:
        s.fake.advance(hours=20)
        await s.sign(s0="approve")
        await s.pay(send=True)
        first = s.visits[0].submission
        again = s.fake.people.take(first.study, first.person, again=True).start().finish().submission
        links = await s.context.store.platform_identities()
        await s.context.store.identify(links[0], PlatformVisit("s-0-1", first.study, again.id))
        rows = {again.id: {"pay": "approve", "use": True, "participant": "p-0", "sessions": ["s-0-1"], "further": []}}
        evidence = {"by": "run", "digest": "0", "rows": rows}
        await s.context.store.ledger.append([LedgerEntry("decisions", "done", JUST, evidence=evidence)])  # type: ignore[arg-type]
        payment = await s.pay(send=True)
        assert [str(problem) for problem in payment.problems] == [
            f"decide  {again.id} is to be paid for a session that {first.id} was paid for already. Nothing was sent. "
            "Put `return` for it into decide/decisions.csv, and sign it."
        ]
        assert [(one.kind, one.amount) for one in s.fake.payments] == [("bonus", 200)]


async def test_nobody_is_rejected_for_what_has_come_since(folder: Path) -> None:
    async with payment_setup(folder, 1) as s:
        await s.sign(s0={"pay": "reject", "category": "NO_DATA", "message": MESSAGE})
        payment = await s.pay(send=True)
        assert [str(problem) for problem in payment.problems] == [
            f"decide  {s.ids[0]} is to be rejected (NO_DATA), and everything of it has come since. Nothing was sent. "
            "Run `beholder decide`, look, and sign again."
        ]
        assert s.visits[0].submission.status == "AWAITING REVIEW"


async def test_a_top_up_that_was_begun_is_owed_until_it_is_paid(folder: Path) -> None:
    async with payment_setup(folder, 2, recruit={"hourly_minimum": "9.00 GBP"}) as s:
        await s.sign(s0="approve", s1="approve")
        s.fake.faults.every(PAY, "refused", share=1, seed=1)
        await s.pay(send=True, top_up=True)
        s.fake.faults.clear()
        assert [line.reason for line in (await s.pay()).of("owed")] == ["fair_pay", "fair_pay"]
        assert (await s.pay(send=True)).is_settled
        assert [s.got(one)[1:] for one in s.ids] == [[("bonus", 100)]] * 2


async def test_who_comes_to_two_runs_is_paid_for_both(folder: Path) -> None:
    recruit = {"mode": "panel", "id_parameter": "pid", "reward": "2.00 GBP"}
    async with decision_setup(folder, listed=False, recruit=recruit) as setup:
        for run in (1, 2):
            study = setup.context.study.model_copy(update={"run": run})
            context = replace(setup.context, study=study, recruiter=await recruiter_of(study, setup.store))
            await setup.come(f"a{run}", person="ann", run=run)
            await decide_study(context, sign="run")
            payment = await pay_study(context, send=True)
            assert str(payment.total("sent")) == "2.00 GBP"
            listed = (folder / "pay" / "payments.csv").read_text("utf-8")
            assert len(listed.splitlines()) == 2
            if run == 1:
                after = replace(context, study=study.model_copy(update={"run": 2}))
                await pay_study(after, send=True)
                assert (folder / "pay" / "payments.csv").read_text("utf-8") == listed, "also under the next run"
            await pay_study(context, paid=True)


async def test_bonuses_of_an_earlier_run_are_not_taken_for_those_of_this_one(folder: Path) -> None:
    async with payment_setup(folder, 1, clean=BONUS) as s:
        write_bonuses(s.study, ("p-0", "quantity", "0.50"))
        before = LedgerEntry(
            "bonus", "planned", JUST, "earlier", "p-0", "", amount_minor=50, currency="GBP", reason_code="quantity"
        )
        await s.context.store.ledger.append([before, replace(before, event="settled")])
        await s.sign(s0="approve")
        assert (await s.pay(send=True)).is_settled
        assert s.got(s.ids[0]) == [("reward", 200), ("bonus", 50)]
