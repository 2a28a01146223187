"""A relay before a server on loopback, which can be away, hold requests back, or cut an answer off in its middle."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit


@dataclass
class Relay:
    """Passes requests on, one a connection; what it does to them can be changed at any time."""

    target: int
    port: int = 0
    is_away: bool = False
    """Connections are closed without a word."""
    holds: Callable[[str], bool] = lambda head: False
    """Which requests wait, by their first lines and headers; they go on when `go_on` is called."""
    cuts: list[int] = field(default_factory=list)
    """After how many bytes the next answers to GET are cut off; taken from the front."""
    refused: int = 0
    heads: list[str] = field(default_factory=list)
    """The first lines and headers of everything that was passed on."""
    _free: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def go_on(self) -> None:
        """Pass on what is held, and hold nothing back any more."""
        self.holds = lambda head: False
        self._free.set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(OSError, asyncio.IncompleteReadError):
                await self._pass_on(reader, writer)
        finally:
            writer.close()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.is_away:
            self.refused += 1
            return
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        if self.holds(head):
            await self._free.wait()
        self.heads.append(head)
        there_reader, there = await asyncio.open_connection("127.0.0.1", self.target)
        try:
            there.write(head.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n").encode())
            forth = asyncio.create_task(_copy(reader, there, None))
            most = self.cuts.pop(0) if self.cuts and head.startswith("GET") else None
            await _copy(there_reader, writer, most)
            forth.cancel()
        finally:
            there.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, most: int | None) -> None:
    with suppress(OSError):
        while piece := await reader.read(65536 if most is None else min(most, 65536)):
            writer.write(piece)
            await writer.drain()
            if most is not None and (most := most - len(piece)) <= 0:
                return


def port_of(address: str) -> int:
    """Return the port of an address."""
    return urlsplit(address).port or 80


@asynccontextmanager
async def relay_before(port: int) -> AsyncIterator[Relay]:
    """Yield a relay before a port of this machine."""
    relay = Relay(port)
    server = await asyncio.start_server(relay.serve, "127.0.0.1", 0)
    relay.port = server.sockets[0].getsockname()[1]
    try:
        yield relay
    finally:
        relay.go_on()
        server.close()
