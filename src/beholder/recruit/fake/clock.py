"""The clock of the fake: it stands until somebody advances it, or runs as others do."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

_START = datetime(2026, 10, 5, 9, 0, tzinfo=UTC)


class Clock:
    """What time it is on the fake."""

    def __init__(self, start: datetime | None = None, *, runs: bool = False) -> None:
        self._start = start or (datetime.now(UTC) if runs else _START)
        self._begun = time.monotonic() if runs else None
        self._advanced = timedelta()

    @property
    def now(self) -> datetime:
        run = timedelta(seconds=time.monotonic() - self._begun) if self._begun is not None else timedelta()
        return self._start + self._advanced + run

    def advance(self, by: timedelta) -> None:
        """Let time pass; it never goes back."""
        assert by >= timedelta(), by
        self._advanced += by


def stamp(moment: datetime | None) -> str | None:
    """Return a moment as the API writes it."""
    return None if moment is None else moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
