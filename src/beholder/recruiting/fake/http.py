"""HTTP of the fake platform: requests and replies, faults, routes, a server on this machine, an in-process transport.

Refusals have the shapes of Prolific's published document.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import re
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args
from urllib.parse import parse_qsl, urlsplit

import httpx

from beholder.recruiting.fake.state import REQUIRED_FIELDS

if TYPE_CHECKING:
    from beholder.recruiting.fake.platform import FakeProlific


RefusalDetail = str | list[str] | dict[str, list[str]]

_TITLES = {
    400: "Bad request",
    401: "Unauthorised",
    403: "Forbidden",
    404: "Not found",
    405: "Method not allowed",
    429: "Too many requests",
}
_CODES = {400: 140100, 401: 140101, 403: 140103, 404: 140104, 405: 140105, 429: 140129}


class Refusal(Exception):
    """A refusal with its reason: one sentence, several, or some by field."""

    def __init__(self, detail: RefusalDetail, status: int = 400) -> None:
        super().__init__(detail)
        self.detail, self.status = detail, status


class DroppedConnection(Exception):
    """No reply is sent: the fault that ends the connection."""

    def __init__(self, kind: FaultKind) -> None:
        super().__init__(kind)
        self.kind = kind


class FakeRequest(NamedTuple):
    """A request, over HTTP or from the in-process transport."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes = b""


@dataclass(frozen=True)
class FakeReply:
    """A reply."""

    status: int
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class FakeCall:
    """A request matched to a route: the ids in its path, its query, its body."""

    ids: tuple[str, ...]
    query: Mapping[str, str]
    body: Any


class Route(NamedTuple):
    """An operation of the API."""

    method: str
    template: str
    handle: Callable[[FakeCall], FakeReply]
    needs: tuple[str, ...] = ()
    """Required keys of the body, or of the query of a GET."""
    is_bare: bool = False
    """Whether the document shows its refusals without `error` around them."""

    @property
    def operation(self) -> str:
        return f"{self.method} {self.template}"


def refusal_reply(refusal: Refusal, *, is_bare: bool) -> FakeReply:
    """Return the reply for a refusal."""
    status = refusal.status
    error = {
        "status": status,
        "error_code": _CODES.get(status, 140000 + status),
        "title": _TITLES.get(status, "Error"),
        "detail": refusal.detail,
        "additional_information": "/api/v1/",
    }
    return FakeReply(status, error if is_bare else {"error": error})


# Faults, by schedule or by chance, before or after a request takes effect


FaultKind = Literal[
    "408_after", "429", "429_wait", "500", "502", "504", "504_after", "html", "html_after", "refused", "cut_before",
    "cut_after", "slow_before", "slow_after", "duplicate", "reordered", "processing",
]  # fmt: skip
"""refused: no connection. cut: the connection is reset. slow: the reply comes too late. `_after`: the request took
effect, and only its reply is lost. duplicate, reordered: entries of a list. processing: a study has the undocumented
status `PROCESSING` once."""
FAULT_KINDS: tuple[FaultKind, ...] = get_args(FaultKind)
FAULTS_AFTER_EFFECT: frozenset[FaultKind] = frozenset(
    ("408_after", "504_after", "html_after", "cut_after", "slow_after")
)
FAULTS_WITHOUT_REPLY: frozenset[FaultKind] = frozenset(
    ("refused", "cut_before", "cut_after", "slow_before", "slow_after")
)
"""Faults after which no reply is sent."""


class Faults:
    """Faults to come, by operation such as `POST /api/v1/bulk-bonus-payments/{id}/pay/`; `*` means any."""

    def __init__(self) -> None:
        self._next: dict[str, list[FaultKind]] = defaultdict(list)
        self._every: list[tuple[str, tuple[FaultKind, ...], float, random.Random]] = []
        self.happened: list[tuple[str, FaultKind]] = []

    def next(self, operation: str, *kinds: FaultKind) -> None:
        """Let the next calls of an operation fail, one kind after the other."""
        assert set(kinds) <= set(FAULT_KINDS), kinds
        self._next[operation] += kinds

    def every(self, operation: str, *kinds: FaultKind, share: float, seed: int) -> None:
        """Let a share of all calls of an operation fail with one of these kinds; the seed decides which."""
        assert set(kinds) <= set(FAULT_KINDS), kinds
        self._every.append((operation, kinds, share, random.Random(seed)))  # noqa: S311 (faults on purpose)

    def clear(self) -> None:
        """Remove all faults to come."""
        self._next.clear()
        self._every.clear()

    def take(self, operation: str) -> FaultKind | None:
        """Return the fault of this call, or None."""
        kind = self._scheduled(operation)
        if kind is not None:
            self.happened.append((operation, kind))
        return kind

    def _scheduled(self, operation: str) -> FaultKind | None:
        for name in (operation, "*"):
            if self._next[name]:
                return self._next[name].pop(0)
        for name, kinds, share, rng in self._every:
            if name in (operation, "*") and rng.random() < share:
                return rng.choice(kinds)
        return None


# Routes: the supported operations of API v1, by the paths of the published document


def routes(fake: FakeProlific) -> list[Route]:
    """Return every operation with its handler."""
    account, studies, reviews = fake.account, fake.studies, fake.reviews
    bonuses, groups = fake.bonuses, fake.groups
    v1 = "/api/v1"
    return [
        Route("GET", "/.well-known/study/jwks.json", account.keys),
        Route("GET", f"{v1}/users/me/", account.me),
        Route("GET", f"{v1}/workspaces/", account.workspaces),
        Route("GET", f"{v1}/workspaces/{{workspace_id}}/balance/", account.balance),
        Route("GET", f"{v1}/workspaces/{{workspace_id}}/projects/", account.projects),
        Route(
            "POST",
            f"{v1}/study-cost-calculator/",
            account.calculate,
            ("reward", "total_available_places"),
            is_bare=True,
        ),
        Route("GET", f"{v1}/reward-recommendations/", account.recommend, ("workspace_id", "currency"), is_bare=True),
        Route("GET", f"{v1}/filters/", account.filters),
        Route("POST", f"{v1}/eligibility-count/", account.eligible, ("filters",)),
        Route("POST", f"{v1}/messages/", account.message, ("recipient_id", "body", "study_id"), is_bare=True),
        Route("POST", f"{v1}/messages/bulk/", account.messages, ("ids", "body", "study_id"), is_bare=True),
        Route("GET", f"{v1}/studies/", studies.index, is_bare=True),
        Route("POST", f"{v1}/studies/", studies.create, REQUIRED_FIELDS, is_bare=True),
        Route("GET", f"{v1}/projects/{{project_id}}/studies/", studies.of_project, is_bare=True),
        Route("GET", f"{v1}/studies/{{id}}/", studies.show),
        Route("PATCH", f"{v1}/studies/{{id}}/", studies.change),
        Route("DELETE", f"{v1}/studies/{{id}}/", studies.delete),
        Route("POST", f"{v1}/studies/{{id}}/transition/", studies.move, ("action",)),
        Route("POST", f"{v1}/studies/{{id}}/clone/", studies.clone),
        Route("GET", f"{v1}/studies/{{id}}/cost/", account.cost, is_bare=True),
        Route("GET", f"{v1}/studies/{{id}}/submissions/", reviews.of_study, is_bare=True),
        Route("GET", f"{v1}/studies/{{id}}/submissions/counts/", reviews.counts, is_bare=True),
        Route("GET", f"{v1}/submissions/", reviews.index, ("study",), is_bare=True),
        Route("POST", f"{v1}/submissions/bulk-approve/", reviews.bulk_approve, is_bare=True),
        Route("POST", f"{v1}/submissions/bonus-payments/", bonuses.set_up),
        Route("GET", f"{v1}/submissions/{{id}}/", reviews.show),
        Route("POST", f"{v1}/submissions/{{id}}/transition/", reviews.move, ("action",)),
        Route("POST", f"{v1}/submissions/{{id}}/request-return/", reviews.request_return, ("request_return_reasons",)),
        Route("POST", f"{v1}/bulk-bonus-payments/{{id}}/pay/", bonuses.pay),
        Route("GET", f"{v1}/participant-groups/", groups.index),
        Route("POST", f"{v1}/participant-groups/", groups.create, ("name",)),
        Route("GET", f"{v1}/participant-groups/{{id}}/", groups.show),
        Route("DELETE", f"{v1}/participant-groups/{{id}}/", groups.delete),
        Route("GET", f"{v1}/participant-groups/{{id}}/participants/", groups.members),
        Route("POST", f"{v1}/participant-groups/{{id}}/participants/", groups.add_members),
        Route("DELETE", f"{v1}/participant-groups/{{id}}/participants/", groups.remove_members),
    ]


class Router:
    """Finds the operation of a request by its exact path."""

    def __init__(self, known: Sequence[Route]) -> None:
        self._known = [(re.compile(re.sub(r"\{[a-z_]+\}", "([^/]+)", one.template)), one) for one in known]

    def find(self, method: str, path: str) -> tuple[Route, tuple[str, ...]]:
        """Return the operation and the ids of its path, or raise Refusal."""
        matches = [(route, match.groups()) for pattern, route in self._known if (match := pattern.fullmatch(path))]
        if not matches:
            raise Refusal("There is no such page.", 404)
        fitting = [(route, ids) for route, ids in matches if route.method == method]
        if not fitting:
            raise Refusal(f"Method {method} not allowed.", 405)
        return fitting[0]


def page_of(entries: Sequence[Any], call: FakeCall, size: int = 20) -> list[Any]:
    """Return the requested page of a list; empty beyond the last one."""
    size, page = int(call.query.get("page_size", size)), int(call.query.get("page", 1))
    if size < 1 or page < 1:
        raise Refusal("page and page_size must be 1 at least.")
    return list(entries[(page - 1) * size : page * size])


# Server: its own, because only the owner of a socket can cut a connection at a chosen moment


_SLOW = ("slow_before", "slow_after")


@contextlib.asynccontextmanager
async def serve_fake(fake: FakeProlific, port: int = 0) -> AsyncIterator[str]:
    """Yield the address of a running server; port 0 takes a free one."""
    connections: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        connections[task] = writer
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while (request := await _read(reader)) is not None:
                await _reply(fake, request, writer)
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", port)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for writer in connections.values():
            writer.close()
        # Raises UndocumentedReply if a reply contradicted the document.
        await asyncio.gather(*connections)


async def _read(reader: asyncio.StreamReader) -> FakeRequest | None:
    """Return the next request of a connection; None at its end."""
    first = (await reader.readline()).decode("latin-1").split()
    if len(first) != 3:
        return None
    headers: dict[str, str] = {}
    while line := (await reader.readline()).decode("latin-1").strip():
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    target = urlsplit(first[1])
    return FakeRequest(first[0], target.path, dict(parse_qsl(target.query, keep_blank_values=True)), headers, body)


async def _reply(fake: FakeProlific, request: FakeRequest, writer: asyncio.StreamWriter) -> None:
    try:
        answer = fake.handle(request)
    except DroppedConnection as dropped:
        if dropped.kind in _SLOW:
            return  # the client times out
        writer.transport.abort()
        raise ConnectionResetError from None
    body = _payload(answer)
    lines = [f"HTTP/1.1 {answer.status} -", *(f"{name}: {value}" for name, value in _headers(answer).items())]
    lines.append(f"content-length: {len(body)}")
    writer.write("\r\n".join([*lines, "", ""]).encode() + body)
    await writer.drain()


# In-process transport: no socket, the same replies, and faults as errors of the HTTP library


_ERRORS: dict[str, tuple[type[httpx.TransportError], str]] = {
    "refused": (httpx.ConnectError, "All connection attempts failed"),
    "cut_before": (httpx.RemoteProtocolError, "Server disconnected without sending a response."),
    "cut_after": (httpx.RemoteProtocolError, "Server disconnected without sending a response."),
    "slow_before": (httpx.ReadTimeout, "The read operation timed out"),
    "slow_after": (httpx.ReadTimeout, "The read operation timed out"),
}


class InProcessTransport(httpx.AsyncBaseTransport):
    """Passes requests to the fake platform."""

    def __init__(self, fake: FakeProlific) -> None:
        self._fake = fake

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        headers = {name.lower(): value for name, value in request.headers.items()}
        query = dict(httpx.QueryParams(request.url.query))
        body = await request.aread()
        try:
            answer = self._fake.handle(FakeRequest(request.method, request.url.path, query, headers, body))
        except DroppedConnection as dropped:
            error, words = _ERRORS[dropped.kind]
            raise error(words, request=request) from None
        return httpx.Response(answer.status, headers=_headers(answer), content=_payload(answer), request=request)


def _headers(answer: FakeReply) -> dict[str, str]:
    """Return the headers of a reply."""
    kind = "text/html" if isinstance(answer.body, str) and answer.body.startswith("<") else "application/json"
    return {"content-type": kind, **answer.headers}


def _payload(answer: FakeReply) -> bytes:
    """Return the body of a reply as bytes."""
    if answer.status == 204:
        return b""
    if isinstance(answer.body, str) and answer.body.startswith("<"):
        return answer.body.encode()
    return json.dumps(answer.body).encode()
