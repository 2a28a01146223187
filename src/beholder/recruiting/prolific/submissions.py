"""Submissions on Prolific: listing, states in our terms, decisions, and transitions of a study."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, get_args

from beholder.recruiting.contract import (
    SHORTEST_MESSAGE,
    Category,
    PlatformAway,
    PlatformRefused,
    PlatformUnsure,
    Posting,
    State,
    Status,
    Submission,
)
from beholder.recruiting.prolific.client import ProlificClient, paginate, study_path, submission_path

_TRIES = 3
_NO_CODE = "NOCODE"
"""What Prolific records for a submission without a code."""


async def counts_of(id: str, client: ProlificClient) -> Mapping[Status | None, int]:
    """Return the number of submissions by status; None counts all of them."""
    counted = await client.get(f"{study_path(id)}submissions/counts/")
    return {None if word == "TOTAL" else status_of(word): int(count) for word, count in counted.items()}


async def all_submissions(id: str, client: ProlificClient) -> list[Submission]:
    """Return every submission of a study; raise PlatformAway if there are fewer than Prolific counts.

    Submissions change while pages are read, so that one may be on two pages and another on none.
    """
    submissions: dict[str, Submission] = {}
    expected = 0
    for _ in range(_TRIES):
        counts = await counts_of(id, client)
        expected = counts.get(None, 0) - counts.get("reserved", 0)  # whether lists contain these is not documented
        async for listed in paginate(client, "/api/v1/submissions/", study=id):
            submissions[str(listed["id"])] = _from_list(listed)
        if len(submissions) >= expected:
            return list(submissions.values())
    raise PlatformAway(f"it counts {expected} submissions and lists {len(submissions)}")


async def one_submission(id: str, client: ProlificClient) -> Submission:
    """Return a submission with its code and its bonuses."""
    return _from_detail(await client.get(submission_path(id)))


def _from_list(listed: Mapping[str, Any]) -> Submission:
    """Return a submission from an entry of a list."""
    return _submission(listed, str(listed["participant_id"]), listed.get("study_code"), None)


def _from_detail(detail: Mapping[str, Any]) -> Submission:
    """Return a submission from its own page."""
    bonuses = tuple(round(amount) for amount in detail.get("bonus_payments") or ())
    return _submission(detail, str(detail.get("participant") or ""), detail.get("entered_code"), bonuses)


def _submission(shown: Mapping[str, Any], participant: str, code: Any, bonuses: tuple[int, ...] | None) -> Submission:
    started, completed = _moment(shown.get("started_at")), _moment(shown.get("completed_at"))
    pasted = str(code or "").strip()
    return Submission(
        id=str(shown["id"]),
        participant=participant,
        status=status_of(shown["status"]),
        code="" if pasted.upper() == _NO_CODE else pasted,
        started_at=started,
        completed_at=completed,
        seconds=(completed - started).total_seconds() if started and completed else None,
        bonuses=bonuses,
        is_return_requested=bool(shown.get("return_requested")),
    )


def _moment(text: Any) -> datetime | None:
    if not text:
        return None
    moment = datetime.fromisoformat(str(text))
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


# States of studies and statuses of submissions


_STATES: Mapping[str, State] = {
    "UNPUBLISHED": "draft",
    "SCHEDULED": "scheduled",
    "PUBLISHING": "publishing",
    "ACTIVE": "active",
    "PAUSED": "paused",
    "COMPLETED": "completed",
    "AWAITING_REVIEW": "completed",  # every place is taken: nobody else arrives until places grow
}
_STATUSES: Mapping[str, Status] = {
    "RESERVED": "reserved",
    "ACTIVE": "active",
    "TIMED_OUT": "timed_out",
    "AWAITING_REVIEW": "awaiting_review",
    "APPROVED": "approved",
    "PARTIALLY_APPROVED": "partially_approved",
    "RETURNED": "returned",
    "REJECTED": "rejected",
    "SCREENED_OUT": "screened_out",
}
PLACE_STATUSES: frozenset[Status] = frozenset(
    ("reserved", "active", "awaiting_review", "approved", "partially_approved")
)
"""Statuses that take a place. Returned, timed out and rejected submissions free it; paid screen-outs take none."""


def state_of(word: object) -> State:
    """Return the state of a study; `unknown` for an undocumented word such as PROCESSING."""
    return _STATES.get(_normalise(word), "unknown")


def is_full(word: object) -> bool:
    """Return whether all places are taken and wait for review; the study reopens if one of them becomes free."""
    return _normalise(word) == "AWAITING_REVIEW"


def status_of(word: object) -> Status:
    """Return the status of a submission; `unknown` for an undocumented word."""
    return _STATUSES.get(_normalise(word), "unknown")


def _normalise(word: object) -> str:
    return str(word).strip().upper().replace("-", "_").replace(" ", "_")


# Decisions


_MOST_APPROVALS = 1000


async def approve(ids: Sequence[str], client: ProlificClient) -> None:
    """Approve submissions, which takes Prolific minutes; one that it refuses does not stop the others."""
    for first in range(0, len(ids), _MOST_APPROVALS):
        some = list(ids[first : first + _MOST_APPROVALS])
        try:
            if len(some) == 1:
                await _approve_one(some[0], client)
            else:
                await client.send_idempotent("POST", "/api/v1/submissions/bulk-approve/", {"submission_ids": some})
        except PlatformRefused:
            if len(some) == 1:
                raise
            await _approve_each(some, client)


async def reject(id: str, category: Category, message: str, client: ProlificClient) -> None:
    """Reject a submission with a category and a message to the participant."""
    if category not in get_args(Category):
        raise PlatformRefused(f"{category} is no category of a rejection: {', '.join(get_args(Category))}")
    length = len(message.strip())
    if length < SHORTEST_MESSAGE:
        raise PlatformRefused(
            f"the message of a rejection has {length} characters, and Prolific asks for {SHORTEST_MESSAGE}: "
            "say what was asked for and what was done instead"
        )
    body = {"action": "REJECT", "message": message.strip(), "rejection_category": category}
    await client.send_idempotent("POST", f"{submission_path(id)}transition/", body)


async def request_return(id: str, reason: str, client: ProlificClient) -> None:
    """Ask a participant to return a submission, once, however often the answer is lost."""
    for wait in WAITS:
        submission = await one_submission(id, client)
        if submission.is_return_requested or submission.status == "returned":
            return
        try:
            await client.send_once(f"{submission_path(id)}request-return/", {"request_return_reasons": [reason]})
        except (PlatformAway, PlatformUnsure) as error:
            lost = error
            await client.sleep(wait)
        else:
            return
    raise lost


async def _approve_one(id: str, client: ProlificClient) -> None:
    await client.send_idempotent("POST", f"{submission_path(id)}transition/", {"action": "APPROVE"})


async def _approve_each(ids: Sequence[str], client: ProlificClient) -> None:
    refused = []
    for id in ids:
        try:
            await _approve_one(id, client)
        except PlatformRefused as error:
            refused.append(f"{id}: {error}")
    if refused:
        raise PlatformRefused(f"{len(refused)} of {len(ids)} were not approved. {'; '.join(refused)}")


# Transitions


WAITS = (1.0, 2.0, 4.0, 8.0, 15.0, 30.0)
"""Seconds between two reads of the state."""
_BUSY: frozenset[State] = frozenset(("publishing", "unknown"))


async def transition(
    client: ProlificClient,
    read: Callable[[], Awaitable[Posting]],
    path: str,
    steps: Mapping[State, Mapping[str, Any]],
    until: Collection[State],
) -> Posting:
    """Return a posting after the step that its state allows, sent once; a busy posting is read again.

    After a lost answer the state is read; the step is sent again only if it shows that nothing happened.
    """
    lost: PlatformAway | PlatformUnsure | None = None
    is_sent = False
    for wait in (0.0, *WAITS):
        if wait:
            await client.sleep(wait)
        posting = await read()
        if posting.state not in _BUSY and (posting.state in until or posting.state not in steps):
            return posting
        if posting.state in steps and not is_sent:
            try:
                await client.send_once(path, steps[posting.state])
            except (PlatformAway, PlatformUnsure) as error:
                lost = error
            else:
                is_sent, posting = True, await read()
                if posting.state in until:
                    return posting
    if lost is not None and not is_sent:
        raise lost
    return posting
