"""The event log of sessions, as it comes in between two answers."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from beholder.errors import Refused
from beholder.serve.arrivals import Arrivals
from beholder.serve.leases import Leases
from beholder.serve.standing import Standing
from beholder.serve.submission import Submission
from beholder.serve.way import Way
from beholder.store.contract import Events, Store

_LARGEST = 8 * 1024 * 1024  # characters of one session's events that are kept


class Log:
    """Keeps batches of events; they also show that somebody is still there."""

    def __init__(
        self,
        store: Store,
        words: Mapping[str, str],
        arrivals: Arrivals,
        standing: Standing,
        way: Way,
        leases: Leases,
    ) -> None:
        self._store, self._words, self._arrivals = store, words, arrivals
        self._standing, self._way, self._leases = standing, way, leases
        self._sizes: dict[str, int] = {}

    async def keep(self, session: str, batch: Submission, key: str, now: datetime) -> None:
        """Keep a batch and renew the lease."""
        facts = await self._arrivals.facts(session)
        if facts.end is not None or facts.erased:
            raise Refused(self._words["ended"], code="ended", status=410)
        await self._standing.check(facts)
        if key not in facts.answers:
            self._way.reached(facts, self._way.script(facts), key, now)
        self._sizes[session] = self._sizes.get(session, 0) + len(str(batch.events))
        if self._sizes[session] > _LARGEST:
            raise Refused("The event log is too long", where="events", code="too_large", status=413)
        await self._store.append([Events(session, key, batch.tab, batch.first, batch.events, now)])
        if facts.list is not None and not self._standing.is_released(session):
            await self._leases.renew(session, now)
