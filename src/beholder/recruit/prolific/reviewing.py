"""What becomes of a submission on Prolific: approved, rejected, or asked back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from beholder.recruit.contract import (
    SHORTEST_MESSAGE,
    Category,
    PlatformAway,
    PlatformRefused,
    PlatformUnsure,
)
from beholder.recruit.prolific.client import Client
from beholder.recruit.prolific.paths import submission_path
from beholder.recruit.prolific.submissions import one_submission
from beholder.recruit.prolific.waiting import WAITS

_MOST_APPROVALS = 1000


async def approve(ids: Sequence[str], client: Client) -> None:
    """Approve submissions, which Prolific does within minutes; one that it refuses holds up no other."""
    for first in range(0, len(ids), _MOST_APPROVALS):
        some = list(ids[first : first + _MOST_APPROVALS])
        try:
            if len(some) == 1:
                await _approve_one(some[0], client)
            else:
                await client.repeat("POST", "/api/v1/submissions/bulk-approve/", {"submission_ids": some})
        except PlatformRefused:
            if len(some) == 1:
                raise
            await _approve_each(some, client)


async def reject(id: str, category: Category, message: str, client: Client) -> None:
    """Reject a submission, in words that the person can learn something from."""
    if category not in get_args(Category):
        raise PlatformRefused(f"{category} is no category of a rejection: {', '.join(get_args(Category))}")
    length = len(message.strip())
    if length < SHORTEST_MESSAGE:
        raise PlatformRefused(
            f"the message of a rejection has {length} characters, and Prolific asks for {SHORTEST_MESSAGE}: "
            "say what was asked for and what was done instead"
        )
    body = {"action": "REJECT", "message": message.strip(), "rejection_category": category}
    await client.repeat("POST", f"{submission_path(id)}transition/", body)


async def request_return(id: str, reason: str, client: Client) -> None:
    """Ask somebody to return their submission, once, however often the answer is lost."""
    for wait in WAITS:
        there = await one_submission(id, client)
        if there.is_return_requested or there.status == "returned":
            return
        try:
            await client.once(f"{submission_path(id)}request-return/", {"request_return_reasons": [reason]})
        except (PlatformAway, PlatformUnsure) as error:
            lost = error
            await client.sleep(wait)
        else:
            return
    raise lost


async def _approve_one(id: str, client: Client) -> None:
    await client.repeat("POST", f"{submission_path(id)}transition/", {"action": "APPROVE"})


async def _approve_each(ids: Sequence[str], client: Client) -> None:
    refused = []
    for id in ids:
        try:
            await _approve_one(id, client)
        except PlatformRefused as error:
            refused.append(f"{id}: {error}")
    if refused:
        raise PlatformRefused(f"{len(refused)} of {len(ids)} were not approved. {'; '.join(refused)}")
