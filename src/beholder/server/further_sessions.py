"""Later sessions of the same person: which lists share nothing with those they had, and how long another one takes."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from beholder.clock import utc_now
from beholder.methods import find
from beholder.methods.contract import Trial
from beholder.planning.digest import plan_digest, study_digest
from beholder.planning.folder import write_plan
from beholder.planning.growth import earlier_stimuli, with_units
from beholder.planning.list_counts import rated_units
from beholder.planning.message_trials import load_stimuli
from beholder.planning.model import Plan
from beholder.planning.serialization import lists_from_json
from beholder.server.moderation import Moderation
from beholder.server.script import Script, ServedStudy
from beholder.store.contract import Session, SessionFacts, Store, StoredVerdict, StudyRecord
from beholder.store.open import read_rows
from beholder.store.rules import outdated_session
from beholder.study.model import Study
from beholder.study.recruitment import has_visit_per_session, is_closed, money

LATER_SESSION = "again"
"""Where it is kept that somebody has been here before, and need not be asked everything anew."""
_CHECK = "sessions"


class Offer(NamedTuple):
    """Another session as it is offered: about how long it takes, which it is, and what it earns."""

    minutes: int
    number: int
    of: int
    earns: str | None
    bonus: tuple[int, str] | None
    """From how many accepted sessions on there is more for each of them, and how much."""


class FurtherSessions:
    """Knows what somebody who has had lists may have next."""

    def __init__(self, served: ServedStudy, store: Store, acts: Moderation) -> None:
        self._served, self._store, self._acts = served, store, acts
        self.visits = served.study.design.sessions_per_participant
        """How many sessions one person may take."""
        self.is_offered = not has_visit_per_session(served.study.recruit)
        """Whether the next session begins on the last page of this one, and not as a visit of its own."""
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
        counted = list(taken)
        for number in await self._given_way(session):  # a list that was taken twice counts once
            if number in counted:
                counted.remove(number)
        return tuple(number for number in counted if number != but)

    async def _given_way(self, session: Session) -> list[int]:
        """Return the lists of sessions that gave way to a new visit, and so do not count."""
        if not self._acts.pardons(session.participant):
            return []
        void = []
        for visit in range(1, session.visit):
            earlier, _ = await self._store.arrive(replace(session, session=secrets.token_hex(10), visit=visit))
            facts = await self._store.session_facts(earlier.session)
            if facts is not None and facts.list is not None and self._acts.gives_way(facts):
                void.append(facts.list)
        return void

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

    async def offer(self, facts: SessionFacts, script: Script, now: datetime) -> Offer | None:
        """Return what another session is like; None where there is none for this person."""
        is_done = facts.end is not None and facts.end.outcome == "completed" and not facts.erased
        if self.visits == 1 or not is_done or facts.session.mode == "robot":
            return None
        if facts.session.run != self._served.study.run or is_closed(self._served.study.recruit, now):
            return None
        had = await self.had(facts.session)
        if len(had) >= self.visits or not await self._store.has_free_list(now, self.barred(had)):
            return None
        return self.offered(script, len(had) + 1)

    def offered(self, script: Script, number: int) -> Offer:
        """Return what the next session is like, which is that number of all that one person may take."""
        trials = [step.trial for step in script.steps if step.is_rated and step.trial is not None]
        seconds = sum(self._served.method.seconds(trial, self._served.catalogue) for trial in trials)
        study = self._served.study
        bonus = study.clean.bonus.quantity if study.clean.bonus else None
        is_near = bonus is not None and bonus.sessions <= self.visits
        return Offer(
            minutes=max(1, round(seconds / 60)),
            number=number,
            of=self.visits,
            earns=str(money(study.recruit.reward)) if study.recruit.reward else None,
            bonus=(bonus.sessions, str(money(bonus.each))) if bonus is not None and is_near else None,
        )

    def told(self, session: Session, had: Sequence[int], now: datetime) -> list[StoredVerdict]:
        """Return what is kept of a later session: that it is one."""
        if not had:
            return []
        return [StoredVerdict(session.session, LATER_SESSION, _CHECK, "pass", "carried", {"lists": list(had)}, now)]

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


def is_later_session(told: Mapping[str, StoredVerdict]) -> bool:
    """Return whether a session is a later one of somebody who has finished another."""
    return LATER_SESSION in told


# --- Plans that have grown: the lists in the store are the truth, and a server that lacks some takes them from there.


async def restore_extended_plan(
    store: Store, study: Study, plan: Plan, progress: Callable[[int, int], None] | None = None
) -> bool:
    """Return whether the store holds an extended plan of this study which plan/ lacked; it has been written there."""
    studies = await read_rows(store, "studies")
    # All lists of a large plan take longer to read than everything else at the start.
    if plan.plan_digest in {row["plan_digest"] for row in studies}:
        counts = await store.counts(utc_now(), study.run)
        if counts["lists"] <= len(plan.lists):
            return False
    record = await store.current()
    stored = stored_plan(record) if record is not None else None
    if stored is None or not stored.is_extended:
        return False
    method = find(study.method)
    before = earlier_stimuli(studies, await read_rows(store, "stimuli"), stored.plan_digest)
    catalogue = load_stimuli(study, method, progress, before)
    if plan_digest(study, catalogue) not in stored.covers:
        return False
    whole = with_units(stored, study, catalogue, method, before)
    write_plan(whole, catalogue, study_digest(study, catalogue), study.folder)
    return True


def stored_plan(record: StudyRecord) -> Plan | None:
    """Return the plan that a store holds; None where it has no lists."""
    lists = tuple(lists_from_json(record.lists))
    return Plan(record.plan_digest, 0, lists) if lists else None


async def add_new_lists(served: ServedStudy, store: Store, number: int) -> None:
    """Add the lists to a running server that the store has by now, up to one that somebody has claimed.

    Raises Refused where they show stimuli that this server does not have: it has to be started anew.
    """
    if number <= len(served.lists):
        return
    record = await store.current()
    stored = stored_plan(record) if record is not None else None
    fresh = stored.lists[len(served.lists) :] if stored is not None else ()
    trials = [entry for planned in fresh for entry in planned.entries if isinstance(entry, Trial)]
    if any(slot.stimulus not in served.catalogue.by_id for trial in trials for slot in trial.slots):
        raise outdated_session()
    served.grow(fresh)
    if number > len(served.lists):
        raise outdated_session()
