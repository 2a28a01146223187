"""The OpenAPI document of the desk is true: no request of any shape, by whomever, breaks its promises."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi import checks

from beholder.desk.access_file import AccessFile
from beholder.desk.desk_server import run_desk
from beholder.desk.tokens import TOKEN_SCOPES, make_token
from beholder.testing import write_study

PROMISES = [
    not_a_server_error, checks.status_code_conformance, checks.content_type_conformance,
    checks.response_schema_conformance,
]  # fmt: skip
ENDLESS = "/api/studies/{key}/stream"
"""Its reply does not end; its own test reads it."""


class ServedDesk(NamedTuple):
    """A desk on a port, with the cookie of its owner and a token."""

    address: str
    cookie: str
    token: str


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, tiny: Path) -> Iterator[ServedDesk]:
    folder = tmp_path_factory.mktemp("desk-api")
    study = write_study(folder / "study", tiny, name="walks")
    running: list[ServedDesk] = []
    ready, done = threading.Event(), asyncio.Event()
    loop = asyncio.new_event_loop()

    async def serve() -> None:
        async with run_desk([study], port=0, accounts=folder / "desk.sqlite") as desk:
            file = AccessFile(folder / "desk.sqlite")
            day = f"{file.now():%Y-%m-%d}"
            token, _ = make_token(file, label="probe", scopes=TOKEN_SCOPES, until=day, made_by="Ada")
            file.close()
            code = desk.link("Ada").partition("#code=")[2]
            async with httpx.AsyncClient(base_url=desk.address, headers={"origin": desk.address}) as browser:
                (await browser.post("/api/login", json={"code": code})).raise_for_status()
                running.append(ServedDesk(desk.address, str(browser.cookies["beholder_desk"]), token))
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


@pytest.mark.long
def test_no_request_of_any_shape_by_whomever_breaks_a_promise(served: ServedDesk, whole: bool) -> None:
    mine = {"origin": served.address, "cookie": f"beholder_desk={served.cookie}"}
    document = httpx.get(f"{served.address}/api/openapi.json", headers=mine).json()
    del document["paths"][ENDLESS]
    del document["paths"]["/api/logout"]  # which would end the session of the others
    by = [mine, {"authorization": f"Bearer {served.token}"}, {"authorization": "Bearer nobody"}, {}]
    session, sent = requests.Session(), 0
    modes = [schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE]
    found: list[Any] = list(schemathesis.openapi.from_dict(document).get_all_operations())
    for operation in [one.ok() for one in found]:
        cases = st.one_of(*(operation.as_strategy(generation_mode=mode) for mode in modes))

        @settings(
            max_examples=200 if whole else 4,
            database=None,
            deadline=None,
            derandomize=True,
            phases=(Phase.generate,),
            suppress_health_check=list(HealthCheck),
        )
        @given(case=cases, headers=st.sampled_from(by), key=st.sampled_from(["walks", "", "other"]))
        def probe(case: Any, headers: dict[str, str], key: str) -> None:
            nonlocal sent
            case.headers = {**(case.headers or {}), **headers}
            case.cookies = {}
            if key and "key" in (case.path_parameters or {}):
                case.path_parameters["key"] = key
            reply = case.call(base_url=served.address, session=session)
            case.validate_response(reply, checks=PROMISES)
            sent += 1

        probe()
    session.close()
    assert sent >= 24 * (200 if whole else 4) // 2
    assert httpx.get(f"{served.address}/api/me", headers=mine).json()["name"] == "Ada"
