"""Limits: what a stranger can make grow is bounded, and nobody is slowed down by somebody else.

Every limit belongs to one person or one address. The only ones that all share are those of arriving, which protect
memory and disk: whoever is inside never meets them. Addresses are kept in memory only.
"""

from __future__ import annotations

import logging
import shutil
import time
from collections.abc import Awaitable, Callable, MutableMapping
from datetime import datetime
from pathlib import Path

from beholder.errors import Refused
from beholder.formats import plain_count
from beholder.server.requests import RateLimit

# Arriving

_PER_ADDRESS = (300.0, 5.0)
_IN_ALL = (3000.0, 50.0)


class ArrivalPace:
    """How fast strangers may arrive: 300 at once from one address, then five a second; 3,000 and 50 from all.

    Each of them is stored. Whoever has a session, a signed name or the preview link is no stranger.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._one, self._all = RateLimit(*_PER_ADDRESS, clock), RateLimit(*_IN_ALL, clock)

    def take(self, address: str) -> None:
        """Count an arrival, or raise Refused: the page tries again by itself. Nobody on this machine is counted."""
        if not address or address.startswith("127.") or address == "::/64":
            return
        try:
            self._one.take(address)
            self._all.take("")
        except Refused:
            raise Refused.because("many_arrive", code="too_many", status=429) from None


# Events of one session

_LARGEST = 8 * 1024 * 1024  # characters of one session's events that are kept
_LARGEST_BEFORE = 64 * 1024  # the same before somebody has agreed: anybody can come so far


def count_events(sizes: MutableMapping[str, int], session: str, size: int, *, has_list: bool) -> None:
    """Count characters of events that a session has sent, or raise Refused where there are too many."""
    sizes[session] = total = sizes.get(session, 0) + size
    if total > (_LARGEST if has_list else _LARGEST_BEFORE):
        raise Refused.because("log_too_long", where="events", code="too_large", status=413)


# Guesses of a code

_GUESSES, _GUESSES_IN_ALL = (10.0, 0.1), (100.0, 1.0)


class Guesses:
    """How many wrong codes are looked at: ten at once from one address, then six a minute; 100 and 60 from all."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._one, self._all = RateLimit(*_GUESSES, clock), RateLimit(*_GUESSES_IN_ALL, clock)

    def take(self, address: str) -> None:
        """Count a code as a wrong one before it is looked at, or raise Refused: then no code is, right or wrong."""
        self._one.take(address)
        self._all.take("")

    def give_back(self, address: str) -> None:
        """Take a code out of the count: it was right."""
        self._one.give_back(address)
        self._all.give_back("")


# Room on the disk

_MB = 1024 * 1024
_BASE = 64 * _MB
_EACH = 2 * _MB
"""What a session may still need: events and answers of a long one are a fraction of it."""
_EVERY_S = 1.0
_WARN_EVERY_S = 300.0
_log = logging.getLogger("beholder.server")


def free_bytes(folder: Path) -> int:
    """Return the room that is left on the disk of a folder, which may not exist yet."""
    place = folder.absolute()
    while not place.exists():
        place = place.parent
    return shutil.disk_usage(place).free


class StoreRoom:
    """The room on the disk of a store, of which those inside keep what they need; and when a commit last failed.

    Without `free`, as for a database server, nothing is known of the room.
    """

    def __init__(self, free: Callable[[], int] | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._free, self._clock = free, clock
        self._looked_at = self._warned_at = -_WARN_EVERY_S
        self._left, self._reserve = 0, 0
        self.failed_at: datetime | None = None
        """When a commit failed last."""

    async def is_free(self, count_inside: Callable[[], Awaitable[int]]) -> bool:
        """Return whether somebody else may begin, so that those inside can finish."""
        if self._free is None:
            return True
        now = self._clock()
        if now >= self._looked_at + _EVERY_S:
            self._looked_at = now
            inside = await count_inside()
            self._left, self._reserve = self._free(), _BASE + inside * _EACH
            if self.is_low and now >= self._warned_at + _WARN_EVERY_S:
                self._warned_at = now
                _log.warning("%s", room_words(self._left, inside))
        return self._left >= self._reserve

    @property
    def is_low(self) -> bool:
        """Whether it is time to make room, at the last look: less is left than twice what those inside need."""
        return self._free is not None and self._reserve > 0 and self._left < 2 * self._reserve

    @property
    def left_mb(self) -> int:
        """The room at the last look, in MB."""
        return self._left // _MB


def is_little(left: int, inside: int) -> bool:
    """Return whether so many bytes are little for so many people inside."""
    return left < 2 * (_BASE + inside * _EACH)


def room_words(left: int, inside: int) -> str:
    """Return how much room is left, and when nobody else can begin."""
    needed = (_BASE + inside * _EACH) // _MB
    has = plain_count(inside, "person is", "people are")
    return (
        f"{left // _MB} MB are left on the disk of the store, and {has} inside. "
        f"Below {needed} MB nobody else can begin: make room."
    )
