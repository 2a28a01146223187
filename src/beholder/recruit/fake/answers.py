"""What the fake is asked and what it answers, refusals in the shapes of the published document."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from beholder.recruit.fake.faults import Kind

Detail = str | list[str] | dict[str, list[str]]

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
    """The platform says no, and why: in one sentence, in several, or by field."""

    def __init__(self, detail: Detail, status: int = 400) -> None:
        super().__init__(detail)
        self.detail, self.status = detail, status


class Dropped(Exception):
    """No answer comes: how the connection ends."""

    def __init__(self, kind: Kind) -> None:
        super().__init__(kind)
        self.kind = kind


class Request(NamedTuple):
    """One request as it came over HTTP, or from a transport in the same process."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes = b""


@dataclass(frozen=True)
class Answer:
    """What is sent back."""

    status: int
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Call:
    """A request that was understood: the ids of its path, its query, its body."""

    ids: tuple[str, ...]
    query: Mapping[str, str]
    body: Any


class Route(NamedTuple):
    """One operation of the API."""

    method: str
    template: str
    handle: Callable[[Call], Answer]
    needs: tuple[str, ...] = ()
    """Keys of the body, or of the query of a GET, without which it cannot be."""
    is_bare: bool = False
    """Whether the document writes its refusals without `error` around them."""

    @property
    def operation(self) -> str:
        return f"{self.method} {self.template}"


def refused(refusal: Refusal, *, is_bare: bool) -> Answer:
    """Return the answer to what was refused."""
    status = refusal.status
    error = {
        "status": status,
        "error_code": _CODES.get(status, 140000 + status),
        "title": _TITLES.get(status, "Error"),
        "detail": refusal.detail,
        "additional_information": "/api/v1/",
    }
    return Answer(status, error if is_bare else {"error": error})
