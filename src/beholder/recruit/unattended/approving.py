"""Accepted work that has waited long enough: `recruit.approve_after` lets a run sign it."""

from __future__ import annotations

from collections.abc import Sequence

from beholder.recruit.contract import Submission
from beholder.recruit.deciding.decide import decide_desk
from beholder.recruit.deciding.signing import RUN, signed_rows
from beholder.recruit.desk import Desk
from beholder.recruit.paying.pay import pay_desk
from beholder.recruit.unattended.told import Wait
from beholder.study.part import span


async def approve_due(desk: Desk, submissions: Sequence[Submission], tried: set[str], wait: Wait) -> int:
    """Approve what was handed in longer ago than the study lets people wait; return how many that were.

    Only what is accepted: whatever else is to be done about anybody still waits, and is not tried again.
    """
    after = desk.study.recruit.approve_after
    if after is None:
        return 0
    before = desk.now() - span(after)
    due = {
        one.id
        for one in submissions
        if one.status == "awaiting_review" and one.completed_at is not None and one.completed_at <= before
    }
    due -= signed_rows(await desk.store.ledger.entries()).keys() | tried
    if not due:
        return 0
    tried |= due
    due -= {row.submission for row in (await decide_desk(desk, dry_run=True)).rows if row.pay == "return"}
    await decide_desk(desk, sign=RUN, only=due)
    paid = await pay_desk(desk, send=True, sleep=wait)
    return sum(line.kind == "approve" and line.submission in due for line in paid.of("sent", "paid"))
