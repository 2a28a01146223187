"""Collection in an unattended run: screen-outs and further places within the budget."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from beholder.errors import RecruitError
from beholder.recruiting.abandoned_lists import AbandonedLists
from beholder.recruiting.collection import Collector
from beholder.store.contract import LedgerEntry
from support.prolific_rehearsal import JOB
from support.recruit_context import ON_PROLIFIC, launch_setup
from support.screened_study import NO_MORE, SCREENED, screening


async def test_a_run_lets_people_in_again_and_ends_where_the_budget_does(folder: Path, tiny: Path) -> None:
    async with launch_setup(folder, tiny, recruit=SCREENED, budget="12.50 GBP") as setup:
        posting = await setup.open()
        turn_away = screening(setup, posting)
        turn_away(2)
        messages: list[str] = []

        async def wait(seconds: float = 1) -> None:
            turn_away(1)

        freeing = AbandonedLists(setup.context.store, setup.context.recruiter, 1)
        collector = Collector(
            setup.context, JOB, posting, 4, lambda news: messages.append(news.words), wait, freeing, may_spend=True
        )
        why = "everything that was set aside for people who do not fit is used up"
        short = await collector.collect()
        assert f"{why}: more is set aside" in messages
        assert short.startswith(why)
        assert short.endswith(NO_MORE)
        await setup.context.recruiter.stop(posting)
        assert (await collector.collect()).startswith("recruiting was stopped, and ")


async def test_more_places_are_asked_for_within_what_the_others_have_left(folder: Path, tiny: Path) -> None:
    async with launch_setup(folder, tiny, recruit=ON_PROLIFIC, budget="17 GBP") as setup:
        posting = await setup.open()

        def entry(event: str, **keys: Any) -> LedgerEntry:
            late = {"submission": "late", "reason_code": "reward"} if event in ("planned", "confirmed") else {}
            return LedgerEntry(
                "bonus",
                event,
                setup.fake.now,
                amount_minor=200,
                currency="GBP",
                provider_ref=posting,
                batch="B1",
                **late | keys,
            )

        steps = [entry(one) for one in ("planned", "confirmed", "setup_sent")]
        steps += [entry("setup_done", evidence={"total": 279}), entry("pay_sent"), entry("accepted")]
        await setup.context.store.ledger.append(steps)
        assert (await setup.launch()).posting is not None, "what is published already stays"
        with pytest.raises(RecruitError) as error:
            await setup.launch(places=6)
        assert str(error.value).partition("  ")[2] == (
            "budget is 17.00 GBP, and 6 people may cost 19.54 GBP, with 2.79 GBP that others have got. Allowed: "
            "19.54 GBP or more. Up to 5 would fit: recruit.places: 5."
        )
        assert setup.fake.studies.find(posting).places == 4
