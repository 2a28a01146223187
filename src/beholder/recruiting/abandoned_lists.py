"""Abandoned lists: release the lists of participants who left on the platform, when another one needs a list."""

from __future__ import annotations

import asyncio
import logging
import os
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta

from beholder.clock import utc_now
from beholder.recruiting.context import recruiter_of
from beholder.recruiting.contract import GONE, Recruiter, Status, Submission
from beholder.recruiting.launch_record import launch_record
from beholder.recruiting.panel import NO_DATA
from beholder.recruiting.reconciliation import REASON_WORDS
from beholder.server.admission import ReleaseLists
from beholder.store.contract import LedgerEntry, PlatformVisit, Store
from beholder.study.model import Study

_log = logging.getLogger("beholder.recruiting")

_ABANDONED: frozenset[Status] = GONE | {"awaiting_review"}
"""Statuses of visits that are not expected to continue, including those handed in before the end."""
_INTERVAL = timedelta(seconds=5)
"""The time between two requests to the platform, however many participants wait for a list."""
_TIMEOUT = timedelta(seconds=4)
"""How long an arriving participant waits for the platform's answer."""


class AbandonedLists:
    """Releases the lists of participants who left. Created by the process that serves the study."""

    def __init__(
        self,
        store: Store,
        recruiter: Recruiter,
        run: int,
        now: Callable[[], datetime] = utc_now,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        timeout: timedelta = _TIMEOUT,
    ) -> None:
        self._store, self._recruiter, self._run = store, recruiter, run
        self._now, self._sleep, self._timeout = now, sleep, timeout
        self._lock = asyncio.Lock()
        self._begun = self._done = 0
        self._last: datetime | None = None

    async def release_on_demand(self) -> None:
        """Ask the platform who left, and release their lists; calls that wait meanwhile share the next request.

        A platform that does not answer releases nothing, and delays nobody by more than a few seconds.
        """
        before = self._begun
        async with self._lock:
            if self._done > before:  # another call has asked since
                return
            if self._last is not None:
                await self._sleep(_seconds_until_next(self._now() - self._last))
            self._begun, self._last = self._begun + 1, self._now()
            await self._ask_platform()
            self._done = self._begun

    async def release(self, submissions: Sequence[Submission], *, is_needed: bool = False) -> None:
        """Release the lists of participants who left or handed in before the end, and record it once with its reason.

        A participant who left and still answers claims the list again, and loses it again to one who needs it.
        """
        left = {one.id: one.status for one in submissions if one.status in _ABANDONED}
        if not left:
            return
        entries = await self._store.ledger.entries()
        recorded = {(one.session, one.submission) for one in entries if one.kind == "release"}
        new_entries = []
        visits = await self._store.platform_visits()
        for session, submission in _abandoned_sessions(visits, left):
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
                        reason_code=status, reason_text=REASON_WORDS.get(f"platform:{status}", REASON_WORDS[NO_DATA]),
                    )
                )  # fmt: skip
        if new_entries:
            await self._store.ledger.append(new_entries)

    async def _earns_bonus(self, session: str, visits: Sequence[PlatformVisit], left: Mapping[str, Status]) -> bool:
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
        launched = launch_record(await self._store.ledger.entries(), self._run)
        if launched is None:
            return
        try:
            async with asyncio.timeout(self._timeout.total_seconds()):
                submissions = await self._recruiter.submissions(launched.posting)
        except Exception as error:  # whatever a platform answers, the participant only sees that the study is full
            _log.warning("no list could be opened, as the platform does not tell who has left: %s", _reason(error))
        else:
            await self.release(submissions, is_needed=True)


@asynccontextmanager
async def release_abandoned(study: Study, store: Store) -> AsyncIterator[ReleaseLists | None]:
    """Yield what asks the platform before a participant is turned away, if there is a platform and a token."""
    if not os.environ.get(study.recruit.source.token_variable, "").strip():
        yield None
        return
    recruiter = await recruiter_of(study, store)
    try:
        yield AbandonedLists(store, recruiter, study.run).release_on_demand
    finally:
        await recruiter.close()


def _abandoned_sessions(visits: Sequence[PlatformVisit], left: Mapping[str, Status]) -> Iterator[tuple[str, str]]:
    """Yield each session whose visits have all been given up, with the last of them."""
    by_session: defaultdict[str, list[str]] = defaultdict(list)
    for visit in visits:
        by_session[visit.session].append(visit.submission)
    for session, submissions in by_session.items():
        if left.keys() >= set(submissions):
            yield session, submissions[-1]


def _reason(error: Exception) -> str:
    return "it does not answer" if isinstance(error, TimeoutError) else str(error) or type(error).__name__


def _seconds_until_next(passed: timedelta) -> float:
    """Return the seconds until the next request is allowed; a clock that was set back is no reason to wait."""
    return max(0.0, (_INTERVAL - abs(passed)).total_seconds())
