"""Hostile or faulty requests of browsers, and the damage that they must not do."""

from __future__ import annotations

import asyncio
import json
import shutil
from datetime import timedelta
from typing import Any, cast

import httpx
import pytest

from beholder.errors import Refused
from beholder.server.app import make_app
from beholder.server.assets import Assets
from beholder.server.limits import StoreRoom
from beholder.server.requests import SubmittedAnswer
from beholder.server.service import StudyService
from beholder.store.contract import Store, StoreUnavailable
from support.visitor import Site, Visitor, facts_of, robot


async def test_the_tab_that_loses_a_race_ends_nothing(server: Site) -> None:
    for number in range(6):
        one = Visitor(server, participant=f"p{number}")
        await one.arrive()
        await one.answer({"agree": True})
        right, wrong = ({"answers": {"field": value}} for value in ("no", "yes"))
        replies = await asyncio.gather(*(one.answer(a, key="questions:before") for a in (right, wrong)))
        facts = await facts_of(server, one)
        stored = facts.answers["questions:before"].answer
        assert sorted(reply.status_code for reply in replies) in ([200, 409], [200, 410])
        assert (facts.end is not None) == (stored == wrong)


async def test_yes_and_no_to_the_consent_at_once_give_one_of_them(server: Site) -> None:
    for number in range(6):
        one = Visitor(server, participant=f"p{number}")
        await one.arrive()
        replies = await asyncio.gather(
            one.answer({"agree": True}, key="consent"), one.answer({"agree": False}, key="consent")
        )
        assert sorted(reply.status_code for reply in replies)[0] == 200
        assert {reply.status_code for reply in replies} <= {200, 403, 409, 410}
        facts = await facts_of(server, one)
        if facts.answers:
            assert (facts.answers["consent"].answer, facts.end, facts.erased) == ({"agree": True}, None, False)
        else:
            assert facts.end.outcome == "no_consent"


async def test_two_answers_in_one_clock_tick_are_one_answer(server: Site) -> None:
    visitor = robot(server)
    await visitor.until_trial()
    tick = server.service.now()
    frozen = StudyService(server.service.served, server.store, now=lambda: tick)
    submissions = [SubmittedAnswer(visitor.scores(value), visitor.watched()) for value in (10, 20)]
    results = await asyncio.gather(
        *(frozen.answer(visitor.token, "trial:1", submission) for submission in submissions), return_exceptions=True
    )
    assert sum(isinstance(result, dict) for result in results) == 1


async def test_a_clock_that_was_set_back_costs_nobody_an_answer(server: Site) -> None:
    visitor = Visitor(server, participant="ada")
    await visitor.until_trial()
    behind = StudyService(server.service.served, server.store, now=lambda: server.service.now() - timedelta(minutes=5))
    reply = await behind.answer(visitor.token, "trial:1", SubmittedAnswer(visitor.scores(), visitor.watched()))
    assert reply["stored_at"]


async def test_a_person_cannot_watch_everything_in_no_time(server: Site) -> None:
    visitor = Visitor(server, participant="hasty")
    await visitor.until_trial()
    response = await visitor.answer(visitor.scores(), visitor.watched())
    assert response.status_code == 422
    assert response.json()["error"]["where"] == "events"


async def test_a_session_in_which_nothing_would_play_ends_without_a_code(server: Site) -> None:
    visitor = robot(server)
    await visitor.until_trial()
    slots = [slot["id"] for slot in visitor.step["trial"]["slots"]]
    answer = {"scores": {"q1": {}}, "missing": dict.fromkeys(slots, "media_error")}
    await visitor.answer(answer, [[0, "error", slot, {"what": "decode"}] for slot in slots])
    assert (visitor.step["outcome"], visitor.step["code"]) == ("technical", None)


async def test_only_a_whole_or_screened_out_session_gets_a_code(server: Site) -> None:
    declined, withdrawn = Visitor(server, participant="a"), Visitor(server, participant="b")
    await declined.arrive()
    await declined.answer({"agree": False})
    assert declined.step["code"] is None
    await withdrawn.until_trial()
    assert (await withdrawn.send("POST", "/api/withdraw", {})).json()["step"]["code"] is None


async def test_the_link_to_a_platform_id_is_made_up_for_at_the_next_arrival(server: Site) -> None:
    class Hiccup:
        def __init__(self, store: Any) -> None:
            self.store = store
            self.linked: list[tuple[object, ...]] = []

        def __getattr__(self, name: str) -> Any:
            return getattr(self.store, name)

        async def identify(self, *link: object, **keys: object) -> bool:
            self.linked.append(link)
            if len(self.linked) == 1:
                raise StoreUnavailable("once")
            return True

    store = Hiccup(server.store)
    host = StudyService(server.service.served, cast("Store", store))
    with pytest.raises(StoreUnavailable):
        await host.arrive({"PROLIFIC_PID": "somebody"}, {})
    await host.arrive({"PROLIFIC_PID": "somebody"}, {})
    assert len(store.linked) == 2


async def test_asking_for_media_before_consent_breaks_nothing(server: Site) -> None:
    visitor = robot(server)
    await visitor.arrive()
    session = visitor.token.split(".")[1]
    assert (await visitor.client.get(f"/media/{session}-0123")).status_code == 404
    await visitor.until_trial()
    assert (await visitor.client.get(visitor.step["trial"]["slots"][0]["media"]["url"])).status_code == 200


async def test_media_that_were_deleted_are_said_to_be_away(server: Site) -> None:
    visitor = robot(server)
    await visitor.until_trial()
    shutil.rmtree(server.service.served.study.folder / "media")
    response = await visitor.client.get(visitor.step["trial"]["slots"][0]["media"]["url"])
    assert (response.status_code, response.json()["error"]["code"]) == (503, "media_away")


async def test_events_of_a_step_that_is_not_reached_are_refused(server: Site) -> None:
    visitor = robot(server)
    await visitor.until_trial()
    batch = {"key": "trial:3", "tab": "t", "from": 0, "events": [[0, "shown", None, {}]]}
    assert (await visitor.send("POST", "/api/events", batch)).status_code == 409


async def test_an_event_log_without_end_is_refused(server: Site) -> None:
    visitor = robot(server)
    await visitor.until_trial()
    events = [[number, "key", None, {"x": "y" * 200}] for number in range(1000)]
    status = 204
    for first in range(0, 100_000, 1000):
        batch = {"key": "trial:1", "tab": "t", "from": first, "events": events}
        status = (await visitor.send("POST", "/api/events", batch)).status_code
        if status != 204:
            break
    assert status == 413


async def test_somebody_who_has_not_agreed_can_send_little(server: Site) -> None:
    visitor = Visitor(server)
    await visitor.arrive()
    events = [[number, "key", None, {"x": "y" * 200}] for number in range(500)]
    batch = {"key": "consent", "tab": "t", "from": 0, "events": events}
    assert (await visitor.send("POST", "/api/events", batch)).status_code == 413
    many = {str(number): "x" for number in range(40)}
    response = await server.client.post("/api/arrive", json={"study": "tiny", "params": many, "device": {}})
    assert (response.status_code, response.json()["error"]["allowed"]) == (422, "up to 32 parameters")
    strange = {"study": "tiny", "params": {}, "device": {"fonts": ["x" * 1000] * 20, "dpr": 2}}
    token = (await server.client.post("/api/arrive", json=strange)).json()["token"]
    facts = await server.store.session_facts(token.split(".")[1])
    assert facts is not None
    assert facts.session.device == {"dpr": 2}


async def test_arrivals_are_paced_by_address_and_whoever_is_inside_never_meets_it(server: Site) -> None:
    body = {"study": "tiny", "params": {}, "device": {}}
    crowd = {"x-forwarded-for": "203.0.113.9"}

    async def arrive(body: dict[str, Any], people: int) -> list[httpx.Response]:
        """Send people twenty at a time: httpx looks through all its connections for each request that waits."""
        groups = [
            await asyncio.gather(*(server.client.post("/api/arrive", json=body, headers=crowd) for _ in range(20)))
            for _ in range(people // 20)
        ]
        return [response for group in groups for response in group]

    came = await arrive(body, 300)
    while came[-1].status_code != 429:
        came += await arrive(body, 60)
    assert {one.status_code for one in came[:300]} == {201}, "300 in a minute behind one address"
    assert came[-1].headers["retry-after"]
    token = came[0].json()["token"]
    again = {"study": "tiny", "params": {"resume": token}, "device": {}}
    assert (await server.client.post("/api/arrive", json=again, headers=crowd)).status_code == 200
    other = {"study": "tiny", "params": {"participant": "ada"}, "device": {}, "token": token}
    begun = await arrive(other, 60)
    assert begun[-1].status_code == 429, "nobody begins again and again under other ids with the token of one session"
    forged = {"study": "tiny", "params": {"resume": "tiny.x.y"}, "device": {}}
    lied = await arrive(forged, 60)
    assert {one.status_code for one in lied} <= {401, 429}
    assert lied[-1].status_code == 429, "what somebody makes up counts"
    step = await server.client.get("/api/step", headers={**crowd, "authorization": f"Bearer {token}"})
    assert step.status_code == 200
    elsewhere = await server.client.post("/api/arrive", json=body, headers={"x-forwarded-for": "203.0.113.10"})
    assert elsewhere.status_code == 201


async def test_nobody_begins_when_the_disk_is_almost_full_and_whoever_is_inside_goes_on(server: Site) -> None:
    left = [10**12]
    room = StoreRoom(lambda: left[0], iter(range(1000)).__next__)
    host = StudyService(server.service.served, server.store, room=room)
    _, inside = await host.arrive({"participant": "ada"}, {})
    left[0] = 10**7
    with pytest.raises(Refused, match="cannot take more people at the moment"):
        await host.arrive({"participant": "ben"}, {})
    token = str(inside["token"])
    assert (await host.answer(token, "consent", SubmittedAnswer({"agree": True})))["stored_at"]
    assert (await host.arrive({"resume": token}, {}))[0] is False
    client = httpx.AsyncClient(transport=httpx.ASGITransport(make_app(host, Assets(host.served.method))))
    health = (await client.get("http://study/healthz")).json()
    assert (health["store"], health["room_mb"]) == ("ready", 9)


NUMBERS = ["1e999", "-1e999", "NaN", "Infinity", "1" + "0" * 400]


async def test_no_number_is_too_strange(server: Site) -> None:
    visitor = robot(server)
    await visitor.until_trial()
    headers = {"authorization": f"Bearer {visitor.token}", "content-type": "application/json"}
    for number in NUMBERS:
        slots = ", ".join(f'"{slot["id"]}": {number}' for slot in visitor.step["trial"]["slots"])
        for body in (
            f'{{"answer": {{"scores": {{"q1": {{{slots}}}}}}}, "events": []}}',
            f'{{"answer": {{}}, "events": [[0, "play", "s1", {{"at": {number}}}]]}}',
            f'{{"answer": {{}}, "events": [[{number}, "play", "s1", {{}}]]}}',
            f'{{"answer": {{}}, "shown_ms": {number}}}',
        ):
            response = await visitor.client.put("/api/answers/trial:1", content=body, headers=headers)
            assert response.status_code == 422, response.text
        arrive = f'{{"study": "tiny", "params": {{}}, "device": {{"width": {number}}}}}'
        assert (await visitor.client.post("/api/arrive", content=arrive)).status_code in (201, 422)


async def test_no_parameter_is_too_strange(server: Site) -> None:
    for name in ("participant", "preview", "robot", "signature", "resume"):
        for value in ("\ud800", "tiny.\ud800.x", "\x00", "x" * 200_000, "ü" * 100, "😀"):
            body = {"study": "tiny", "params": {name: value}, "device": {}}
            response = await server.client.post("/api/arrive", content=json.dumps(body))
            assert response.status_code in (201, 401, 403, 413, 422), (name, response.text)


async def test_no_range_is_too_strange(server: Site) -> None:
    visitor = robot(server)
    await visitor.until_trial()
    url = visitor.step["trial"]["slots"][0]["media"]["url"]
    for asked in (f"bytes={'9' * 5000}-", "bytes=-0", "bytes=5-1", "bytes=a-b", "bytes=0-1,3-4"):
        response = await visitor.client.get(url, headers={"range": asked})
        assert response.status_code in (200, 206, 416), asked[:20]


async def test_even_an_error_of_ours_carries_the_security_headers(server: Site) -> None:
    async def broken(*_: Any) -> None:
        raise RuntimeError("ours")

    server.service.step = broken  # type: ignore[method-assign, assignment]
    visitor = robot(server)
    await visitor.arrive()
    response = await visitor.send("GET", "/api/step")
    assert response.status_code == 500
    assert response.headers["x-content-type-options"] == "nosniff"
    assert "Traceback" not in response.text


async def test_whoever_comes_when_all_places_are_taken_is_told_at_the_door(server: Site) -> None:
    people = [Visitor(server, participant=f"p{number}") for number in range(6)]
    for one in people:
        await one.arrive()
        await one.answer({"agree": True})
    late = await Visitor(server, participant="late").arrive()
    assert (late.status_code, late.json()["error"]["code"]) == (403, "full")
    assert (await people[0].arrive()).status_code == 200
