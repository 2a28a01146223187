"""Room for those who come: whoever has left on the platform gives their list back, as soon as somebody needs it."""

from __future__ import annotations

import asyncio
import logging
import os
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta

from beholder.aio import utc_now
from beholder.recruiting.context import recruiter_of
from beholder.recruiting.contract import GONE, Recruiter, Status, Submission
from beholder.recruiting.launch_record import launch_record
from beholder.recruiting.panel import NO_DATA
from beholder.recruiting.reconciliation import REASON_WORDS
from beholder.server.process import RunningServer
from beholder.store.contract import LedgerEntry, PlatformVisit, Store

_log = logging.getLogger("beholder.recruiting")

_OVER: frozenset[Status] = GONE | {"awaiting_review"}
"""Visits in which nobody is expected to go on: also what was handed in before its end."""
_PACE = timedelta(seconds=5)
"""How much time lies between two looks, however many people stand at a full door."""
_PATIENCE = timedelta(seconds=4)
"""How long somebody at the door waits for the platform's answer."""


class AbandonedLists:
    """Opens the lists of people who are gone. Made where the study is served, as it writes the store."""

    def __init__(
        self,
        store: Store,
        recruiter: Recruiter,
        run: int,
        now: Callable[[], datetime] = utc_now,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        patience: timedelta = _PATIENCE,
    ) -> None:
        self._store, self._recruiter, self._run = store, recruiter, run
        self._now, self._sleep, self._patience = now, sleep, patience
        self._turn = asyncio.Lock()
        self._begun = self._done = 0
        self._last: datetime | None = None

    async def make(self) -> None:
        """Look at the platform, and open the lists of whoever is gone; those who wait meanwhile share the next look.

        A platform that is away makes no room, and costs nobody more than a few seconds.
        """
        before = self._begun
        async with self._turn:
            if self._done > before:  # somebody has looked since
                return
            if self._last is not None:
                await self._sleep(_too_early(self._now() - self._last))
            self._begun, self._last = self._begun + 1, self._now()
            await self._look()
            self._done = self._begun

    async def free(self, submissions: Sequence[Submission], *, is_needed: bool = False) -> None:
        """Open the lists of whoever is gone, or has handed in before the end, once: an act on record, with its reason.

        Somebody who has left and still answers takes their list back, and loses it again to whoever needs it.
        """
        left = {one.id: one.status for one in submissions if one.status in _OVER}
        if not left:
            return
        entries = await self._store.ledger.entries()
        known = {(one.session, one.submission) for one in entries if one.kind == "release"}
        fresh = []
        comings = await self._store.platform_visits()
        for session, submission in _left_behind(comings, left):
            is_known = (session, submission) in known
            facts = await self._store.session_facts(session) if is_needed or not is_known else None
            if facts is None or facts.list is None or facts.end is not None:
                continue
            if await self._goes_on(session, comings, left):
                continue
            await self._store.release(session)
            if not is_known:
                status, who = left[submission], facts.session.participant
                fresh.append(
                    LedgerEntry(
                        "release", "done", self._now(), submission=submission, participant=who, session=session,
                        reason_code=status, reason_text=REASON_WORDS.get(f"platform:{status}", REASON_WORDS[NO_DATA]),
                    )
                )  # fmt: skip
        if fresh:
            await self._store.ledger.append(fresh)

    async def _goes_on(self, session: str, comings: Sequence[PlatformVisit], left: Mapping[str, Status]) -> bool:
        """Return whether a whole session of the same visit was handed in, so that this one earns a bonus beside it."""
        handed_in = {
            one.submission for one in comings if one.session == session and left[one.submission] == "awaiting_review"
        }
        for other in {one.session for one in comings if one.submission in handed_in} - {session}:
            facts = await self._store.session_facts(other)
            if facts is not None and facts.end is not None and facts.end.outcome == "completed":
                return True
        return False

    async def _look(self) -> None:
        launched = launch_record(await self._store.ledger.entries(), self._run)
        if launched is None:
            return
        try:
            async with asyncio.timeout(self._patience.total_seconds()):
                submissions = await self._recruiter.submissions(launched.posting)
        except Exception as error:  # whatever a platform may answer, the person at the door is only told "full"
            _log.warning("no list could be opened, as the platform does not tell who has left: %s", _why(error))
        else:
            await self.free(submissions, is_needed=True)


@asynccontextmanager
async def release_abandoned(server: RunningServer) -> AsyncIterator[None]:
    """Let a server ask its platform before it turns anybody away, where there is a platform and a token for it."""
    study = server.service.served.study
    if study.recruit.mode != "prolific" or not os.environ.get("PROLIFIC_TOKEN", "").strip():
        yield
        return
    recruiter = await recruiter_of(study, server.store)
    server.service.free_lists.release_abandoned = AbandonedLists(server.store, recruiter, study.run).make
    try:
        yield
    finally:
        server.service.free_lists.release_abandoned = None
        await recruiter.close()


def _left_behind(comings: Sequence[PlatformVisit], left: Mapping[str, Status]) -> Iterator[tuple[str, str]]:
    """Yield every session whose visits have all been given up, with the last of them."""
    visits: defaultdict[str, list[str]] = defaultdict(list)
    for coming in comings:
        visits[coming.session].append(coming.submission)
    for session, theirs in visits.items():
        if left.keys() >= set(theirs):
            yield session, theirs[-1]


def _why(error: Exception) -> str:
    return "it does not answer" if isinstance(error, TimeoutError) else str(error) or type(error).__name__


def _too_early(passed: timedelta) -> float:
    """Return for how many seconds it is too early for another look; a clock that was set back is no reason to wait."""
    return max(0.0, (_PACE - abs(passed)).total_seconds())
