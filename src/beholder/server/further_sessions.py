"""Further sessions of a participant: which lists share no stimuli with earlier ones, what is offered; grown plans."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
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
from beholder.server.bound_lists import BoundLists
from beholder.server.moderation import Moderation
from beholder.server.script import LATER_SESSION, Script, ServedStudy
from beholder.store.contract import Session, SessionFacts, Store, StoredVerdict, StudyRecord
from beholder.store.open import read_rows
from beholder.store.rules import outdated_session
from beholder.study.languages import LANGUAGE
from beholder.study.model import Study
from beholder.study.recruitment import has_visit_per_session, is_closed, is_person, money
from beholder.words import read_words

_CHECK = "sessions"
_DAY = timedelta(days=1)


class Offer(NamedTuple):
    """The offer of another session: its duration, its number, and what it earns."""

    minutes: int
    number: int
    of: int
    earns: str | None
    bonus: tuple[int, str] | None
    """From how many accepted sessions on each earns a bonus, and how much."""


class FurtherSessions:
    """Finds the lists that a participant may take next."""

    def __init__(self, served: ServedStudy, store: Store, moderation: Moderation, bound: BoundLists) -> None:
        self._served, self._store, self._moderation, self._bound = served, store, moderation, bound
        self.max_sessions = served.study.design.sessions_per_participant
        """How many sessions one participant may take."""
        self.is_offered = not has_visit_per_session(served.study.recruit)
        """Whether the next session begins on the last page of this one, and not as a separate platform visit."""
        arena = served.study.design.arena
        self.per_day = arena.per_day if arena is not None else None
        """How many sessions one participant may take within 24 hours; None without a limit."""
        self._is_pair = self.max_sessions > 1 and served.method.units(served.study, served.catalogue).kind == "pair"
        self._is_active = served.study.design.active is not None
        self._indexed = 0
        self._lists_of: dict[object, list[int]] = {}
        self._chains: dict[object, list[int]] = {}
        self._place: dict[int, tuple[object, int]] = {}

    async def lists_taken(self, session: Session, but: int | None = None) -> tuple[int, ...]:
        """Return the lists that the participant of a session took before; `but` is the current one."""
        if self.max_sessions == 1:
            return ()
        taken = await self._store.lists_taken(session.participant, session.mode, session.run)
        counted = list(taken)
        for number in await self._superseded_lists(session):  # a list that was taken twice counts once
            if number in counted:
                counted.remove(number)
        return tuple(number for number in counted if number != but)

    async def _superseded_lists(self, session: Session) -> list[int]:
        """Return the lists of sessions that were replaced, and so do not count."""
        if not self._moderation.readmissions(session.participant):
            return []
        superseded = []
        for visit in range(1, session.visit):
            earlier, _ = await self._store.arrive(replace(session, session=secrets.token_hex(10), visit=visit))
            facts = await self._store.session_facts(earlier.session)
            if facts is not None and facts.list is not None and self._moderation.is_superseded(facts):
                superseded.append(facts.list)
        return superseded

    def barred(self, session: Session, taken: Sequence[int], language: str | None = None) -> frozenset[int]:
        """Return the lists that are for others, those with a stimulus that was rated, and those of other groups.

        Where the groups are those of languages, the lists of all other languages are for others.
        """
        others = self._of_other_languages(language)
        return self._barred(session, taken) | others if others else self._barred(session, taken)

    def _of_other_languages(self, language: str | None) -> frozenset[int]:
        if language is None or LANGUAGE not in self._served.study.design.between:
            return frozenset()
        groups = self._served.groups
        return frozenset(number for number, group in enumerate(groups, 1) if group[LANGUAGE] != language)

    def _barred(self, session: Session, taken: Sequence[int]) -> frozenset[int]:
        if not taken:
            return self._bound.barred(session)
        if self._is_active:  # what tells most may be what somebody has compared before
            return frozenset(taken)
        self._index_lists()
        rated = {unit for number in taken if number <= self._indexed for unit in self._units(number)}
        barred = {number for unit in rated for number in self._lists_of[unit]} | self._bound.barred(session)
        group = self._group(taken[0])
        barred.update(number for other, numbers in self._chains.items() if other != group for number in numbers)
        return frozenset(barred)

    def preferred(self, taken: Sequence[int], language: str = "") -> list[int]:
        """Return the lists to prefer: the participant's own chain; for a new participant the first of each chain.

        Of several languages, each prefers every so many-th chain of each group: all lists are spread over them.
        """
        codes = self._served.study.all_languages
        is_spread = len(codes) > 1 and language in codes and LANGUAGE not in self._served.study.design.between
        if self._is_active or (self.max_sessions == 1 and (taken or not is_spread)):
            return []
        self._index_lists()
        if not taken:
            first, step = (codes.index(language), len(codes)) if is_spread else (0, 1)
            return [
                number for numbers in self._chains.values() for number in numbers[:: self.max_sessions][first::step]
            ]
        group, place = self._place.get(taken[-1], (None, 0))
        first = place // self.max_sessions * self.max_sessions
        return self._chains.get(group, [])[first : first + self.max_sessions]

    async def offer(self, facts: SessionFacts, script: Script, now: datetime) -> Offer | None:
        """Return the offer of another session; None where this participant gets none."""
        is_done = facts.end is not None and facts.end.outcome == "completed" and not facts.erased
        if self.max_sessions == 1 or not is_done or not is_person(facts.session.mode):
            return None
        if facts.session.run != self._served.study.run or is_closed(self._served.study.recruit, now):
            return None
        taken = await self.lists_taken(facts.session)
        if len(taken) >= self.max_sessions or await self.is_enough_today(facts.session, now):
            return None
        if self.per_day is None and not await self._store.has_free_list(now, self.barred(facts.session, taken)):
            return None
        return self.make_offer(script, len(taken) + 1)

    def make_offer(self, script: Script, number: int) -> Offer:
        """Return the offer of the session with this number."""
        trials = [step.trial for step in script.steps if step.is_rated and step.trial is not None]
        seconds = sum(self._served.method.seconds(trial, self._served.catalogue) for trial in trials)
        study = self._served.study
        words = read_words(study.language)
        bonus = study.clean.bonus.quantity if study.clean.bonus else None
        is_near = bonus is not None and bonus.sessions <= self.max_sessions
        return Offer(
            minutes=max(1, round(seconds / 60)),
            number=number,
            of=self.max_sessions,
            earns=words.money(money(study.recruit.reward)) if study.recruit.reward else None,
            bonus=(bonus.sessions, words.money(money(bonus.each))) if bonus is not None and is_near else None,
        )

    async def is_enough_today(self, session: Session, now: datetime) -> bool:
        """Return whether a participant has begun as many sessions within 24 hours as they may, this one included."""
        if self.per_day is None or session.visit < self.per_day:
            return False
        first = replace(session, session=secrets.token_hex(10), visit=session.visit - self.per_day + 1)
        earlier, _ = await self._store.arrive(first)
        return now - earlier.at < _DAY

    def later_session_facts(self, session: Session, taken: Sequence[int], now: datetime) -> list[StoredVerdict]:
        """Return the fact to store that a session is a later one; none for a first session."""
        if not taken:
            return []
        return [StoredVerdict(session.session, LATER_SESSION, _CHECK, "pass", "carried", {"lists": list(taken)}, now)]

    def _index_lists(self) -> None:
        """Index lists that are new: a plan may be extended while it is served."""
        for number in range(self._indexed + 1, len(self._served.lists) + 1):
            for unit in self._units(number):
                self._lists_of.setdefault(unit, []).append(number)
            chain = self._chains.setdefault(self._group(number), [])
            self._place[number] = self._group(number), len(chain)
            chain.append(number)
        self._indexed = len(self._served.lists)

    def _group(self, number: int) -> object:
        groups = self._served.groups
        return tuple(sorted(groups[number - 1].items())) if number <= len(groups) else ()

    def _units(self, number: int) -> set[object]:
        trials = (entry for entry in self._served.lists[number - 1] if isinstance(entry, Trial))
        return {
            unit for trial in trials if trial.purpose == "rate" for unit in rated_units(trial, is_pair=self._is_pair)
        }


# Extended plans: the store holds the authoritative lists


async def restore_extended_plan(
    store: Store, study: Study, plan: Plan, progress: Callable[[int, int], None] | None = None
) -> bool:
    """Write an extended plan of the store to plan/ if it is missing there; return whether that was done."""
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
    """Return the plan of a store; None without lists."""
    lists = tuple(lists_from_json(record.lists))
    return Plan(record.plan_digest, 0, lists) if lists else None


async def add_new_lists(served: ServedStudy, store: Store, number: int) -> None:
    """Add lists of the store that a running server lacks, up to the number of a claimed list.

    Raises Refused where they show stimuli that this server does not have, so that it must be restarted.
    """
    if number <= len(served.lists):
        return
    record = await store.current()
    stored = stored_plan(record) if record is not None else None
    new_lists = stored.lists[len(served.lists) :] if stored is not None else ()
    trials = [entry for planned in new_lists for entry in planned.entries if isinstance(entry, Trial)]
    if any(slot.stimulus not in served.catalogue.by_id for trial in trials for slot in trial.slots):
        raise outdated_session()
    served.add_lists(new_lists)
    if number > len(served.lists):
        raise outdated_session()
