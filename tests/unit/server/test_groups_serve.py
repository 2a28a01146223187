"""Serving groups: everybody meets the study of their own group, and nothing tells of another."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from beholder.errors import Refused
from beholder.server.requests import SubmittedAnswer
from beholder.server.service import StudyService
from support.clock_service import Clock, Person
from support.group_studies import TWO, write_served
from support.message_studies import serving


class Keeper(Person):
    """Somebody who keeps everything that they are sent."""

    def __init__(self, host: StudyService, clock: Clock, name: str) -> None:
        super().__init__(host, clock, name)
        self.steps: list[dict[str, Any]] = []

    async def take(self) -> None:
        _, arrival = await self.host.arrive(self.params, self.device)
        self.received = [json.dumps(arrival)]
        self.token, self.step = arrival["token"], arrival["step"]  # type: ignore[assignment]
        while self.step["kind"] != "end":
            self.steps.append(dict(self.step))
            self.clock.wait(seconds=30)
            said = await self.host.answer(self.token, self.key, await self.answers())
            self.received.append(json.dumps(said))
            self.step = said["step"]  # type: ignore[assignment]


async def test_each_group_meets_its_own_study_and_nothing_tells_of_another(tmp_path: Path) -> None:
    async with serving(write_served(tmp_path / "study"), tmp_path / "store") as (host, clock):
        people = [Keeper(host, clock, f"p{number}") for number in range(8)]
        for person in people:
            await person.take()
        lists = [(await person.facts()).list for person in people]
        assert lists == list(range(1, 9))
    for number, person in enumerate(people):
        is_second, is_free = number % 4 >= 2, number % 2 == 1
        trials = [step["trial"] for step in person.steps if step["kind"] == "trial"]
        assert {asked["text"] for trial in trials for asked in trial["asked"]} == {TWO[is_second]["text"]}
        assert {trial["playback"]["watch"] for trial in trials} == {"none" if is_free else "whole"}
        assert {trial["extra"]["layout"] for trial in trials} == {"rows" if is_free else "turns"}
        text = next(step["text"] for step in person.steps if step["key"] == "text:instructions")
        own = "<p>Only the second.</p>" if is_second else "<p>Only the <strong>first</strong>.</p>"
        assert text == own
        # Before a list is theirs, nobody can know which instructions will be; from then on each page has them.
        assert json.loads(person.received[0])["study"]["instructions"] == ""
        assert {step["instructions"] for step in person.steps[1:]} == {own}
        everything = "".join(person.received)
        assert not re.findall(".{30}zq(?:asked|how|one|two|set|free).{20}", everything)
        assert "For all." not in everything
        assert TWO[not is_second]["text"] not in everything


async def test_watching_is_asked_for_as_the_group_has_it(tmp_path: Path) -> None:
    async with serving(write_served(tmp_path / "study"), tmp_path / "store") as (host, clock):
        people = [await Person(host, clock, f"p{number}").come() for number in range(2)]
        for person, code in zip(people, ("not_watched", None), strict=True):
            await person.until("trial:")
            scores = {slot["id"]: 50 for slot in person.step["trial"]["slots"]}
            try:
                await person.answer(SubmittedAnswer({"scores": {"q1": scores}}))
                assert code is None
            except Refused:
                assert code is not None


async def test_a_preview_is_of_any_list(tmp_path: Path) -> None:
    async with serving(write_served(tmp_path / "study"), tmp_path / "store") as (host, _):
        secret = host.preview.link.partition("preview=")[2]
        for number, text in ((1, TWO[0]["text"]), (3, TWO[1]["text"])):
            _, arrival = await host.arrive({"preview": secret, "list": str(number)}, {})
            assert "Only the" in str(arrival["study"])
            step = await host.step(str(arrival["token"]), "trial:1")
            assert step["trial"]["asked"][0]["text"] == text  # type: ignore[call-overload, index]
            url = step["trial"]["slots"][0]["media"]["url"]  # type: ignore[call-overload, index]
            await host.media(str(url).rpartition("/")[2])
        for other in ("0", "9", "-1", "x", "9" * 30):
            with pytest.raises(Refused):
                await host.arrive({"preview": secret, "list": other}, {})
        with pytest.raises(Refused):
            await host.media("preview5-00")
