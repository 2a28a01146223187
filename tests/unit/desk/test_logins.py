"""Logging in: links work once and soon, sessions end, and wrong tries slow down."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from beholder.desk.access_file import AccessFile
from beholder.desk.logins import Tries, end_session, find_session, make_link, open_sessions, use_link
from support.desk_browsers import DeskClock


@pytest.fixture
def clock() -> DeskClock:
    return DeskClock()


@pytest.fixture
def file(tmp_path: Path, clock: DeskClock) -> Iterator[AccessFile]:
    opened = AccessFile(tmp_path / "desk.sqlite", clock.now)
    yield opened
    opened.close()


def test_a_link_logs_in_once_and_soon(file: AccessFile, clock: DeskClock) -> None:
    code, late = make_link(file, "Ada"), make_link(file, "Bob")
    begun = use_link(file, code, "Firefox")
    assert begun is not None
    secret, session = begun
    assert (session.viewer.name, session.viewer.role, session.kind) == ("Ada", "owner", "link")
    assert use_link(file, code, "Firefox") is None, "it was used"
    assert use_link(file, "made up", "Firefox") is None
    clock.move(minutes=15)
    assert use_link(file, late, "Firefox") is None, "it is too old"
    assert find_session(file, secret) is not None


def test_a_session_ends_when_it_is_idle_when_it_is_old_and_when_it_is_revoked(
    file: AccessFile, clock: DeskClock
) -> None:
    def begin() -> str:
        begun = use_link(file, make_link(file, "Ada"), "Firefox")
        assert begun is not None
        return begun[0]

    idle, busy, revoked = begin(), begin(), begin()
    assert len(open_sessions(file)) == 3
    (revoked_session,) = {one.id for one in open_sessions(file) if find_session(file, revoked) == one}
    assert end_session(file, revoked_session)
    assert not end_session(file, revoked_session)
    assert find_session(file, revoked) is None
    for _ in range(11):
        clock.move(hours=1)
        assert find_session(file, busy) is not None
    assert find_session(file, idle) is None
    assert [one.browser for one in open_sessions(file)] == ["Firefox"]
    clock.move(hours=1)
    assert find_session(file, busy) is None, "twelve hours after it began"


def test_wrong_tries_slow_down_and_a_right_one_ends_that() -> None:
    clock = DeskClock()
    tries = Tries(clock.seconds)
    waits = []
    for _ in range(6):
        waits.append(tries.wait_s("10.0.0.1", "ada"))
        clock.move(seconds=waits[-1])
        tries.count("10.0.0.1", "ada")
    assert waits == [0, 0, 0, 1, 2, 4]
    assert tries.wait_s("10.0.0.2", "bob") == 0, "somebody else is not slowed down"
    assert tries.wait_s("10.0.0.2", "ADA") == 8, "the same name from elsewhere is"
    tries.forget("10.0.0.1", "ada")
    assert tries.wait_s("10.0.0.1", "ada") == 0


def test_many_wrong_tries_of_many_strangers_slow_everybody_a_little() -> None:
    clock = DeskClock()
    tries = Tries(clock.seconds)
    for number in range(120):
        tries.count(f"10.0.{number}.1", f"name{number}")
    assert tries.wait_s("192.0.2.1", "ada") == 5
