"""Submissions: every one of a study, each once, spelled in one way."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from beholder.recruit.contract import PlatformAway, Status, Submission
from beholder.recruit.prolific.client import Client
from beholder.recruit.prolific.paging import paged
from beholder.recruit.prolific.paths import study_path, submission_path
from beholder.recruit.prolific.statuses import status_of

_TRIES = 3
_NO_CODE = "NOCODE"
"""What Prolific records where somebody submits without a code."""


async def counts_of(id: str, client: Client) -> Mapping[Status | None, int]:
    """Return how many submissions stand how; None counts all of them."""
    counted = await client.get(f"{study_path(id)}submissions/counts/")
    return {None if word == "TOTAL" else status_of(word): int(count) for word, count in counted.items()}


async def all_submissions(id: str, client: Client) -> list[Submission]:
    """Return every submission of a study; fewer than Prolific counts, whatever the pages show, raises PlatformAway.

    People come and go while pages are read, so that one may be on two pages and another on none.
    """
    found: dict[str, Submission] = {}
    expected = 0
    for _ in range(_TRIES):
        counts = await counts_of(id, client)
        expected = counts.get(None, 0) - counts.get("reserved", 0)  # whether lists show these is nowhere written
        async for listed in paged(client, "/api/v1/submissions/", study=id):
            found[str(listed["id"])] = from_list(listed)
        if len(found) >= expected:
            return list(found.values())
    raise PlatformAway(f"it counts {expected} submissions and lists {len(found)}")


async def one_submission(id: str, client: Client) -> Submission:
    """Return a submission with its code and what was paid on top."""
    return from_detail(await client.get(submission_path(id)))


def from_list(listed: Mapping[str, Any]) -> Submission:
    """Return a submission as a list shows it."""
    return _submission(listed, str(listed["participant_id"]), listed.get("study_code"), None)


def from_detail(detail: Mapping[str, Any]) -> Submission:
    """Return a submission as it is shown alone."""
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
