"""The current step of a session and its page."""

from __future__ import annotations

import asyncio
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
from support.message_studies import Hosted, clip, serving
from support.rule_studies import come
from support.training_sessions import Serve, rate, start_training


async def test_reloads_other_tabs_and_other_servers_find_the_same_page(jerky: Hosted) -> None:
    host, clock = jerky
    ann = await come(host, clock)
    sent = clip(ann.step, stutters=True)
    await ann.answer(sent)
    step = ann.step
    assert (await ann.come()).step == step
    assert await StudyService(host.served, host.store, now=clock).step(ann.token) == step
    again = await host.answer(ann.token, "trial:1", sent)
    assert (again["feedback"], again["step"]) == (None, step)
    for key, value in (("trial:1", 1), ("trial:1:1", 4), ("trial:1:3", 4), ("trial:2", 4)):
        with pytest.raises(Refused) as refused:
            await host.answer(ann.token, key, clip(step, value))
        assert refused.value.status == 409, key
    clock.wait(seconds=30)
    tabs = [clip(step, 2), clip(step, 3, stutters=True)]
    replies = await asyncio.gather(*(host.answer(ann.token, "trial:1:2", one) for one in tabs), return_exceptions=True)
    assert sum(isinstance(reply, dict) for reply in replies) == 1
    assert list((await ann.facts()).verdicts) == ["trial:1", "trial:1:2"]
    await host.events(ann.token, SubmittedAnswer(None, events=[(1, "key", None, {})], tab="t"), "trial:1:2")


async def test_media_keep_their_address_when_a_page_comes_again(jerky: Hosted) -> None:
    host, clock = jerky
    ann = await come(host, clock)
    url = ann.step["trial"]["slots"][0]["media"]["url"]
    ahead = ann.step["prefetch"]
    await ann.answer(clip(ann.step, stutters=True))
    assert ann.step["trial"]["slots"][0]["media"]["url"] == url
    assert ann.step["prefetch"] == ahead
    assert (await host.media(url.removeprefix("/media/"))).size == ann.step["trial"]["slots"][0]["media"]["bytes"]


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


async def test_a_reload_shows_the_same_attempt_with_the_same_word(serve: Serve) -> None:
    visitor = await start_training(await serve())
    await rate(visitor, 1)
    step = visitor.step
    await visitor.arrive()
    assert visitor.step == step


async def test_media_keep_their_address_over_attempts_and_are_fetched_ahead(serve: Serve) -> None:
    visitor = await start_training(await serve())
    assert visitor.step["prefetch"][0]["url"] != visitor.step["trial"]["slots"][0]["media"]["url"]
    ahead = visitor.step["prefetch"]
    first = visitor.step["trial"]["slots"]
    await rate(visitor, 1)
    assert visitor.step["trial"]["slots"] == first
    assert (await visitor.client.get(first[0]["media"]["url"])).status_code == 200
    await rate(visitor, 5)
    assert [slot["media"] for slot in visitor.step["trial"]["slots"]] == ahead
    for value in (1, 3):
        await rate(visitor, value)
    ahead = visitor.step["prefetch"]
    await rate(visitor, 2)
    assert visitor.step["key"] == "trial:1"
    assert [slot["media"] for slot in visitor.step["trial"]["slots"]] == ahead


async def test_nothing_of_an_example_tells_what_is_expected(serve: Serve) -> None:
    visitor = await start_training(await serve())
    for value in (5, 1, 3, 2):
        text = str(visitor.step)
        for word in ("target", "tolerance", "expected", "trap", "practice", "natural", "frozen", "smooth", "stands"):
            assert word not in text
        await rate(visitor, value)
