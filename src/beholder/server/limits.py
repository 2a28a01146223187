"""Limits: what a stranger can make grow is bounded, and nobody is slowed down by somebody else.

Every limit belongs to one person or one address. The only ones that all share are those of arriving, which protect
memory and disk: whoever is inside never meets them. Addresses are kept in memory only.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from beholder.errors import Refused

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class RecentEntries(OrderedDict[K, V], Generic[K, V]):
    """The entries that were set last, so many at most; an older one is forgotten."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def __setitem__(self, key: K, value: V) -> None:
        super().__setitem__(key, value)
        self.move_to_end(key)
        if len(self) > self._most:
            self.popitem(last=False)


_BURST, _PER_SECOND = 240.0, 20.0
MOST_SESSIONS = 20_000
"""Of so many sessions, or addresses, something is remembered. One that is forgotten is treated as new."""


class RateLimit:
    """An allowance of requests for each name, such as a session, so that a runaway browser slows down nobody else.

    A name is checked before: what a stranger makes up must not be kept.
    """

    def __init__(
        self,
        burst: float = _BURST,
        per_second: float = _PER_SECOND,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._burst, self._per_second, self._clock = burst, per_second, clock
        self._left: RecentEntries[str, tuple[float, float]] = RecentEntries(MOST_SESSIONS)

    def take(self, name: str) -> None:
        """Count a request, or raise Refused where there are too many."""
        now = self._clock()
        left, at = self._left.get(name, (self._burst, now))
        left = min(self._burst, left + (now - at) * self._per_second)
        if left < 1:
            raise Refused.because("too_many", code="too_many", status=429)
        self._left[name] = (left - 1, now)
