"""A rehearsal: people who come to the fake by themselves as soon as a study is open there."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import httpx

from beholder.methods import load_study
from beholder.recruit.fake.answers import Refusal
from beholder.recruit.fake.platform import FakeProlific
from beholder.recruit.fake.state import LIVE
from beholder.recruit.fake.visits import Behaviour, visit
from beholder.serve.server import load_served
from beholder.simulate.robot import GaveUp
from beholder.simulate.visiting import Visitors
from beholder.store.open import open_store

USUAL: Mapping[Behaviour, float] = {
    "finish": 0.8, "no_code": 0.04, "return": 0.04, "drop_out": 0.04, "careless": 0.04, "wrong_code": 0.02,
    "decline": 0.02,
}  # fmt: skip
"""How people behave, by share."""
ALL_WELL: Mapping[Behaviour, float] = {"finish": 1.0}


class Came(NamedTuple):
    """Somebody who has come and gone."""

    number: int
    behaviour: Behaviour
    told: str
    """How it ended for them, here and on the platform; or why it did not."""


def drawn(people: int, shares: Mapping[Behaviour, float]) -> Sequence[Behaviour]:
    """Return how so many people behave."""
    return random.Random(1).choices(list(shares), list(shares.values()), k=people)


async def rehearse(
    fake: FakeProlific,
    study: Path,
    store: str | None,
    people: Iterable[Behaviour],
    say: Callable[[Came], None],
    every_s: float,
    *,
    skips_time: bool = False,
) -> None:
    """Send people to a study once it is open: before, it may have no store yet."""
    while not any(one.status == "ACTIVE" for one in fake.studies.all.values()):
        await asyncio.sleep(every_s)
    loaded = load_study(study)
    served, _ = load_served(loaded, "http://127.0.0.1")
    async with open_store(store or loaded.folder / "store", write=False) as opened:
        visitors = Visitors(served, opened, waits=loaded.playback.watch != "none")
        await Rehearsal(fake, visitors, people, say, skips_time=skips_time).run(every_s)


class Rehearsal:
    """Sends people to whatever is open on the fake, one after the other, each with a way of their own.

    With `skips_time`, whoever has left without a word is out of time as soon as nobody else is at work.
    """

    def __init__(
        self,
        fake: FakeProlific,
        visitors: Visitors,
        people: Iterable[Behaviour],
        say: Callable[[Came], None],
        *,
        skips_time: bool = False,
    ) -> None:
        self._fake, self._visitors, self._people, self._say = fake, visitors, people, say
        self._skips_time, self._at_work = skips_time, 0

    async def run(self, every_s: float) -> None:
        """Let everybody come, one each so many seconds while there is a place, and wait until all are through."""
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
        """Return a study that has a place."""
        self._fake.advance()
        for study in self._fake.studies.all.values():
            if study.status == "ACTIVE" and self._fake.submissions.taken(study.id) < study.places:
                return study.id
        return None

    def _skip(self) -> None:
        """Let the time pass that those have left who will not hand in."""
        left = [one.study for one in self._fake.submissions.all.values() if one.status in LIVE]
        if left:
            limit = max(self._fake.studies.find(study).limit for study in left)
            self._fake.advance(seconds=limit.total_seconds())

    async def _come(self, number: int, study: str, behaviour: Behaviour) -> None:
        try:
            found = await visit(self._fake, self._visitors, study, behaviour)
            ended = found.brought.refused or found.brought.outcome or "left"
            told = f"{ended}, {found.visits[-1].submission.status}"
        except (Refusal, GaveUp, httpx.HTTPError) as error:
            told = str(error)
        finally:
            self._at_work -= 1
        self._say(Came(number, behaviour, told))
