"""Where money could go wrong although every step is right: late, changed, half done, or paid by somebody else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from beholder.errors import RecruitError
from beholder.recruiting.closure import stop_recruiting
from beholder.recruiting.context import recruiter_of
from beholder.recruiting.decisions import decide_study
from beholder.recruiting.fake import FakeProlific
from beholder.recruiting.ledger import cost_beyond_quote
from beholder.recruiting.payments import pay_study
from beholder.recruiting.preflight import cost_of_runs
from beholder.recruiting.signatures import signed_rows
from beholder.store.contract import LedgerEntry, PlatformVisit
from support.decision_store import office
from support.payable_study import BONUS, JUST, MESSAGE, PAY, connect, in_memory, shop, write_bonuses

ADD = "POST /api/v1/submissions/bonus-payments/"


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield from in_memory(tmp_path)


async def test_late_approvals_keep_to_the_budget(folder: Path) -> None:
    fake = FakeProlific(approves_timed_out=True)
    async with shop(folder, 2, fake=fake, finished=False, budget="8.50 GBP") as s:
        posting = s.visits[0].submission.study
        fake.advance(hours=20)
        others = fake.people.finish(posting, 2)  # in the places of those who ran out of time
        await s.sign(s0="approve", s1="approve")
        found = await s.pay(send=True)
        assert [len(s.got(one)) for one in s.ids] == [1, 0]
        assert [str(one) for one in found.problems] == [
            "study.yaml:11  budget is 8.50 GBP, and with the 2.79 GBP that are due now the study comes to 11.17 GBP: "
            "2.67 GBP more. Nothing of it was sent. Raise the budget to 11.17 GBP, or sign fewer payments."
        ]
        await s.context.recruiter.approve([one.submission.id for one in others])
        fake.advance(minutes=1)
        assert 100_000 - fake.balance <= 850


async def test_screen_outs_that_may_still_come_are_set_aside(folder: Path) -> None:
    recruit = {"screen_out": "1.00 GBP"}
    async with shop(folder, 2, recruit=recruit, budget="7.50 GBP", clean=BONUS) as s:
        await s.context.recruiter.set_places(s.visits[0].submission.study, 3)  # with slots for two who do not fit
        write_bonuses(s.study, ("p-0", "quantity", "0.50"))
        await s.sign(s0="approve", s1="approve")
        assert "the study comes to 11.88 GBP" in str((await s.pay(send=True)).problems[0])
        await stop_recruiting(s.context)
        assert (await s.pay(send=True)).is_settled, "nobody comes any more, so that nothing is set aside"


async def test_everybody_gets_what_was_promised_although_the_study_says_otherwise_now(folder: Path) -> None:
    async with shop(folder, 3, recruit={"screen_out": "0.30 GBP"}) as s:
        changed = s.study.recruit.model_copy(update={"reward": "5.00 GBP", "screen_out": None})
        study = s.study.model_copy(update={"recruit": changed})
        later = replace(s, context=connect(study, s.context.store, s.fake))
        s.visits[1].return_place()
        await s.sign(s0="approve", s1="bonus", s2="screen_out")
        found = await later.pay(send=True)
        assert [s.got(one) for one in s.ids] == [[("reward", 200)], [("bonus", 200)], [("bonus", 30)]]
        assert str(found.total("paid")) == "4.30 GBP"
        assert found.notes == (
            "recruit.reward is 5.00 GBP, and 2.00 GBP was launched: people get what was launched.",
            "recruit.screen_out is left out, and 0.30 GBP was launched: people get what was launched.",
        )
        await later.context.recruiter.close()


async def test_what_was_packed_and_is_owed_no_more_is_not_sent(folder: Path) -> None:
    async with shop(folder, 2, finished=False) as s:
        s.fake.advance(hours=20)
        await s.sign(s0="approve", s1="approve")
        s.fake.faults.every(ADD, "refused", share=1, seed=1)
        await s.pay(send=True)
        assert {debt.state for debt in (await s.books()).debts.values()} == {"refused", "setup_sent"}
        s.fake.faults.clear()
        s.fake.approves_timed_out = True
        s.fake.submissions.approve(s.visits[0].submission)  # by a person, on its page
        found = await s.pay(send=True)
        assert (found.is_settled, found.problems) == (True, ())
        assert [s.got(one) for one in s.ids] == [[("reward", 200)], [("bonus", 200)]]


async def test_who_returns_it_while_it_is_approved_holds_up_nothing(folder: Path) -> None:
    async with shop(folder, 2) as s:
        await s.sign(s0="approve", s1="approve")
        through = s.fake.transport()

        class Hasty(httpx.AsyncBaseTransport):
            async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
                answer = await through.handle_async_request(request)
                if request.url.path.endswith("/bulk-approve/"):
                    s.visits[0].return_place()
                return answer

        hasty = replace(s, context=connect(s.study, s.context.store, s.fake, Hasty()))
        found = await hasty.pay(send=True)
        assert (found.is_settled, found.problems, [line.submission for line in found.lines]) == (True, (), [s.ids[1]])
        await hasty.context.recruiter.close()


async def test_a_reward_as_a_bonus_is_an_approval_while_it_can_be(folder: Path) -> None:
    async with shop(folder, 1) as s:
        await s.sign(s0="bonus")
        await s.pay(send=True)
        s.fake.advance(days=22)  # what nobody has approved by now the platform approves
        assert s.got(s.ids[0]) == [("reward", 200)]


async def test_who_finished_and_counts_as_screened_out_gets_the_rest_where_a_person_says_so(folder: Path) -> None:
    async with shop(folder, 2, finished=False, recruit={"screen_out": "0.30 GBP"}) as s:
        codes = s.fake.studies.find(s.visits[0].submission.study).body["completion_codes"]
        s.visits[0].finish(next(one["code"] for one in codes if one["code_type"] == "SCREENED_OUT"))
        await s.sign(s0="bonus")
        found = await s.pay(send=True)
        assert s.got(s.ids[0]) == [("screen_out", 30), ("bonus", 170)]
        assert found.is_settled


async def test_one_session_is_paid_once_although_two_submissions_led_to_it(folder: Path) -> None:
    async with shop(folder, 1, finished=False) as s:
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
        found = await s.pay(send=True)
        assert [str(problem) for problem in found.problems] == [
            f"decide  {again.id} is to be paid for a session that {first.id} was paid for already. Nothing was sent. "
            "Put `return` for it into decide/decisions.csv, and sign it."
        ]
        assert [(one.kind, one.amount) for one in s.fake.payments] == [("bonus", 200)]


async def test_nobody_is_rejected_for_what_has_come_since(folder: Path) -> None:
    async with shop(folder, 1) as s:
        await s.sign(s0={"pay": "reject", "category": "NO_DATA", "message": MESSAGE})
        found = await s.pay(send=True)
        assert [str(problem) for problem in found.problems] == [
            f"decide  {s.ids[0]} is to be rejected (NO_DATA), and everything of it has come since. Nothing was sent. "
            "Run `beholder decide`, look, and sign again."
        ]
        assert s.visits[0].submission.status == "AWAITING REVIEW"


async def test_a_rejection_of_ours_is_known_as_ours_although_its_answer_was_lost(folder: Path) -> None:
    async with shop(folder, 1) as s:
        await s.sign(s0={"pay": "reject", "category": "LOW_EFFORT", "message": MESSAGE})
        s.fake.faults.next("POST /api/v1/submissions/{id}/transition/", "cut_after")
        s.fake.faults.every("POST /api/v1/submissions/{id}/transition/", "refused", share=1, seed=1)
        await s.pay(send=True)
        assert s.visits[0].submission.status == "REJECTED"
        s.fake.faults.clear()
        found = await s.pay(send=True)
        assert [(line.kind, line.status) for line in found.lines] == [("reject", "done")]


async def test_a_top_up_that_was_begun_is_owed_until_it_is_paid(folder: Path) -> None:
    async with shop(folder, 2, recruit={"hourly_minimum": "9.00 GBP"}) as s:
        await s.sign(s0="approve", s1="approve")
        s.fake.faults.every(PAY, "refused", share=1, seed=1)
        await s.pay(send=True, top_up=True)
        s.fake.faults.clear()
        assert [line.reason for line in (await s.pay()).of("owed")] == ["fair_pay", "fair_pay"]
        assert (await s.pay(send=True)).is_settled
        assert [s.got(one)[1:] for one in s.ids] == [[("bonus", 100)]] * 2


async def test_what_was_paid_beyond_the_places_counts_for_the_budget(folder: Path) -> None:
    async with shop(folder, 2, finished=False) as s:
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


def test_that_somebody_had_to_wait_is_no_decision() -> None:
    def signed(by: str, pay: str) -> LedgerEntry:
        evidence = {"by": by, "digest": "", "rows": {"s": {"pay": pay, "use": True}}}
        return LedgerEntry("decisions", "done", JUST, evidence=evidence)  # type: ignore[arg-type]

    assert signed_rows([signed("Ann", "wait"), signed("run", "approve")])["s"].pay == "approve"
    assert signed_rows([signed("Ann", "nothing"), signed("run", "approve")])["s"].pay == "nothing"


async def test_what_was_paid_by_hand_is_not_said_of_a_platform(folder: Path) -> None:
    async with shop(folder, 1) as s:
        await s.sign(s0="approve")
        with pytest.raises(RecruitError) as told:
            await s.pay(send=True, paid=True)
        assert str(told.value) == (
            "--paid  does not go with recruit.mode prolific. Nobody is paid by hand here. Nothing was sent."
        )
        assert s.fake.payments == []


async def test_who_comes_to_two_runs_is_paid_for_both(folder: Path) -> None:
    recruit = {"mode": "panel", "id_parameter": "pid", "reward": "2.00 GBP"}
    async with office(folder, listed=False, recruit=recruit) as room:
        for run in (1, 2):
            study = room.context.study.model_copy(update={"run": run})
            context = replace(room.context, study=study, recruiter=await recruiter_of(study, room.store))
            await room.come(f"a{run}", person="ann", run=run)
            await decide_study(context, sign="run")
            found = await pay_study(context, send=True)
            assert str(found.total("sent")) == "2.00 GBP"
            listed = (folder / "pay" / "payments.csv").read_text("utf-8")
            assert len(listed.splitlines()) == 2
            if run == 1:
                after = replace(context, study=study.model_copy(update={"run": 2}))
                await pay_study(after, send=True)
                assert (folder / "pay" / "payments.csv").read_text("utf-8") == listed, "also under the next run"
            await pay_study(context, paid=True)


async def test_bonuses_of_an_earlier_run_are_not_taken_for_those_of_this_one(folder: Path) -> None:
    async with shop(folder, 1, clean=BONUS) as s:
        write_bonuses(s.study, ("p-0", "quantity", "0.50"))
        before = LedgerEntry(
            "bonus", "planned", JUST, "earlier", "p-0", "", amount_minor=50, currency="GBP", reason_code="quantity"
        )
        await s.context.store.ledger.append([before, replace(before, event="settled")])
        await s.sign(s0="approve")
        assert (await s.pay(send=True)).is_settled
        assert s.got(s.ids[0]) == [("reward", 200), ("bonus", 50)]
