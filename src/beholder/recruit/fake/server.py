"""The fake over real HTTP on this machine, by a server of its own: only who owns a socket can cut it where it hurts."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

from beholder.recruit.fake.answers import Dropped, Request
from beholder.recruit.fake.transport import heading, payload

if TYPE_CHECKING:
    from beholder.recruit.fake.platform import FakeProlific

_SLOW = ("slow_before", "slow_after")


@contextlib.asynccontextmanager
async def serving(fake: FakeProlific, port: int = 0) -> AsyncIterator[str]:
    """Yield the address under which the fake answers; port 0 takes a free one."""
    talks: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        talks[task] = writer
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while (request := await _read(reader)) is not None:
                await _reply(fake, request, writer)
        writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", port)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for writer in talks.values():
            writer.close()
        # What the fake answered against its own document is raised here, too.
        await asyncio.gather(*talks)


async def _read(reader: asyncio.StreamReader) -> Request | None:
    """Return the next request of a connection; None where it ends."""
    first = (await reader.readline()).decode("latin-1").split()
    if len(first) != 3:
        return None
    headers: dict[str, str] = {}
    while line := (await reader.readline()).decode("latin-1").strip():
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    target = urlsplit(first[1])
    return Request(first[0], target.path, dict(parse_qsl(target.query, keep_blank_values=True)), headers, body)


async def _reply(fake: FakeProlific, request: Request, writer: asyncio.StreamWriter) -> None:
    try:
        answer = fake.handle(request)
    except Dropped as dropped:
        if dropped.kind in _SLOW:
            return  # no answer ever comes, and the client gives up
        writer.transport.abort()
        raise ConnectionResetError from None
    body = payload(answer)
    lines = [f"HTTP/1.1 {answer.status} -", *(f"{name}: {value}" for name, value in heading(answer).items())]
    lines.append(f"content-length: {len(body)}")
    writer.write("\r\n".join([*lines, "", ""]).encode() + body)
    await writer.drain()
