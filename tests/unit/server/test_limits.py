"""Limits of what is remembered, and of requests by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder.errors import Refused
from beholder.server.limits import ArrivalPace, StoreRoom, free_bytes


def test_strangers_arrive_at_a_pace_and_a_full_room_at_once() -> None:
    now = [0.0]
    pace = ArrivalPace(lambda: now[0])
    for _ in range(300):
        pace.take("203.0.113.9")
    with pytest.raises(Refused, match="Very many people are coming at this moment"):
        pace.take("203.0.113.9")
    pace.take("203.0.113.10")
    now[0] = 60
    for _ in range(300):
        pace.take("203.0.113.9")
    for _ in range(10_000):
        pace.take("127.0.0.1")


def test_all_strangers_together_have_a_pace_too() -> None:
    pace = ArrivalPace(lambda: 0.0)
    for number in range(3000):
        pace.take(f"203.0.{number // 250}.{number % 250}")
    with pytest.raises(Refused, match="Very many people"):
        pace.take("198.51.100.1")


async def test_nobody_begins_where_those_inside_need_the_room(caplog: pytest.LogCaptureFixture) -> None:
    left, now = [1000], [0.0]
    room = StoreRoom(lambda: left[0] * 1024 * 1024, lambda: now[0])

    async def inside() -> int:
        return 100

    assert await room.is_free(inside)
    assert not room.is_low
    for left[0], is_free in ((300, True), (263, False), (600, True)):
        now[0] += 1
        assert await room.is_free(inside) == is_free
        assert room.is_low == (left[0] < 528)
    assert [record.getMessage() for record in caplog.records] == [
        "300 MB are left on the disk of the store, and 100 people are inside. Below 264 MB nobody else can begin: "
        "make room."
    ]
    assert await StoreRoom().is_free(inside), "nothing is known of the disk of a database server"


def test_the_room_of_a_folder_that_is_not_there_yet_is_that_of_its_disk(tmp_path: Path) -> None:
    assert free_bytes(tmp_path / "a" / "b") > 0
