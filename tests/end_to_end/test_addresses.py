"""Addresses of the server: it redirects nowhere, and no header of a request gets into one, over real HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from itertools import product
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from beholder.methods import load_study
from beholder.server.process import run_server
from beholder.testing import write_study
from support.visitor import Site, Visitor

PUBLIC = "https://ratings.example.org"
FORGED: tuple[dict[str, str], ...] = (
    {},
    {"Host": "evil.example"},
    {"Host": "evil.example/x?y"},
    {"X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "http"},
    {"Forwarded": "host=evil.example;proto=http", "X-Forwarded-Scheme": "http", "X-Original-URL": "//evil.example"},
)
IDS = "PROLIFIC_PID=5f3a&STUDY_ID=6a1b&SESSION_ID=7c2d"
PATHS = (
    "/",
    f"/?{IDS}",
    "/s/tiny",
    f"/s/tiny/?{IDS}",
    f"/s/tiny//?{IDS}",
    "/s/other/",
    "/forget/",
    "/healthz/",
    "/api/step/",
    "/lab/",
    "/media/x/",
    "/web/x/y/",
    "//evil.example",
    "//evil.example/",
    f"//evil.example/%2f..?{IDS}",
    "/\\evil.example/",
    "/%5cevil.example/",
    "/s/tiny/..//evil.example/",
)


@pytest.fixture
async def site(tmp_path: Path, tiny: Path) -> AsyncIterator[Site]:
    study = load_study(write_study(tmp_path, tiny))
    async with (
        run_server(study, port=0, public_url=f"{PUBLIC}/") as server,
        httpx.AsyncClient(base_url=server.address, timeout=60) as client,
    ):
        yield Site(server.service, server.store, server.address, client)


async def ask(site: Site, method: str, path: str, headers: dict[str, str]) -> tuple[int, str, str]:
    """Return the status, the header lines and the body of a response to a path as it stands, which no client mends."""
    address = urlsplit(site.address)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    lines = {"Host": address.netloc, "Accept": "text/html", "Connection": "close", "Content-Length": "0"} | headers
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    writer.write(f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode())
    told, _, body = (await reader.read()).decode("latin-1").partition("\r\n\r\n")
    writer.close()
    return int(told.split()[1]), told, body


async def test_no_response_redirects_or_repeats_what_a_header_says(site: Site) -> None:
    for method, path, headers in product(("GET", "POST"), PATHS, FORGED):
        status, told, body = await ask(site, method, path, headers)
        assert not 300 <= status < 400, (method, path, headers)
        assert "location:" not in told.lower(), (method, path, headers)
        assert "evil" not in told + body, (method, path, headers)
        assert status < 500, (method, path, headers)


async def test_a_foreign_host_is_ignored_and_not_refused(site: Site) -> None:
    expected = await ask(site, "GET", "/s/tiny", {})
    for headers in FORGED[1:]:
        assert (await ask(site, "GET", "/s/tiny", headers))[::2] == expected[::2], headers


@pytest.mark.parametrize("path", ["/", f"/?{IDS}", "/s/tiny/", f"/s/tiny/?{IDS}"])
async def test_the_front_and_a_trailing_slash_are_the_page_itself(site: Site, path: str) -> None:
    page = (await site.client.get("/s/tiny")).text
    response = await site.client.get(path)
    assert (response.status_code, response.text) == (200, page)
    told = (await site.client.get("/healthz/")).json()
    assert (told["study"], told["store"], told["state"]) == ("tiny", "ready", "ready")


async def test_links_are_made_from_the_public_address_alone(site: Site) -> None:
    body = {"study": "tiny", "params": {}, "device": {}}
    for headers in FORGED:
        response = await site.client.post("/api/arrive", json=body, headers=headers)
        link = response.json()["link"]
        assert link.startswith(f"{PUBLIC}/s/tiny?resume="), headers
        assert "evil" not in response.text


async def test_without_a_public_address_links_name_where_the_server_listens(server: Site) -> None:
    server.client.headers["Host"] = "evil.example"
    link = (await Visitor(server).arrive()).json()["link"]
    assert link.startswith(f"{server.address}/s/tiny?resume=")
