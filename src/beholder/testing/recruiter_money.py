"""Sentences about money and about people: what is paid, what is refused, and what is asked for once."""

from __future__ import annotations

from beholder.recruit.contract import MOST_ROWS, Bonus
from beholder.study.money import Sum
from beholder.testing.recruiter_scene import Opener, Scene, brought, opened, refused, settle

_WHY = (
    "You were asked to choose the score that each test clip names, and in three of three such clips you chose another "
    "one, so that we cannot tell whether you watched them."
)


async def approving_twice_pays_once(open_: Opener) -> None:
    async with open_("scene") as scene:
        if "approve" in scene.recruiter.can:
            posting = await opened(scene)
            came = await brought(scene, posting.id, 2)
            for _ in range(2):
                await scene.recruiter.approve(came)
                await settle(scene)
            await scene.recruiter.approve(came[:1])
            await settle(scene)
            assert [(await scene.recruiter.submission(id)).status for id in came] == ["approved", "approved"]
            assert list(scene.moved()) == [scene.job.reward.minor] * 2


async def a_rejection_says_why_in_100_characters(open_: Opener) -> None:
    async with open_("scene") as scene:
        if "reject" in scene.recruiter.can:
            posting = await opened(scene)
            came = (await brought(scene, posting.id, 1))[0]
            for short in ("", "Bad work.", "x" * 99, "x" * 60 + " " * 60):
                assert await refused(scene.recruiter.reject(came, "FAILED_CHECK", short)), "it takes a short message"
            assert (await scene.recruiter.submission(came)).status == "awaiting_review"
            for _ in range(2):
                await scene.recruiter.reject(came, "FAILED_CHECK", _WHY)
            await settle(scene)
            assert (await scene.recruiter.submission(came)).status == "rejected"
            assert not scene.moved()


async def a_return_that_is_asked_for_twice_is_asked_for_once(open_: Opener) -> None:
    async with open_("scene") as scene:
        if "return" in scene.recruiter.can:
            posting = await opened(scene)
            came = (await brought(scene, posting.id, 1))[0]
            assert not (await scene.recruiter.submission(came)).is_return_requested
            for _ in range(2):
                await scene.recruiter.request_return(came, "Did not finish the study")
                assert (await scene.recruiter.submission(came)).is_return_requested


async def setting_up_a_bonus_moves_nothing(open_: Opener) -> None:
    async with open_("scene") as scene:
        if "bonus" in scene.recruiter.can:
            posting = await opened(scene)
            came = await brought(scene, posting.id, 2)
            rows = _rows(scene, came)
            batches = [await scene.recruiter.setup_bonus(posting.id, rows) for _ in range(2)]
            await settle(scene)
            assert not scene.moved(), "money moved before it was paid"
            for batch in batches:
                assert batch.amount == Sum(sum(row.amount.minor for row in rows), scene.job.reward.currency)
                assert batch.total.minor >= batch.amount.minor


async def a_bonus_that_is_paid_arrives_as_it_was_set_up(open_: Opener) -> None:
    async with open_("scene") as scene:
        if "bonus" in scene.recruiter.can:
            posting = await opened(scene)
            came = await brought(scene, posting.id, 2)
            rows = _rows(scene, came)
            batch = await scene.recruiter.setup_bonus(posting.id, rows)
            await scene.recruiter.pay_bonus(batch.ref)
            await settle(scene)
            assert sorted(scene.moved()) == sorted(row.amount.minor for row in rows), "other amounts arrived"
            for row in rows:
                assert (await scene.recruiter.submission(row.submission)).bonuses == (row.amount.minor,)


async def a_bonus_of_too_many_rows_is_refused(open_: Opener) -> None:
    async with open_("scene") as scene:
        if "bonus" in scene.recruiter.can:
            posting = await opened(scene)
            came = (await brought(scene, posting.id, 1))[0]
            row = Bonus(came, Sum(10, scene.job.reward.currency))
            many = [row._replace(submission=f"{number:024x}") for number in range(MOST_ROWS + 1)]
            for rows in ([], many, [row, row], [row._replace(amount=Sum(0, scene.job.reward.currency))]):
                assert await refused(scene.recruiter.setup_bonus(posting.id, rows)), f"{len(rows)} rows are taken"
            assert not scene.moved()


def _rows(scene: Scene, came: list[str]) -> list[Bonus]:
    """Return amounts that a client which mistakes pounds for pence, or drops a zero, gets wrong."""
    return [Bonus(id, Sum(minor, scene.job.reward.currency)) for id, minor in zip(came, (105, 30), strict=False)]
