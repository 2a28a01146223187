"""Prolific as a recruiter: publishing, pausing, stopping, resuming, and faults."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from beholder.recruiting.contract import BonusRow, PlatformAway, PlatformRefused, PlatformUnsure
from beholder.recruiting.fake import FakeProlific
from beholder.recruiting.fake.http import FaultKind, Refusal
from beholder.study.recruitment import Sum
from support.data import DATA
from support.prolific_rehearsal import JOB, LOST, RECRUIT, prolific, study_in
from support.prolific_researcher import OPENAPI

MOVE = "POST /api/v1/studies/{id}/transition/"
SHOW = "GET /api/v1/studies/{id}/"
BUSY: list[FaultKind] = ["processing"] * 7
"""As often as it is looked at until nobody waits any longer."""
FILTERS = {
    "countries": ["DE", "uk", "ireland"], "languages": ["English"], "age": [18, 60], "approval_rate": 95,
    "approved_submissions": [20, 500],
}  # fmt: skip


async def test_every_request_fits_the_published_document(tmp_path: Path) -> None:
    if not OPENAPI.is_file():
        pytest.skip(f"prolific_openapi.yml is not in {DATA}; set BEHOLDER_TEST_DATA")
    fake = FakeProlific(openapi=OPENAPI)
    study = study_in(tmp_path, family="walks", recruit=RECRUIT | {"screen_out": "0.30 GBP", "filters": FILTERS})
    job = replace(JOB, screen_out=Sum(30, "GBP"))
    async with prolific(study, fake) as recruiter:
        await recruiter.quote(job)
        await recruiter.draft(job)
        posting = await recruiter.publish((await recruiter.draft(job)).id)
        submissions = [visit.submission.id for visit in fake.people.finish(posting.id, 4)]
        await recruiter.submissions(posting.id)
        await recruiter.request_return(submissions[0], "Did not finish the study")
        await recruiter.approve(submissions[1:3])
        await recruiter.approve(submissions[1:2])
        await recruiter.reject(
            submissions[3], "FAILED_CHECK", "You were asked to choose the score that a clip names. " * 2
        )
        await recruiter.pay_bonus(
            (await recruiter.setup_bonus(posting.id, [BonusRow(submissions[1], Sum(5, "GBP"))])).ref
        )
        await recruiter.pause(posting.id)
        await recruiter.resume(posting.id)
        await recruiter.set_places(posting.id, 12)
        await recruiter.exclude([fake.people.new().id])
        assert (await recruiter.stop(posting.id)).state == "completed"


async def test_a_lost_answer_to_publishing_is_settled_by_looking(tmp_path: Path) -> None:
    study = study_in(tmp_path)
    for kind in LOST:
        fake = FakeProlific()
        async with prolific(study, fake) as recruiter:
            posting = await recruiter.draft(JOB)
            fake.faults.next(MOVE, kind)
            assert (await recruiter.publish(posting.id)).state == "active"
            happened = kind.endswith("_after")
            assert fake.requests.count(MOVE) == (1 if happened else 2)
            fake.faults.next(MOVE, kind)
            assert (await recruiter.stop(posting.id)).state == "completed"


async def test_a_study_that_is_busy_is_looked_at_again(tmp_path: Path) -> None:
    fake = FakeProlific()
    async with prolific(study_in(tmp_path), fake) as recruiter:
        posting = await recruiter.draft(JOB)
        fake.faults.next(SHOW, "processing", "processing")
        assert (await recruiter.publish(posting.id)).state == "active"
        fake.faults.next(SHOW, *BUSY, "processing")
        assert (await recruiter.stop(posting.id)).state == "unknown"
        assert fake.requests.count(MOVE) == 1
        fake.faults.next(SHOW, *BUSY)
        assert (await recruiter.stop(posting.id)).state == "completed"


async def test_without_funds_nothing_is_published(tmp_path: Path) -> None:
    fake = FakeProlific(balance=100)
    async with prolific(study_in(tmp_path), fake) as recruiter:
        posting = await recruiter.draft(JOB)
        with pytest.raises(PlatformRefused, match="Not enough funds: 2792 needed, 100 available"):
            await recruiter.publish(posting.id)
        assert (await recruiter.posting(posting.id)).state == "draft"


async def test_a_study_that_opens_later_is_scheduled_and_can_be_taken_back(tmp_path: Path) -> None:
    fake = FakeProlific()
    opens = (fake.now + timedelta(days=2)).strftime("%Y-%m-%d %H:%M+00:00")
    async with prolific(study_in(tmp_path, recruit=RECRUIT | {"opens": opens}), fake) as recruiter:
        posting = await recruiter.draft(JOB)
        for _ in range(2):
            assert (await recruiter.publish(posting.id)).state == "scheduled"
        assert (await recruiter.stop(posting.id)).state == "draft"
        await recruiter.publish(posting.id)
        fake.advance(days=3)
        assert (await recruiter.posting(posting.id)).state == "active"


async def test_screen_outs_that_are_used_up_pause_the_study_and_resuming_adds_some(tmp_path: Path) -> None:
    fake = FakeProlific()
    job = replace(JOB, places=3, screen_out=Sum(30, "GBP"))
    async with prolific(study_in(tmp_path, recruit=RECRUIT | {"screen_out": "0.30 GBP"}), fake) as recruiter:
        posting = await recruiter.publish((await recruiter.draft(job)).id)
        out = fake.studies.find(posting.id).body["completion_codes"][1]["code"]
        for _ in range(2):
            fake.people.take(posting.id).start().finish(out)
        paused = await recruiter.posting(posting.id)
        assert (paused.state, paused.taken) == ("paused", 0)
        more = await recruiter.resuming(posting.id)
        assert more is not None
        assert more == (4, Sum(84, "GBP"))
        assert (await recruiter.resume(posting.id, more.slots)).state == "active"
        action = fake.studies.find(posting.id).screen_out
        assert action is not None
        assert action["slots"] == 4
        await recruiter.set_places(posting.id, 20)
        action = fake.studies.find(posting.id).screen_out
        assert action is not None
        assert action["slots"] == 10


async def test_a_full_study_is_stopped_before_a_place_is_free_again(tmp_path: Path) -> None:
    fake = FakeProlific()
    async with prolific(study_in(tmp_path), fake) as recruiter:
        posting = await recruiter.publish((await recruiter.draft(replace(JOB, places=1))).id)
        visit = fake.people.finish(posting.id)[0]
        assert (await recruiter.posting(posting.id)).state == "completed"
        await recruiter.stop(posting.id)
        visit.return_place()
        with pytest.raises(Refusal, match="The study is COMPLETED"):
            fake.people.take(posting.id)


async def test_who_somebody_is_on_prolific_is_in_no_message(tmp_path: Path) -> None:
    fake = FakeProlific()
    async with prolific(study_in(tmp_path, family="walks"), fake) as recruiter:
        person = fake.people.new().id
        await recruiter.exclude([person])
        group = next(iter(fake.groups.all.values()))
        assert list(group.members) == [person]

        def refuse(id_: str, people: list[str]) -> None:
            raise Refusal(f"There is no {people[0]}.")

        fake.groups.add = refuse  # type: ignore[method-assign, assignment]
        with pytest.raises(PlatformRefused) as error:
            await recruiter.exclude([person])
        assert str(error.value) == "Bad request: There is no …. (400)"


@pytest.mark.parametrize("seed", range(3))
async def test_a_platform_that_fails_now_and_then_leaves_one_study_and_pays_nobody_twice(
    seed: int, tmp_path: Path
) -> None:
    fake = FakeProlific()
    fake.faults.every("*", *LOST, share=0.2, seed=seed)
    async with prolific(study_in(tmp_path), fake) as recruiter:

        async def insist(doing: Any) -> Any:
            for _ in range(20):
                with suppress(PlatformAway, PlatformUnsure):
                    return await doing()
            raise AssertionError("it never worked")

        posting = await insist(lambda: recruiter.draft(JOB))
        await insist(lambda: recruiter.publish(posting.id))
        submissions = [visit.submission.id for visit in fake.people.finish(posting.id, 3)]
        await insist(lambda: recruiter.approve(submissions))
        await insist(lambda: recruiter.set_places(posting.id, 11))
        assert (await insist(lambda: recruiter.stop(posting.id))).state == "completed"
    fake.advance(hours=1)
    assert len(fake.studies.all) == 1
    assert [one.amount for one in fake.payments] == [200] * 3
