"""The system clock. Code that depends on the time takes a clock as an argument, so that tests can set the time."""

from __future__ import annotations

from datetime import UTC, datetime


def utc_now() -> datetime:
    """Return the current time, with its zone (UTC)."""
    return datetime.now(UTC)
