"""Who was asked to return a submission and has not yet: it is told, and holds up nothing."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import timedelta

from beholder.recruit.contract import Posting, Submission
from beholder.recruit.decisions import Decided
from beholder.recruit.desk import Desk
from beholder.recruit.monitoring.alarms import AUTO_APPROVAL_DAYS
from beholder.recruit.paying.found import Payment
from beholder.recruit.trouble import asking


def asked_back(rows: Sequence[Decided], payment: Payment) -> frozenset[str]:
    """Return the submissions that await review only because whoever was asked to return them has not done it yet."""
    asked = {line.submission for line in payment.lines if line.kind == "return" and line.standing in ("sent", "done")}
    waiting = {row.submission for row in rows if row.pay == "return" and row.status == "awaiting_review"}
    return frozenset(asked & waiting)


async def asked_words(desk: Desk, posting: Posting | None, asked: Collection[str]) -> list[str]:
    """Return what comes of them in sentences."""
    if posting is None or not asked:
        return []
    with asking(desk.study):
        listed = await desk.recruiter.submissions(posting.id)
    return [_words(desk.recruiter.mode.capitalize(), one) for one in listed if one.id in asked]


def _words(platform: str, one: Submission) -> str:
    days = timedelta(days=AUTO_APPROVAL_DAYS)
    when = f"on {one.completed_at + days:%Y-%m-%d}" if one.completed_at is not None else f"after {days.days} days"
    return (
        f"{one.id} was asked to return it, and has not yet: {platform} approves and pays it by itself {when}, unless "
        "it is returned or rejected before."
    )
