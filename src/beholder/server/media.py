"""Media responses, whole or in ranges, with nothing that distinguishes two slots."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from beholder.buckets.connection import DiskFolder
from beholder.buckets.signed_addresses import HostedMedia, StoredCopy
from beholder.errors import Refused
from beholder.server.admission import load_session
from beholder.server.context import Context
from beholder.server.rendering import due_steps, session_script
from beholder.server.script import Script
from beholder.stimuli.blinding import BlindedFile
from beholder.store.contract import SessionFacts

_AT_ONCE, _PIECE = 393_216, 131_072
"""Bytes up to which a reply is one piece, and of each piece of a longer one: they stay in the processor's cache."""
_CACHING = "private, max-age=31536000, immutable"
_RANGE = re.compile(r"^bytes=([0-9]{0,18})-([0-9]{0,18})$")


class MediaContent(Protocol):
    """Bytes with a type, of which any range can be read."""

    @property
    def size(self) -> int: ...
    @property
    def content_type(self) -> str: ...
    def read(self, start: int = 0, stop: int | None = None) -> Iterator[bytes]: ...


@dataclass(frozen=True)
class DrawnMedia:
    """A picture or sound that was drawn for one participant."""

    body: bytes
    content_type: str

    @property
    def size(self) -> int:
        return len(self.body)

    def read(self, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
        yield self.body[start:stop]


async def media_response(
    request: Request, token: str, medium: MediaContent, hosted: HostedMedia | None = None
) -> Response:
    """Return a medium, or the requested range of it (RFC 9110, section 14).

    Where browsers fetch from a bucket, it is the way there, by an address that holds from now on.
    """
    if hosted is not None and isinstance(medium, StoredCopy):
        if hosted.valid is not None:
            return Response(status_code=307, headers={"location": hosted.address(medium.copy)})
        if (name := handing_header(request)) and (path := mapped_path(request, medium)):
            headers = {"cache-control": _CACHING, name: path}
            return Response(status_code=200, headers=headers, media_type=medium.content_type)
    headers = {
        "etag": f'"{token}"',
        "cache-control": _CACHING,
        "accept-ranges": "bytes",
    }
    if request.headers.get("if-none-match") == headers["etag"]:
        return Response(status_code=304, headers=headers)
    size = medium.size
    requested = _RANGE.match(request.headers.get("range", ""))
    start, stop, status = 0, size, 200
    if (
        requested
        and (requested[1] or requested[2])
        and request.headers.get("if-range", headers["etag"]) == headers["etag"]
    ):
        if requested[1]:
            start, stop = int(requested[1]), min(size, int(requested[2]) + 1 if requested[2] else size)
        else:
            start, stop = max(0, size - int(requested[2])), size
        if start >= stop:
            return Response(status_code=416, headers={**headers, "content-range": f"bytes */{size}"})
        status = 206
        headers["content-range"] = f"bytes {start}-{stop - 1}/{size}"
    headers["content-length"] = str(stop - start)
    if request.method == "HEAD":
        return Response(None, status, headers, medium.content_type)
    response = MediaResponse(medium, start, stop, status, headers)
    await response.begin()  # while it can still become an error, as a file may be gone by now
    return response


class MediaResponse(Response):
    """A range of a medium, in pieces: those that the system has in memory at once, others read by a thread."""

    def __init__(self, medium: MediaContent, start: int, stop: int, status: int, headers: Mapping[str, str]) -> None:
        super().__init__(None, status, headers, medium.content_type)
        self._medium, self._here, self._stop = medium, start, stop
        self._most = _PIECE if stop - start > _AT_ONCE else _AT_ONCE
        self._read: Iterator[bytes] | None = None
        """What a thread reads on, since the system did not have a piece in memory: what follows is seldom there."""
        self._first: bytes | bytearray = b""

    async def begin(self) -> None:
        """Read the first piece."""
        if self._here < self._stop:
            self._first = await self._next()

    async def _next(self) -> bytes | bytearray:
        until = min(self._here + self._most, self._stop)
        piece = _cached(self._medium, self._here, until) if self._read is None else None
        if piece is None:
            self._read = self._read or self._medium.read(self._here, self._stop)
            piece = await run_in_threadpool(_some_of, self._read)
        if not piece:
            raise OSError("a medium has become shorter while it was served")
        self._here += len(piece)
        return piece

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        piece = self._first
        while self._here < self._stop:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
            piece = await self._next()
        await send({"type": "http.response.body", "body": piece, "more_body": False})


def _cached(medium: MediaContent, start: int, stop: int) -> bytes | bytearray | None:
    if isinstance(medium, DrawnMedia):
        return medium.body[start:stop]
    return medium.read_cached(start, stop) if isinstance(medium, BlindedFile) else None


def _some_of(pieces: Iterator[bytes]) -> bytes:
    return b"".join(islice(pieces, 4))


# Handing a file over to a web server in front


def handing_header(request: Request) -> str | None:
    """Return the header by which a web server in front takes files over, None where none has announced one."""
    announced = request.headers.get("x-sendfile-type", "").lower()
    return announced if announced in ("x-accel-redirect", "x-sendfile") else None


def mapped_path(request: Request, medium: StoredCopy) -> str | None:
    """Return what a web server in front calls a copy, by the mapping of folders that it announces.

    Only who knows our folder gets one: whoever else sends such a header learns nothing, and gets the file from here.
    """
    if not isinstance(medium.place, DiskFolder):
        return None
    folder, separator, there = request.headers.get("x-accel-mapping", "").partition("=")
    if not separator or folder.rstrip("/") != str(medium.place.folder.resolve()):
        return None
    return f"{there.rstrip('/')}/{medium.copy.key}"


# Finding the medium of an address


async def open_media(ctx: Context, token: str) -> MediaContent:
    """Return the medium behind an address, a stimulus or a picture or sound of a check, or raise Refused."""
    session = token.partition("-")[0]
    if not ctx.media.has(session, token):
        # A request for an unknown address must not create a preview.
        shown = ctx.previews.get(session)
        facts = shown.facts if shown else await load_session(ctx, session)
        script = shown.script if shown else session_script(ctx, facts)
        if script is not None and not ctx.media.is_indexed(session):
            ctx.media.index(session, script)
        drawn = None if ctx.media.has(session, token) else await _drawn(ctx, facts, script, token)
        if drawn is not None:
            return drawn
    return ctx.media.open(session, token, ctx.words["no_media"], ctx.words["media_away"])


async def _drawn(ctx: Context, facts: SessionFacts, script: Script | None, token: str) -> DrawnMedia | None:
    """Return the picture or sound behind an address, if it belongs to the current attempt."""
    if facts.end is not None:
        return None
    shown = ctx.previews.get(facts.session.session)
    for here in shown.attempts if shown else due_steps(facts, script, ctx.now()):
        if here.check is None:
            continue
        try:
            before = shown.facts_before(here) if shown else facts
            drawn = await asyncio.to_thread(ctx.page_checks.draw, before, here, token)
        except Exception as error:  # the attempt is over, and a new page goes on after it
            fault = ctx.page_checks.fault(facts, here, error, ctx.now())
            if not shown:
                await ctx.store.append([fault])
            raise Refused(ctx.words["no_media"], code="our_fault", status=404) from error
        if drawn is not None:
            return DrawnMedia(*drawn)
    return None
