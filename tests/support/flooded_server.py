"""A server in a process of its own, with its memory and descriptors, and raw connections that flood it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from pathlib import Path

import psutil

from support.server_process import Service, free_port

MB = 1024 * 1024


@dataclass(frozen=True)
class FloodedServer:
    """A running server that strangers attack."""

    service: Service
    port: int
    store: Path
    log: Path

    @property
    def said(self) -> str:
        """What it has written to standard error."""
        return self.log.read_text("utf-8")

    @property
    def process(self) -> psutil.Process:
        return psutil.Process(self.service.process.pid)

    @property
    def memory(self) -> float:
        """The resident memory in MB."""
        return float(self.process.memory_info().rss) / MB

    @property
    def descriptors(self) -> int:
        return int(self.process.num_fds())

    async def closes_down_to(self, descriptors: int) -> bool:
        """Return whether the server closes what it has answered: it does that after the client has."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(30):
                while self.descriptors >= descriptors:
                    await asyncio.sleep(0.02)
        return self.descriptors < descriptors

    @property
    def stored(self) -> float:
        """The size of the store in MB."""
        return sum(file.stat().st_size for file in self.store.iterdir()) / MB

    async def status(self, request: bytes) -> int:
        """Return the status of the reply to one request, sent as it is; 0 where the connection is closed instead."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(request)
            await writer.drain()
            line = await reader.readline()
        except ConnectionError:
            return 0
        finally:
            writer.close()
        return int(line.split()[1]) if line else 0

    async def statuses(self, requests: Iterable[bytes], at_once: int = 50) -> set[int]:
        """Return the statuses of all replies, of so many requests at once."""
        gate, seen = asyncio.Semaphore(at_once), set[int]()

        async def send(request: bytes) -> None:
            async with gate:
                seen.add(await self.status(request))

        async with asyncio.TaskGroup() as group:
            for request in requests:
                group.create_task(send(request))
        return seen


@contextlib.asynccontextmanager
async def flooded_server(study: Path, store: Path, *more: str, url: str | None = None) -> AsyncIterator[FloodedServer]:
    """Yield a server in a process of its own, warm, and stop it at the end, perhaps with another store."""
    port = free_port()
    said = store.parent / "said.txt"
    with said.open("wb") as stderr:
        service = Service(study, url or str(store), port, *more, stderr=stderr)
    try:
        await service.until_ready()
        server = FloodedServer(service, port, store, said)
        await server.statuses([get("/healthz")] * 50)
        yield server
    finally:
        await service.kill_parent()


def get(path: str, **headers: str) -> bytes:
    """Return a request as it goes over the wire."""
    lines = [f"GET {path} HTTP/1.1", "host: study", *(f"{name}: {value}" for name, value in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def post(path: str, body: bytes, *, length: int | None = None, **headers: str) -> bytes:
    """Return a request with a body, which may be shorter than it says."""
    told = {"content-type": "application/json", "content-length": str(len(body) if length is None else length)}
    lines = [
        f"POST {path} HTTP/1.1",
        "host: study",
        *(f"{name}: {value}" for name, value in {**told, **headers}.items()),
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body


def arrival() -> bytes:
    """Return the request of somebody who arrives."""
    return post("/api/arrive", b'{"study": "tiny", "params": {}, "device": {}}')
