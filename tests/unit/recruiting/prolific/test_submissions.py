"""Submissions on Prolific: listing, states, decisions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from beholder.recruiting.contract import PlatformRefused
from beholder.recruiting.fake import FakeProlific
from beholder.recruiting.prolific.submissions import state_of, status_of
from support.prolific_rehearsal import JOB, LOST, prolific, study_in
from support.prolific_researcher import LIST


async def test_a_rejection_that_says_too_little_is_not_sent(tmp_path: Path) -> None:
    fake = FakeProlific()
    async with prolific(study_in(tmp_path), fake) as recruiter:
        with pytest.raises(PlatformRefused) as error:
            await recruiter.reject("one", "OTHER", " too short ")
        assert str(error.value) == (
            "the message of a rejection has 9 characters, and Prolific asks for 100: say what was asked for and what "
            "was done instead"
        )
        with pytest.raises(PlatformRefused, match="BAD is no category of a rejection: TOO_QUICKLY, "):
            await recruiter.reject("one", "BAD", "x" * 120)  # type: ignore[arg-type]
    assert not fake.requests


async def test_all_submissions_are_found_whatever_the_pages_do(tmp_path: Path) -> None:
    fake = FakeProlific(balance=1_000_000)
    async with prolific(study_in(tmp_path), fake) as recruiter:
        posting = await recruiter.publish((await recruiter.draft(replace(JOB, places=300))).id)
        submitted = [visit.submission.id for visit in fake.people.finish(posting.id, 230)]
        fake.people.take(posting.id).start().return_place()
        fake.people.take(posting.id)
        fake.faults.next(LIST, "reordered", "duplicate", "429", "html")
        listed = await recruiter.submissions(posting.id)
        ids = [one.id for one in listed]
        assert len(ids) == len(set(ids)) == 232
        assert set(submitted) < set(ids)
        assert {one.status for one in listed} == {"awaiting_review", "returned", "reserved"}


async def test_who_hands_in_without_a_code_has_none(tmp_path: Path) -> None:
    fake = FakeProlific()
    async with prolific(study_in(tmp_path), fake) as recruiter:
        posting = await recruiter.publish((await recruiter.draft(JOB)).id)
        visit = fake.people.take(posting.id).start()
        fake.advance(minutes=7)
        visit.finish("NOCODE")
        submission = (await recruiter.submissions(posting.id))[0]
        assert (submission.code, submission.seconds, submission.bonuses) == ("", 420, None)
        assert (await recruiter.submission(submission.id)).code == ""


async def test_who_cannot_be_approved_holds_up_nobody(tmp_path: Path) -> None:
    fake = FakeProlific()
    async with prolific(study_in(tmp_path), fake) as recruiter:
        posting = await recruiter.publish((await recruiter.draft(JOB)).id)
        good = [visit.submission.id for visit in fake.people.finish(posting.id, 2)]
        with pytest.raises(PlatformRefused, match=r"1 of 3 were not approved. 0{24}: .*no such submission"):
            await recruiter.approve([*good, "0" * 24])
        assert [(await recruiter.submission(id)).status for id in good] == ["approved"] * 2
        late = fake.people.take(posting.id).start()
        fake.advance(hours=3)
        with pytest.raises(PlatformRefused, match="TIMED-OUT cannot be approved"):
            await recruiter.approve([late.submission.id])


async def test_a_return_is_asked_for_once_although_the_answer_was_lost(tmp_path: Path) -> None:
    study = study_in(tmp_path)
    for kind in LOST:
        fake = FakeProlific()
        async with prolific(study, fake) as recruiter:
            posting = await recruiter.publish((await recruiter.draft(JOB)).id)
            submitted = fake.people.finish(posting.id)[0].submission.id
            fake.faults.next("POST /api/v1/submissions/{id}/request-return/", kind)
            await recruiter.request_return(submitted, "Did not finish the study")
            await recruiter.request_return(submitted, "Did not finish the study")
            assert [words for _, words in fake.messages] == ["Did not finish the study"]


@pytest.mark.parametrize("word", ["AWAITING REVIEW", "awaiting_review", "Awaiting-Review "])
def test_words_of_prolific_are_spelled_in_one_way(word: str) -> None:
    assert (status_of(word), state_of(word)) == ("awaiting_review", "completed")
    assert (status_of("PROCESSING"), state_of("PROCESSING"), status_of(None)) == ("unknown",) * 3
