"""Shares: what is wrong with one that is asked for, and when it ends."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from beholder.desk.access_file import AccessFile
from beholder.desk.logins import find_session
from beholder.desk.shares import make_share, open_shares, use_share
from beholder.errors import UserError
from support.desk_browsers import DeskClock

make = partial(make_share, study="walks", identity="walks-1", made_by="Ada")


def test_a_share_ends_with_its_last_day_and_so_do_its_sessions(tmp_path: Path) -> None:
    clock = DeskClock()
    file = AccessFile(tmp_path / "desk.sqlite", clock.now)
    secret, share = make(file, label="Board", scopes=["study", "now"], until="2026-11-20")
    assert (share.scopes, f"{share.ends_at:%Y-%m-%d %H:%M}") == (("now", "study"), "2026-11-21 00:00")
    begun = use_share(file, secret, "Firefox")
    assert begun is not None
    assert (begun[1].ends_at, begun[1].viewer.role) == (clock.at.replace(hour=21), "viewer")
    clock.move(hours=14, minutes=59)
    late = use_share(file, secret, "Firefox")
    assert late is not None
    assert late[1].ends_at == share.ends_at
    clock.move(minutes=1)
    assert (find_session(file, late[0]), use_share(file, secret, ""), open_shares(file)) == (None, None, [])
    file.close()


def test_everything_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    file = AccessFile(tmp_path / "desk.sqlite", DeskClock().now)
    with pytest.raises(UserError) as error:
        make(file, label=" ", scopes=["pay", "now"], until="soon")
    assert [str(problem) for problem in error.value.problems] == [
        "name  is empty or too long. Allowed: whom it is for, in up to 100 letters.",
        "scopes  are pay. Allowed: now, people, replay, decisions, results, study. A share shows, and does nothing.",
        "until  is soon. Allowed: a day, such as 2026-12-04.",
    ]
    for day in ("2026-11-19", "2027-11-22"):
        with pytest.raises(UserError) as error:
            make(file, label="Board", scopes=["now"], until=day)
        assert str(error.value) == f"until  is {day}. Allowed: a day from today to 2027-11-21, a year from now."
    file.close()
