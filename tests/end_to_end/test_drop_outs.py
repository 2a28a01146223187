"""Drop-outs: every list is finished in the end, and the answers keep the promises of the plan."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from beholder.errors import Refused
from beholder.methods import load_study
from beholder.planning.balance import balance
from beholder.planning.builder import make_plan
from beholder.planning.model import Plan
from beholder.server.process import load_served
from beholder.server.service import StudyService
from beholder.store.contract import Store
from beholder.store.open import open_store
from beholder.testing import write_study
from support.clock_service import Clock, Person, record_of
from support.variants import variant

LEAVING = 0.2
"""The share of people who leave at some trial."""
BACK = 0.3
"""The share of those who return after their lease has expired, and finish a list that was reassigned."""


@asynccontextmanager
async def opened(kind: str, folder: Path, request: pytest.FixtureRequest) -> AsyncIterator[Store]:
    if kind == "sqlite":
        async with open_store(folder / "store") as store:
            yield store
        return
    make: Callable[[], str] = request.getfixturevalue("postgresql_databases")
    async with open_store(make()) as store:
        yield store


class Crowd:
    """People who arrive at random times, some of whom leave; each takes as many sessions as they are offered."""

    def __init__(self, host: StudyService, clock: Clock, seed: int) -> None:
        self.host, self.clock, self.rng = host, clock, np.random.default_rng(seed)
        self.here: list[tuple[Person, int]] = []
        self.gone: list[Person] = []
        self.arrivals = 0

    async def run(self) -> None:
        """Go on until an arrival is refused because the study is full, and no list is claimed any more."""
        for _ in range(5000):
            self.clock.wait(seconds=float(self.rng.integers(1, 240)))
            if self.rng.random() < 0.3 and not await self._comes():
                if not (await self.host.store.counts(self.clock()))["live"]:
                    return
                self.clock.wait(minutes=10)
            elif self.here:
                await self._goes_on()
        raise AssertionError("it never became full")

    async def _comes(self) -> bool:
        if self.gone and self.rng.random() < BACK:
            person = self.gone.pop()
            await person.come()
            self.here.append((person, 99))
            return True
        self.arrivals += 1
        person = Person(self.host, self.clock, f"person{self.arrivals}")
        try:
            await (await person.come()).answer()  # the consent
        except Refused as refused:
            if refused.code != "full":
                raise
            return False
        trials = self.host.served.study.design.trials or 0
        leaves_at = int(self.rng.integers(1, trials + 1)) if self.rng.random() < LEAVING else 99
        self.here.append((person, leaves_at))
        return True

    async def _goes_on(self) -> None:
        place = int(self.rng.integers(len(self.here)))
        person, leaves_at = self.here[place]
        if person.key == f"trial:{leaves_at}":
            self.gone.append(person)
            del self.here[place]
        elif person.step["kind"] != "end":
            await person.answer()
        elif person.step["again"] is None or not await self._again(person):
            del self.here[place]

    async def _again(self, person: Person) -> bool:
        try:
            await (await person.come()).answer()
        except Refused as refused:
            if refused.code != "finished":
                raise
            return False
        return True


async def finished(store: Store) -> dict[str, list[int]]:
    """Return the lists that each person has finished."""
    ended = {row["session"] async for row in store.rows("ends") if row["outcome"] == "completed"}
    who = {row["session"]: row["participant"] async for row in store.rows("sessions")}
    lists: dict[str, list[int]] = {}
    async for row in store.rows("claims"):
        if row["session"] in ended:
            lists.setdefault(who[row["session"]], []).append(row["list"])
    return lists


def assert_promises_of(plan: Plan, catalogue: Any, lists: list[int]) -> None:
    """Check every promised count on the finished lists, with multiplicity."""
    done = [replace(plan.lists[number - 1], number=place) for place, number in enumerate(sorted(lists), 1)]
    for row in balance(replace(plan, lists=tuple(done)), catalogue):
        assert row.promised is None or row.difference <= row.promised, row


@pytest.mark.long
@pytest.mark.parametrize(
    ("sessions", "kind"), [(1, "postgresql"), (2, "sqlite"), variant(1, "sqlite"), variant(2, "postgresql")]
)
async def test_when_all_is_full_every_list_is_finished_whoever_left(
    kind: str, sessions: int, tmp_path: Path, tiny: Path, request: pytest.FixtureRequest, whole: bool
) -> None:
    design = {"participants": 24 // sessions, "trials": 2, "per_trial": 2, "sessions_per_participant": sessions}
    study = load_study(write_study(tmp_path / "study", tiny, design=design, recruit={"minutes": 60}))
    served, plan = load_served(study, "http://here")
    plan = make_plan(study, served.catalogue, served.method)
    for seed in range(20 if whole else 1):
        clock = Clock()
        async with opened(kind, tmp_path / str(seed), request) as store:
            await store.begin(record_of(served, plan.plan_digest))
            crowd = Crowd(StudyService(served, store, now=clock), clock, seed)
            await crowd.run()
            taken = await finished(store)
        done = [number for lists in taken.values() for number in lists]
        assert set(done) == set(range(1, 25)), "every list is finished"
        assert crowd.arrivals > len(taken), "some have left"
        once = sorted(set(done))
        assert_promises_of(plan, served.catalogue, once)
        for lists in taken.values():
            shown = [slot.stimulus for number in lists for t in plan.lists[number - 1].trials for slot in t.slots]
            assert len(shown) == len(set(shown)), "nobody met the same twice"
