"""Answers: each is stored once, whichever tab or server it comes from, and what was played is proved."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import httpx

import beholder.server
from beholder.errors import Refused
from beholder.server.app import make_app
from beholder.server.assets import Assets
from beholder.server.requests import Event, SubmittedAnswer, SubmittedDraft
from beholder.server.service import StudyService
from beholder.simulation.robot import watch_events
from beholder.store.contract import Store
from support.clock_service import PHONE, Clock, Person, hosted
from support.instruction_pages import PLAYED, served, until, written
from support.message_studies import Hosted, Rater, scores
from support.qualified_sessions import HostedStudy
from support.training_sessions import Serve, start_training, stored_verdicts
from support.training_studies import LESSONS
from support.visitor import Visitor


async def test_two_tabs_that_answer_the_same_page_have_one_verdict(board: Hosted) -> None:
    host, clock = board
    ann = await Rater(host, clock).come()
    for _ in range(2):
        await ann.until_asked()
        key, asked, events = ann.key, await ann.asked(), watch_events(ann.step["trial"])
        sent = [SubmittedAnswer(scores(ann.step, asked, obeys=obeys), events=events) for obeys in (False, True)]
        clock.wait(seconds=30)
        replies = await asyncio.gather(*(host.answer(ann.token, key, one) for one in sent), return_exceptions=True)
        won = [place for place, reply in enumerate(replies) if isinstance(reply, dict)]
        assert len(won) == 1
        facts = await ann.facts()
        assert facts.answers[key].answer == sent[won[0]].answer
        assert facts.verdicts[key].verdict == ("pass" if won[0] else "fail")
        ann.step = await host.step(ann.token)
    assert (facts.end is not None) == ([one.verdict for one in facts.verdicts.values()] == ["fail", "fail"])


async def test_of_two_tabs_that_answer_one_attempt_one_counts(room: HostedStudy) -> None:
    host, clock, store = room
    ann = await Person(host, clock).come()
    await ann.until("check:")
    right = await ann.answers()
    wrong = SubmittedAnswer({"circles": 0, "triangles": 0, "scale": 1})
    said = await asyncio.gather(
        *(host.answer(ann.token, "check:brightness:1", each) for each in (right, wrong)), return_exceptions=True
    )
    lost = [each for each in said if isinstance(each, Refused)]
    assert [each.code for each in lost] == ["already_answered"]
    rows = [row async for row in store.rows("told")]
    assert len(rows) == 1
    answer = (await ann.facts()).answers["check:brightness:1"].answer
    assert rows[0]["verdict"] == ("pass" if answer == right.answer else "fail")
    same = await host.answer(ann.token, "check:brightness:1", right if answer == right.answer else wrong)
    assert same["stored_at"] == clock().isoformat()


async def test_the_same_answer_twice_is_one_attempt(serve: Serve) -> None:
    visitor = await start_training(await serve(LESSONS[1:2], training={"corrections": 0}))
    answer, events = visitor.scores(5), visitor.watched()
    first = (await visitor.answer(answer, events, key="training:1:1")).json()
    again = (await visitor.answer(answer, events, key="training:1:1")).json()
    assert (again["stored_at"], again["feedback"]) == (first["stored_at"], "It stands still.")
    other = await visitor.answer({"scores": {"q1": {"s1": 1}}}, events, key="training:1:1")
    assert (other.status_code, other.json()["error"]["code"]) == (409, "already_answered")
    assert len(await stored_verdicts(visitor.server)) == 1


# What has to be played is proved by the event log and the server's clock


async def test_what_has_to_be_played_is_proved_before_the_next_page(tmp_path: Path, tiny: Path) -> None:
    async with served(written(tmp_path, tiny, ["First.", PLAYED])) as site:
        visitor = Visitor(site, participant="ada")
        await until(visitor, "text:instructions:2")
        step = visitor.step
        assert step["captions"] == ["Torn blocks", "It stands still"]
        assert step["trial"]["asked"] == []
        assert "torn.mp4" not in str(step)
        refused = await visitor.answer({})
        assert (refused.status_code, refused.json()["error"]["code"]) == (422, "not_watched")
        refused = await visitor.answer({"missing": {"s1": "media_error"}}, watch_events(step["trial"]))
        assert (refused.status_code, refused.json()["error"]["code"]) == (422, "not_missing")
        refused = await visitor.answer({"scores": {}}, watch_events(step["trial"]))
        assert (refused.status_code, refused.json()["error"]["allowed"]) == (422, "{}, or what would not play")
        refused = await visitor.answer({"missing": {"s9": "media_error"}}, watch_events(step["trial"]))
        assert (refused.status_code, refused.json()["error"]["allowed"]) == (422, "s1, s2")
        for slot in step["trial"]["slots"]:
            media = await site.client.get(slot["media"]["url"])
            assert media.status_code == 200
            assert len(media.content) == slot["media"]["bytes"]


async def test_the_clock_of_the_server_has_to_allow_what_was_played(tmp_path: Path, tiny: Path) -> None:
    async with served(written(tmp_path, tiny, [PLAYED])) as site:
        visitor = Visitor(site, participant="ada")
        await until(visitor, "text:instructions")
        refused = await visitor.answer({}, watch_events(visitor.step["trial"]))
        assert refused.json()["error"]["allowed"] == "no more than the time that passed"


async def test_an_example_that_would_not_play_keeps_nobody_from_going_on(tmp_path: Path, tiny: Path) -> None:
    async with served(written(tmp_path, tiny, [PLAYED])) as site:
        visitor = Visitor(site, participant="ada")
        await until(visitor, "text:instructions")
        missing = {"missing": {"s1": "media_error", "s2": "media_error"}}
        errors = [[10, "error", slot, {"what": "decode"}] for slot in ("s1", "s2")]
        assert (await visitor.answer(missing, errors)).status_code == 200
        assert visitor.step["kind"] == "trial"


async def test_examples_that_may_be_left_out_are_left_out(tmp_path: Path, tiny: Path) -> None:
    async with served(written(tmp_path, tiny, [{**PLAYED, "play": False}])) as site:
        visitor = Visitor(site, participant="ada")
        await until(visitor, "text:instructions")
        assert visitor.step["trial"]["playback"]["watch"] == "none"
        assert (await visitor.answer({})).status_code == 200


async def test_an_example_has_to_be_watched(serve: Serve) -> None:
    visitor = await start_training(await serve())
    response = await visitor.answer(visitor.scores(5))
    assert (response.status_code, response.json()["error"]["code"]) == (422, "not_watched")
    assert await stored_verdicts(visitor.server) == {}


async def test_an_example_that_will_not_play_costs_nothing(serve: Serve) -> None:
    visitor = await start_training(await serve())
    broken = {"scores": {"q1": {}}, "missing": {"s1": "media_error"}}
    response = await visitor.answer(broken, [[0, "shown", None, {}], [9, "error", "s1", {"what": "decode"}]])
    response.raise_for_status()
    assert visitor.step["key"] == "training:2:1"
    assert await stored_verdicts(visitor.server) == {"training:1:1": ("unknown", "media_error")}


# The way of an answer

CROSSED = [
    "app", "requests", "service", "answers", "admission", "moderation", "rendering", "script", "flow", "playback",
    "public_steps",
]  # fmt: skip
"""The modules of the server, in the order in which an answer to a trial comes to them."""
BEFORE_MEDIA = [*CROSSED, "tokens"]
"""Where the next page is the first with stimuli, their addresses are signed."""
BEGUN = [
    "app", "requests", "service", "tokens", "answers", "admission", "moderation", "rendering", "flow",
    "further_sessions", "bound_lists", "batch_dealer", "script", "public_steps",
]  # fmt: skip
"""Who agrees gets a list, and is known by a token that was not read before."""
ENDED = [*CROSSED[:-1], "endings", "entrances", "tokens", "public_steps"]
"""The last answer also ends the session: its outcome, its code, the way back."""
EXAMINED = [
    "app", "requests", "service", "answers", "admission", "moderation", "rendering", "script", "flow", "attempts",
    "page_checks", "tokens", "playback", "public_steps",
]  # fmt: skip
"""An answer to a check with a page is judged, and may lead to another attempt."""


@contextmanager
def crossing() -> Iterator[list[str]]:
    """Yield a list that grows by every module of the server when one of its functions is first called."""
    folder, seen = Path(beholder.server.__file__).parent, list[str]()

    def note(frame: FrameType, event: str, _: object) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.parent == folder and path.stem not in seen:
            seen.append(path.stem)

    sys.setprofile(note)
    try:
        yield seen
    finally:
        sys.setprofile(None)


async def crossed_modules(host: StudyService, clock: Clock) -> dict[str, list[str]]:
    """Return the modules of the server to which every answer of a session comes, over HTTP, by the key of its step."""
    ann = await Person(host, clock).come()
    crossed: dict[str, list[str]] = {}
    headers = {"authorization": f"Bearer {ann.token}"}
    app = make_app(host, Assets(host.served.method))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://here") as client:
        while ann.step["kind"] != "end":
            sent = await ann.answers()
            clock.wait(seconds=30)
            body = {"answer": sent.answer, "events": sent.events, "tab": "t1"}
            with crossing() as crossed[ann.key]:
                reply = await client.put(f"/api/answers/{ann.key}", json=body, headers=headers)
            reply.raise_for_status()
            ann.step = reply.json()["step"]
    return crossed


async def test_an_answer_crosses_at_most_twelve_modules_of_the_server_in_reading_order(
    tmp_path: Path, tiny: Path
) -> None:
    tired: dict[str, Any] = {"id": "tired", "text": "Tired?", "type": "single", "options": ["yes", "no"], "every": 2}
    design = {"participants": 2, "trials": 4, "breaks": 2, "seed": 3}
    async with hosted(tmp_path, tiny, design=design, during=[tired]) as (host, clock, _):
        crossed = await crossed_modules(host, clock)
    assert crossed.pop("consent") == BEGUN
    assert crossed.pop("text:instructions") == BEFORE_MEDIA
    *_, last = crossed
    assert crossed.pop(last) == ENDED
    assert {"trial:1", "trial:2", "break:1", "questions:during:2"} <= crossed.keys()
    assert all(modules in (CROSSED, BEFORE_MEDIA) for modules in crossed.values())
    assert len(BEFORE_MEDIA) <= 12
    assert max(map(len, (BEGUN, ENDED))) <= 14, "what an answer begins or ends is done on the way"


async def test_an_answer_to_a_check_crosses_at_most_fourteen_modules_of_the_server(room: HostedStudy) -> None:
    host, clock, _ = room
    crossed = await crossed_modules(host, clock)
    assert crossed["check:brightness:1"] == EXAMINED
    assert len(EXAMINED) <= 14
    assert crossed["trial:2"] == CROSSED


async def test_a_half_filled_page_is_there_on_another_device_until_it_is_answered_or_erased(
    tmp_path: Path, tiny: Path
) -> None:
    async with hosted(tmp_path, tiny, design={"participants": 4, "trials": 2}) as (host, clock, store):
        ann = await Person(host, clock, "ann").come()
        await ann.until("trial:1")

        async def send(tab: str, first: int, revision: int | None, **values: int) -> None:
            draft = None if revision is None else SubmittedDraft(revision, 5.0, {"scores": values})
            events: list[Event] = [] if first < 0 else [(float(first), "shown", None, None)]
            await host.events(ann.token, SubmittedAnswer(None, events, max(first, 0), tab, draft=draft), "trial:1")

        async def draft(name: str = "ann") -> Any:
            params = {"resume": ann.token} if name == "ann" else {"participant": name}
            return (await host.arrive(params, PHONE))[1]["draft"]

        assert await draft() is None
        await send("laptop", 0, 1, s1=10)
        await send("laptop", 0, 1, s1=99)  # the same once more, which changes nothing
        await send("laptop", 1, 3, s1=20)
        await send("laptop", -1, 2, s1=15)  # was late
        await send("laptop", 3, None)  # one is missing before it
        kept = {"key": "trial:1", "revision": 3, "shown_ms": 5.0, "values": {"scores": {"s1": 20}}}
        assert await draft() == kept | {"events": [[0, "shown", None, None], [1, "shown", None, None]]}
        await send("phone", -1, 4, s1=30)
        assert await draft() == kept | {"revision": 4, "values": {"scores": {"s1": 30}}, "events": []}
        assert await draft("bob") is None, "of another person"
        await ann.answer()
        await send("laptop", -1, 9, s1=40)
        assert [event[3]["values"]["scores"]["s1"] for event in await drafts(store)] == [10, 20, 15, 30]
        assert await draft() is None, "the next page has none"
        await host.withdraw(ann.token)
        assert await drafts(store) == []


async def drafts(store: Store) -> list[Any]:
    """Return the drafts in the event log."""
    return [event async for row in store.rows("events") for event in row["events"] if event[1] == "draft"]
