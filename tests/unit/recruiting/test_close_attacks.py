"""Closing while something is owed: by rules that nobody has applied, or for work that came later."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from beholder.cleaning import clean
from beholder.errors import RecruitError
from beholder.recruiting.abandoned_lists import AbandonedLists
from beholder.recruiting.closure import close_study
from beholder.recruiting.collection import Collector
from beholder.recruiting.context import RecruitContext
from beholder.recruiting.decisions import decide_study
from beholder.recruiting.fake import FakeProlific
from beholder.recruiting.fake.submissions import FakeVisit
from beholder.recruiting.monitoring import take_snapshot
from beholder.recruiting.payments import pay_study
from beholder.recruiting.postings import change_posting
from beholder.recruiting.preflight import cost_of_runs
from beholder.store.contract import LedgerEntry, PlatformIdentity, PlatformVisit
from support import decision_store as deciding
from support.decision_store import CHECKS, office
from support.payable_study import BONUS, connect, in_memory
from support.prolific_rehearsal import JOB
from support.recruit_context import ON_PROLIFIC
from support.recruit_context import office as launching

RECRUIT = {"mode": "prolific", "reward": "2.00 GBP", "minutes": 10}


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield from in_memory(tmp_path)


@dataclass(frozen=True)
class Market:
    """A study on the fake whose people can be judged."""

    room: deciding.Office
    context: RecruitContext
    fake: FakeProlific
    posting: str

    async def come(self, name: str, visit: FakeVisit | None = None, number: int = 1) -> FakeVisit:
        """Let somebody finish a session, by a visit of theirs."""
        there = visit or self.fake.people.take(self.posting).start()
        one = there.submission
        await self.room.come(name, person=one.person.id, submission=one.id, visit=number)
        return there

    async def pay(self) -> None:
        await pay_study(self.context, send=True, sleep=self.fake.sleep)

    async def held(self) -> list[str]:
        """Return what holds up the end, after that recruiting is stopped."""
        with pytest.raises(RecruitError) as error:
            await close_study(self.context)
        return [str(problem) for problem in error.value.problems[1:]]


@asynccontextmanager
async def market(folder: Path, places: int = 2, **keys: Any) -> AsyncIterator[Market]:
    fake = FakeProlific()
    written: dict[str, Any] = {"recruit": RECRUIT, "checks": CHECKS} | keys
    async with office(folder, listed=False, **written) as room:
        context = connect(room.context.study, room.store, fake)
        posting = (await context.recruiter.publish((await context.recruiter.draft(replace(JOB, places=places))).id)).id
        evidence: Any = {"run": 1, "places": places, "quote": {}}
        await room.store.ledger.append(
            [LedgerEntry("draft", "done", fake.now, provider_ref=posting, evidence=evidence)]
        )
        yield Market(room, context, fake, posting)
        await context.recruiter.close()


DECIDE = "Run `beholder decide`, sign it with `--sign NAME`, then `beholder pay --send`."


async def test_bonuses_hold_it_up_until_they_are_computed_signed_and_paid(folder: Path) -> None:
    async with market(folder, clean=BONUS) as m:
        first, second = [(await m.come(name)).finish().submission.id for name in ("a", "b")]
        m.fake.advance(days=22)  # the platform approves both by itself
        unsigned = "may have earned a bonus, and nobody has signed it"
        assert await m.held() == [f"{first} and {second}  each {unsigned}. {DECIDE}"]
        await decide_study(m.context, sign="run")
        await m.pay()
        assert await m.held() == [
            "clean/bonus.csv  is not there, and it says who gets a bonus. Run `beholder clean` first."
        ]
        clean(m.context.study, store=m.context.url)
        assert await m.held() == [
            f"{first} and {second}  are owed 1.00 GBP in all (quantity). Run `beholder pay --send`."
        ]
        await m.pay()
        assert (await close_study(m.context)).is_closed
        assert sum(one.amount for one in m.fake.payments) == 500


async def test_bonuses_that_were_computed_before_somebody_finished_hold_it_up(folder: Path) -> None:
    async with market(folder, clean=BONUS) as m:
        (await m.come("a")).finish()
        clean(m.context.study, store=m.context.url)
        (await m.come("b")).finish()
        await decide_study(m.context, sign="run")
        await m.pay()
        assert await m.held() == [
            "clean/bonus.csv  does not know what came since: 0.50 GBP of bonuses are missing in it. "
            "Run `beholder clean`, then `beholder pay --send`."
        ]
        clean(m.context.study, store=m.context.url)
        await m.pay()
        assert (await close_study(m.context)).is_closed
        assert sorted(one.amount for one in m.fake.payments) == [50, 50, 200, 200]


async def test_a_round_that_was_finished_after_the_signature_holds_it_up(folder: Path) -> None:
    keys = {"recruit": RECRUIT | {"further": "bonus"}, "design": {"sessions_per_participant": 3}}
    async with market(folder, 1, **keys) as m:
        visit = (await m.come("a")).finish()
        await decide_study(m.context, sign="run")
        await m.pay()
        await m.come("b", visit, 2)
        assert await m.held() == [f"{visit.submission.id}  may have earned a bonus, and nobody has signed it. {DECIDE}"]
        await decide_study(m.context, sign="run")
        await m.pay()
        assert (await close_study(m.context)).is_closed
        assert [one.amount for one in m.fake.payments] == [200, 200]


async def test_a_full_study_is_stopped_and_its_people_are_kept_out_of_the_family(folder: Path) -> None:
    async with market(folder, 1, family="walks") as m:
        await m.room.store.identify(
            PlatformIdentity("p-late", "prolific", "late"), PlatformVisit("nobody", m.posting, "x")
        )
        visit = (await m.come("a")).finish("NOCODE")  # which puts nobody into any group
        assert (await m.context.recruiter.posting(m.posting)).state == "completed"
        assert await m.held() == [f"{visit.submission.id}  is to be paid, and nobody has signed it. {DECIDE}"]
        assert m.fake.studies.find(m.posting).is_stopped
        await decide_study(m.context, sign="run")
        await m.pay()
        assert (await close_study(m.context)).is_closed
        (group,) = m.fake.groups.all.values()
        assert set(group.members) == {visit.submission.person.id, "late"}


async def test_the_cost_is_what_has_left_the_wallet_also_by_itself(folder: Path, tiny: Path) -> None:
    async with launching(folder, tiny, recruit=ON_PROLIFIC) as room:
        room.fake.people.finish(await room.open(), 2)
        room.fake.advance(days=22)
        for _ in range(2):
            cost = (await take_snapshot(room.context)).cost
            assert cost is not None
            assert cost.paid.minor == sum(one.amount for one in room.fake.payments) == 400
            await pay_study(room.context, send=True, sleep=room.fake.sleep)


def screening(room: Any, posting: str) -> Callable[[int], None]:
    """Return what lets so many people come who do not fit."""
    codes = room.fake.studies.find(posting).body["completion_codes"]
    out = next(one["code"] for one in codes if one["code_type"] == "SCREENED_OUT")

    def turn_away(people: int) -> None:
        for _ in range(people):
            room.fake.people.take(posting).start().finish(out)

    return turn_away


SCREENED = ON_PROLIFIC | {"screen_out": "0.30 GBP"}
NO_MORE = (
    "budget is 12.50 GBP, and with one more who does not fit the study may cost 12.85 GBP. Allowed: 12.85 GBP or more. "
    "Nobody was let in again. Raise it, or end here: `beholder close`."
)


async def test_more_who_do_not_fit_are_paid_as_far_as_the_budget_goes(folder: Path, tiny: Path) -> None:
    async with launching(folder, tiny, recruit=SCREENED, budget="12.50 GBP") as room:
        posting = await room.open()  # 11.17 for four, and 0.84 for two who do not fit
        turn_away = screening(room, posting)
        turn_away(2)
        with pytest.raises(RecruitError) as error:
            await change_posting(room.context, "resume")
        assert str(error.value) == (
            "--resume  sets aside 0.42 GBP more for people who do not fit: what there was is used up. Nobody was let "
            'in again. `beholder launch --resume --publish "0.42 GBP"` does it.'
        )
        with pytest.raises(RecruitError) as error:
            await change_posting(room.context, "resume", publish="1 GBP")
        assert str(error.value) == (
            '--publish  is 1.00 GBP, and it costs 0.42 GBP now. Allowed: "0.42 GBP". Nobody was let in again.'
        )
        assert str((await change_posting(room.context, "resume", dry_run=True)).due) == "0.42 GBP"
        held = room.fake.available
        grown = (await change_posting(room.context, "resume", publish="0.42 GBP")).posting
        assert (grown.state, grown.slots) == ("active", 3), "one more is all that the budget has left"
        assert held - room.fake.available == 42
        committed = (await take_snapshot(room.context)).cost
        assert committed is not None
        assert str(committed.committed) == "12.43 GBP"
        again = await room.launch()
        assert again.quote is not None
        assert str(again.quote.screen_outs) == "1.26 GBP", "what was set aside later is in the quote"
        turn_away(1)
        with pytest.raises(RecruitError) as error:
            await change_posting(room.context, "resume")
        assert str(error.value).partition("  ")[2] == NO_MORE


async def test_what_was_set_aside_before_a_crash_is_known_and_the_smaller_budget_holds(
    folder: Path, tiny: Path
) -> None:
    async with launching(folder, tiny, recruit=SCREENED) as room:
        posting, fake = await room.open(), room.fake
        turn_away = screening(room, posting)
        turn_away(2)
        capped = replace(room.context, study=room.study.model_copy(update={"budget": "12.84 GBP"}))
        with pytest.raises(RecruitError) as error:
            await change_posting(capped, "resume", publish="0.84 GBP")
        assert str(error.value).partition("  ")[2] == (
            "budget is 12.84 GBP, and with 0.84 GBP more for people who do not fit the study may cost 12.85 GBP. "
            "Allowed: 12.85 GBP or more. Nobody was let in again. Raise it, or end here: `beholder close`."
        )
        fake.faults.every("POST /api/v1/studies/{id}/transition/", "refused", share=1, seed=1)
        with pytest.raises(RecruitError):
            await change_posting(room.context, "resume", publish="0.84 GBP")
        fake.faults.clear()
        assert (await change_posting(room.context, "resume")).posting.slots == 4
        cost = cost_of_runs(room.study, await room.context.store.ledger.entries(), "GBP")
        assert str(cost) == "12.85 GBP", "11.17 for four, and 1.68 for four who do not fit"


async def test_a_run_lets_people_in_again_and_ends_where_the_budget_does(folder: Path, tiny: Path) -> None:
    async with launching(folder, tiny, recruit=SCREENED, budget="12.50 GBP") as room:
        posting = await room.open()
        turn_away = screening(room, posting)
        turn_away(2)
        told: list[str] = []

        async def wait(seconds: float = 1) -> None:
            turn_away(1)

        freeing = AbandonedLists(room.context.store, room.context.recruiter, 1)
        collector = Collector(
            room.context, JOB, posting, 4, lambda news: told.append(news.words), wait, freeing, may_spend=True
        )
        why = "everything that was set aside for people who do not fit is used up"
        short = await collector.collect()
        assert f"{why}: more is set aside" in told
        assert short.startswith(why)
        assert short.endswith(NO_MORE)
        await room.context.recruiter.stop(posting)
        assert (await collector.collect()).startswith("recruiting was stopped, and ")


async def test_more_places_are_asked_for_within_what_the_others_have_left(folder: Path, tiny: Path) -> None:
    async with launching(folder, tiny, recruit=ON_PROLIFIC, budget="17 GBP") as room:
        posting = await room.open()

        def entry(event: str, **keys: Any) -> LedgerEntry:
            late = {"submission": "late", "reason_code": "reward"} if event in ("planned", "confirmed") else {}
            return LedgerEntry(
                "bonus",
                event,
                room.fake.now,
                amount_minor=200,
                currency="GBP",
                provider_ref=posting,
                batch="B1",
                **late | keys,
            )

        steps = [entry(one) for one in ("planned", "confirmed", "setup_sent")]
        steps += [entry("setup_done", evidence={"total": 279}), entry("pay_sent"), entry("accepted")]
        await room.context.store.ledger.append(steps)
        assert (await room.launch()).posting is not None, "what is published already stays"
        with pytest.raises(RecruitError) as error:
            await room.launch(places=6)
        assert str(error.value).partition("  ")[2] == (
            "budget is 17.00 GBP, and 6 people may cost 19.54 GBP, with 2.79 GBP that others have got. Allowed: "
            "19.54 GBP or more. Up to 5 would fit: recruit.places: 5."
        )
        assert room.fake.studies.find(posting).places == 4
