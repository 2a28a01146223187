"""The routes, over real HTTP against a real server and store."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from beholder.store.contract import Table
from support.visitor import Site, Visitor, facts_of, robot


async def test_a_whole_session_ends_with_a_code_and_a_receipt(server: Site) -> None:
    visitor = robot(server)
    await visitor.until_trial()
    keys = []
    while visitor.step["kind"] == "trial":
        keys.append(visitor.step["key"])
        (await visitor.answer(visitor.scores(), visitor.watched())).raise_for_status()
    assert keys == ["trial:1", "trial:2", "trial:3"]
    end = visitor.step
    assert (end["kind"], end["outcome"], end["answers"]) == ("end", "completed", 3)
    assert len(end["code"]) == 9
    assert end["receipt"].startswith("BH-")
    again = await visitor.send("GET", "/api/step")
    assert again.json() == end


async def test_the_same_person_gets_the_same_session_and_step(server: Site) -> None:
    first = Visitor(server, participant="ada")
    assert (await first.arrive()).status_code == 201
    await first.answer({"agree": True})
    reloaded = Visitor(server, participant="ada")
    reloaded.token = first.token  # which the browser has kept
    assert (await reloaded.arrive()).status_code == 200
    assert (reloaded.token, reloaded.step) == (first.token, first.step)
    resumed = Visitor(server, resume=first.token)
    await resumed.arrive()
    assert resumed.step == first.step


async def test_an_answer_is_taken_once_and_its_repeat_changes_nothing(server: Site) -> None:
    visitor = robot(server)
    await visitor.until_trial()
    answer, events, key = visitor.scores(10), visitor.watched(), visitor.step["key"]
    first = await visitor.answer(answer, events)
    again = await visitor.answer(answer, events, key=key)
    assert again.status_code == 200
    assert again.json() == first.json()
    other = await visitor.answer({"scores": {"q1": dict.fromkeys(answer["scores"]["q1"], 11)}}, events, key=key)
    assert other.status_code == 409
    assert other.json()["error"]["code"] == "already_answered"
    assert other.json()["step"]["key"] == "trial:2"
    assert (await facts_of(server, visitor)).answers[key].answer == answer


async def test_a_step_that_is_not_reached_is_refused_with_the_current_one(server: Site) -> None:
    visitor = robot(server)
    await visitor.until_trial()
    response = await visitor.answer(visitor.scores(), visitor.watched(), key="trial:3")
    assert response.status_code == 409
    assert response.json()["error"]["code"] == "not_reached"
    assert response.json()["step"]["key"] == "trial:1"


BAD_ANSWERS: dict[str, Callable[[Any], Any]] = {
    "out of range": lambda a: {"scores": {"q1": {**a["scores"]["q1"], "s1": 101}}},
    "between steps": lambda a: {"scores": {"q1": {**a["scores"]["q1"], "s1": 50.5}}},
    "not a number": lambda a: {"scores": {"q1": {**a["scores"]["q1"], "s1": "50"}}},
    "true is not 1": lambda a: {"scores": {"q1": {**a["scores"]["q1"], "s1": True}}},
    "untouched": lambda a: {"scores": {"q1": {**a["scores"]["q1"], "s1": None}}},
    "a slot too many": lambda a: {"scores": {"q1": {**a["scores"]["q1"], "s9": 50}}},
    "a slot too few": lambda a: {"scores": {"q1": {k: v for k, v in a["scores"]["q1"].items() if k != "s1"}}},
    "another question": lambda a: {"scores": {"q2": a["scores"]["q1"]}},
    "no scores": lambda a: {},
    "a list": lambda a: [],
    "missing without an error": lambda a: {
        "scores": {"q1": {k: v for k, v in a["scores"]["q1"].items() if k != "s1"}},
        "missing": {"s1": "media_error"},
    },
    "missing for no reason": lambda a: {**a, "missing": {"s1": "bored"}},
    "more than an answer": lambda a: {**a, "sign": 1},
}


async def test_a_bad_answer_gets_422_with_a_reason_and_stores_nothing(server: Site) -> None:
    visitor = robot(server)
    await visitor.until_trial()
    before = await facts_of(server, visitor)
    for name, change in BAD_ANSWERS.items():
        response = await visitor.answer(change(visitor.scores()), visitor.watched())
        assert response.status_code == 422, name
        error = response.json()["error"]
        assert error["message"], name
        assert error["where"], name
        assert await facts_of(server, visitor) == before, name


async def test_without_watch_evidence_nothing_is_taken(server: Site) -> None:
    visitor = robot(server)
    await visitor.until_trial()
    response = await visitor.answer(visitor.scores(), [])
    assert response.status_code == 422
    assert response.json()["error"]["code"] == "not_watched"
    assert "trial:1" not in (await facts_of(server, visitor)).answers


async def test_a_video_that_failed_is_missing_not_zero(server: Site) -> None:
    visitor = robot(server)
    await visitor.until_trial()
    events = [e for e in visitor.watched() if e[2] != "s2"] + [[9000, "error", "s2", {"what": "decode"}]]
    answer = visitor.scores()
    del answer["scores"]["q1"]["s2"]
    answer["missing"] = {"s2": "media_error"}
    assert (await visitor.answer(answer, events)).status_code == 200


@pytest.mark.parametrize(
    ("token", "status"),
    [("", 401), ("nonsense", 401), ("tiny.0123.forged", 401), ("other.0123.forged", 403)],
)
async def test_a_forged_or_foreign_token_is_refused(server: Site, token: str, status: int) -> None:
    visitor = Visitor(server)
    visitor.token = token
    for method, path in (("GET", "/api/step"), ("PUT", "/api/answers/consent"), ("POST", "/api/withdraw")):
        response = await visitor.send(method, path, {"answer": {}})
        assert response.status_code == status
        assert response.json()["error"]["message"]


async def test_a_token_of_one_session_does_not_open_another(server: Site) -> None:
    ada, bob = Visitor(server, participant="ada"), Visitor(server, participant="bob")
    await ada.arrive()
    await bob.arrive()
    study, session, _ = ada.token.split(".")
    bob.token = f"{study}.{session}.{bob.token.split('.')[2]}"
    assert (await bob.send("GET", "/api/step")).status_code == 401


@pytest.mark.parametrize("claims_length", [True, False])
async def test_a_body_of_10_megabytes_is_refused(server: Site, claims_length: bool) -> None:
    visitor = robot(server)
    await visitor.arrive()
    body = b'{"answer": "' + b"x" * 10_000_000 + b'"}'

    async def pieces() -> AsyncIterator[bytes]:
        for start in range(0, len(body), 65536):
            yield body[start : start + 65536]

    headers = {"authorization": f"Bearer {visitor.token}", "content-type": "application/json"}
    response = await visitor.client.put(
        "/api/answers/consent", content=body if claims_length else pieces(), headers=headers
    )
    assert response.status_code == 413
    assert response.json()["error"]["allowed"] == "up to 256 kB"
    assert (await facts_of(server, visitor)).answers == {}


async def test_a_body_that_is_not_an_object_is_refused(server: Site) -> None:
    visitor = robot(server)
    await visitor.arrive()
    headers = {"authorization": f"Bearer {visitor.token}"}
    for body in (b"", b"{", b"[]", b"null", b'"x"', b"\xff\xfe", b"[" * 5000):
        for path in ("/api/arrive", "/api/events"):
            response = await visitor.client.post(path, content=body, headers=headers)
            assert response.status_code == 422, (path, body[:9])


@pytest.mark.parametrize("comment", ["plain", "\\ud800"])
async def test_a_number_that_no_computer_holds_is_refused_as_such(server: Site, comment: str) -> None:
    visitor = robot(server)
    await visitor.arrive()
    body = f'{{"answer": {{"agree": true, "comment": "{comment}"}}, "events": [[1, "click", null, 1e999]]}}'
    headers = {"authorization": f"Bearer {visitor.token}"}
    response = await visitor.client.put("/api/answers/consent", content=body.encode(), headers=headers)
    assert response.json()["error"]["allowed"] == "numbers that a computer can hold"
    assert (await facts_of(server, visitor)).answers == {}


async def test_a_wrong_prescreening_answer_ends_kindly(server: Site) -> None:
    visitor = Visitor(server, participant="expert")
    await visitor.arrive()
    await visitor.answer({"agree": True})
    await visitor.answer({"answers": {"field": "yes"}})
    assert visitor.step["outcome"] == "screened_out"
    assert "did nothing wrong" in visitor.step["text"]
    assert "trial:1" not in (await facts_of(server, visitor)).answers


async def test_declining_keeps_nothing(server: Site) -> None:
    visitor = Visitor(server, participant="private")
    await visitor.arrive()
    await visitor.answer({"agree": False})
    assert visitor.step["outcome"] == "no_consent"
    facts = await facts_of(server, visitor)
    assert (facts.answers, facts.list, facts.erased) == ({}, None, True)


async def test_withdrawing_erases_the_answers(server: Site) -> None:
    visitor = robot(server)
    await visitor.until_trial()
    await visitor.answer(visitor.scores(), visitor.watched())
    response = await visitor.send("POST", "/api/withdraw", {})
    assert response.json()["step"]["outcome"] == "withdrawn"
    facts = await facts_of(server, visitor)
    assert (facts.answers, facts.erased, facts.end.outcome) == ({}, True, "withdrawn")
    late = await visitor.answer(visitor.scores(), visitor.watched(), key="trial:2")
    assert late.status_code == 410


async def test_finished_blocked_and_late_people_are_told_so_kindly(server: Site) -> None:
    blocked = await Visitor(server, participant="mallory").arrive()
    assert (blocked.status_code, blocked.json()["error"]["code"]) == (403, "blocked")
    people = [Visitor(server, participant=f"p{n}") for n in range(7)]
    for person in people:
        await person.arrive()
    replies = [await person.answer({"agree": True}) for person in people]
    assert [reply.status_code for reply in replies] == [200] * 6 + [403]
    assert replies[-1].json()["error"]["code"] == "full"
    await people[0].answer({"answers": {"field": "yes"}})
    finished = await Visitor(server, participant="p0").arrive()
    assert (finished.status_code, finished.json()["error"]["code"]) == (403, "finished")
    own_link = Visitor(server, resume=people[0].token)
    await own_link.arrive()
    assert own_link.step["code"] == people[0].step["code"]


async def test_events_are_kept_once_and_renew_the_lease(server: Site) -> None:
    visitor = robot(server)
    await visitor.until_trial()
    batch = {"key": "trial:1", "tab": "t1", "from": 0, "events": [[0, "shown", None, {}]]}
    for _ in range(2):
        assert (await visitor.send("POST", "/api/events", batch)).status_code == 204
    rows = [row async for row in server.store.rows("events") if row["key"] == "trial:1"]
    assert len(rows) == 1
    assert rows[0]["events"] == [[0, "shown", None, {}]]


async def test_media_come_whole_or_in_ranges_and_are_cached_by_their_address(server: Site) -> None:
    visitor = robot(server)
    await visitor.until_trial()
    media = visitor.step["trial"]["slots"][0]["media"]
    whole = await visitor.client.get(media["url"])
    assert whole.status_code == 200
    assert len(whole.content) == media["bytes"]
    assert whole.headers["content-type"] == "video/mp4"
    assert whole.headers["etag"].strip('"') in media["url"]
    assert "immutable" in whole.headers["cache-control"]
    for asked, expected in {
        "bytes=0-99": whole.content[:100],
        "bytes=100-": whole.content[100:],
        "bytes=-50": whole.content[-50:],
        f"bytes=10-{10**9}": whole.content[10:],
    }.items():
        part = await visitor.client.get(media["url"], headers={"range": asked})
        assert (part.status_code, part.content) == (206, expected)
    beyond = await visitor.client.get(media["url"], headers={"range": f"bytes={10**9}-"})
    assert beyond.status_code == 416
    known = await visitor.client.get(media["url"], headers={"if-none-match": whole.headers["etag"]})
    assert known.status_code == 304
    assert (await visitor.client.get(media["url"][:-3] + "xyz")).status_code == 404


async def test_every_response_carries_strict_security_headers(server: Site) -> None:
    client = server.client
    for path in ("/s/tiny", "/healthz", "/nothing", "/api/step"):
        headers = (await client.get(path)).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["x-frame-options"] == "DENY"
        assert "frame-ancestors 'none'" in policy
        assert "set-cookie" not in headers
    page = (await client.get("/nothing", headers={"accept": "text/html"})).headers
    assert "script-src 'self'" in page["content-security-policy"]
    assert "camera=()" in page["permissions-policy"]
    assert page["cross-origin-opener-policy"] == "same-origin"
    script = re.search(r'src="(/web/[^"]*)"', (await client.get("/s/tiny")).text)
    assert script is not None
    headers = (await client.get(script[1])).headers
    assert headers["cache-control"] == "public, max-age=31536000, immutable"
    assert headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "permissions-policy" not in headers


async def test_the_page_has_no_inline_script_and_no_third_host(server: Site) -> None:
    page = (await server.client.get("/s/tiny")).text
    assert "A tiny study" in page
    assert "<script>" not in page
    assert "style=" not in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "https://" not in page


async def test_a_preview_shows_any_step_and_stores_nothing(server: Site) -> None:
    secret = server.service.preview.link.partition("preview=")[2]
    visitor = Visitor(server, preview=secret)
    arrival = (await visitor.arrive()).json()
    keys = [step["key"] for step in arrival["preview"]["steps"]]
    assert keys[:4] == ["consent", "questions:before", "text:instructions", "trial:1"]
    for key in keys:
        shown = await visitor.send("GET", f"/api/step?key={key}")
        assert shown.status_code == 200
    visitor.step = (await visitor.send("GET", "/api/step?key=trial:2")).json()
    media = visitor.step["trial"]["slots"][0]["media"]
    assert (await visitor.client.get(media["url"])).status_code == 200
    answered = await visitor.answer(visitor.scores(), visitor.watched())
    assert answered.json()["stored_at"] is None
    assert visitor.step["key"] == "trial:3"
    tables: tuple[Table, ...] = ("sessions", "answers", "claims")
    for table in tables:
        assert [row async for row in server.store.rows(table)] == []
    assert (await Visitor(server, preview="guess").arrive()).status_code == 401


async def test_health_tells_whether_the_store_can_be_written(server: Site) -> None:
    response = await server.client.get("/healthz")
    assert (response.status_code, response.json()["store"]) == (200, "ready")


async def test_a_robot_without_a_signature_is_not_let_in(server: Site) -> None:
    assert (await Visitor(server, robot="r1", signature="x").arrive()).status_code == 401
    assert (await Visitor(server, robot="r1").arrive()).status_code == 401


async def test_platform_ids_are_kept_apart_from_the_facts(server: Site) -> None:
    visitor = Visitor(server, PROLIFIC_PID="5f3c-secret-person")
    await visitor.arrive()
    async for row in server.store.rows("sessions"):
        assert "secret-person" not in json.dumps(row, default=str)


async def test_people_who_open_a_wrong_address_get_a_page_and_machines_get_json(server: Site) -> None:
    browser = {"accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
    for path in ("/s/another", "/nothing", "/api/arrive", "/web/0/run.js"):
        reply = await server.client.get(path, headers=browser)
        assert reply.status_code in (404, 405), path
        assert reply.headers["content-type"] == "text/html; charset=utf-8", path
        assert "<h1>This address leads nowhere</h1>" in reply.text
        assert '<a class="button" href="/s/tiny">Go to the study</a>' in reply.text
        assert "tiny@example.org" in reply.text
        machine = await server.client.get(path, headers={"accept": "application/json"})
        assert machine.status_code == reply.status_code
        assert machine.json()["error"]["message"] in reply.text
    refused = await server.client.get("/api/step", headers=browser)
    assert refused.status_code == 401
    assert "<h1>This page is not available</h1><p>This link is not valid." in refused.text
