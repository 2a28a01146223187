"""Limits of what is remembered, and of requests by name."""

from __future__ import annotations

import pytest

from beholder.errors import Refused
from beholder.server.limits import MOST_SESSIONS, RateLimit, RecentEntries


def test_only_the_entries_that_were_set_last_are_kept() -> None:
    recent: RecentEntries[str, int] = RecentEntries(2)
    recent["a"] = 1
    recent["b"] = 2
    recent["a"] = 3
    recent |= {"c": 4}
    assert dict(recent) == {"a": 3, "c": 4}


def test_each_name_has_an_allowance_that_comes_back_with_time() -> None:
    now = [0.0]
    limit = RateLimit(burst=2, per_second=1, clock=lambda: now[0])
    for _ in range(2):
        limit.take("ann")
    with pytest.raises(Refused, match="Too many requests at once"):
        limit.take("ann")
    limit.take("ben")
    now[0] = 1
    limit.take("ann")


def test_very_many_names_are_not_all_kept() -> None:
    limit = RateLimit(burst=1, per_second=0)
    for number in range(MOST_SESSIONS + 1):
        limit.take(str(number))
    limit.take("0")  # forgotten, and therefore new
    with pytest.raises(Refused):
        limit.take(str(MOST_SESSIONS))
