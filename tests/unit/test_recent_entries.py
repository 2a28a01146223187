"""Mappings that remember the newest entries alone."""

from __future__ import annotations

from beholder.recent_entries import RecentEntries


def test_only_the_entries_that_were_set_last_are_kept() -> None:
    recent: RecentEntries[str, int] = RecentEntries(2)
    recent["a"] = 1
    recent["b"] = 2
    recent["a"] = 3
    recent |= {"c": 4}
    assert dict(recent) == {"a": 3, "c": 4}
