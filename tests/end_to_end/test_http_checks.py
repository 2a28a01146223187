"""Checks over real HTTP: range requests of generated media, and a preview of every page that stores nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from beholder.methods import load_study
from beholder.server.process import run_server
from beholder.store.contract import Table
from beholder.testing import write_study
from support.check_settings import EVERY
from support.clock_service import LAPTOP, PHONE
from support.visitor import Site, Visitor


class DeviceVisitor(Visitor):
    """A visitor who reports a device."""

    device: dict[str, Any] = LAPTOP

    async def arrive(self) -> httpx.Response:
        body = {"study": "tiny", "params": self.params, "device": self.device, "token": self.token}
        response = await self.client.post("/api/arrive", json=body)
        if response.is_success:
            self.token, self.step = response.json()["token"], response.json()["step"]
        return response


@pytest.fixture
async def site(tmp_path: Path, tiny: Path) -> AsyncIterator[Site]:
    path = write_study(tmp_path / "study", tiny, qualification={"brightness": True, "sides": True})
    async with (
        run_server(load_study(path), port=0) as server,
        httpx.AsyncClient(base_url=server.address, timeout=60) as client,
    ):
        yield Site(server.service, server.store, server.address, client)


async def test_what_was_drawn_comes_whole_or_in_ranges_or_as_headers_alone(site: Site) -> None:
    visitor = DeviceVisitor(site, participant="ada")
    await visitor.arrive()
    await visitor.answer({"agree": True})
    await visitor.answer({})
    assert visitor.step["key"] == "check:brightness:1"
    url = visitor.step["media"]["matrix"]["url"]
    whole = await visitor.client.get(url)
    assert (whole.status_code, whole.headers["content-type"]) == (200, "image/png")
    assert whole.headers["accept-ranges"] == "bytes"
    assert "immutable" in whole.headers["cache-control"]
    size = len(whole.content)
    part = await visitor.client.get(url, headers={"range": "bytes=0-1"})
    assert (part.status_code, part.content) == (206, whole.content[:2]), "what Safari asks first"
    assert part.headers["content-range"] == f"bytes 0-1/{size}"
    rest = await visitor.client.get(url, headers={"range": f"bytes={size - 9}-"})
    assert rest.content == whole.content[-9:]
    assert (await visitor.client.get(url, headers={"range": f"bytes={size}-"})).status_code == 416
    head = await visitor.client.head(url)
    assert (head.status_code, head.content, head.headers["content-length"]) == (200, b"", str(size))
    known = await visitor.client.get(url, headers={"if-none-match": whole.headers["etag"]})
    assert known.status_code == 304
    await visitor.answer({"cannot": True})
    assert visitor.step["kind"] == "end"
    assert (await visitor.client.get(url)).status_code == 404, "after the attempt its picture is gone"


async def test_somebody_who_goes_on_with_another_device_is_asked_again(site: Site) -> None:
    visitor = DeviceVisitor(site, participant="ada")
    await visitor.arrive()
    await visitor.answer({"agree": True})
    await visitor.answer({})
    first = visitor.step
    resumed = DeviceVisitor(site, resume=visitor.token)
    await resumed.arrive()
    assert resumed.step == first, "the same device goes on where it was"
    resumed.device = PHONE
    await resumed.arrive()
    assert (resumed.step["key"], resumed.step["attempt"]) == ("check:brightness:2", 2)
    late = await visitor.answer({"circles": 1, "triangles": 1, "scale": 1})
    assert (late.status_code, late.json()["step"]["key"]) == (409, "check:brightness:2")


async def test_a_preview_shows_every_check_and_stores_nothing(tmp_path: Path, tiny: Path) -> None:
    path = write_study(tmp_path / "study", tiny, qualification=EVERY)
    async with (
        run_server(load_study(path), port=0) as server,
        httpx.AsyncClient(base_url=server.address, timeout=60) as client,
    ):
        site = Site(server.service, server.store, server.address, client)
        visitor = DeviceVisitor(site, preview=server.service.preview.link.partition("preview=")[2])
        steps = (await visitor.arrive()).json()["preview"]["steps"]
        assert visitor.step["needs"], "what the study needs is read before agreeing"
        checks = [step for step in steps if step["key"].startswith("check:")]
        assert [step["key"] for step in checks][:2] == ["check:device:1", "check:screen:1"]
        assert len(checks) == 19
        assert {"key": "end:screened_out", "label": "end screened_out"} in steps
        for listed in checks:
            step = (await visitor.send("GET", f"/api/step?key={listed['key']}")).json()
            assert (step["key"], step["told"]) == (listed["key"], None)
            assert listed["label"] == step["words"].get("title", step["check"])
            for medium in step["media"].values():
                assert (await client.get(medium["url"])).status_code == 200, listed["key"]
        visitor.step = (await visitor.send("GET", "/api/step?key=check:brightness:1")).json()
        reply = (await visitor.answer({"circles": 0, "triangles": 0, "scale": 1})).json()
        assert reply["feedback"], "the researcher reads what people read"
        assert visitor.step["key"] == "check:brightness_second:1"
        tables: tuple[Table, ...] = ("sessions", "answers", "claims", "posed", "told")
        for table in tables:
            assert [row async for row in server.store.rows(table)] == []
