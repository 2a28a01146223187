"""The clock of recruiting, where nobody gives another one."""

from __future__ import annotations

from datetime import UTC, datetime


def utc_now() -> datetime:
    """Return the time, with its zone."""
    return datetime.now(UTC)
