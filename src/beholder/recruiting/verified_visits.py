"""Verified visits: whether the platform lists or signed a visit, asked for by the process that serves the study."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Generic, NamedTuple, TypeVar
from urllib.parse import urlsplit

from beholder.clock import utc_now
from beholder.recruiting.contract import Recruiter, Submission
from beholder.recruiting.launch_record import launch_record
from beholder.server.visits import VisitIds, VisitState
from beholder.store.contract import Store

_log = logging.getLogger("beholder.recruiting")
_Reply = TypeVar("_Reply")

_INTERVAL = timedelta(seconds=2)
"""The time between two lists of visits."""
PATIENCE = timedelta(seconds=4)
"""How long a participant waits for the platform's answer."""


class SharedRequest(Generic[_Reply]):
    """A request to the platform that is sent at most every few seconds; calls that wait meanwhile share the next one.

    So a thousand people who come at once cost as many requests as one.
    """

    def __init__(
        self,
        send: Callable[[], Awaitable[_Reply]],
        interval: timedelta,
        now: Callable[[], datetime] = utc_now,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._send, self._interval, self._now, self._sleep = send, interval, now, sleep
        self._lock = asyncio.Lock()
        self._begun = self._done = 0
        self._last: datetime | None = None
        self._reply: _Reply | None = None

    async def reply(self) -> _Reply | None:
        """Return the reply to a request that was sent after this call."""
        before = self._begun
        async with self._lock:
            if self._done > before:  # another call has asked since
                return self._reply
            if self._last is not None:
                passed = abs(self._now() - self._last)  # a clock that was set back is no reason to wait
                await self._sleep(max(0.0, (self._interval - passed).total_seconds()))
            self._begun, self._last = self._begun + 1, self._now()
            self._reply = await self._send()
            self._done = self._begun
            return self._reply


class ListedSubmissions(NamedTuple):
    """What the platform lists for the posting through which participants come."""

    posting: str
    submissions: Sequence[Submission]


async def list_submissions(
    store: Store, recruiter: Recruiter, run: int, patience: timedelta, otherwise: str
) -> ListedSubmissions | None:
    """Return what the platform lists for a run; None before its launch, and where the platform does not answer.

    Then `otherwise` is logged with the reason: whatever a platform answers, no participant waits or pays for it.
    """
    launched = launch_record(await store.ledger.entries(), run)
    if launched is None:
        return None
    try:
        async with asyncio.timeout(patience.total_seconds()):
            return ListedSubmissions(launched.posting, await recruiter.submissions(launched.posting))
    except Exception as error:
        _log.warning("%s: %s", otherwise, _reason(error))
        return None


class VerifiedVisits:
    """Tells whether the platform lists a visit for the participant whom the address names, or has signed it.

    What it keeps grows with the submissions that the platform lists, and not with the visits that somebody makes up.
    """

    def __init__(
        self,
        store: Store,
        recruiter: Recruiter,
        run: int,
        now: Callable[[], datetime] = utc_now,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        timeout: timedelta = PATIENCE,
    ) -> None:
        self._store, self._recruiter, self._run, self._timeout = store, recruiter, run, timeout
        self._people: Mapping[str, str] = {}
        self._listing = SharedRequest(self._list, _INTERVAL, now, sleep)

    async def state_of(self, platform_id: str, submission: str) -> VisitState:
        """Return whether the platform lists this visit of this person; `unknown` where it does not answer."""
        if self._people.get(submission) != platform_id:
            people = await self._listing.reply()
            if people is None:
                return "unknown"
            self._people = people
        return "verified" if self._people.get(submission) == platform_id else "unlisted"

    async def _list(self) -> Mapping[str, str] | None:
        """Return the platform id of each submission; None where the platform does not answer."""
        otherwise = "visits go on unverified, as the platform does not list them"
        listed = await list_submissions(self._store, self._recruiter, self._run, self._timeout, otherwise)
        return None if listed is None else {one.id: one.participant for one in listed.submissions}

    async def is_signed(self, visit: VisitIds, token: str) -> bool:
        """Return whether the platform has signed this visit for the address under which the study was launched.

        False too where that cannot be told: then the list decides.
        """
        try:
            async with asyncio.timeout(self._timeout.total_seconds()):
                address = await self._recruiter.signed_address(visit, token)
        except Exception as error:  # as of a list: nobody is turned away for it
            _log.warning("signatures of visits are not read, and the platform's list decides: %s", _reason(error))
            return False
        # Only of what the platform did sign: reading the ledger takes longer than a forged token is worth.
        launched = launch_record(await self._store.ledger.entries(), self._run) if address else None
        return launched is not None and _host(str(address)) == _host(launched.public_url) != ""


def _host(address: str) -> str:
    """Return the host of an address, or of a domain alone; empty where there is none."""
    try:
        return urlsplit(address if "//" in address else f"//{address}").hostname or ""
    except ValueError:
        return ""


def _reason(error: Exception) -> str:
    """Return why a platform gave no answer."""
    return "it does not answer" if isinstance(error, TimeoutError) else str(error) or type(error).__name__
