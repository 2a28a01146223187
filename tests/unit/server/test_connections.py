"""Connections: whose they are, how many there may be, and what ends one that makes no progress."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from starlette.types import Receive, Scope, Send

from beholder.errors import UserError
from beholder.server.connections import ConnectionLimits, Proxies, address_group, connection_limits
from beholder.server.process import listen
from support.flooded_server import get, post
from support.server_process import free_port

PATIENCE = 60
FEW = ConnectionLimits(total=400, per_address=100)


class Listening:
    """A server with a clock that can be moved."""

    def __init__(self, *proxies: str) -> None:
        self.port, self._now = free_port(), 0.0
        self._proxies, self._writers = Proxies(proxies), list[asyncio.StreamWriter]()
        self.has_sent_all = asyncio.Event()

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read the body, and reply; /large with more than any buffer holds."""
        while scope["method"] == "POST":
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            if not message["more_body"]:
                break
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for _ in range(2000 if scope["path"] == "/large" else 0):
            await send({"type": "http.response.body", "body": b"x" * 65_536, "more_body": True})
        await send({"type": "http.response.body", "body": b""})
        if scope["path"] == "/large":
            self.has_sent_all.set()

    @asynccontextmanager
    async def serve(self, limits: ConnectionLimits = FEW) -> AsyncIterator[None]:
        try:
            async with listen(
                self.answer, "127.0.0.1", self.port, self._proxies, limits, lambda: self._now, grace_s=0.1
            ):
                yield
        finally:
            for writer in self._writers:
                writer.close()

    def wait(self, seconds: float) -> None:
        self._now += seconds

    async def open(self, request: bytes = b"") -> asyncio.StreamReader:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port, limit=1024)
        writer.write(request)
        await writer.drain()
        self._writers.append(writer)
        return reader

    async def status(self, request: bytes) -> int:
        return int((await (await self.open(request)).readline()).split()[1])


async def ended(reader: asyncio.StreamReader) -> bytes:
    """Return what still came until the other end closed."""
    return await asyncio.wait_for(reader.read(), PATIENCE)


async def test_a_body_that_does_not_come_ends_the_connection() -> None:
    listening = Listening()
    async with listening.serve():
        slow = [await listening.open(post("/", b"{", length=100)) for _ in range(50)]
        assert await listening.status(post("/", b"{}")) == 200
        listening.wait(61)
        late = await listening.open(post("/", b"{", length=100))
        assert {await ended(reader) for reader in slow} == {b""}
        assert await listening.status(get("/")) == 200
        assert not late.at_eof()
    assert await ended(late) == b"", "a server that stops waits for nobody for ever"


async def test_a_reply_that_nobody_reads_ends_the_connection() -> None:
    listening = Listening()
    async with listening.serve():
        await (await listening.open(get("/large"))).readline()
        async with asyncio.timeout(PATIENCE):
            while not listening.has_sent_all.is_set():  # which never comes while the connection is held
                listening.wait(61)
                await asyncio.sleep(0.01)


@pytest.mark.skipif(sys.platform == "win32", reason="a process cannot list its sockets there")
async def test_an_address_holds_its_share_of_connections_and_a_named_proxy_any_number(
    caplog: pytest.LogCaptureFixture,
) -> None:
    listening = Listening()
    async with listening.serve():
        busy = await listening.open(post("/", b"{", length=2))
        idle = [await listening.open() for _ in range(150)]
        done, _ = await asyncio.wait([asyncio.create_task(reader.read()) for reader in idle], timeout=PATIENCE,
                                     return_when=asyncio.FIRST_COMPLETED)  # fmt: skip
        assert done
        assert not busy.at_eof(), "idle ones go first"
    assert "connections of one address are more than the limit, and were closed" in caplog.text
    listening = Listening("127.0.0.0/8")
    async with listening.serve(ConnectionLimits(total=160, per_address=20)):
        caplog.clear()
        idle = [await listening.open() for _ in range(140)]
        while "140 of 160 connections are in use" not in caplog.text:
            await asyncio.sleep(0.01)
        assert not any(reader.at_eof() for reader in idle)
        assert await listening.status(get("/")) == 200


async def test_an_address_that_is_too_long_is_refused() -> None:
    listening = Listening()
    async with listening.serve():
        assert await listening.status(get("/?" + "x" * 9000)) == 414
        assert await listening.status(get("/?" + "x" * 300_000)) == 431


def test_there_are_as_many_connections_as_descriptors_and_memory_allow() -> None:
    if sys.platform == "win32":
        assert connection_limits().total >= 128
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, hard))
    try:
        limits = connection_limits()
        assert limits.per_address == limits.total // 4
        allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        assert limits.total < allowed
        assert allowed > 1024 or hard == 1024
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def request(peer: str, *chain: str) -> dict[str, Any]:
    return {"client": (peer, 5), "headers": [(b"x-forwarded-for", ", ".join(chain).encode())] if chain else []}


@pytest.mark.parametrize(
    ("peer", "chain", "client"),
    [
        ("198.51.100.7", (), "198.51.100.7"),
        ("198.51.100.7", ("203.0.113.9",), "198.51.100.7"),  # anybody can write that
        ("127.0.0.1", ("203.0.113.9",), "203.0.113.9"),
        ("10.1.2.3", ("1.1.1.1", "203.0.113.9", "10.9.9.9"), "203.0.113.9"),
        ("10.1.2.3", ("nonsense",), "10.1.2.3"),
        ("::ffff:198.51.100.7", (), "198.51.100.7"),
        ("2001:db8:1:2:3:4:5:6", (), "2001:db8:1:2::/64"),
        ("", (), ""),
    ],
)
def test_the_client_is_who_the_nearest_proxy_of_ours_saw(peer: str, chain: tuple[str, ...], client: str) -> None:
    assert Proxies(["10.0.0.0/8"]).client(request(peer, *chain)) == client
    assert address_group(client.partition("/")[0]) == client


def test_a_proxy_that_is_not_named_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    proxies = Proxies()
    with caplog.at_level(logging.WARNING):
        for number in range(3):
            proxies.client(request("198.51.100.7", f"203.0.113.{number}"))
    assert [record.getMessage() for record in caplog.records] == [
        "requests come through 198.51.100.7, which is not named by --proxy: its clients count as one address"
    ]


def test_what_is_no_address_of_a_proxy_is_said() -> None:
    with pytest.raises(UserError) as refused:
        Proxies(["nginx", "10.0.0.1", "10.0.0.0/99"])
    assert [(one.where, one.what) for one in refused.value.problems] == [
        ("--proxy", "is 'nginx', which is no address"),
        ("--proxy", "is '10.0.0.0/99', which is no address"),
    ]
