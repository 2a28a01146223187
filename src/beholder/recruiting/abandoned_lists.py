"""Abandoned lists: release the lists of participants who left on the platform, when another one needs a list."""

from __future__ import annotations

import asyncio
import os
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta

from beholder.clock import utc_now
from beholder.recruiting.context import recruiter_of
from beholder.recruiting.contract import GONE, Recruiter, Status, Submission
from beholder.recruiting.panel import NO_DATA, NO_SUBMISSION
from beholder.recruiting.reconciliation import REASON_WORDS
from beholder.recruiting.verified_visits import PATIENCE, SharedRequest, VerifiedVisits, list_submissions
from beholder.server.moderation import VERIFIED
from beholder.server.visits import Platform
from beholder.store.contract import LedgerEntry, PlatformVisit, Store
from beholder.study.model import Study

_ABANDONED: frozenset[Status] = GONE | {"awaiting_review"}
"""Statuses of visits that are not expected to continue, including those handed in before the end."""


_INTERVAL = timedelta(seconds=5)
"""The time between two requests to the platform, however many participants wait for a list."""
_UNLISTED = "unlisted"
_WORDS: Mapping[str, str] = {
    _UNLISTED: REASON_WORDS[NO_SUBMISSION],
    **{status: REASON_WORDS[f"platform:{status}"] for status in GONE},
}


class AbandonedLists:
    """Releases the lists of participants who left. Created by the process that serves the study."""

    def __init__(
        self,
        store: Store,
        recruiter: Recruiter,
        run: int,
        now: Callable[[], datetime] = utc_now,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        timeout: timedelta = PATIENCE,
    ) -> None:
        self._store, self._recruiter, self._run = store, recruiter, run
        self._now, self._timeout = now, timeout
        self._asking = SharedRequest(self._ask_platform, _INTERVAL, now, sleep)

    async def release_on_demand(self) -> None:
        """Ask the platform who left, and release their lists; calls that wait meanwhile share the next request.

        A platform that does not answer releases nothing, and delays nobody by more than a few seconds.
        """
        await self._asking.reply()

    async def release(self, submissions: Sequence[Submission], *, is_needed: bool = False, posting: str = "") -> None:
        """Release the lists of participants who left or handed in before the end, and record it once with its reason.

        A participant who left and still answers claims the list again, and loses it again to one who needs it. So does
        a visit of this `posting` that the platform neither lists nor signed: it came while it did not answer.
        """
        left: dict[str, str] = {one.id: one.status for one in submissions if one.status in _ABANDONED}
        listed = {one.id for one in submissions}
        visits = await self._store.platform_visits()
        left |= {one.submission: _UNLISTED for one in visits if one.posting == posting and one.submission not in listed}
        if not left:
            return
        entries = await self._store.ledger.entries()
        recorded = {(one.session, one.submission) for one in entries if one.kind == "release"}
        verified = {one.session for one in entries if one.kind == VERIFIED}
        new_entries = []
        for session, submission in _abandoned_sessions(visits, left):
            if left[submission] == _UNLISTED and session in verified:  # signed, and not listed yet
                continue
            is_recorded = (session, submission) in recorded
            facts = await self._store.session_facts(session) if is_needed or not is_recorded else None
            if facts is None or facts.list is None or facts.end is not None:
                continue
            if await self._earns_bonus(session, visits, left):
                continue
            await self._store.release(session)
            if not is_recorded:
                status, who = left[submission], facts.session.participant
                new_entries.append(
                    LedgerEntry(
                        "release", "done", self._now(), submission=submission, participant=who, session=session,
                        reason_code=status, reason_text=_WORDS.get(status, REASON_WORDS[NO_DATA]),
                    )
                )  # fmt: skip
        if new_entries:
            await self._store.ledger.append(new_entries)

    async def _earns_bonus(self, session: str, visits: Sequence[PlatformVisit], left: Mapping[str, str]) -> bool:
        """Return whether a complete session of the same visit was handed in, so that this one earns a bonus too."""
        handed_in = {
            one.submission for one in visits if one.session == session and left[one.submission] == "awaiting_review"
        }
        for other in {one.session for one in visits if one.submission in handed_in} - {session}:
            facts = await self._store.session_facts(other)
            if facts is not None and facts.end is not None and facts.end.outcome == "completed":
                return True
        return False

    async def _ask_platform(self) -> None:
        otherwise = "no list could be opened, as the platform does not tell who has left"
        listed = await list_submissions(self._store, self._recruiter, self._run, self._timeout, otherwise)
        if listed is not None:
            await self.release(listed.submissions, is_needed=True, posting=listed.posting)


@asynccontextmanager
async def ask_platform(study: Study, store: Store) -> AsyncIterator[Platform | None]:
    """Yield what asks the platform who left and which visits are real, if there is a platform and a token."""
    if not os.environ.get(study.recruit.source.token_variable, "").strip():
        yield None
        return
    recruiter = await recruiter_of(study, store)
    try:
        yield platform_of(AbandonedLists(store, recruiter, study.run), VerifiedVisits(store, recruiter, study.run))
    finally:
        await recruiter.close()


def platform_of(abandoned: AbandonedLists, verified: VerifiedVisits) -> Platform:
    """Return what the server asks the platform of a study."""
    return Platform(abandoned.release_on_demand, verified.state_of, verified.is_signed)


def _abandoned_sessions(visits: Sequence[PlatformVisit], left: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield each session whose visits have all been given up, with the last of them."""
    by_session: defaultdict[str, list[str]] = defaultdict(list)
    for visit in visits:
        by_session[visit.session].append(visit.submission)
    for session, submissions in by_session.items():
        if left.keys() >= set(submissions):
            yield session, submissions[-1]
