"""Training as people and robots meet it: another try, a word about it, and nothing of it among the ratings."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from beholder.checks.known_answers import judge_training
from beholder.checks.page_contract import RobotAbilities as Able
from beholder.cleaning import clean
from beholder.cleaning.ratings import read_ratings
from beholder.methods import find, load_study
from beholder.planning import open_plan
from beholder.server.process import run_server
from beholder.simulation.crowd import Crowd, send_robots
from beholder.stimuli.ingestion import load_catalogue
from support.training_studies import LESSONS, write_taught
from support.visitor import Site, Visitor

OUTSIDE = "Most people answer this one differently."
TRAP = "This one asks for a certain answer"
Serve = Callable[..., Any]


@dataclass
class Clock:
    """A clock that stands still until it is moved; every look at it takes a second, so that nothing is too fast."""

    now: datetime = field(default_factory=lambda: datetime(2026, 3, 1, 9, tzinfo=UTC))

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now

    def move(self, **by: float) -> None:
        self.now += timedelta(**by)


@pytest.fixture
async def serve(tmp_path: Path, tiny: Path) -> AsyncIterator[Serve]:
    """A function that serves a study with training."""
    async with AsyncExitStack() as stack:

        async def start(lessons: Any = LESSONS, **keys: Any) -> Site:
            study = load_study(write_taught(tmp_path / "study", tiny, lessons, **keys))
            server = await stack.enter_async_context(run_server(study, port=0))
            server.service.now = Clock()
            client = await stack.enter_async_context(httpx.AsyncClient(base_url=server.address, timeout=60))
            return Site(server.service, server.store, server.address, client)

        yield start


async def come(site: Site, name: str = "ada") -> Visitor:
    """Return somebody who has read the instructions."""
    visitor = Visitor(site, participant=name)
    await visitor.arrive()
    for answer in ({"agree": True}, {}):
        (await visitor.answer(answer)).raise_for_status()
    return visitor


async def rate(visitor: Visitor, value: float) -> dict[str, Any]:
    """Watch the clip at hand, rate it, and return what the server said."""
    response = await visitor.answer(visitor.scores(value), visitor.watched())
    response.raise_for_status()
    said: dict[str, Any] = response.json()
    return said


async def told_of(site: Site) -> dict[str, tuple[str, str]]:
    return {row["key"]: (row["verdict"], row["reason"]) async for row in site.store.rows("told")}


async def test_examples_come_before_the_first_trial_and_say_what_they_stand_for(serve: Serve) -> None:
    visitor = await come(await serve())
    seen = []
    for value in (5, 1, 3, 2):
        seen.append((visitor.step["key"], visitor.step["training"], visitor.step["told"], visitor.step["progress"]))
        await rate(visitor, value)
    anchor = "Excellent: no flaw can be seen"
    assert seen == [
        ("training:1:1", {"place": 1, "total": 4, "anchor": anchor}, None, [3, 8]),
        ("training:2:1", {"place": 2, "total": 4, "anchor": None}, None, [4, 8]),
        ("training:3:1", {"place": 3, "total": 4, "anchor": None}, None, [5, 8]),
        ("training:4:1", {"place": 4, "total": 4, "anchor": None}, None, [6, 8]),
    ]
    assert visitor.step["key"] == "trial:1"
    assert "training" not in visitor.step


async def test_an_answer_outside_its_tolerance_is_explained_and_asked_for_again(serve: Serve) -> None:
    visitor = await come(await serve())
    said = await rate(visitor, 3)
    assert (said["feedback"], visitor.step["key"]) == (None, "training:1:2")
    assert visitor.step["told"]["text"].startswith(OUTSIDE)
    assert visitor.step["told"]["left"] == 3
    await rate(visitor, 4)  # within one step
    await rate(visitor, 2)
    assert visitor.step["told"] == {"text": "It stands still.", "left": 3}
    await rate(visitor, 1)
    assert visitor.step["key"] == "training:3:1"
    await rate(visitor, 1)  # nothing is expected
    await rate(visitor, 3)
    assert visitor.step["told"]["text"].startswith(TRAP)
    await rate(visitor, 2)
    assert visitor.step["key"] == "trial:1"
    assert await told_of(visitor.server) == {
        "training:1:1": ("fail", "outside"), "training:1:2": ("pass", ""), "training:2:1": ("fail", "outside"),
        "training:2:2": ("pass", ""), "training:3:1": ("pass", ""), "training:4:1": ("fail", "trap"),
        "training:4:2": ("pass", ""),
    }  # fmt: skip


async def test_after_the_last_correction_people_read_a_word_and_go_on_flagged(serve: Serve) -> None:
    visitor = await come(await serve(LESSONS[1:2], training={"corrections": 2}))
    for left in (2, 1):
        assert (await rate(visitor, 5))["feedback"] is None
        assert visitor.step["told"] == {"text": "It stands still.", "left": left}
    said = await rate(visitor, 5)
    assert (said["feedback"], said["step"]["key"]) == ("It stands still.", "trial:1")
    assert set((await told_of(visitor.server)).values()) == {("fail", "outside")}


async def test_what_was_given_expected_and_allowed_is_kept(serve: Serve) -> None:
    visitor = await come(await serve())
    await rate(visitor, 3)
    (row,) = [row async for row in visitor.server.store.rows("told")]
    assert row["check"] == "training"
    assert row["evidence"] == {
        "version": 1, "attempt": 1, "answer": {"scores": {"q1": {"s1": 3}}}, "given": {"q1.s1": 3},
        "expected": {"q1.s1": 5}, "tolerance": {"q1.s1": 1}, "outside": ["q1.s1"],
    }  # fmt: skip


async def test_without_feedback_an_answer_is_noted_in_silence(serve: Serve) -> None:
    visitor = await come(await serve(LESSONS[:1], training={"feedback": False}))
    said = await rate(visitor, 1)
    assert (said["feedback"], said["step"]["key"]) == (None, "trial:1")
    assert await told_of(visitor.server) == {"training:1:1": ("fail", "outside")}


async def test_a_reload_shows_the_same_attempt_with_the_same_word(serve: Serve) -> None:
    visitor = await come(await serve())
    await rate(visitor, 1)
    step = visitor.step
    await visitor.arrive()
    assert visitor.step == step


async def test_media_keep_their_address_over_attempts_and_are_fetched_ahead(serve: Serve) -> None:
    visitor = await come(await serve())
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
    visitor = await come(await serve())
    for value in (5, 1, 3, 2):
        text = str(visitor.step)
        for word in ("target", "tolerance", "expected", "trap", "practice", "natural", "frozen", "smooth", "stands"):
            assert word not in text
        await rate(visitor, value)


async def test_an_example_has_to_be_watched(serve: Serve) -> None:
    visitor = await come(await serve())
    response = await visitor.answer(visitor.scores(5))
    assert (response.status_code, response.json()["error"]["code"]) == (422, "not_watched")
    assert await told_of(visitor.server) == {}


async def test_an_example_that_will_not_play_costs_nothing(serve: Serve) -> None:
    visitor = await come(await serve())
    broken = {"scores": {"q1": {}}, "missing": {"s1": "media_error"}}
    response = await visitor.answer(broken, [[0, "shown", None, {}], [9, "error", "s1", {"what": "decode"}]])
    response.raise_for_status()
    assert visitor.step["key"] == "training:2:1"
    assert await told_of(visitor.server) == {"training:1:1": ("unknown", "media_error")}


async def test_the_same_answer_twice_is_one_attempt(serve: Serve) -> None:
    visitor = await come(await serve(LESSONS[1:2], training={"corrections": 0}))
    answer, events = visitor.scores(5), visitor.watched()
    first = (await visitor.answer(answer, events, key="training:1:1")).json()
    again = (await visitor.answer(answer, events, key="training:1:1")).json()
    assert (again["stored_at"], again["feedback"]) == (first["stored_at"], "It stands still.")
    other = await visitor.answer({"scores": {"q1": {"s1": 1}}}, events, key="training:1:1")
    assert (other.status_code, other.json()["error"]["code"]) == (409, "already_answered")
    assert len(await told_of(visitor.server)) == 1


# Time


async def test_training_runs_out_an_hour_after_its_end_and_comes_back_whole_at_a_break(serve: Serve) -> None:
    site = await serve(LESSONS[:2], design={"participants": 4, "trials": 4, "breaks": 2, "seed": 3})
    visitor, clock = await come(site), site.service.now
    await rate(visitor, 5)
    clock.move(minutes=50)
    await rate(visitor, 1)
    clock.move(minutes=59)
    await visitor.arrive()
    assert visitor.step["key"] == "trial:1"
    await rate(visitor, 3)
    clock.move(minutes=10)  # in the middle of rating nothing comes back
    assert visitor.step["key"] == "trial:2"
    await rate(visitor, 3)
    assert visitor.step["key"] == "break:1"
    (await visitor.answer({})).raise_for_status()
    assert (visitor.step["key"], visitor.step["told"]) == ("training:1:2", None)
    await rate(visitor, 1)
    assert (visitor.step["key"], visitor.step["told"]["left"]) == ("training:1:3", 3)  # a new round
    for value in (5, 1):
        await rate(visitor, value)
    assert visitor.step["key"] == "trial:3"


async def test_training_that_still_counts_does_not_come_back(serve: Serve) -> None:
    site = await serve(LESSONS[:1], design={"participants": 4, "trials": 2, "breaks": 1, "seed": 3})
    visitor, clock = await come(site), site.service.now
    await rate(visitor, 5)
    await rate(visitor, 3)
    clock.move(minutes=58)
    (await visitor.answer({})).raise_for_status()
    assert visitor.step["key"] == "trial:2"


async def test_before_the_first_trial_training_runs_out_too_but_an_open_page_is_theirs(serve: Serve) -> None:
    site = await serve(LESSONS[:1])
    visitor, clock = await come(site), site.service.now
    await rate(visitor, 5)
    clock.move(hours=2)
    await rate(visitor, 3)  # trial:1 was open
    assert visitor.step["key"] == "trial:2"
    late = await come(site, "bob")
    await rate(late, 5)
    clock.move(hours=2)
    await late.arrive()
    assert late.step["key"] == "training:1:2"


# Preview


async def test_a_preview_shows_examples_and_what_is_said_about_answers(serve: Serve) -> None:
    site = await serve()
    link = httpx.URL(site.service.preview.link)
    visitor = Visitor(site, preview=link.params["preview"])
    await visitor.arrive()
    visitor.step = (await visitor.send("GET", "/api/step?key=training:2:1")).json()
    assert visitor.step["training"] == {"place": 2, "total": 4, "anchor": None}
    said = await rate(visitor, 5)
    assert (said["stored_at"], said["feedback"], said["step"]["key"]) == (None, "It stands still.", "training:3:1")


# Robots and tables


async def rehearsed(site: Site, **how: Any) -> Crowd:
    return await send_robots(site.service.served, site.store, site.address, 3, **how)


async def test_robots_are_trained_and_their_practice_is_in_no_table(serve: Serve, tmp_path: Path) -> None:
    site = await serve()
    crowd = await rehearsed(site)
    keys = [[one.key for one in robot.acknowledged] for robot in crowd.robots]
    assert all([key for key in one if "training" in key] == [f"training:{n}:1" for n in (1, 2, 3, 4)] for one in keys)
    assert {say for say, _ in (await told_of(site)).values()} == {"pass"}
    path = tmp_path / "study" / "study.yaml"
    cleaned = clean(path, robots=True)
    assert cleaned is not None
    ratings = read_ratings(tmp_path / "study" / "clean" / "ratings.csv")
    assert len(ratings) == 3 * 2
    assert sorted(set(ratings["position"])) == [1, 2]
    assert not any("practice" in stimulus for stimulus in ratings["stimulus"])


async def test_a_robot_that_cannot_be_trained_uses_all_corrections_and_goes_on(serve: Serve) -> None:
    site = await serve()
    crowd = await rehearsed(site, able=Able(frozenset({"training"})))
    for robot in crowd.robots:
        assert [one.key for one in robot.acknowledged if one.key.startswith("training:4")] == [
            f"training:4:{n}" for n in (1, 2, 3, 4)
        ]
        assert robot.step["outcome"] == "completed"


@pytest.mark.parametrize(("keyed", "value"), [("+", 5), ("-", 5)])
async def test_robots_know_statements_that_are_turned_round(serve: Serve, keyed: str, value: int) -> None:
    question = {"id": "quality", "text": "It is bad.", "keyed": keyed}
    site = await serve([{"expected": str(value), "tolerance": "0"}], method="likert", questions=[question])
    await rehearsed(site)
    assert set((await told_of(site)).values()) == {("pass", "")}


# Several at once


async def test_each_clip_of_a_page_has_its_own_word(serve: Serve) -> None:
    lessons = [
        {"condition": "natural", "content": "x", "expected": "100", "message": "Nothing is wrong with it."},
        {"condition": "frozen", "content": "x", "expected": "0", "message": "It stands still."},
    ]
    visitor = await come(await serve(lessons, method="parallel"))
    await rate(visitor, 50)
    words = sorted(line.partition(": ")[2] for line in visitor.step["told"]["text"].split("\n"))
    assert words == ["It stands still.", "Nothing is wrong with it."]
    assert sorted(line[:3] for line in visitor.step["told"]["text"].split("\n")) == ["A: ", "B: "]


async def test_several_questions_are_told_apart(serve: Serve) -> None:
    questions = [{"id": "quality", "text": "How good?"}, {"id": "fit", "text": "How fitting?"}]
    lessons = [{"expected_fit": "1"}]
    visitor = await come(await serve(lessons, questions=questions))
    answer = {"scores": {"q1": {"s1": 5}, "q2": {"s1": 5}}}
    (await visitor.answer(answer, visitor.watched())).raise_for_status()
    assert visitor.step["told"]["text"].startswith(f"How fitting? {OUTSIDE}")


def test_a_verdict_can_be_had_again_from_the_plan(tmp_path: Path, tiny: Path) -> None:
    study = load_study(write_taught(tmp_path, tiny))
    method, plan = find("acr"), open_plan(study, load_catalogue(study))
    for planned in (plan, open_plan(study, load_catalogue(study))):
        trial = planned.lists[2].training[0]
        verdict = judge_training(method, trial, {"scores": {"q1": {"s1": 2}}})
        assert (verdict.verdict, verdict.reason) == ("fail", "outside")
        assert (verdict.measured, verdict.needed) == ({"q1.s1": 2}, {"q1.s1": [5, 1]})
