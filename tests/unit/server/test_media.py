"""Media: only those of the current attempt are drawn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from starlette.requests import Request
from starlette.types import Message

from beholder.checks.brightness import Brightness
from beholder.errors import Refused
from beholder.server.media import media_response
from support.clock_service import Person
from support.qualified_sessions import HostedStudy


async def test_a_picture_that_cannot_be_drawn_lets_people_go_on(
    room: HostedStudy, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> Any:
        raise MemoryError("a bug of ours")

    monkeypatch.setattr(Brightness, "draw", broken)
    host, clock, _ = room
    ann = await Person(host, clock).come()
    await ann.until("check:")
    url = ann.step["media"]["matrix"]["url"]
    with pytest.raises(Refused) as refused:
        await host.media(url.removeprefix("/media/"))
    assert refused.value.status == 404
    assert (await ann.come()).key == "trial:1"


async def test_only_the_attempt_at_hand_is_drawn(room: HostedStudy) -> None:
    host, clock, _ = room
    ann = await Person(host, clock).come()
    await ann.until("check:")
    first = ann.step["media"]["matrix"]["url"].removeprefix("/media/")
    assert (await host.media(first)).content_type == "image/png"
    second = host.context.page_checks.token(ann.session, "check:brightness:2", "matrix")
    ann.fails = frozenset(["brightness"])
    for token in (second, first):
        with pytest.raises(Refused) as refused:
            await host.media(token)
        assert refused.value.code == "unknown_media"
        await ann.answer() if token == second else None
    assert ann.step["media"]["matrix"]["url"] == f"/media/{second}"
    assert b"".join((await host.media(second)).read()).startswith(b"\x89PNG")


@dataclass(frozen=True)
class Remote:
    """A medium that comes in uneven pieces from elsewhere, as from a bucket."""

    body: bytes
    content_type: str = "video/mp4"

    @property
    def size(self) -> int:
        return len(self.body)

    def read(self, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
        wanted = self.body[start:stop]
        yield from (wanted[at : at + 70_001] for at in range(0, len(wanted), 70_001))


async def asked(medium: Remote, **headers: str) -> tuple[int, bytes, int]:
    """Return the status, the body and the number of its pieces."""
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "method": "GET", "path": "/media/t", "headers": raw}
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    response = await media_response(Request(scope, receive), "t", medium)
    await response(scope, receive, send)
    start, *pieces = sent
    assert [piece["more_body"] for piece in pieces] == [True] * (len(pieces) - 1) + [False]
    return start["status"], b"".join(piece["body"] for piece in pieces), len(pieces)


async def test_a_medium_from_elsewhere_comes_whole_in_pieces_and_in_ranges() -> None:
    body = bytes(range(256)) * 4000
    status, whole, pieces = await asked(Remote(body))
    assert (status, whole) == (200, body)
    assert pieces > 1
    status, part, pieces = await asked(Remote(body), range="bytes=5-600004")
    assert (status, part) == (206, body[5:600_005])
    assert (await asked(Remote(b"")))[:2] == (200, b"")
