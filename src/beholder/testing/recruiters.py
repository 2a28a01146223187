"""The conformance suite of recruiters.

    await check_recruiter(lambda name: open_scene(name))

Each check is one sentence about every recruiter. It opens scenes by name; two names are two scenes. What a recruiter
does not list in `can` is not tested, except that it is refused.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from typing import TypeAlias

from beholder.recruiting.contract import MOST_ROWS, BonusRow, Job, PlatformRefused, Posting, Recruiter, Verb
from beholder.server.visits import VisitIds
from beholder.study.recruitment import Sum
from beholder.testing.stores import run_checks

__all__ = ["RECRUITER_CHECKS", "Scene", "check_recruiter"]


@dataclass(frozen=True)
class Scene:
    """A recruiter with a job, and control over the platform behind it."""

    recruiter: Recruiter
    job: Job
    """For 2 places or more, with a reward."""
    come: Callable[[str], Awaitable[str]] | None = None
    """Lets a participant take a place and submit; returns the submission. None if it lists no submissions."""
    moved: Callable[[], Sequence[int]] = tuple
    """Every payment to a participant, in hundredths."""
    later: Callable[[], Awaitable[None]] | None = None
    """Lets the platform do what it does later."""


SceneOpener: TypeAlias = Callable[[str], AbstractAsyncContextManager[Scene]]
"""Opens a scene by name, a new one for each name."""


async def _publish_job(scene: Scene) -> Posting:
    """Return the posting of the scene's job after publishing it."""
    drafted = await scene.recruiter.draft(scene.job)
    return await scene.recruiter.publish(drafted.id)


async def _submit(scene: Scene, posting: str, number: int) -> list[str]:
    """Return the submissions of this many new participants."""
    assert scene.come is not None, "a recruiter that lists submissions needs Scene.come"
    return [await scene.come(posting) for _ in range(number)]


async def _settle(scene: Scene) -> None:
    """Let the platform do what it does later."""
    if scene.later is not None:
        await scene.later()


async def _is_refused(request: Awaitable[object]) -> bool:
    """Return whether a recruiter refuses a request, with a reason."""
    reason: str | None = None
    try:
        await request
    except PlatformRefused as error:
        reason = str(error)
    assert reason is None or reason.strip(), "it refuses without a word of why"
    return reason is not None


# Postings: drafts, places, states, submissions


_ID = "0123456789abcdef01234567"


async def what_it_cannot_do_it_refuses(open_: SceneOpener) -> None:
    async with open_("scene") as scene:
        for verb, attempts in _attempts(scene).items():
            if verb not in scene.recruiter.can:
                for attempt in attempts:
                    assert await _is_refused(attempt()), f"{verb} is not in `can`, and is not refused"


async def a_quote_adds_up_in_one_currency(open_: SceneOpener) -> None:
    async with open_("scene") as scene:
        quote = await scene.recruiter.quote(scene.job)
        parts = (quote.rewards, quote.fees, quote.screen_outs, quote.bonuses)
        assert quote.total.minor == sum(part.minor for part in parts), "the total is not the sum of its parts"
        assert {part.currency for part in (*parts, quote.total, quote.hourly)} == {scene.job.reward.currency}
        assert quote.rewards.minor == scene.job.places * scene.job.reward.minor
        assert quote.hourly == Sum(scene.job.reward.minor * 60 // scene.job.minutes, scene.job.reward.currency)
        more = await scene.recruiter.quote(replace(scene.job, places=scene.job.places + 1))
        assert more.total.minor >= quote.total.minor + scene.job.reward.minor, "one more person costs a reward more"


async def a_job_that_is_drafted_twice_is_one_posting(open_: SceneOpener) -> None:
    async with open_("scene") as scene:
        if "draft" in scene.recruiter.can:
            await scene.recruiter.check(scene.job)
            first, again = await scene.recruiter.draft(scene.job), await scene.recruiter.draft(scene.job)
            assert first.id == again.id, "a second draft was made"
            assert first.places == scene.job.places
            assert (await scene.recruiter.posting(first.id)).id == first.id


async def nobody_comes_to_a_draft(open_: SceneOpener) -> None:
    async with open_("scene") as scene:
        if "draft" in scene.recruiter.can:
            drafted = await scene.recruiter.draft(scene.job)
            assert drafted.state == "draft", f"a draft is {drafted.state}"
            assert drafted.taken == 0


async def a_posting_that_is_published_twice_is_published(open_: SceneOpener) -> None:
    async with open_("scene") as scene:
        if "publish" in scene.recruiter.can:
            posting = await _publish_job(scene)
            assert posting.state == "active", f"a published posting is {posting.state}"
            assert await scene.recruiter.publish(posting.id) == posting
            drafted = await scene.recruiter.draft(scene.job)
            assert drafted == posting, "a draft of what is published is something else"


async def pausing_and_resuming_may_be_repeated(open_: SceneOpener) -> None:
    async with open_("scene") as scene:
        if "pause" in scene.recruiter.can:
            posting = await _publish_job(scene)
            for _ in range(2):
                assert (await scene.recruiter.pause(posting.id)).state == "paused"
            for _ in range(2):
                assert (await scene.recruiter.resume(posting.id)).state == "active"


async def places_only_grow(open_: SceneOpener) -> None:
    async with open_("scene") as scene:
        if "places" in scene.recruiter.can:
            posting = await _publish_job(scene)
            for _ in range(2):
                assert (await scene.recruiter.set_places(posting.id, posting.places + 3)).places == posting.places + 3
            fewer = scene.recruiter.set_places(posting.id, posting.places)
            assert await _is_refused(fewer), "places were taken away"
            assert (await scene.recruiter.posting(posting.id)).places == posting.places + 3


async def a_posting_that_is_stopped_twice_is_stopped(open_: SceneOpener) -> None:
    async with open_("scene") as scene:
        if "stop" in scene.recruiter.can:
            posting = await _publish_job(scene)
            for _ in range(2):
                assert (await scene.recruiter.stop(posting.id)).state == "completed"


async def every_submission_is_listed_once(open_: SceneOpener) -> None:
    async with open_("scene") as scene:
        if "submissions" in scene.recruiter.can:
            posting = await _publish_job(scene)
            came = await _submit(scene, posting.id, 2)
            listed = await scene.recruiter.submissions(posting.id)
            assert sorted(one.id for one in listed) == sorted(came)
            for one in listed:
                alone = await scene.recruiter.submission(one.id)
                assert (alone.id, alone.participant, alone.status, alone.code) == (
                    one.id, one.participant, one.status, one.code,
                )  # fmt: skip
                assert alone.bonuses == (), "who was paid nothing on top has a bonus"
            assert (await scene.recruiter.posting(posting.id)).taken == 2


async def a_visit_that_the_platform_did_not_sign_has_no_signed_address(open_: SceneOpener) -> None:
    async with open_("scene") as scene:
        for token in ("", "a.b.c", "eyJhbGciOiJub25lIn0.e30."):
            visit = VisitIds(_ID, _ID, _ID)
            assert await scene.recruiter.signed_address(visit, token) is None, "it takes a signature that nobody made"


async def nobody_is_a_fine_list_of_people_to_exclude(open_: SceneOpener) -> None:
    async with open_("scene") as scene:
        await scene.recruiter.exclude([])


def _attempts(scene: Scene) -> Mapping[Verb, tuple[Callable[[], Awaitable[object]], ...]]:
    """Return for each verb the calls that a recruiter without it has to refuse."""
    recruiter: Recruiter = scene.recruiter
    return {
        "draft": (lambda: recruiter.draft(scene.job), lambda: recruiter.check(scene.job)),
        "publish": (lambda: recruiter.publish(_ID),),
        "pause": (lambda: recruiter.pause(_ID), lambda: recruiter.resume(_ID)),
        "places": (lambda: recruiter.set_places(_ID, 10),),
        "stop": (lambda: recruiter.stop(_ID),),
        "submissions": (lambda: recruiter.submissions(_ID), lambda: recruiter.submission(_ID)),
        "approve": (lambda: recruiter.approve([_ID]),),
        "reject": (lambda: recruiter.reject(_ID, "OTHER", "x" * 120),),
        "return": (lambda: recruiter.request_return(_ID, "did not finish"),),
        "bonus": (lambda: recruiter.setup_bonus(_ID, []), lambda: recruiter.pay_bonus(_ID)),
    }


# Payments and decisions


_WHY = (
    "You were asked to choose the score that each test clip names, and in three of three such clips you chose another "
    "one, so that we cannot tell whether you watched them."
)


async def approving_twice_pays_once(open_: SceneOpener) -> None:
    async with open_("scene") as scene:
        if "approve" in scene.recruiter.can:
            posting = await _publish_job(scene)
            came = await _submit(scene, posting.id, 2)
            for _ in range(2):
                await scene.recruiter.approve(came)
                await _settle(scene)
            await scene.recruiter.approve(came[:1])
            await _settle(scene)
            assert [(await scene.recruiter.submission(id)).status for id in came] == ["approved", "approved"]
            assert list(scene.moved()) == [scene.job.reward.minor] * 2


async def a_rejection_says_why_in_100_characters(open_: SceneOpener) -> None:
    async with open_("scene") as scene:
        if "reject" in scene.recruiter.can:
            posting = await _publish_job(scene)
            came = (await _submit(scene, posting.id, 1))[0]
            for short in ("", "Bad work.", "x" * 99, "x" * 60 + " " * 60):
                assert await _is_refused(scene.recruiter.reject(came, "FAILED_CHECK", short)), (
                    "it takes a short message"
                )
            assert (await scene.recruiter.submission(came)).status == "awaiting_review"
            for _ in range(2):
                await scene.recruiter.reject(came, "FAILED_CHECK", _WHY)
            await _settle(scene)
            assert (await scene.recruiter.submission(came)).status == "rejected"
            assert not scene.moved()


async def a_return_that_is_asked_for_twice_is_asked_for_once(open_: SceneOpener) -> None:
    async with open_("scene") as scene:
        if "return" in scene.recruiter.can:
            posting = await _publish_job(scene)
            came = (await _submit(scene, posting.id, 1))[0]
            assert not (await scene.recruiter.submission(came)).is_return_requested
            for _ in range(2):
                await scene.recruiter.request_return(came, "Did not finish the study")
                assert (await scene.recruiter.submission(came)).is_return_requested


async def setting_up_a_bonus_moves_nothing(open_: SceneOpener) -> None:
    async with open_("scene") as scene:
        if "bonus" in scene.recruiter.can:
            posting = await _publish_job(scene)
            came = await _submit(scene, posting.id, 2)
            rows = _rows(scene, came)
            batches = [await scene.recruiter.setup_bonus(posting.id, rows) for _ in range(2)]
            await _settle(scene)
            assert not scene.moved(), "money moved before it was paid"
            for batch in batches:
                assert batch.amount == Sum(sum(row.amount.minor for row in rows), scene.job.reward.currency)
                assert batch.total.minor >= batch.amount.minor


async def a_bonus_that_is_paid_arrives_as_it_was_set_up(open_: SceneOpener) -> None:
    async with open_("scene") as scene:
        if "bonus" in scene.recruiter.can:
            posting = await _publish_job(scene)
            came = await _submit(scene, posting.id, 2)
            rows = _rows(scene, came)
            batch = await scene.recruiter.setup_bonus(posting.id, rows)
            await scene.recruiter.pay_bonus(batch.ref)
            await _settle(scene)
            assert sorted(scene.moved()) == sorted(row.amount.minor for row in rows), "other amounts arrived"
            for row in rows:
                assert (await scene.recruiter.submission(row.submission)).bonuses == (row.amount.minor,)


async def a_bonus_of_too_many_rows_is_refused(open_: SceneOpener) -> None:
    async with open_("scene") as scene:
        if "bonus" in scene.recruiter.can:
            posting = await _publish_job(scene)
            came = (await _submit(scene, posting.id, 1))[0]
            row = BonusRow(came, Sum(10, scene.job.reward.currency))
            many = [row._replace(submission=f"{number:024x}") for number in range(MOST_ROWS + 1)]
            for rows in ([], many, [row, row], [row._replace(amount=Sum(0, scene.job.reward.currency))]):
                assert await _is_refused(scene.recruiter.setup_bonus(posting.id, rows)), f"{len(rows)} rows are taken"
            assert not scene.moved()


def _rows(scene: Scene, came: list[str]) -> list[BonusRow]:
    """Return amounts that reveal a confusion of pounds and pence, or a dropped zero."""
    return [BonusRow(id, Sum(minor, scene.job.reward.currency)) for id, minor in zip(came, (105, 30), strict=False)]


# The suite


_RecruiterCheck: TypeAlias = Callable[[SceneOpener], Awaitable[None]]

RECRUITER_CHECKS: Mapping[str, _RecruiterCheck] = {
    check.__name__: check
    for check in (
        what_it_cannot_do_it_refuses,
        a_quote_adds_up_in_one_currency,
        a_job_that_is_drafted_twice_is_one_posting,
        nobody_comes_to_a_draft,
        a_posting_that_is_published_twice_is_published,
        pausing_and_resuming_may_be_repeated,
        places_only_grow,
        a_posting_that_is_stopped_twice_is_stopped,
        every_submission_is_listed_once,
        a_visit_that_the_platform_did_not_sign_has_no_signed_address,
        nobody_is_a_fine_list_of_people_to_exclude,
        approving_twice_pays_once,
        a_rejection_says_why_in_100_characters,
        a_return_that_is_asked_for_twice_is_asked_for_once,
        setting_up_a_bonus_moves_nothing,
        a_bonus_that_is_paid_arrives_as_it_was_set_up,
        a_bonus_of_too_many_rows_is_refused,
    )
}
"""Every check by name."""


async def check_recruiter(open_: SceneOpener, *, only: Collection[str] | None = None) -> tuple[str, ...]:
    """Run the checks and return their names; raise AssertionError with the first that fails."""
    return await run_checks("recruiter", RECRUITER_CHECKS, open_, only)
