"""Serving a desk: on its own port, with a link that logs in."""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path

import httpx
import pytest

import beholder.server
from beholder.desk.access_file import noted_desks
from beholder.desk.desk_server import run_desk
from beholder.desk.logins import end_session
from beholder.methods import load_study
from beholder.server.process import run_server
from beholder.testing import write_study
from support.link_visitors import take_as_a_person
from support.taken_study import TakenStudy


async def test_a_desk_listens_and_its_link_logs_in(tmp_path: Path, tiny: Path) -> None:
    study = write_study(tmp_path / "study", tiny)
    async with run_desk([study], port=0, accounts=tmp_path / "desk.sqlite") as running:
        address, _, code = running.link("Ada").partition("/login#code=")
        assert address == running.address
        async with httpx.AsyncClient(base_url=address, headers={"origin": address}) as browser:
            assert (await browser.get("/api/me")).status_code == 401
            assert (await browser.post("/api/login", json={"code": code})).status_code == 200
            assert (await browser.get("/api/me")).json()["name"] == "Ada"
        ((noted, studies),) = noted_desks(running.file)
        assert (noted, list(studies.values())) == (address, [str(study)])


async def test_the_live_page_tells_no_name_and_ends_with_the_session(taken: TakenStudy) -> None:
    folder, _ = taken
    async with run_desk([folder], port=0, accounts=folder.parent / "desk.sqlite") as running:
        code = running.link("Ada").partition("/login#code=")[2]
        (key,) = running.desk.studies.places
        async with httpx.AsyncClient(base_url=running.address, headers={"origin": running.address}) as browser:
            me = (await browser.post("/api/login", json={"code": code})).json()
            async with browser.stream("GET", f"/api/studies/{key}/stream") as stream:
                assert stream.headers["content-type"].startswith("text/event-stream")
                lines = stream.aiter_lines()
                event = await anext(line async for line in lines if line.startswith("data: "))
                document = json.loads(event.removeprefix("data: "))
                assert (document["key"], document["monitor"]["completed"]) == (key, 2)
                assert not any(name in event for name in ("natural", "smooth", "jerky", "frozen"))
                assert end_session(running.file, me["id"])
                async with run_server(load_study(folder), port=0) as server:
                    await take_as_a_person(server.link, "dee")
                    assert not [line async for line in lines if line.startswith("data: ")], "it has ended"


async def test_the_server_of_participants_reads_sets_and_logs_no_cookie(
    tmp_path: Path, tiny: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    study = load_study(write_study(tmp_path, tiny))
    async with run_server(study, port=0) as server, httpx.AsyncClient(base_url=server.address) as browser:
        planted = {"cookie": "beholder_desk=planted-secret"}
        document = (await browser.get("/openapi.json")).json()
        for path, methods in document["paths"].items():
            for method in methods:
                reply = await browser.request(method, re.sub(r"{\w+}", "x", path), headers=planted, json={})
                assert "set-cookie" not in reply.headers, path
                assert "planted-secret" not in reply.text, path
        await take_as_a_person(server.link, "ada")
    assert "planted-secret" not in caplog.text
    assert not [file for file in tmp_path.rglob("*") if file.is_file() and b"planted-secret" in file.read_bytes()]
    sources = Path(beholder.server.__file__).parent.rglob("*.py")
    assert not [path.name for path in sources if "cookie" in path.read_text("utf-8").lower()]
