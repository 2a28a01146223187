"""Served studies with rules that act at once."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from beholder.server.requests import SubmittedAnswer
from beholder.server.service import StudyService
from beholder.simulation.robot import watch_events
from support.clock_service import Clock, Person, hosted
from support.message_studies import Hosted, Rater, scores, serving, write_asking


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_asking(tmp_path_factory.mktemp("asking"))


@pytest.fixture
async def board(study: Path, tmp_path: Path) -> AsyncIterator[Hosted]:
    async with serving(study, tmp_path / "store") as host:
        yield host


async def fail_twice(host: StudyService, clock: Clock, name: str = "ann") -> tuple[Rater, str, SubmittedAnswer]:
    """Return somebody whose session was ended, with the last answer and its step."""
    person = await Rater(host, clock, name).come()
    while True:
        await person.until_asked()
        answer = scores(person.step, await person.asked(), obeys=False)
        key, sent = person.key, SubmittedAnswer(answer, events=watch_events(person.step["trial"]))
        if await person.answer(sent) == "end":
            return person, key, sent


STAY = "Please stay on this page while something plays."


CLIPS: dict[str, Any] = {
    "method": "acr", "playback": {"fullscreen": False}, "design": {"participants": 4, "trials": 2, "seed": 3},
}  # fmt: skip


def left(trial: Any) -> list[Any]:
    """Return the log of somebody who is in another window while everything plays."""
    events = watch_events(trial)
    away = [[one[0] + 1, "visibility", None, {"hidden": True}] for one in events if one[1] == "play"]
    back = [[one[0] + 1, "visibility", None, {"hidden": False}] for one in events if one[1] == "ended"]
    return sorted([*events, *away, *back], key=lambda event: event[0])


@pytest.fixture
async def jerky(tmp_path: Path, tiny: Path) -> AsyncIterator[Hosted]:
    """A study of single clips, shown again when playing stutters."""
    async with hosted(tmp_path, tiny, checks={"smooth": {"action": "retry"}}, **CLIPS) as (host, clock, _):
        yield host, clock


async def come(host: StudyService, clock: Clock, name: str = "ann") -> Person:
    person = await Person(host, clock, name).come()
    await person.until("trial:")
    return person
