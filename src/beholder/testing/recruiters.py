"""The contract of a recruiter as a suite that anybody can run against theirs.

    await check_recruiter(lambda name: open_scene(name))

Each check is one sentence about every recruiter; it opens scenes by name, and two names are two scenes. What a
recruiter cannot do by itself is not asked of it, but it has to say so.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import TypeAlias

from beholder.testing import recruiter_money, recruiter_postings
from beholder.testing.recruiter_scene import Opener, Scene
from beholder.testing.running import run_checks

__all__ = ["RECRUITER_CHECKS", "Scene", "check_recruiter"]

Check: TypeAlias = Callable[[Opener], Awaitable[None]]

RECRUITER_CHECKS: Mapping[str, Check] = {
    check.__name__: check
    for check in (
        recruiter_postings.what_it_cannot_do_it_refuses,
        recruiter_postings.a_quote_adds_up_in_one_currency,
        recruiter_postings.a_job_that_is_drafted_twice_is_one_posting,
        recruiter_postings.nobody_comes_to_a_draft,
        recruiter_postings.a_posting_that_is_published_twice_is_published,
        recruiter_postings.pausing_and_resuming_may_be_repeated,
        recruiter_postings.places_only_grow,
        recruiter_postings.a_posting_that_is_stopped_twice_is_stopped,
        recruiter_postings.every_submission_is_listed_once,
        recruiter_postings.nobody_is_a_fine_list_of_people_to_exclude,
        recruiter_money.approving_twice_pays_once,
        recruiter_money.a_rejection_says_why_in_100_characters,
        recruiter_money.a_return_that_is_asked_for_twice_is_asked_for_once,
        recruiter_money.setting_up_a_bonus_moves_nothing,
        recruiter_money.a_bonus_that_is_paid_arrives_as_it_was_set_up,
        recruiter_money.a_bonus_of_too_many_rows_is_refused,
    )
}
"""Every check by name, for a test of its own each."""


async def check_recruiter(open_: Opener, *, only: Collection[str] | None = None) -> tuple[str, ...]:
    """Run the checks of every recruiter and return their names; the first that fails raises AssertionError with it."""
    return await run_checks("recruiter", RECRUITER_CHECKS, open_, only)
