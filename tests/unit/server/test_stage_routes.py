"""A separate stage without a browser: codes, tokens, who may ask for what, and what a hand-set cannot make up."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from beholder.errors import Refused
from beholder.methods import find, load_study
from beholder.recruiting.contract import Job
from beholder.recruiting.invitations import describe_job
from beholder.server import tokens
from beholder.server.app import make_app
from beholder.server.assets import Assets
from beholder.server.process import load_served
from beholder.server.service import StudyService
from beholder.simulation.robot import watch_events
from beholder.store.open import open_store
from beholder.study.recruitment import Sum
from beholder.testing import write_study
from support.clock_service import LAPTOP, Clock, Person, record_of
from support.shared_stores import store_in_turn
from support.variants import variant

KEYS: dict[str, Any] = {
    "method": "acr", "stage": "separate",
    "questions": [{"id": "quality", "text": "How good is it?", "scale": "acr5"}],
    "design": {"participants": 6, "trials": 2, "seed": 3},
}  # fmt: skip
JOB = Job("", "", "", "", places=6, minutes=5, reward=Sum(0, ""))
ANSWER = {"scores": {"q1": {"s1": 3}}}


@dataclass
class Theatre:
    """A study with a separate stage, asked over HTTP from one address."""

    host: StudyService
    clock: Clock
    client: httpx.AsyncClient

    async def post(self, path: str, token: str = "", **body: Any) -> httpx.Response:
        headers = {"authorization": f"Bearer {token}"} if token else {}
        return await self.client.post(f"/api/stage/{path}", json=body, headers=headers)

    async def person(self, name: str = "ann") -> Person:
        """Return somebody at their first trial."""
        person = await Person(self.host, self.clock, name).come()
        while person.step["kind"] != "trial":
            self.clock.wait(seconds=5)
            person.step = (await self.host.answer(person.token, person.key, await person.answers()))["step"]  # type: ignore[assignment]
        return person

    async def state(self, person: Person) -> dict[str, Any]:
        headers = {"authorization": f"Bearer {person.token}"}
        told: dict[str, Any] = (await self.client.get(f"/api/stage?key={person.key}", headers=headers)).json()
        return told

    async def code(self, person: Person) -> str:
        told = (await self.post("code", person.token, key=person.key)).json()
        return str(told["code"]["text"])

    async def couple(self, person: Person) -> str:
        """Return the token of a device that becomes the stage of a person."""
        reply = await self.post("couple", code=await self.code(person), device=LAPTOP)
        return str(reply.raise_for_status().json()["token"])

    async def order(self, person: Person, number: int = 1, **changes: Any) -> httpx.Response:
        body = {"key": person.key, "number": number, "ms": 1000, "slots": ["s1"], "way": "one", **changes}
        return await self.post("order", person.token, **body)

    async def show(self, person: Person, token: str, page: str = "a1") -> None:
        """Play the clip of a trial to its end on the stage."""
        log = [*watch_events(person.step["trial"]), [900, "state", None, {"is": "over", "order": 1}]]
        self.clock.wait(seconds=2)
        reply = await self.post("report", token, key=person.key, page=page, **{"from": 0}, events=log)
        reply.raise_for_status()

    async def answer(self, person: Person, events: list[Any]) -> httpx.Response:
        headers = {"authorization": f"Bearer {person.token}"}
        body = {"answer": ANSWER, "events": events, "tab": "t"}
        return await self.client.put(f"/api/answers/{person.key}", json=body, headers=headers)


@asynccontextmanager
async def theatre(folder: Path, tiny: Path, url: str = "", **keys: Any) -> AsyncIterator[Theatre]:
    """Yield a study with a store in this folder, or with a database that three servers share."""
    study = folder / "study" / "study.yaml"
    if not study.is_file():
        write_study(study.parent, tiny, **{**KEYS, **keys})
    opened = store_in_turn(url) if url else open_store(folder / "store")
    served, plan = load_served(load_study(study), "http://here")
    async with opened as store:
        await store.begin(record_of(served, plan.plan_digest), served.study.run)
        clock = Clock()
        host = StudyService(served, store, now=clock)
        transport = httpx.ASGITransport(make_app(host, Assets(find("acr"))))
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
            yield Theatre(host, clock, client)


@pytest.fixture(params=["sqlite", variant("three servers on postgresql")])
def url(request: pytest.FixtureRequest) -> str:
    """The address of the database; empty for one in the folder of the test."""
    return "" if request.param == "sqlite" else str(request.getfixturevalue("postgresql_url"))


def code_of(reply: httpx.Response) -> tuple[int, str]:
    return reply.status_code, reply.json()["error"]["code"]


async def test_a_code_couples_one_device_once_and_runs_out_after_ten_minutes(tmp_path: Path, tiny: Path) -> None:
    async with theatre(tmp_path, tiny) as here:
        ann = await here.person()
        assert (await here.state(ann))["stage"] is None
        code = await here.code(ann)
        assert len(code) == 6
        assert await here.code(ann) == code, "a reload shows the same one"
        typed = f" {code[:3].lower()}-{code[3:]} "
        assert (await here.post("couple", code=typed, device=LAPTOP)).status_code == 200
        assert code_of(await here.post("couple", code=code, device=LAPTOP)) == (404, "no_code")
        second = await here.code(ann)
        here.clock.wait(minutes=10)
        assert code_of(await here.post("couple", code=second)) == (404, "no_code")
        third = await here.code(ann)
        assert len({code, second, third}) == 3
        told = (await here.state(ann))["code"]
        assert (told["seconds"], told["address"]) == (600, "http://here/s/tiny/stage")
        assert {len(row) for row in told["qr"]} == {len(told["qr"])}
        assert set("".join(told["qr"])) == {"0", "1"}


async def test_of_two_devices_that_enter_a_code_at_once_one_becomes_the_stage(
    tmp_path: Path, tiny: Path, url: str
) -> None:
    async with theatre(tmp_path, tiny, url) as here:
        ann = await here.person()
        code = await here.code(ann)
        replies = await asyncio.gather(*(here.post("couple", code=code, device=LAPTOP) for _ in range(4)))
        assert sorted(reply.status_code for reply in replies) == [200, 404, 404, 404]
        (token,) = [reply.json()["token"] for reply in replies if reply.status_code == 200]
        orders = await asyncio.gather(*(here.order(ann) for _ in range(3)))
        assert {reply.json()["order"] for reply in orders} == {1}
        await here.show(ann, token)
        await here.show(ann, token)  # sent again, it is stored once
        told = await here.state(ann)
        assert (told["stage"]["here"], told["slots"]["s1"]["begun"]) == (True, 1)
        here.clock.wait(seconds=5)
        assert (await here.answer(ann, [])).status_code == 200


async def test_only_a_new_code_puts_another_device_in_the_place_of_the_stage(tmp_path: Path, tiny: Path) -> None:
    async with theatre(tmp_path, tiny) as here:
        ann = await here.person()
        first = await here.couple(ann)
        assert (await here.post("report", first, page="a")).json()["key"] == "trial:1"
        second = await here.couple(ann)
        assert code_of(await here.post("report", first, page="a")) == (401, "other_stage")
        assert (await here.post("report", second, page="b")).status_code == 200


async def test_guesses_are_slowed_down_and_then_not_even_the_right_code_is_looked_at(
    tmp_path: Path, tiny: Path
) -> None:
    async with theatre(tmp_path, tiny) as here:
        ann = await here.person()
        code = await here.code(ann)
        replies = [await here.post("couple", code=f"2222{number:02}") for number in range(12)]
        assert [reply.status_code for reply in replies] == [404] * 10 + [429] * 2
        assert (await here.post("couple", code=code)).status_code == 429


async def test_a_stage_gets_the_clip_that_is_on_and_nothing_of_questions_conditions_or_other_trials(
    tmp_path: Path, tiny: Path
) -> None:
    async with theatre(tmp_path, tiny) as here:
        ann = await here.person()
        assert ann.step["trial"]["stage"] == "separate"
        assert ann.step["trial"]["slots"][0]["media"]["url"] == ""
        assert ann.step["prefetch"] == []
        token = await here.couple(ann)
        reply = await here.post("report", token, page="a1")
        told = reply.json()
        assert sorted(told) == ["ended", "key", "order", "trial"]
        assert told["trial"]["asked"] == []
        (slot,) = told["trial"]["slots"]
        assert {name: slot[name] for name in slot if name != "media"} == {
            "id": "s1", "label": None, "colour": None, "rated": False
        }  # fmt: skip
        for secret in ("How good", "quality", "natural", "frozen", "jerky", "smooth"):
            assert secret not in reply.text
        assert (await here.client.get(slot["media"]["url"])).status_code == 200
        for path in ("step", "stage?key=trial:1"):  # what is the session's is not the stage's
            refused = await here.client.get(f"/api/{path}", headers={"authorization": f"Bearer {token}"})
            assert refused.status_code == 401
        refused = await here.client.put("/api/answers/trial:1", json={"answer": ANSWER},
                                        headers={"authorization": f"Bearer {token}"})  # fmt: skip
        assert refused.status_code == 401
        assert (await here.post("report", ann.token, page="a1")).status_code == 401


async def test_a_token_that_was_changed_opens_nothing(tmp_path: Path, tiny: Path) -> None:
    async with theatre(tmp_path, tiny) as here:
        ann, bob = await here.person(), await here.person("bob")
        token = await here.couple(ann)
        study, session, number, mark = token.split(".")
        for forged in (
            f"{study}.{bob.session}.{number}.{mark}", f"{study}.{session}.2.{mark}", f"{study}.{session}.-1.{mark}",
            f"{study}.{session}.{number}.{mark}x", f"{study}.{session}.{number}", "", "....", ann.token,
        ):  # fmt: skip
            assert (await here.post("report", forged, page="a1")).status_code == 401, forged
        assert (await here.state(bob))["stage"] is None


async def test_the_stage_proves_what_was_watched_and_the_hand_set_cannot_make_it_up(tmp_path: Path, tiny: Path) -> None:
    async with theatre(tmp_path, tiny) as here:
        ann = await here.person()
        made_up = watch_events(ann.step["trial"])
        token = await here.couple(ann)
        assert (await here.order(ann)).status_code == 200
        here.clock.wait(seconds=9)
        assert code_of(await here.answer(ann, made_up)) == (422, "not_watched")
        await here.show(ann, token)
        seen = (await here.state(ann))["slots"]["s1"]
        assert seen == {"watched": True, "share": 1.0, "begun": 1, "whole": 1, "failure": None}
        assert (await here.answer(ann, made_up)).status_code == 200
        stored = (await ann.facts()).answers["trial:1"].playback
        assert (stored["s1"]["plays"], stored["page"]["interrupted"]) == (1, 0)  # type: ignore[index,call-overload]
        assert (await here.answer(ann, made_up)).status_code == 200, "sent again, it is the same answer"


async def test_what_plays_longer_than_the_clock_allows_is_not_believed_of_a_stage_either(
    tmp_path: Path, tiny: Path
) -> None:
    async with theatre(tmp_path, tiny) as here:
        ann = await here.person()
        token = await here.couple(ann)
        await here.order(ann)
        log: list[Any] = [[0, "play", "s1", {"at": 0}], [400, "ended", "s1", {"at": 400}]]
        log += [[400, "frames", "s1", {"total": 10, "width": 64, "height": 64}]]
        for place in range(1, 30):
            log += [[400 * place, "play", "s1", {"at": 0}], [400 * place + 400, "ended", "s1", {"at": 400}]]
        log.append([13_000, "state", None, {"is": "over", "order": 1}])
        await here.post("report", token, key="trial:1", page="a1", **{"from": 0}, events=log)
        assert code_of(await here.answer(ann, [])) == (422, "not_watched")


async def test_a_stage_that_is_silent_is_lost_within_seconds_and_what_it_left_unfinished_is_counted(
    tmp_path: Path, tiny: Path
) -> None:
    async with theatre(tmp_path, tiny) as here:
        ann = await here.person()
        token = await here.couple(ann)
        begun = [[0, "play", "s1", {"at": 0}], [10, "state", None, {"is": "playing", "order": 1}]]
        await here.order(ann)
        await here.post("report", token, key="trial:1", page="a1", **{"from": 0}, events=begun)
        stage = (await here.state(ann))["stage"]
        assert (stage["here"], stage["is"], stage["order"], stage["screen"]) == (True, "playing", 1, [1920, 1080])
        here.clock.wait(seconds=8)
        await here.post("report", token, key="trial:1", page="a1", **{"from": 2})  # only asks
        here.clock.wait(seconds=8)
        assert (await here.state(ann))["stage"]["here"]
        here.clock.wait(seconds=3)
        assert not (await here.state(ann))["stage"]["here"]
        await here.show(ann, token, page="b2")  # reloaded
        await here.order(ann, 2)
        assert (await here.answer(ann, [])).status_code == 200
        assert (await ann.facts()).answers["trial:1"].playback["page"]["interrupted"] == 1  # type: ignore[index,call-overload]


async def test_a_server_that_starts_anew_knows_the_stage_the_order_and_what_was_watched(
    tmp_path: Path, tiny: Path
) -> None:
    async with theatre(tmp_path, tiny) as here:
        ann = await here.person()
        token = await here.couple(ann)
        await here.order(ann)
        await here.show(ann, token)
    async with theatre(tmp_path, tiny) as there:
        told = (await there.post("report", token, page="a1")).json()
        assert (told["key"], told["order"]["number"]) == ("trial:1", 1)
        there.clock.wait(minutes=1)
        assert (await there.answer(ann, [])).status_code == 200


async def test_reports_and_orders_that_are_not_as_described_are_refused_and_change_nothing(
    tmp_path: Path, tiny: Path
) -> None:
    async with theatre(tmp_path, tiny) as here:
        ann = await here.person()
        assert code_of(await here.order(ann)) == (409, "no_stage")
        token = await here.couple(ann)
        for changes in ({"slots": ["s9"]}, {"key": "trial:2"}):
            assert code_of(await here.order(ann, **changes)) == (409, "not_reached")
        wrong: dict[str, Any]
        for wrong in ({"slots": []}, {"way": "together"}, {"ms": -1}, {"gap": 99}, {"passes": 1.5}, {"number": True}):
            assert (await here.order(ann, **wrong)).status_code == 422, wrong
        assert (await here.order(ann, 7)).json()["order"] == 0, "not the next one"
        for body in (
            {"page": ""}, {"page": "a b"}, {"page": "a", "from": -1}, {"page": "a", "key": 5},
            {"page": "a", "events": [[0, "play", "s1", {}]]},
            {"page": "a", "events": [[0, "state", None, {"is": "?"}]]},
            {"page": "a", "events": [[0, "stolen", None, {}]]}, {"page": "a", "events": 5},
        ):  # fmt: skip
            assert (await here.post("report", token, **{"key": "trial:1", **body})).status_code == 422, body
        late = await here.post("report", token, key="trial:2", page="a", events=[[0, "state", None, {"is": "ready"}]])
        assert late.json()["key"] == "trial:1"
        headers = {"authorization": f"Bearer {ann.token}"}
        hidden = {"key": "stage:trial:1", "tab": "1.a1", "events": [[0, "play", "s1", {"at": 0}]]}
        assert (await here.client.post("/api/events", json=hidden, headers=headers)).status_code == 409
        assert (await here.state(ann))["slots"]["s1"]["begun"] == 0


async def test_a_stage_hears_that_the_session_is_over_and_an_erasure_takes_all_of_it(
    tmp_path: Path, tiny: Path
) -> None:
    async with theatre(tmp_path, tiny) as here:
        ann = await here.person()
        token = await here.couple(ann)
        await here.host.withdraw(ann.token)
        assert (await here.post("report", token, page="a1")).status_code in (401, 410)
        assert [row async for row in here.host.store.rows("events")] == []


async def test_a_study_without_a_separate_stage_has_none_of_its_routes(tmp_path: Path, tiny: Path) -> None:
    async with theatre(tmp_path, tiny, stage="same") as here:
        assert (await here.post("couple", code="222222")).status_code == 404
        assert (await here.client.get("/s/tiny/stage")).status_code == 404
        ann = await here.person()
        assert "stage" not in ann.step["trial"]


async def test_people_read_before_they_agree_that_it_takes_a_second_device_and_a_preview_shows_all_in_one_window(
    tmp_path: Path, tiny: Path
) -> None:
    async with theatre(tmp_path, tiny) as here:
        ann = await Person(here.host, here.clock).come()
        needs: Any = ann.step["needs"]
        (line,) = needs
        assert line.startswith("A second device with a browser")
        preview = here.host.preview
        assert preview.step("consent")["needs"] == [line]
        shown: Any = preview.step("trial:1")["trial"]
        assert "stage" not in shown
        assert shown["slots"][0]["media"]["url"].startswith("/media/preview-")
        assert line in describe_job(here.host.served.study, JOB)


def test_tokens_of_stages_and_sessions_are_never_taken_for_each_other() -> None:
    secret = b"s" * 32
    token = tokens.stage_token(secret, "tiny", "abc", 3)
    assert tokens.read_stage_token(secret, "tiny", token) == ("abc", 3)
    with pytest.raises(Refused):
        tokens.read_token(secret, "tiny", token)
