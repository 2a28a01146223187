"""A study service with a clock that tests set, and people who answer its steps."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Self

from beholder.checks.page_contract import RobotAbilities
from beholder.methods import load_study
from beholder.server.page_checks import check_of, rng_of, seed_of
from beholder.server.process import load_served
from beholder.server.requests import SubmittedAnswer
from beholder.server.service import StudyService
from beholder.simulation.robot import plain_fill, watch_events
from beholder.store.contract import SessionFacts, Store, StudyRecord
from beholder.store.open import open_store
from beholder.testing import write_study

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
LAPTOP: dict[str, Any] = {
    "screen": [1920, 1080], "viewport": [1900, 900], "dpr": 1, "platform": "Linux", "pointer": "fine", "touch": False,
    "language": "en", "timezone_offset": 0, "browser": "Chrome 140",
}  # fmt: skip
PHONE: dict[str, Any] = {**LAPTOP, "screen": [390, 844], "viewport": [390, 700], "dpr": 3, "platform": "Android"}


class Clock:
    """A clock that advances only on request."""

    def __init__(self) -> None:
        self.time = NOON

    def __call__(self) -> datetime:
        return self.time

    def wait(self, **span: float) -> None:
        self.time += timedelta(**span)


class Person:
    """A participant without HTTP, who passes all checks except those in `fails`."""

    def __init__(self, host: StudyService, clock: Clock, name: str = "ann", device: Mapping[str, Any] = LAPTOP) -> None:
        self.host, self.clock, self.params, self.device = host, clock, {"participant": name}, device
        self.token, self.step, self.fails = "", {}, frozenset[str]()  # type: ignore[var-annotated]
        self.feedback: str | None = None

    @property
    def key(self) -> str:
        return str(self.step["key"])

    @property
    def session(self) -> str:
        return self.token.split(".")[1]

    async def come(self, device: Mapping[str, Any] | None = None) -> Self:
        """Open the link, also again in the same browser, a moment later."""
        self.clock.wait(milliseconds=1)
        self.device = device or self.device
        _, arrival = await self.host.arrive(self.params, self.device, self.token)
        self.token, self.step = arrival["token"], arrival["step"]  # type: ignore[assignment]
        return self

    async def facts(self) -> SessionFacts:
        facts = await self.host.store.session_facts(self.session)
        assert facts is not None
        return facts

    async def verdict(self, key: str) -> Any:
        return (await self.facts()).verdicts[key]

    async def answers(self, step: Mapping[str, Any] | None = None) -> SubmittedAnswer:
        """Return the answer of this person to a step."""
        step = step or self.step
        match step["kind"]:
            case "consent":
                return SubmittedAnswer({"agree": True})
            case "questions":
                return SubmittedAnswer({"answers": {item["id"]: plain_fill(item) for item in step["items"]}})
            case "check":
                return SubmittedAnswer(await self._examined(str(step["key"])))
            case "trial":
                events = watch_events(step["trial"])
                scores = {slot["id"]: 50 for slot in step["trial"]["slots"] if slot["rated"]}
                return SubmittedAnswer({"scores": {"q1": scores}}, events=events)
            case _:
                return SubmittedAnswer({})

    async def _examined(self, key: str) -> Any:
        facts = await self.facts()
        assert facts.list is not None
        step = self.host.served.script(facts.list).find(key)
        assert step is not None
        posed = self.host.context.page_checks.attempt(facts, step)
        return check_of(step).respond(posed, RobotAbilities(self.fails), rng_of(seed_of(b"robot", self.session, key)))

    async def answer(self, submission: SubmittedAnswer | None = None, key: str | None = None) -> str:
        """Answer the current step half a minute later; return the key of the next one."""
        self.clock.wait(seconds=30)
        reply = await self.host.answer(self.token, key or self.key, submission or await self.answers())
        self.step, self.feedback = reply["step"], reply["feedback"]  # type: ignore[assignment]
        return self.key

    async def until(self, *places: str) -> list[str]:
        """Answer steps until a key begins with this; return the answered keys."""
        answered = []
        while not self.key.startswith(places) and self.step["kind"] != "end":
            answered.append(self.key)
            await self.answer()
        return answered


def record_of(served: Any, plan: Any, at: datetime = NOON) -> StudyRecord:
    lists = [{"list": number} for number, _ in enumerate(served.lists, 1)]
    return StudyRecord(served.digest, plan, served.study.name, "", "beholder", [], lists, at)


@asynccontextmanager
async def hosted(
    folder: Path, tiny: Path, *, store: Any = None, **keys: Any
) -> AsyncIterator[tuple[StudyService, Clock, Store]]:
    """Yield a service without a server, its clock and its store."""
    path = write_study(folder / "study", tiny, **keys)
    served, plan = load_served(load_study(path), "http://here")
    clock = Clock()
    async with open_store(store or folder / "store") as opened:
        await opened.begin(record_of(served, plan.plan_digest))
        yield StudyService(served, opened, now=clock), clock, opened
