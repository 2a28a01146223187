"""How a study stands on its platform, as far as the platform tells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from beholder.errors import RecruitError
from beholder.recruit.contract import PlatformAway, PlatformRefused, PlatformUnsure, Posting, Submission
from beholder.recruit.desk import Desk
from beholder.recruit.launching.recorded import Recorded
from beholder.recruit.monitoring.found import Platform
from beholder.recruit.monitoring.rates import median_minutes
from beholder.store.contract import Coming

_LEFT = ("returned", "timed_out", "rejected", "screened_out")
_FINISHED = ("awaiting_review", "approved", "partially_approved")


async def read_platform(desk: Desk, launched: Recorded | None) -> tuple[Platform | None, str]:
    """Return how the study stands there, and a sentence where it cannot be told; nothing where there is no platform."""
    if launched is None or desk.is_by_hand:
        return None, ""
    try:
        posting = await desk.recruiter.posting(launched.posting)
        submissions = await desk.recruiter.submissions(launched.posting)
    except (PlatformAway, PlatformRefused, PlatformUnsure, RecruitError) as error:
        return None, f"The numbers of the platform are missing: {error}"
    return platform_of(posting, submissions, desk.now(), await desk.store.comings()), ""


def platform_of(
    posting: Posting, submissions: Sequence[Submission], now: datetime, comings: Sequence[Coming] = ()
) -> Platform:
    """Return a posting and its submissions in numbers; `comings` say which of them led to which session, in order."""
    left = {one.id for one in submissions if one.status in _LEFT}
    last = {one.session: one.submission for one in comings}  # who came again by another submission is here by that
    waiting = [one.completed_at for one in submissions if one.status == "awaiting_review" and one.completed_at]
    minutes = [one.seconds / 60 for one in submissions if one.status in _FINISHED and one.seconds]
    return Platform(
        state=posting.state,
        places=posting.places,
        taken=posting.taken,
        statuses=dict(sorted(Counter(one.status for one in submissions).items())),
        oldest_days=max(0, (now - min(waiting)).days) if waiting else None,
        minutes=median_minutes(minutes),
        at=now,
        link=posting.link,
        gone=tuple(sorted(session for session, submission in last.items() if submission in left)),
    )
