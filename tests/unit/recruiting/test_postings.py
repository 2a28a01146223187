"""Postings: pausing, resuming and publishing cost no more than confirmed, also after a crash."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from beholder.errors import RecruitError
from beholder.recruiting.abandoned_lists import AbandonedLists
from beholder.recruiting.closure import close_study
from beholder.recruiting.collection import Collector
from beholder.recruiting.fake import FakeProlific
from beholder.recruiting.monitoring import take_snapshot
from beholder.recruiting.postings import change_posting
from beholder.recruiting.preflight import cost_of_runs
from beholder.store.contract import LedgerEntry
from support.payable_study import connect
from support.prolific_rehearsal import JOB
from support.recruit_context import ON_PROLIFIC, launch_setup, problems_of
from support.screened_study import NO_MORE, SCREENED, screening


async def test_more_who_do_not_fit_are_paid_as_far_as_the_budget_goes(folder: Path, tiny: Path) -> None:
    async with launch_setup(folder, tiny, recruit=SCREENED, budget="12.50 GBP") as setup:
        posting = await setup.open()  # 11.17 for four, and 0.84 for two who do not fit
        turn_away = screening(setup, posting)
        turn_away(2)
        with pytest.raises(RecruitError) as error:
            await change_posting(setup.context, "resume")
        assert str(error.value) == (
            "--resume  sets aside 0.42 GBP more for people who do not fit: what there was is used up. Nobody was let "
            'in again. `beholder launch --resume --publish "0.42 GBP"` does it.'
        )
        with pytest.raises(RecruitError) as error:
            await change_posting(setup.context, "resume", publish="1 GBP")
        assert str(error.value) == (
            '--publish  is 1.00 GBP, and it costs 0.42 GBP now. Allowed: "0.42 GBP". Nobody was let in again.'
        )
        assert str((await change_posting(setup.context, "resume", dry_run=True)).due) == "0.42 GBP"
        held = setup.fake.available
        grown = (await change_posting(setup.context, "resume", publish="0.42 GBP")).posting
        assert (grown.state, grown.slots) == ("active", 3), "one more is all that the budget has left"
        assert held - setup.fake.available == 42
        committed = (await take_snapshot(setup.context)).cost
        assert committed is not None
        assert str(committed.committed) == "12.43 GBP"
        again = await setup.launch()
        assert again.quote is not None
        assert str(again.quote.screen_outs) == "1.26 GBP", "what was set aside later is in the quote"
        turn_away(1)
        with pytest.raises(RecruitError) as error:
            await change_posting(setup.context, "resume")
        assert str(error.value).partition("  ")[2] == NO_MORE


async def test_what_was_set_aside_before_a_crash_is_known_and_the_smaller_budget_holds(
    folder: Path, tiny: Path
) -> None:
    async with launch_setup(folder, tiny, recruit=SCREENED) as setup:
        posting, fake = await setup.open(), setup.fake
        turn_away = screening(setup, posting)
        turn_away(2)
        capped = replace(setup.context, study=setup.study.model_copy(update={"budget": "12.84 GBP"}))
        with pytest.raises(RecruitError) as error:
            await change_posting(capped, "resume", publish="0.84 GBP")
        assert str(error.value).partition("  ")[2] == (
            "budget is 12.84 GBP, and with 0.84 GBP more for people who do not fit the study may cost 12.85 GBP. "
            "Allowed: 12.85 GBP or more. Nobody was let in again. Raise it, or end here: `beholder close`."
        )
        fake.faults.every("POST /api/v1/studies/{id}/transition/", "refused", share=1, seed=1)
        with pytest.raises(RecruitError):
            await change_posting(setup.context, "resume", publish="0.84 GBP")
        fake.faults.clear()
        assert (await change_posting(setup.context, "resume")).posting.slots == 4
        cost = cost_of_runs(setup.study, await setup.context.store.ledger.entries(), "GBP")
        assert str(cost) == "12.85 GBP", "11.17 for four, and 1.68 for four who do not fit"


async def test_an_answer_that_was_lost_is_looked_for_and_remembered(tmp_path: Path, tiny: Path) -> None:
    async with launch_setup(tmp_path, tiny, recruit=ON_PROLIFIC) as setup:
        await setup.launch()
        entries = setup.context.store.ledger
        posting = next(iter(setup.fake.studies.all))
        planned = LedgerEntry(
            "publish", "planned", setup.fake.now, provider_ref=posting, evidence={"total": "11.17 GBP", "places": 4}
        )
        await entries.append([planned])
        await setup.context.recruiter.publish(posting)  # and the power fails here
        result = await setup.launch()
        assert (result.posting.state, result.due) == ("active", None)
        assert await setup.kinds() == ["draft done", "publish planned", "publish done"]


async def test_a_study_is_paused_and_goes_on(tmp_path: Path, tiny: Path) -> None:
    async with launch_setup(tmp_path, tiny, recruit=ON_PROLIFIC) as setup:
        with pytest.raises(RecruitError, match="finds the study not launched"):
            await change_posting(setup.context, "pause")
        await setup.launch(publish="11.17 GBP")
        taken = "0 of 4 places are taken."
        assert (await change_posting(setup.context, "pause", dry_run=True)).words == (
            f"It is open: {taken}",
            "Nobody could begin any more, and whoever has begun would go on. Nothing was changed.",
        )
        assert (await change_posting(setup.context, "pause")).words == (f"It is paused: {taken}",)
        assert (await change_posting(setup.context, "pause")).posting.state == "paused"
        assert (await change_posting(setup.context, "pause", dry_run=True)).words[1:] == ("Nothing would change.",)
        assert (await change_posting(setup.context, "resume", dry_run=True)).words == (
            f"It is paused: {taken}",
            "People could begin again. Nothing was changed.",
        )
        assert (await change_posting(setup.context, "resume")).words == (f"It is open: {taken}",)
        assert (await setup.kinds())[3:] == ["pause planned", "pause done", "resume planned", "resume done"]


async def test_with_the_token_of_another_account_nothing_is_put_up_beside_what_people_see(
    folder: Path, tiny: Path
) -> None:
    async with launch_setup(folder, tiny, recruit=ON_PROLIFIC) as setup:
        posting = await setup.open()
        other = FakeProlific()
        foreign = replace(setup, context=connect(setup.study, setup.context.store, other), fake=other)
        why = (
            f"Prolific  does not show {posting}, under which run 1 was published: Not found: There is no such study. "
            "(404). Nothing was done. The token may be of another account or workspace: take the one that published "
            "it. To put it up anew, write run: 2."
        )
        assert why in await problems_of(foreign.launch())
        assert await problems_of(close_study(foreign.context)) == [why]
        assert other.studies.all == {}
        stray = LedgerEntry("draft", "done", setup.fake.now, provider_ref="5" * 24, evidence={"run": 1, "key": "k"})
        await setup.context.store.ledger.append([stray])
        assert (await setup.launch()).posting.id == posting, "whatever was put up since, people come by this one"


async def test_a_draft_that_somebody_has_deleted_is_put_up_again(folder: Path, tiny: Path) -> None:
    async with launch_setup(folder, tiny, recruit=ON_PROLIFIC) as setup:
        first = (await setup.launch()).posting.id
        del setup.fake.studies.all[first]
        assert (await setup.launch()).posting.id != first


async def test_after_closing_nothing_is_opened_and_what_is_open_is_stopped(folder: Path, tiny: Path) -> None:
    now = FakeProlific().now
    closes = f"{now + timedelta(days=1):%Y-%m-%d %H:%M}Z"
    async with launch_setup(folder, tiny, recruit=ON_PROLIFIC | {"closes": closes}) as setup:
        posting = await setup.open()
        setup.fake.advance(days=2)
        (late,) = await problems_of(setup.launch(places=6))
        assert late.partition("  ")[2] == (
            f"recruit.closes is {closes}, which is past. Allowed: a time to come. Write a later one, restart `beholder "
            "serve`, and launch again; or leave it out."
        )
        alarm = "recruit.closes is past, and the platform goes on sending people in vain. Run `beholder close`."
        assert (await take_snapshot(setup.context)).alarms == (alarm,)
        freeing = AbandonedLists(setup.context.store, setup.context.recruiter, 1)
        collector = Collector(setup.context, JOB, posting, 4, lambda _: None, waiting, freeing, may_spend=True)
        assert await collector.collect() == "recruit.closes is past, and 6 lists are open"
        assert setup.fake.studies.find(posting).status == "COMPLETED"
        assert (await setup.launch()).posting.state == "completed", "how it stands may be asked"


async def waiting(seconds: float = 1) -> None:
    raise AssertionError("there is nothing to wait for")


@pytest.mark.variant
async def test_what_opens_later_is_paused_and_opens_when_the_study_says_so_now(folder: Path, tiny: Path) -> None:
    def opens(days: int) -> str:
        return f"{FakeProlific().now + timedelta(days=days):%Y-%m-%d %H:%M}Z"

    async with launch_setup(folder, tiny, recruit=ON_PROLIFIC | {"opens": opens(2)}) as setup:
        posting, fake = await setup.open(), setup.fake
        assert fake.studies.find(posting).status == "SCHEDULED"
        assert (await change_posting(setup.context, "pause")).posting.state == "draft"
        assert str(cost_of_runs(setup.study, await setup.entries(), "GBP")) == "0.00 GBP", "nobody ever saw it"
        assert await setup.open() == posting
    text = (folder / "study.yaml").read_text("utf-8")
    (folder / "study.yaml").write_text(text.replace(opens(2), opens(3)), "utf-8")
    async with launch_setup(folder, tiny, fake=fake) as setup:
        for _ in range(2):
            assert (await setup.launch()).posting.state == "scheduled"
        assert fake.studies.find(posting).publish_at == fake.now + timedelta(days=3)
        assert (await setup.kinds())[-5:] == [
            "pause planned", "pause done", "publish cancelled", "publish planned", "publish done",
        ]  # fmt: skip
        await change_posting(setup.context, "pause")
        del fake.studies.all[posting]
        assert await setup.open() != posting, "a draft may be deleted on the platform, also one that was to open"
        await close_study(setup.context)
        fake.studies.all.clear()
        assert (await setup.launch()).posting.state == "draft", "closing takes it back as well"
