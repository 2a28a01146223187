"""Sentences about postings: drafts, places, states, and who came."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace

from beholder.recruit.contract import Recruiter, Verb
from beholder.study.money import Sum
from beholder.testing.recruiter_scene import Opener, Scene, brought, opened, refused

_ID = "0123456789abcdef01234567"


async def what_it_cannot_do_it_refuses(open_: Opener) -> None:
    async with open_("scene") as scene:
        for verb, attempts in _attempts(scene).items():
            if verb not in scene.recruiter.can:
                for attempt in attempts:
                    assert await refused(attempt()), f"{verb} is not in `can`, and is not refused"


async def a_quote_adds_up_in_one_currency(open_: Opener) -> None:
    async with open_("scene") as scene:
        quote = await scene.recruiter.quote(scene.job)
        parts = (quote.rewards, quote.fees, quote.screen_outs, quote.bonuses)
        assert quote.total.minor == sum(part.minor for part in parts), "the total is not the sum of its parts"
        assert {part.currency for part in (*parts, quote.total, quote.hourly)} == {scene.job.reward.currency}
        assert quote.rewards.minor == scene.job.places * scene.job.reward.minor
        assert quote.hourly == Sum(scene.job.reward.minor * 60 // scene.job.minutes, scene.job.reward.currency)
        more = await scene.recruiter.quote(replace(scene.job, places=scene.job.places + 1))
        assert more.total.minor >= quote.total.minor + scene.job.reward.minor, "one more person costs a reward more"


async def a_job_that_is_drafted_twice_is_one_posting(open_: Opener) -> None:
    async with open_("scene") as scene:
        if "draft" in scene.recruiter.can:
            await scene.recruiter.check(scene.job)
            first, again = await scene.recruiter.draft(scene.job), await scene.recruiter.draft(scene.job)
            assert first.id == again.id, "a second draft was made"
            assert first.places == scene.job.places
            assert (await scene.recruiter.posting(first.id)).id == first.id


async def nobody_comes_to_a_draft(open_: Opener) -> None:
    async with open_("scene") as scene:
        if "draft" in scene.recruiter.can:
            drafted = await scene.recruiter.draft(scene.job)
            assert drafted.state == "draft", f"a draft is {drafted.state}"
            assert drafted.taken == 0


async def a_posting_that_is_published_twice_is_published(open_: Opener) -> None:
    async with open_("scene") as scene:
        if "publish" in scene.recruiter.can:
            posting = await opened(scene)
            assert posting.state == "active", f"a published posting is {posting.state}"
            assert await scene.recruiter.publish(posting.id) == posting
            drafted = await scene.recruiter.draft(scene.job)
            assert drafted == posting, "a draft of what is published is something else"


async def pausing_and_resuming_may_be_repeated(open_: Opener) -> None:
    async with open_("scene") as scene:
        if "pause" in scene.recruiter.can:
            posting = await opened(scene)
            for _ in range(2):
                assert (await scene.recruiter.pause(posting.id)).state == "paused"
            for _ in range(2):
                assert (await scene.recruiter.resume(posting.id)).state == "active"


async def places_only_grow(open_: Opener) -> None:
    async with open_("scene") as scene:
        if "places" in scene.recruiter.can:
            posting = await opened(scene)
            for _ in range(2):
                assert (await scene.recruiter.set_places(posting.id, posting.places + 3)).places == posting.places + 3
            fewer = scene.recruiter.set_places(posting.id, posting.places)
            assert await refused(fewer), "places were taken away"
            assert (await scene.recruiter.posting(posting.id)).places == posting.places + 3


async def a_posting_that_is_stopped_twice_is_stopped(open_: Opener) -> None:
    async with open_("scene") as scene:
        if "stop" in scene.recruiter.can:
            posting = await opened(scene)
            for _ in range(2):
                assert (await scene.recruiter.stop(posting.id)).state == "completed"


async def every_submission_is_listed_once(open_: Opener) -> None:
    async with open_("scene") as scene:
        if "submissions" in scene.recruiter.can:
            posting = await opened(scene)
            came = await brought(scene, posting.id, 2)
            listed = await scene.recruiter.submissions(posting.id)
            assert sorted(one.id for one in listed) == sorted(came)
            for one in listed:
                alone = await scene.recruiter.submission(one.id)
                assert (alone.id, alone.participant, alone.status, alone.code) == (
                    one.id, one.participant, one.status, one.code,
                )  # fmt: skip
                assert alone.bonuses == (), "who was paid nothing on top has a bonus"
            assert (await scene.recruiter.posting(posting.id)).taken == 2


async def nobody_is_a_fine_list_of_people_to_exclude(open_: Opener) -> None:
    async with open_("scene") as scene:
        await scene.recruiter.exclude([])


def _attempts(scene: Scene) -> Mapping[Verb, tuple[Callable[[], Awaitable[object]], ...]]:
    """Return for each verb everything that a recruiter which cannot do it has to refuse."""
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
