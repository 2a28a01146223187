"""Rehearsals: simulated participants who take a study through the fake platform, with many kinds of behaviour."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import httpx

from beholder.methods import load_study
from beholder.recruiting.fake.http import Refusal
from beholder.recruiting.fake.platform import FakeProlific
from beholder.recruiting.fake.state import LIVE_STATUSES, FakePerson
from beholder.recruiting.fake.submissions import NO_CODE, FakeVisit
from beholder.server.process import load_served
from beholder.simulation.crowd import SimulatedVisitors
from beholder.simulation.robot import ServerUnavailable
from beholder.store.open import open_store

if TYPE_CHECKING:
    from beholder.simulation.crowd import VisitManner, VisitOutcome


# One visit: behaviour on the platform and on our pages


Behaviour = Literal[
    "finish", "drop_out", "return", "return_after", "late", "no_code", "wrong_code", "leaked_code", "twice",
    "elsewhere", "withdraw", "decline", "careless", "unfit", "gives_up",
]  # fmt: skip
"""drop_out: leaves silently. return: leaves and returns the place. return_after: submits, then returns. late: times
out and finishes nevertheless. leaked_code: submits the right code after half of the work. twice: returns a place, takes
another and finishes. elsewhere: arrives with the id of another study. careless: answers without looking. unfit: gives
other prescreening answers. gives_up: submits without a code after half of the work."""
BEHAVIOURS: tuple[Behaviour, ...] = get_args(Behaviour)
_WRONG_CODE = "WRONG1"


class VisitResult(NamedTuple):
    """The result of a visit: the submissions on the platform, and the outcome on our server."""

    visits: tuple[FakeVisit, ...]
    outcome: VisitOutcome


async def visit_study(
    fake: FakeProlific,
    visitors: SimulatedVisitors,
    study: str,
    behaviour: Behaviour = "finish",
    *,
    person: FakePerson | None = None,
    kind: str | None = None,
    trials: int = 1,
) -> VisitResult:
    """Return the result of a participant who takes a place in a study and shows this behaviour.

    `trials` is the number of trials before leaving early, `kind` the kind of rater. Raise Refusal if the platform has
    no place.
    """
    first = fake.people.take(study, person or fake.people.draw(study)).start()
    return await _ScriptedVisit(
        fake, visitors, first, kind or ("careless" if behaviour == "careless" else "honest"), trials
    ).run(behaviour)


class _ScriptedVisit:
    """One participant's visit, by behaviour."""

    def __init__(
        self, fake: FakeProlific, visitors: SimulatedVisitors, first: FakeVisit, kind: str, trials: int
    ) -> None:
        self._fake, self._visitors, self._first, self._kind, self._trials = fake, visitors, first, kind, trials

    async def run(self, behaviour: Behaviour) -> VisitResult:
        stories: dict[Behaviour, Callable[[], Awaitable[VisitResult]]] = {
            "finish": self._finish, "careless": self._finish, "drop_out": self._leave, "return": self._return,
            "return_after": self._return_after, "late": self._late, "no_code": lambda: self._finish(NO_CODE),
            "wrong_code": lambda: self._finish(_WRONG_CODE), "leaked_code": self._leaked, "twice": self._twice,
            "elsewhere": self._elsewhere, "withdraw": lambda: self._end_early("withdraws"),
            "decline": lambda: self._end_early("declines"),
            "unfit": lambda: self._end_early("misfits"), "gives_up": self._give_up,
        }  # fmt: skip
        return await stories[behaviour]()

    async def _finish(self, code: str | None = None, at: FakeVisit | None = None) -> VisitResult:
        there = at or self._first
        outcome = await self._visitors.visit(there.url, kind=self._kind)
        if outcome.code:
            self._hand_in(there, code or outcome.code)
        elif outcome.refused:
            there.return_place()
        return VisitResult((self._first,) if at is None else (self._first, at), outcome)

    async def _leave(self) -> VisitResult:
        return VisitResult(
            (self._first,), await self._visitors.visit(self._first.url, kind=self._kind, trials=self._trials)
        )

    async def _return(self) -> VisitResult:
        left = await self._leave()
        self._first.return_place()
        return left

    async def _return_after(self) -> VisitResult:
        done = await self._finish()
        if self._first.submission.status == "AWAITING REVIEW":
            self._first.return_place()
        return done

    async def _late(self) -> VisitResult:
        await self._leave()
        limit = self._fake.studies.find(self._first.submission.study).limit
        self._fake.advance(seconds=limit.total_seconds() + 60)
        return await self._finish()

    async def _leaked(self) -> VisitResult:
        left = await self._leave()
        self._first.finish()
        return left

    async def _give_up(self) -> VisitResult:
        left = await self._leave()
        self._hand_in(self._first, NO_CODE)
        return left

    async def _twice(self) -> VisitResult:
        await self._return()
        second = self._fake.people.take(self._first.submission.study, self._first.submission.person, again=True)
        return await self._finish(at=second.start())

    async def _elsewhere(self) -> VisitResult:
        url = self._first.url.replace(self._first.submission.study, self._fake.new_id())
        outcome = await self._visitors.visit(url, kind=self._kind)
        self._first.return_place()
        return VisitResult((self._first,), outcome)

    async def _end_early(self, manner: VisitManner) -> VisitResult:
        outcome = await self._visitors.visit(self._first.url, manner=manner, trials=self._trials)
        self._hand_in(self._first, outcome.code)
        return VisitResult((self._first,), outcome)

    def _hand_in(self, there: FakeVisit, code: str) -> None:
        """Submit a code, and return the submission if its code asks for that."""
        there.finish(code or NO_CODE)
        if there.submission.return_requested is not None and there.submission.status == "AWAITING REVIEW":
            there.return_place()


# A whole rehearsal


USUAL_BEHAVIOURS: Mapping[Behaviour, float] = {
    "finish": 0.8, "no_code": 0.04, "return": 0.04, "drop_out": 0.04, "careless": 0.04, "wrong_code": 0.02,
    "decline": 0.02,
}  # fmt: skip
"""Shares of behaviours."""
ALL_WELL: Mapping[Behaviour, float] = {"finish": 1.0}


class RehearsedVisit(NamedTuple):
    """A finished visit."""

    number: int
    behaviour: Behaviour
    ending: str
    """How it ended on our server and on the platform, or the error."""


def draw_behaviours(people: int, shares: Mapping[Behaviour, float]) -> Sequence[Behaviour]:
    """Return the behaviour of each of `people` participants."""
    return random.Random(1).choices(list(shares), list(shares.values()), k=people)  # noqa: S311 (a simulation)


async def rehearse(
    fake: FakeProlific,
    study: Path,
    store: str | None,
    people: Iterable[Behaviour],
    report_visit: Callable[[RehearsedVisit], None],
    every_s: float,
    *,
    skips_time: bool = False,
) -> None:
    """Send participants to a study once it is open; before, it may have no store yet."""
    while not any(one.status == "ACTIVE" for one in fake.studies.all.values()):
        await asyncio.sleep(every_s)
    loaded = load_study(study)
    served, _ = load_served(loaded, "http://127.0.0.1")
    async with open_store(store or loaded.folder / "store", write=False) as opened:
        visitors = SimulatedVisitors(served, opened, waits=loaded.playback.watch != "none")
        await PlatformRehearsal(fake, visitors, people, report_visit, skips_time=skips_time).run(every_s)


class PlatformRehearsal:
    """Sends participants to the open studies of the fake platform, one after the other.

    With `skips_time`, silent drop-outs time out as soon as nobody else is at work.
    """

    def __init__(
        self,
        fake: FakeProlific,
        visitors: SimulatedVisitors,
        people: Iterable[Behaviour],
        report_visit: Callable[[RehearsedVisit], None],
        *,
        skips_time: bool = False,
    ) -> None:
        self._fake, self._visitors, self._people, self._report = fake, visitors, people, report_visit
        self._skips_time, self._at_work = skips_time, 0

    async def run(self, every_s: float) -> None:
        """Send a participant every `every_s` seconds while there is a place, and wait until all have ended."""
        async with asyncio.TaskGroup() as group:
            for number, behaviour in enumerate(self._people, 1):
                while (study := self._open()) is None:
                    if self._skips_time and not self._at_work:
                        self._skip()
                    await asyncio.sleep(every_s)
                self._at_work += 1
                group.create_task(self._come(number, study, behaviour))
                await asyncio.sleep(every_s)

    def _open(self) -> str | None:
        """Return the id of a study with a free place, or None."""
        self._fake.advance()
        for study in self._fake.studies.all.values():
            if study.status == "ACTIVE" and self._fake.submissions.taken(study.id) < study.places:
                return study.id
        return None

    def _skip(self) -> None:
        """Advance the clock until all live submissions time out."""
        left = [one.study for one in self._fake.submissions.all.values() if one.status in LIVE_STATUSES]
        if left:
            limit = max(self._fake.studies.find(study).limit for study in left)
            self._fake.advance(seconds=limit.total_seconds())

    async def _come(self, number: int, study: str, behaviour: Behaviour) -> None:
        try:
            result = await visit_study(self._fake, self._visitors, study, behaviour)
            ended = result.outcome.refused or result.outcome.outcome or "left"
            ending = f"{ended}, {result.visits[-1].submission.status}"
        except (Refusal, ServerUnavailable, httpx.HTTPError) as error:
            ending = str(error)
        finally:
            self._at_work -= 1
        self._report(RehearsedVisit(number, behaviour, ending))
