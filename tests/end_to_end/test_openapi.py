"""The document of the routes is true: it lists every route and no other, and no request breaks its promises."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi import checks

from beholder.methods import load_study
from beholder.server.operations import FRONT, openapi_document
from beholder.server.participants import OPERATOR, lab_key
from beholder.server.process import RunningServer, run_server
from beholder.testing import write_study

PROMISES = [
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
]


def operations_of(document: dict[str, Any]) -> list[Any]:
    found: list[Any] = list(schemathesis.openapi.from_dict(document).get_all_operations())
    return [one.ok() for one in found]


@pytest.fixture(scope="module")
def laboratory(tmp_path_factory: pytest.TempPathFactory, tiny: Path) -> Iterator[RunningServer]:
    """A server with every route, those of a laboratory included, that runs beside the test."""
    study = load_study(
        write_study(tmp_path_factory.mktemp("openapi") / "study", tiny, recruit={"mode": "lab", "stations": 2})
    )
    running: list[RunningServer] = []
    ready, done = threading.Event(), asyncio.Event()
    loop = asyncio.new_event_loop()

    async def serve() -> None:
        async with run_server(study, port=0) as server:
            running.append(server)
            ready.set()
            await done.wait()

    def work() -> None:
        try:
            loop.run_until_complete(serve())
        finally:
            ready.set()
            loop.close()

    thread = threading.Thread(target=work)
    thread.start()
    ready.wait()
    yield running[0]
    loop.call_soon_threadsafe(done.set)
    thread.join()


@pytest.fixture(scope="module")
def document(laboratory: RunningServer) -> dict[str, Any]:
    reply = httpx.get(f"{laboratory.address}/openapi.json")
    assert reply.headers["content-type"] == "application/json"
    served: dict[str, Any] = reply.json()
    return served


@pytest.fixture(scope="module")
def keys(laboratory: RunningServer) -> list[str]:
    """Keys of every kind: of the operator, of a station, of a person's session, and of nobody."""
    secret = laboratory.store.secret
    operator, station = (lab_key(secret, place) for place in (OPERATOR, "1"))
    with httpx.Client(base_url=laboratory.address, headers={"authorization": f"Bearer {operator}"}) as client:
        seat = client.post("/api/lab/stations/1", json={"after": None}).json()["seat"]
        arrived = client.post("/api/arrive", json={"study": "tiny", "params": {"seat": seat}, "device": {}})
    assert arrived.status_code == 201, arrived.text
    return [str(arrived.json()["token"]), operator, station, "nobody", ""]


def test_every_operation_has_a_name_of_its_own_and_says_what_it_does(document: dict[str, Any]) -> None:
    listed = [one for methods in document["paths"].values() for one in methods.values()]
    assert len({one["operationId"] for one in listed}) == len(listed)
    assert all(one["summary"].endswith(".") and one["responses"] for one in listed)
    assert openapi_document("empty", [])["paths"] == {}
    assert FRONT.method == "GET"


def test_the_document_has_every_route_of_the_server(document: dict[str, Any], laboratory: RunningServer) -> None:
    """What is listed is there with its methods alone, and what is not listed is nowhere."""
    assert {path: sorted(methods) for path, methods in document["paths"].items()} == {
        "/": ["get"], "/s/{study}": ["get"], "/api/arrive": ["post"], "/api/step": ["get"],
        "/api/answers/{key}": ["put"], "/api/events": ["post"], "/api/presence": ["post"], "/api/withdraw": ["post"],
        "/forget": ["get"], "/api/forget": ["post"], "/media/{token}": ["get"], "/web/{hash}/{path}": ["get"],
        "/healthz": ["get"], "/openapi.json": ["get"], "/lab": ["get"], "/lab/{station}": ["get"], "/api/lab": ["get"],
        "/api/lab/stations/{station}": ["get", "post"],
    }  # fmt: skip
    with httpx.Client(base_url=laboratory.address) as client:
        for path, methods in document["paths"].items():
            address = path.replace("{station}", "1").replace("{", "").replace("}", "")
            for method in ("GET", "POST", "PUT", "DELETE", "PATCH"):
                status = client.request(method, address).status_code
                assert (status == 405) == (method.lower() not in methods), (method, path, status)


def test_a_document_that_is_not_true_is_found_out(laboratory: RunningServer, document: dict[str, Any]) -> None:
    replies = document["paths"]["/healthz"]["get"]["responses"]
    lies = (
        {**replies, "200": {"description": "", "content": {"text/html": {"schema": {}}}}},
        {**replies, "200": {"description": "", "content": {"application/json": {"schema": {"required": ["at"]}}}}},
        {"404": replies["200"]},
    )
    for lie in lies:
        changed = {**document, "paths": {"/healthz": {"get": {"responses": lie}}}}
        (operation,) = operations_of(changed)
        case = operation.Case()
        with pytest.raises(FailureGroup):
            case.call_and_validate(base_url=laboratory.address, checks=PROMISES)


@pytest.mark.long
def test_no_request_of_any_shape_breaks_a_promise(
    laboratory: RunningServer, document: dict[str, Any], keys: list[str], whole: bool
) -> None:
    """Property-based: bodies, parameters and keys that fit the document, and others that do not."""
    session, sent = requests.Session(), 0
    modes = [schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE]
    for operation in operations_of(document):
        cases = st.one_of(*(operation.as_strategy(generation_mode=mode) for mode in modes))

        @settings(
            max_examples=400 if whole else 3,
            database=None,
            deadline=None,
            derandomize=True,
            phases=(Phase.generate,),
            suppress_health_check=list(HealthCheck),
        )
        @given(case=cases, key=st.sampled_from(keys))
        def probe(case: Any, key: str) -> None:
            nonlocal sent
            if key:
                case.headers = {**(case.headers or {}), "authorization": f"Bearer {key}"}
            reply = case.call(base_url=laboratory.address, session=session)
            case.validate_response(reply, checks=PROMISES)
            sent += 1

        probe()
    session.close()
    assert sent >= 19 * (400 if whole else 3) // 2
    with httpx.Client(base_url=laboratory.address) as client:
        told = client.get("/healthz").json()
        assert (told["study"], told["state"]) == ("tiny", "ready")
