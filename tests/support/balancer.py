"""A small balancer: passes connections on to servers in turn, and asks each at /healthz whether it takes any.

It knows TCP alone, as those in front of real servers may: what a server does not tell by its health, or by closing a
connection, it does not learn.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from support.data import ROOT
from support.server_process import free_port

_EVERY_S = 0.05


@dataclass
class Balancer:
    """A port, the servers behind it, and how many connections each was given."""

    servers: Sequence[int]
    port: int = 0
    ready: set[int] = field(default_factory=set)
    given: Counter[int] = field(default_factory=Counter)
    refused: int = 0
    """Connections for which no server was ready."""
    _turn: int = 0

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def until(self, *servers: int) -> None:
        """Wait until exactly these servers are given connections."""
        while self.ready != set(servers):
            await asyncio.sleep(_EVERY_S)

    async def watch(self, server: int) -> None:
        """Look again and again whether a server takes connections."""
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{server}", timeout=10) as client:
            while True:
                is_ready = False
                with contextlib.suppress(httpx.HTTPError):
                    is_ready = (await client.get("/healthz", headers={"connection": "close"})).status_code == 200
                (self.ready.add if is_ready else self.ready.discard)(server)
                await asyncio.sleep(_EVERY_S)

    async def pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Connect somebody to the next server that is ready, and copy both ways until one end closes."""
        streams = await self._connect()
        if streams is None:
            self.refused += 1
            writer.close()
            return
        there, here = streams
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(_copy(reader, here))
                group.create_task(_copy(there, writer))
        except* OSError:
            pass
        finally:
            for one in (writer, here):
                one.close()

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
        for _ in self.servers:
            self._turn += 1
            server = self.servers[self._turn % len(self.servers)]
            if server not in self.ready:
                continue
            try:
                streams = await asyncio.open_connection("127.0.0.1", server)
            except OSError:
                continue  # it ended a moment ago: another one
            self.given[server] += 1
            return streams
        return None


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()


@contextlib.asynccontextmanager
async def caddy_of_the_example(folder: Path, *servers: int) -> AsyncIterator[int]:
    """Yield the port of Caddy with the balancer of the worked example, on this machine and in front of these ports."""
    program = shutil.which("caddy", path=str(Path(sys.executable).parent)) or shutil.which("caddy")
    if program is None:
        pytest.skip("no Caddy: neither its wheel nor the program is here")
    site = (ROOT / "docs" / "scaling" / "Caddyfile").read_text("utf-8").partition("media.example.org")[0]
    port = free_port()
    site = site.replace("study.example.org", f"http://127.0.0.1:{port}")
    site = site.replace("server1:8000 server2:8000 server3:8000", " ".join(f"127.0.0.1:{one}" for one in servers))
    (folder / "Caddyfile").write_text(f"{{\n\tadmin off\n\tauto_https off\n}}\n\n{site}", "utf-8")
    command = [program, "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]
    with (folder / "caddy.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env={**os.environ, "HOME": str(folder)})
    try:
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=10) as client:
            while process.poll() is None:
                with contextlib.suppress(httpx.TransportError):
                    if (await client.get("/healthz")).status_code == 200:
                        break
                await asyncio.sleep(0.05)
        assert process.poll() is None, (folder / "caddy.log").read_text("utf-8")[-2000:]
        yield port
    finally:
        process.kill()
        await asyncio.to_thread(process.wait)


@contextlib.asynccontextmanager
async def balancer(*servers: int) -> AsyncIterator[Balancer]:
    """Yield a balancer in front of these ports, once all of them are ready."""
    front = Balancer(servers)
    listening = await asyncio.start_server(front.pass_on, "127.0.0.1", 0)
    front.port = listening.sockets[0].getsockname()[1]
    watching = [asyncio.create_task(front.watch(server)) for server in servers]
    try:
        await front.until(*servers)
        yield front
    finally:
        for one in watching:
            one.cancel()
        await asyncio.gather(*watching, return_exceptions=True)
        listening.close()
