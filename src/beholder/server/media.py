"""Exhibits: the stimuli, and what is drawn for a check, each behind its address."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from datetime import datetime

from beholder.errors import Refused
from beholder.serve.addresses import Addresses
from beholder.serve.arrivals import Arrivals
from beholder.serve.delivery import Deliverable, Made
from beholder.serve.examiner import Examiner
from beholder.serve.previews import Previews
from beholder.serve.script import Script
from beholder.serve.way import Way, at_hand
from beholder.store.contract import SessionFacts, Store


class Exhibits:
    """Hands out what is behind an address, to whoever has the address."""

    def __init__(
        self,
        store: Store,
        words: Mapping[str, str],
        now: Callable[[], datetime],
        addresses: Addresses,
        arrivals: Arrivals,
        previews: Previews,
        way: Way,
        examiner: Examiner,
    ) -> None:
        self._store, self._words, self._now, self._addresses = store, words, now, addresses
        self._arrivals, self._previews, self._way, self._examiner = arrivals, previews, way, examiner

    async def open(self, token: str) -> Deliverable:
        """Return the medium behind an address: a stimulus, or what was drawn for the check at hand."""
        session = token.partition("-")[0]
        if not self._addresses.has(session, token):
            # Anybody can ask for any address: none of them makes a preview.
            shown = self._previews.made(session)
            facts = shown.facts if shown else await self._arrivals.facts(session)
            script = shown.script if shown else self._way.script(facts)
            if script is not None and not self._addresses.knows(session):
                self._addresses.learn(session, script)
            drawn = None if self._addresses.has(session, token) else await self._drawn(facts, script, token)
            if drawn is not None:
                return drawn
        return self._addresses.open(session, token, self._words["no_media"], self._words["media_away"])

    async def _drawn(self, facts: SessionFacts, script: Script | None, token: str) -> Made | None:
        """Return the picture or sound behind an address, if it belongs to the attempt at hand."""
        if facts.end is not None:
            return None
        shown = self._previews.made(facts.session.session)
        for here in shown.attempts if shown else at_hand(facts, script, self._now()):
            if here.check is None:
                continue
            try:
                before = shown.before(here) if shown else facts
                drawn = await asyncio.to_thread(self._examiner.draw, before, here, token)
            except Exception as error:  # the attempt is over, and a new page goes on after it
                fault = self._examiner.fault(facts, here, error, self._now())
                if not shown:
                    await self._store.append([fault])
                raise Refused(self._words["no_media"], code="our_fault", status=404) from error
            if drawn is not None:
                return Made(*drawn)
        return None
