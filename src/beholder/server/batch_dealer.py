"""Dealing active pairs while people answer: the next batch of lists, made from the answers so far.

Any server may make it: a batch is added to the plan in one transaction, and only after as many lists as it was made
for, so that of several servers one adds it and the others find it. It is made when half of the last one is taken, so
that nobody waits for it; only who comes and finds no list free waits until it is there.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import cast

from beholder.methods.contract import Trial, all_questions
from beholder.planning.digest import plan_digest
from beholder.planning.growth import BATCH, BatchPlanner
from beholder.planning.model import Addition, DealtBatch, PlannedList
from beholder.planning.serialization import later_lists_to_json, lists_from_json
from beholder.planning.vote_tally import PairVote, VoteTally, comparisons_in
from beholder.server.arena_conditions import joining
from beholder.server.further_sessions import add_new_lists
from beholder.server.script import FIRST_TRIAL, ServedStudy, base_key
from beholder.store.condition_changes import CONDITION, JOIN, change_entries, retired_conditions
from beholder.store.contract import LedgerEntry, Population, Session, SessionFacts, Store, StoreUnavailable
from beholder.store.open import read_rows
from beholder.store.rules import population, record_of
from beholder.types import Json

_log = logging.getLogger("beholder.server")
_LARGEST = 1000
"""Lists of a batch, at most."""
_TRIAL = FIRST_TRIAL.partition(":")[0]


class Dealer:
    """Deals the lists of one study; where its plan is fixed, all of them are there and it does nothing."""

    def __init__(self, served: ServedStudy, store: Store, now: Callable[[], datetime]) -> None:
        self._served, self._store, self._now = served, store, now
        self.is_active = served.study.design.active is not None
        """Whether lists are made while people answer. Then robots do not share lists either."""
        self._votes = VoteReader(served, store)
        self._planner: BatchPlanner | None = None
        self._noted = self._indexed = self._checked = 0
        self._with_retired: frozenset[int] = frozenset()
        """The lists that show a condition that has retired."""
        self._lists_of: dict[str, list[int]] = {"": [], "people": [], "robot": []}
        """The lists by whose answers they were made of; those of the first batch are for all."""
        self._is_exhausted: set[Population] = set()
        self._making = asyncio.Lock()
        self.retired: frozenset[str] = frozenset()
        """Conditions that are dealt no more."""
        self._tasks: set[asyncio.Task[bool]] = set()

    def barred(self, mine: Population) -> frozenset[int]:
        """Return the lists that were made of the answers of others: of robots where people come, and so on."""
        if not self.is_active:
            return frozenset()
        self._index_lists()
        others = (number for other, lists in self._lists_of.items() if other not in ("", mine) for number in lists)
        return frozenset(others) | self._with_retired

    def hear(self, entries: Iterable[LedgerEntry]) -> None:
        """Take note of conditions that retired or came back."""
        retired = retired_conditions(entries, self.retired)
        if retired != self.retired:
            self.retired, self._checked, self._with_retired = retired, 0, frozenset()
            self._is_exhausted.clear()

    def can_deal(self, mine: Population) -> bool:
        """Return whether there will be more lists than there are now."""
        if not self.is_active or mine in self._is_exhausted:
            return False
        most = self._served.study.design.dealt_lists
        return most is None or self._dealt(mine) < most

    def look_ahead(self, mine: Population, number: int) -> None:
        """Begin to make the next batch where the list that was claimed is in the second half of the last one."""
        if not self.can_deal(mine) or self._making.locked():
            return
        last = self._last_batch(mine)
        if number >= last[len(last) // 2]:
            task = asyncio.create_task(self._deal_quietly(mine))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _deal_quietly(self, mine: Population) -> bool:
        try:
            return await self.deal(mine)
        except StoreUnavailable:  # who comes next tries again
            return False
        except Exception:
            _log.exception("the next batch of pairs could not be made")
            return False

    async def finish(self) -> None:
        """Wait for a batch that is being made: its store is about to be closed."""
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def deal(self, mine: Population) -> bool:
        """Return whether there are lists now that were not there before, made here or by another server."""
        before = len(self._served.lists)
        async with self._making:
            if len(self._served.lists) > before:
                return True
            return self.can_deal(mine) and await self._make(mine)

    async def _make(self, mine: Population) -> bool:
        served, held = self._served, len(self._served.lists)
        tally = await self._votes.tally(mine)
        planner = await asyncio.to_thread(self._take_note)
        most = served.study.design.dealt_lists
        left = planner.shape.lists if most is None else most - self._dealt(mine)
        last = served.batches[self._last_batch(mine)[-1] - 1]
        batch = DealtBatch(last.number + 1 if last is not None else 1, mine, tally.votes, tally.digest)
        when = self._now().isoformat(timespec="seconds")
        added = Addition(BATCH, when, plan_digest(served.study, served.catalogue))
        lists = await asyncio.to_thread(planner.make, tally, batch, left, added, held, self.retired)
        if not lists:
            self._is_exhausted.add(mine)
            return False
        if await self._store.grow(served.plan_digest, held, later_lists_to_json(lists), mine):
            if len(served.lists) == held:
                served.add_lists(lists)
        else:
            await add_new_lists(served, self._store, held + 1)
        return True

    def _take_note(self) -> BatchPlanner:
        """Return the planner, which knows of every list that this server knows of."""
        served = self._served
        if self._planner is None:
            self._planner = BatchPlanner(served.study, served.catalogue, served.method)
        for place in range(self._noted, len(served.lists)):
            entries = tuple(served.lists[place])
            self._planner.take_note(PlannedList(place + 1, entries, batch=served.batches[place]))
            self._noted = place + 1
        return self._planner

    def _index_lists(self) -> None:
        """Index lists that are new, made here or elsewhere."""
        if self.retired:
            lists = self._served.lists
            new = (number for number in range(self._checked + 1, len(lists) + 1) if self._shows_retired(number))
            self._with_retired |= frozenset(new)
            self._checked = len(lists)
        for number in range(self._indexed + 1, len(self._served.batches) + 1):
            batch = self._served.batches[number - 1]
            self._lists_of.setdefault(batch.population if batch is not None else "", []).append(number)
        self._indexed = len(self._served.batches)

    def _shows_retired(self, number: int) -> bool:
        by_id = self._served.catalogue.by_id
        trials = (entry for entry in self._served.lists[number - 1] if isinstance(entry, Trial))
        return any(
            slot.stimulus in by_id and by_id[slot.stimulus].condition in self.retired
            for trial in trials
            if trial.purpose == "rate"
            for slot in trial.slots
        )

    def _dealt(self, mine: Population) -> int:
        """Return how many lists a population has, those of the first batch included."""
        self._index_lists()
        return len(self._lists_of[""]) + len(self._lists_of[mine])

    def _last_batch(self, mine: Population) -> Sequence[int]:
        """Return the lists of the last batch of a population."""
        self._index_lists()
        own = self._lists_of[mine] or self._lists_of[""]
        batches = self._served.batches
        return [number for number in own[-_LARGEST:] if batches[number - 1] == batches[own[-1] - 1]]


async def add_joined(served: ServedStudy, store: Store, now: Callable[[], datetime]) -> bool:
    """Deal a batch with what joins an arena, and make its text the current one; return whether anything joined.

    That it joins is told first: a server that is killed after any of these steps does what is left at its next start.
    """
    found = await joining(store, served)
    if found is None:
        return False
    names = found.conditions or tuple(dict.fromkeys(served.catalogue.by_id[one].content for one in found.stimuli))
    entries, what = await store.ledger.entries(), {"stimuli": list(found.stimuli)}
    told = {one.reason_text for one in entries if one.kind == CONDITION and one.evidence == what}
    await store.ledger.append(change_entries(JOIN, [name for name in names if name not in told], now(), what))
    lists = tuple(lists_from_json(found.lists))
    before = replace(
        served,
        plan_digest=found.plan_digest,
        lists=[planned.entries for planned in lists],
        batches=[planned.batch for planned in lists],
    )
    dealer = Dealer(before, store, now)
    dealer.hear(await store.ledger.entries())
    await dealer.deal("people")
    record = await store.current()
    assert record is not None
    joined = record_of(served.study, served.catalogue, found.plan_digest, record.lists, now())
    await store.begin(joined, served.study.run)
    return True


def population_of(session: Session) -> Population:
    """Return by whose answers the lists of a session are made."""
    return cast(Population, population(session.mode))


class VoteReader:
    """The comparisons in all answers under this plan; those of sessions that have ended are read once."""

    def __init__(self, served: ServedStudy, store: Store) -> None:
        self._served, self._store = served, store
        question = next(iter(all_questions(served.study, served.method)), None)
        self._question = question.id if question is not None else ""
        """The first question of the study decides what is compared next."""
        self._ended: dict[str, list[PairVote]] = {}

    async def tally(self, mine: Population) -> VoteTally:
        """Return the votes of a population so far, whoever gave them: whom to believe is decided afterwards."""
        served, store = self._served, self._store
        plans = {row["digest"] for row in await read_rows(store, "studies") if row["plan_digest"] == served.plan_digest}
        ended = {row["session"] async for row in store.rows("ends")}
        erased = {row["session"] async for row in store.rows("erasures")}
        by_id = served.catalogue.by_id
        tally = VoteTally(served.catalogue.conditions, {name: one.condition for name, one in by_id.items()})
        async for row in store.rows("sessions"):
            session = row["session"]
            if session in erased or row["digest"] not in plans or row["run"] != served.study.run:
                continue
            if population(row["mode"]) == mine:
                for vote in await self._votes_of(session, has_ended=session in ended):
                    tally.add(vote)
        return tally

    async def _votes_of(self, session: str, *, has_ended: bool) -> list[PairVote]:
        known = self._ended.get(session)
        if known is not None:
            return known
        facts = await self._store.session_facts(session)
        if facts is None or facts.list is None or facts.list > len(self._served.lists):
            return []
        votes = list(self._votes_in(facts))
        if has_ended:
            self._ended[session] = votes
        return votes

    def _votes_in(self, facts: SessionFacts) -> Iterator[PairVote]:
        assert facts.list is not None
        entries = self._served.lists[facts.list - 1]
        trials = [one for one in entries if isinstance(one, Trial) and one.purpose == "rate"]
        last: dict[int, Json] = {}
        for key, answer in facts.answers.items():
            kind, _, place = base_key(key).partition(":")
            if kind == _TRIAL and place.isdecimal() and 0 < int(place) <= len(trials):
                last[int(place)] = answer.answer
        for number, given in sorted(last.items()):
            yield from comparisons_in(self._served.method, trials[number - 1], given, self._question)
