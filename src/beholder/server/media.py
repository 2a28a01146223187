"""Media responses, whole or in ranges, with nothing that distinguishes two slots."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from beholder.errors import Refused
from beholder.server.admission import Admission
from beholder.server.page_checks import PageChecks
from beholder.server.preview import Previews
from beholder.server.rendering import MediaAddresses, StepSequence, due_steps
from beholder.server.script import Script
from beholder.store.contract import SessionFacts, Store

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


def media_response(request: Request, token: str, medium: MediaContent) -> Response:
    """Return a medium, or the requested range of it (RFC 9110, section 14)."""
    headers = {
        "etag": f'"{token}"',
        "cache-control": "private, max-age=31536000, immutable",
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
    body = iter(()) if request.method == "HEAD" else medium.read(start, stop)
    return StreamingResponse(body, status, headers, media_type=medium.content_type)


# Finding the medium of an address


class MediaFiles:
    """Opens the medium behind an address: a stimulus, or a picture or sound of a check."""

    def __init__(
        self,
        store: Store,
        words: Mapping[str, str],
        now: Callable[[], datetime],
        addresses: MediaAddresses,
        admission: Admission,
        previews: Previews,
        sequence: StepSequence,
        page_checks: PageChecks,
    ) -> None:
        self._store, self._words, self._now, self._addresses = store, words, now, addresses
        self._admission, self._previews, self._sequence, self._page_checks = admission, previews, sequence, page_checks

    async def open(self, token: str) -> MediaContent:
        """Return the medium behind an address, or raise Refused."""
        session = token.partition("-")[0]
        if not self._addresses.has(session, token):
            # A request for an unknown address must not create a preview.
            shown = self._previews.existing(session)
            facts = shown.facts if shown else await self._admission.facts(session)
            script = shown.script if shown else self._sequence.script(facts)
            if script is not None and not self._addresses.is_indexed(session):
                self._addresses.index(session, script)
            drawn = None if self._addresses.has(session, token) else await self._drawn(facts, script, token)
            if drawn is not None:
                return drawn
        return self._addresses.open(session, token, self._words["no_media"], self._words["media_away"])

    async def _drawn(self, facts: SessionFacts, script: Script | None, token: str) -> DrawnMedia | None:
        """Return the picture or sound behind an address, if it belongs to the current attempt."""
        if facts.end is not None:
            return None
        shown = self._previews.existing(facts.session.session)
        for here in shown.attempts if shown else due_steps(facts, script, self._now()):
            if here.check is None:
                continue
            try:
                before = shown.facts_before(here) if shown else facts
                drawn = await asyncio.to_thread(self._page_checks.draw, before, here, token)
            except Exception as error:  # the attempt is over, and a new page goes on after it
                fault = self._page_checks.fault(facts, here, error, self._now())
                if not shown:
                    await self._store.append([fault])
                raise Refused(self._words["no_media"], code="our_fault", status=404) from error
            if drawn is not None:
                return DrawnMedia(*drawn)
        return None
