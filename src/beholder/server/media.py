"""Media as they go out: whole or in ranges, with nothing that tells two slots apart."""

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
    """What was drawn for one person: a picture or a sound that is no file."""

    body: bytes
    content_type: str

    @property
    def size(self) -> int:
        return len(self.body)

    def read(self, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
        yield self.body[start:stop]


def media_response(request: Request, token: str, medium: MediaContent) -> Response:
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


# --- Exhibits: the stimuli, and what is drawn for a check, each behind its address ---


class MediaFiles:
    """Hands out what is behind an address, to whoever has the address."""

    def __init__(
        self,
        store: Store,
        words: Mapping[str, str],
        now: Callable[[], datetime],
        addresses: MediaAddresses,
        arrivals: Admission,
        previews: Previews,
        way: StepSequence,
        examiner: PageChecks,
    ) -> None:
        self._store, self._words, self._now, self._addresses = store, words, now, addresses
        self._arrivals, self._previews, self._way, self._examiner = arrivals, previews, way, examiner

    async def open(self, token: str) -> MediaContent:
        """Return the medium behind an address: a stimulus, or what was drawn for the check at hand."""
        session = token.partition("-")[0]
        if not self._addresses.has(session, token):
            # Anybody can ask for any address: none of them makes a preview.
            shown = self._previews.made(session)
            facts = shown.facts if shown else await self._arrivals.facts(session)
            script = shown.script if shown else self._way.script(facts)
            if script is not None and not self._addresses.knows(session):
                self._addresses.learn(session, script)
            drawn = None if self._addresses.has(session, token) else await self._drawn(facts, script, token)
            if drawn is not None:
                return drawn
        return self._addresses.open(session, token, self._words["no_media"], self._words["media_away"])

    async def _drawn(self, facts: SessionFacts, script: Script | None, token: str) -> DrawnMedia | None:
        """Return the picture or sound behind an address, if it belongs to the attempt at hand."""
        if facts.end is not None:
            return None
        shown = self._previews.made(facts.session.session)
        for here in shown.attempts if shown else due_steps(facts, script, self._now()):
            if here.check is None:
                continue
            try:
                before = shown.before(here) if shown else facts
                drawn = await asyncio.to_thread(self._examiner.draw, before, here, token)
            except Exception as error:  # the attempt is over, and a new page goes on after it
                fault = self._examiner.fault(facts, here, error, self._now())
                if not shown:
                    await self._store.append([fault])
                raise Refused(self._words["no_media"], code="our_fault", status=404) from error
            if drawn is not None:
                return DrawnMedia(*drawn)
        return None
