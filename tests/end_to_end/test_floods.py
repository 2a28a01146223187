"""Floods of strangers, with the numbers of real attacks: memory, descriptors and disk stay as they are."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from beholder.server.connections import connection_limits
from beholder.testing import write_study
from support.flooded_server import arrival, flooded_server, get, post


@pytest.fixture
def study(tmp_path: Path, tiny: Path) -> Path:
    (tmp_path / "study").mkdir()
    return write_study(tmp_path / "study", tiny, design={"participants": 40})


@pytest.mark.long
async def test_made_up_tokens_and_large_headers_fill_no_memory(study: Path, whole: bool) -> None:
    count = 4500 if whole else 100
    async with flooded_server(study, study.parent / "store") as server:
        memory, descriptors = server.memory, server.descriptors
        tokens = (f"{number:08}{'a' * 300_000}" for number in range(count))
        assert await server.statuses(get("/api/step", authorization=f"Bearer {token}") for token in tokens) <= {0, 431}
        tokens = (f"{number:08}{'a' * 28_000}" for number in range(2 * count))
        assert await server.statuses(get("/api/step", authorization=f"Bearer {token}") for token in tokens) == {401}
        session = (f"tiny.{number:020}.{'a' * 22}" for number in range(2 * count))
        assert await server.statuses(get("/api/step", authorization=f"Bearer {token}") for token in session) == {401}
        assert server.memory < memory + 25, "each kept token would be 300 kB"
        assert await server.closes_down_to(descriptors + 20)


async def test_idle_connections_and_a_crowd_that_arrives_together_stop_nobody(study: Path) -> None:
    connection_limits()  # this process needs as many descriptors
    async with flooded_server(study, study.parent / "store") as server, AsyncExitStack() as held:
        memory = server.memory
        for number in range(1100):
            _, writer = await asyncio.open_connection("127.0.0.1", server.port)
            held.callback(writer.close)
            writer.write(post("/api/arrive", b"{", length=5000) if number % 2 else get("/healthz")[:-2])
        page = [get("/s/tiny"), get("/healthz"), get("/forget")]
        assert await server.statuses(page * 340, at_once=1020) == {200}, "170 browsers with six connections each"
        assert await server.statuses([arrival()] * 60, at_once=60) == {201}, "a class behind one address"
        for _ in range(20):  # bodies that are broken off
            _, writer = await asyncio.open_connection("127.0.0.1", server.port)
            writer.write(post("/api/arrive", b"{", length=5000))
            await writer.drain()
            writer.transport.abort()
        assert await server.statuses(page) == {200}
        assert server.memory < memory + 120
    assert "Traceback" not in server.said, "a body that is broken off is no fault of ours"
