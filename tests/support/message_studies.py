"""Studies of short texts with messages that ask for an answer, and people who follow them or do not."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import yaml

from beholder.methods import load_study
from beholder.methods.contract import Trial
from beholder.server.process import load_served
from beholder.server.requests import SubmittedAnswer
from beholder.server.script import ServedStudy
from beholder.server.service import StudyService
from beholder.simulation.robot import watch_events
from beholder.store.open import open_store
from support.clock_service import Clock, Person, record_of

CONDITIONS = ("zqplain", "zqlong", "zqodd")
CONTENTS = ("zqsea", "zqwood", "zqtown", "zqhill")
PARTS = {"zqplain": "It is quiet there.", "zqlong": "It is quiet there, and it stays so.", "zqodd": "Quiet it is."}
OFF = 30
"""The distance of a wrong answer from the requested one."""

Hosted = tuple[StudyService, Clock]


def write_asking(folder: Path, **keys: Any) -> Path:
    """Write a study of texts, three on a page, and return its study.yaml; three of them ask for an answer."""
    for condition in CONDITIONS:
        for content in CONTENTS:
            path = folder / "stimuli" / condition / f"{content}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"We go to the {content[2:]}. {PARTS[condition]} We stay until the evening.", "utf-8")
    study = {
        "beholder": 1, "name": "tiny", "title": "Tiny", "method": "parallel", "stimuli": "stimuli",
        "conditions": list(CONDITIONS), "questions": [{"id": "quality", "text": "How good is it?"}],
        "design": {"participants": 6, "trials": 4, "seed": 3}, "contact": "tiny@example.org",
        "checks": {"attention": True},
    }  # fmt: skip
    (folder / "study.yaml").write_text(yaml.safe_dump({**study, **keys}, sort_keys=False), "utf-8")
    return folder / "study.yaml"


@asynccontextmanager
async def serving(study: Path, store: Path) -> AsyncIterator[tuple[StudyService, Clock]]:
    """Yield a service without a server, and its clock."""
    served, plan = load_served(load_study(study), "http://here")
    clock = Clock()
    async with open_store(store) as opened:
        await opened.begin(record_of(served, plan.plan_digest), served.study.run)
        yield StudyService(served, opened, now=clock), clock


def targets(served: ServedStudy, number: int, key: str) -> Mapping[str, Any]:
    """Return the requested answers of a trial, by question and slot."""
    return trial_of(served, number, key).targets


def trial_of(served: ServedStudy, number: int, key: str) -> Trial:
    step = served.script(number).find(key)
    assert step is not None
    assert step.trial is not None
    return step.trial


def scores(step: Mapping[str, Any], asked: Mapping[str, Any], *, obeys: bool) -> dict[str, Any]:
    """Return an answer that differs from slot to slot, and follows the messages or does not."""
    given = {slot["id"]: 20.0 + 7 * place for place, slot in enumerate(step["trial"]["slots"])}
    for where, target in asked.items():
        off = OFF if target.value < 50 else -OFF
        given[where.partition(".")[2]] = target.value + (0 if obeys else off)
    return {"scores": {"q1": given}}


def clip(step: Mapping[str, Any], value: int = 4, *, stutters: bool = False) -> SubmittedAnswer:
    """Return an answer to a clip, with smooth or stuttering playback."""
    events = watch_events(step["trial"])
    if stutters:
        (frames,) = [one for one in events if one[1] == "frames"]
        frames[3] = {**frames[3], "dropped": frames[3]["total"]}
    return SubmittedAnswer({"scores": {"q1": {"s1": value}}}, events=events)


class Rater(Person):
    """A participant who knows the requested answers, and gives them by default."""

    async def asked(self) -> Mapping[str, Any]:
        number = (await self.facts()).list
        assert number is not None
        return targets(self.host.served, number, self.key)

    async def rate(self, *, obeys: bool = True, events: Any = None, **more: Any) -> str:
        """Rate the current page; return the key of the next step."""
        answer = scores(self.step, await self.asked(), obeys=obeys)
        return await self.answer(SubmittedAnswer(answer, events=events or watch_events(self.step["trial"]), **more))

    async def until_asked(self) -> None:
        """Rate pages until one has a message."""
        await self.until("trial:")
        while self.step["kind"] == "trial" and not await self.asked():
            await self.rate()
