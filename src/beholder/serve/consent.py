"""What follows from agreeing: a list, and what somebody brings along from earlier."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from beholder.serve.again import Again
from beholder.serve.carrying import bring_along
from beholder.serve.growing import take_in
from beholder.serve.leases import Leases
from beholder.serve.script import CONSENT, Planned, Script
from beholder.serve.served import Served
from beholder.store.contract import SessionFacts, Store, Told
from beholder.types import Json


class Consent:
    """Gives whoever agrees a list."""

    def __init__(self, served: Served, store: Store, again: Again, leases: Leases) -> None:
        self._served, self._store, self._again, self._leases = served, store, again, leases

    async def given(self, facts: SessionFacts, now: datetime) -> tuple[SessionFacts, Script, list[Told]]:
        """Return what is known of a session with its list, its steps, and what is kept of it; or raise Refused."""
        served, store = self._served, self._store
        had = await self._again.had(facts.session, facts.list)
        if had:  # whose lists are barred has to be known of all of them
            await take_in(served, store, (await store.counts(now, served.study.run))["lists"])
        number = await self._leases.claim(facts.session, had, now)
        await take_in(served, store, number)
        facts, script = replace(facts, list=number), served.script(number, is_again=bool(had))
        told = self._again.told(facts.session, had, now)
        return facts, script, [*told, *await bring_along(store, served.digest, facts, script, now)]


def is_given(step: Planned, answer: Json) -> bool:
    """Return whether somebody has agreed by this answer."""
    return step is CONSENT and isinstance(answer, Mapping) and bool(answer["agree"])
