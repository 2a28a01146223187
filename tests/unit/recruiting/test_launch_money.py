"""Launching and money: nothing is opened, or opened again, that nobody named, nor beside what is open already."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from beholder.errors import RecruitError
from beholder.recruiting.abandoned_lists import AbandonedLists
from beholder.recruiting.closure import close_study
from beholder.recruiting.collection import Collector
from beholder.recruiting.fake import FakeProlific
from beholder.recruiting.fake.filters import BLOCKED_STUDIES
from beholder.recruiting.monitoring import take_snapshot
from beholder.recruiting.postings import change_posting
from beholder.recruiting.preflight import cost_of_runs
from beholder.store.contract import LedgerEntry
from support.payable_study import connect, in_memory
from support.prolific_rehearsal import JOB
from support.recruit_context import ON_PROLIFIC, office


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield from in_memory(tmp_path)


async def told(work: Any) -> list[str]:
    """Return everything that something is refused for, without where it is written."""
    with pytest.raises(RecruitError) as error:
        await work
    return [str(problem) for problem in error.value.problems]


async def test_with_the_token_of_another_account_nothing_is_put_up_beside_what_people_see(
    folder: Path, tiny: Path
) -> None:
    async with office(folder, tiny, recruit=ON_PROLIFIC) as room:
        posting = await room.open()
        other = FakeProlific()
        foreign = replace(room, context=connect(room.study, room.context.store, other), fake=other)
        why = (
            f"Prolific  does not show {posting}, under which run 1 was published: Not found: There is no such study. "
            "(404). Nothing was done. The token may be of another account or workspace: take the one that published "
            "it. To put it up anew, write run: 2."
        )
        assert why in await told(foreign.launch())
        assert await told(close_study(foreign.context)) == [why]
        assert other.studies.all == {}
        stray = LedgerEntry("draft", "done", room.fake.now, provider_ref="5" * 24, evidence={"run": 1, "key": "k"})
        await room.context.store.ledger.append([stray])
        assert (await room.launch()).posting.id == posting, "whatever was put up since, people come by this one"


async def test_a_draft_that_somebody_has_deleted_is_put_up_again(folder: Path, tiny: Path) -> None:
    async with office(folder, tiny, recruit=ON_PROLIFIC) as room:
        first = (await room.launch()).posting.id
        del room.fake.studies.all[first]
        assert (await room.launch()).posting.id != first


async def test_a_study_that_was_by_link_before_goes_to_a_platform(folder: Path, tiny: Path) -> None:
    async with office(folder, tiny, recruit={"mode": "link"}) as room:
        await room.launch()
        study = room.study.model_copy(update={"recruit": room.study.recruit.model_copy(update={"mode": "prolific"})})
        assert (await close_study(connect(study, room.context.store, room.fake))).is_closed, "nothing was put up there"


async def test_after_closing_nothing_is_opened_and_what_is_open_is_stopped(folder: Path, tiny: Path) -> None:
    now = FakeProlific().now
    closes = f"{now + timedelta(days=1):%Y-%m-%d %H:%M}Z"
    async with office(folder, tiny, recruit=ON_PROLIFIC | {"closes": closes}) as room:
        posting = await room.open()
        room.fake.advance(days=2)
        (late,) = await told(room.launch(places=6))
        assert late.partition("  ")[2] == (
            f"recruit.closes is {closes}, which is past. Allowed: a time to come. Write a later one, restart `beholder "
            "serve`, and launch again; or leave it out."
        )
        alarm = "recruit.closes is past, and the platform goes on sending people in vain. Run `beholder close`."
        assert (await take_snapshot(room.context)).alarms == (alarm,)
        freeing = AbandonedLists(room.context.store, room.context.recruiter, 1)
        collector = Collector(room.context, JOB, posting, 4, lambda _: None, waiting, freeing, may_spend=True)
        assert await collector.collect() == "recruit.closes is past, and 6 lists are open"
        assert room.fake.studies.find(posting).status == "COMPLETED"
        assert (await room.launch()).posting.state == "completed", "how it stands may be asked"


async def test_after_a_purge_of_who_is_who_nobody_is_let_in_for_money(folder: Path, tiny: Path) -> None:
    async with office(folder, tiny, recruit=ON_PROLIFIC) as room:
        posting = await room.open()
        await room.context.store.ledger.append([LedgerEntry("purge", "done", room.fake.now, reason_code="identity")])
        assert (await change_posting(room.context, "pause")).posting.state == "paused"
        day = f"{room.fake.now:%Y-%m-%d}"
        for work in (room.launch(), room.launch(places=6, dry_run=True), change_posting(room.context, "resume")):
            assert await told(work) == [
                f"tiny  who is who was erased on {day}, so whoever came now could be neither matched nor paid. "
                "Put the new run in a new folder."
            ]
        assert room.fake.studies.find(posting).status == "PAUSED"


async def waiting(seconds: float = 1) -> None:
    raise AssertionError("there is nothing to wait for")


async def test_the_budget_is_one_cap_over_all_runs(folder: Path, tiny: Path) -> None:
    async with office(folder, tiny, recruit=ON_PROLIFIC, budget="20 GBP") as room:
        first = await room.open()
        fake = room.fake
    text = (folder / "study.yaml").read_text("utf-8")
    (folder / "study.yaml").write_text(f"{text}run: 2\n", "utf-8")
    async with office(folder, tiny, fake=fake) as room:
        (dear,) = await told(room.launch())
        assert dear.partition("  ")[2] == (
            "budget is 20.00 GBP, and 4 people may cost 22.34 GBP, with 11.17 GBP for other runs. Allowed: 22.34 GBP "
            "or more. Up to 3 would fit: recruit.places: 3."
        )
        assert list(fake.studies.all) == [first]
        await room.launch(places=3, publish=str((await room.launch(places=3)).due))
        assert str(cost_of_runs(room.study, await room.entries(), "GBP")) == "19.55 GBP"
        second = list(fake.studies.all)[-1]
        blocked = [one for one in fake.studies.find(second).body["filters"] if one["filter_id"] == BLOCKED_STUDIES]
        assert [one["selected_values"] for one in blocked] == [[first]], "its people come to one run only"


async def test_what_opens_later_is_paused_and_opens_when_the_study_says_so_now(folder: Path, tiny: Path) -> None:
    def opens(days: int) -> str:
        return f"{FakeProlific().now + timedelta(days=days):%Y-%m-%d %H:%M}Z"

    async with office(folder, tiny, recruit=ON_PROLIFIC | {"opens": opens(2)}) as room:
        posting, fake = await room.open(), room.fake
        assert fake.studies.find(posting).status == "SCHEDULED"
        assert (await change_posting(room.context, "pause")).posting.state == "draft"
        assert str(cost_of_runs(room.study, await room.entries(), "GBP")) == "0.00 GBP", "nobody ever saw it"
        assert await room.open() == posting
    text = (folder / "study.yaml").read_text("utf-8")
    (folder / "study.yaml").write_text(text.replace(opens(2), opens(3)), "utf-8")
    async with office(folder, tiny, fake=fake) as room:
        for _ in range(2):
            assert (await room.launch()).posting.state == "scheduled"
        assert fake.studies.find(posting).publish_at == fake.now + timedelta(days=3)
        assert (await room.kinds())[-5:] == [
            "pause planned", "pause done", "publish cancelled", "publish planned", "publish done",
        ]  # fmt: skip
        await change_posting(room.context, "pause")
        del fake.studies.all[posting]
        assert await room.open() != posting, "a draft may be deleted on the platform, also one that was to open"
        await close_study(room.context)
        fake.studies.all.clear()
        assert (await room.launch()).posting.state == "draft", "closing takes it back as well"
