"""The fake inside the process of its client: no socket, the same answers, and faults as a network has them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import httpx

from beholder.recruit.fake.answers import Answer, Dropped, Request

if TYPE_CHECKING:
    from beholder.recruit.fake.platform import FakeProlific

_ERRORS: dict[str, tuple[type[httpx.TransportError], str]] = {
    "refused": (httpx.ConnectError, "All connection attempts failed"),
    "cut_before": (httpx.RemoteProtocolError, "Server disconnected without sending a response."),
    "cut_after": (httpx.RemoteProtocolError, "Server disconnected without sending a response."),
    "slow_before": (httpx.ReadTimeout, "The read operation timed out"),
    "slow_after": (httpx.ReadTimeout, "The read operation timed out"),
}


class InProcess(httpx.AsyncBaseTransport):
    """Hands requests to the fake."""

    def __init__(self, fake: FakeProlific) -> None:
        self._fake = fake

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        headers = {name.lower(): value for name, value in request.headers.items()}
        query = dict(httpx.QueryParams(request.url.query))
        body = await request.aread()
        try:
            answer = self._fake.handle(Request(request.method, request.url.path, query, headers, body))
        except Dropped as dropped:
            error, words = _ERRORS[dropped.kind]
            raise error(words, request=request) from None
        return httpx.Response(answer.status, headers=heading(answer), content=payload(answer), request=request)


def heading(answer: Answer) -> dict[str, str]:
    """Return the headers of an answer."""
    kind = "text/html" if isinstance(answer.body, str) and answer.body.startswith("<") else "application/json"
    return {"content-type": kind, **answer.headers}


def payload(answer: Answer) -> bytes:
    """Return the body of an answer as bytes."""
    if answer.status == 204:
        return b""
    if isinstance(answer.body, str) and answer.body.startswith("<"):
        return answer.body.encode()
    return json.dumps(answer.body).encode()
