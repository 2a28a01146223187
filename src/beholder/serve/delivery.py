"""Media as they go out: whole or in ranges, with nothing that tells two slots apart."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

_RANGE = re.compile(r"^bytes=([0-9]{0,18})-([0-9]{0,18})$")


class Deliverable(Protocol):
    """Bytes with a type, of which any range can be read."""

    @property
    def size(self) -> int: ...
    @property
    def content_type(self) -> str: ...
    def read(self, start: int = 0, stop: int | None = None) -> Iterator[bytes]: ...


@dataclass(frozen=True)
class Made:
    """What was drawn for one person: a picture or a sound that is no file."""

    body: bytes
    content_type: str

    @property
    def size(self) -> int:
        return len(self.body)

    def read(self, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
        yield self.body[start:stop]


def deliver(request: Request, token: str, medium: Deliverable) -> Response:
    """Return a medium, or the range of it that was asked for (RFC 9110, section 14)."""
    headers = {
        "etag": f'"{token}"',
        "cache-control": "private, max-age=31536000, immutable",
        "accept-ranges": "bytes",
    }
    if request.headers.get("if-none-match") == headers["etag"]:
        return Response(status_code=304, headers=headers)
    size = medium.size
    asked = _RANGE.match(request.headers.get("range", ""))
    start, stop, status = 0, size, 200
    if asked and (asked[1] or asked[2]) and request.headers.get("if-range", headers["etag"]) == headers["etag"]:
        if asked[1]:
            start, stop = int(asked[1]), min(size, int(asked[2]) + 1 if asked[2] else size)
        else:
            start, stop = max(0, size - int(asked[2])), size
        if start >= stop:
            return Response(status_code=416, headers={**headers, "content-range": f"bytes */{size}"})
        status = 206
        headers["content-range"] = f"bytes {start}-{stop - 1}/{size}"
    headers["content-length"] = str(stop - start)
    body = iter(()) if request.method == "HEAD" else medium.read(start, stop)
    return StreamingResponse(body, status, headers, media_type=medium.content_type)
