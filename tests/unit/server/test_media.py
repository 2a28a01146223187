"""Media: only those of the current attempt are drawn."""

from __future__ import annotations

from typing import Any

import pytest

from beholder.checks.brightness import Brightness
from beholder.errors import Refused
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
