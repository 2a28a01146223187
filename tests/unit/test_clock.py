"""The system clock."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from beholder.clock import utc_now


def test_the_time_has_its_zone() -> None:
    before = datetime.now(UTC)
    now = utc_now()
    assert now.utcoffset() == timedelta(0)
    assert before <= now <= datetime.now(UTC)
