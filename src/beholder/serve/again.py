"""Later sessions of the same person: which lists share nothing with those they had, and how long another one takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from beholder.methods.contract import Trial
from beholder.plan.ground.votes import rated_units
from beholder.serve.script import Script
from beholder.serve.served import Served
from beholder.store.contract import Session, SessionFacts, Store, Told

KEY = "again"
"""Where it is kept that somebody has been here before, and need not be asked everything anew."""
_CHECK = "sessions"


class Again:
    """Knows what somebody who has had lists may have next."""

    def __init__(self, served: Served, store: Store) -> None:
        self._served, self._store = served, store
        self.visits = served.study.design.sessions_per_participant
        """How many sessions one person may take."""
        self._is_pair = self.visits > 1 and served.method.units(served.study, served.catalogue).kind == "pair"
        self._known = 0
        self._lists_of: dict[object, list[int]] = {}
        self._chains: dict[object, list[int]] = {}
        self._place: dict[int, tuple[object, int]] = {}

    async def had(self, session: Session, but: int | None = None) -> tuple[int, ...]:
        """Return the lists that the person of a session had before; `but` is the one they have now."""
        if self.visits == 1:
            return ()
        taken = await self._store.lists_taken(session.participant, session.mode, session.run)
        return tuple(number for number in taken if number != but)

    def barred(self, had: Sequence[int]) -> frozenset[int]:
        """Return the lists with anything that somebody has rated, and those of other groups than theirs."""
        if not had:
            return frozenset()
        self._learn()
        met = {unit for number in had if number <= self._known for unit in self._units(number)}
        found = {number for unit in met for number in self._lists_of[unit]}
        group = self._group(had[0])
        found.update(number for other, numbers in self._chains.items() if other != group for number in numbers)
        return frozenset(found)

    def preferred(self, had: Sequence[int]) -> list[int]:
        """Return the lists that go first among equals: those left of somebody's own chain, else the head of any."""
        if self.visits == 1:
            return []
        self._learn()
        if not had:
            return [number for numbers in self._chains.values() for number in numbers[:: self.visits]]
        group, place = self._place.get(had[-1], (None, 0))
        first = place // self.visits * self.visits
        return self._chains.get(group, [])[first : first + self.visits]

    async def offer(self, facts: SessionFacts, script: Script, now: datetime) -> int | None:
        """Return about how many minutes another session takes; None where there is none for this person."""
        is_done = facts.end is not None and facts.end.outcome == "completed" and not facts.erased
        if self.visits == 1 or not is_done or facts.session.mode == "robot":
            return None
        if facts.session.run != self._served.study.run:
            return None
        had = await self.had(facts.session)
        if len(had) >= self.visits or not await self._store.has_room(now, self.barred(had)):
            return None
        trials = [step.trial for step in script.steps if step.is_rated and step.trial is not None]
        seconds = sum(self._served.method.seconds(trial, self._served.catalogue) for trial in trials)
        return max(1, round(seconds / 60))

    def told(self, session: Session, had: Sequence[int], now: datetime) -> list[Told]:
        """Return what is kept of a later session: that it is one."""
        if not had:
            return []
        return [Told(session.session, KEY, _CHECK, "pass", "carried", {"lists": list(had)}, now)]

    def _learn(self) -> None:
        """Take in the lists that are not known yet: a plan may grow while it is served."""
        for number in range(self._known + 1, len(self._served.lists) + 1):
            for unit in self._units(number):
                self._lists_of.setdefault(unit, []).append(number)
            chain = self._chains.setdefault(self._group(number), [])
            self._place[number] = self._group(number), len(chain)
            chain.append(number)
        self._known = len(self._served.lists)

    def _group(self, number: int) -> object:
        groups = self._served.groups
        return tuple(sorted(groups[number - 1].items())) if number <= len(groups) else ()

    def _units(self, number: int) -> set[object]:
        trials = (entry for entry in self._served.lists[number - 1] if isinstance(entry, Trial))
        return {
            unit for trial in trials if trial.purpose == "rate" for unit in rated_units(trial, is_pair=self._is_pair)
        }


def is_again(told: Mapping[str, Told]) -> bool:
    """Return whether a session is a later one of somebody who has finished another."""
    return KEY in told
