"""Readiness: whether a server takes people, whether it leads the others, and how far its clock is off.

A balancer reads it at `/healthz`, people in the log and by `beholder monitor`. Of several servers one leads: it alone
does what is not asked for by a request, and the next one does where it ends.
"""

from __future__ import annotations

import logging
import os
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from importlib.metadata import version
from typing import Literal

from beholder.formats import plain_count
from beholder.store.contract import Store, StoreUnavailable
from beholder.types import Json

State = Literal["ready", "draining", "away"]
_LOOK_S = 10.0
_WARN_S = 300.0
FAR_OFF = timedelta(seconds=1)
"""From here on, times of one server and of another can be told in the wrong order by somebody who reads the data."""
HEARD = timedelta(minutes=1)
"""A server that has told nothing of itself for so long is gone."""
_log = logging.getLogger("beholder.server")


class Readiness:
    """What one server knows of itself. `go_on` is called every second."""

    def __init__(self, store: Store, digest: str, now: Callable[[], datetime]) -> None:
        self._store, self._digest, self._now = store, digest, now
        self._name = f"{socket.gethostname()}:{os.getpid()}"
        self._looked_at = self._warned_at = -_WARN_S
        self.is_draining = False
        """Whether this server ends soon: it finishes what is under way, and nobody begins here."""
        self.is_leader = False
        self.clock_off: timedelta | None = None
        """How far the clock of this server is ahead of that of the database; None where there is one clock."""

    async def go_on(self) -> None:
        """Take or keep the lead, and now and then look at the clock and tell the others of this server."""
        self.is_leader = await self._store.lead("serving")
        now = time.monotonic()
        if now >= self._looked_at + _LOOK_S:
            self._looked_at = now
            await self._look_at_clock()
            await self._store.announce(self._name, self.facts("ready"))

    async def _look_at_clock(self) -> None:
        began = self._now()
        at = await self._store.clock()
        if at is None:
            return
        ended = self._now()
        off = began + (ended - began) / 2 - at
        # What the way there and back takes is not known to be the clock's.
        self.clock_off = off if abs(off) > (ended - began) / 2 else timedelta(0)
        if abs(self.clock_off) >= FAR_OFF and time.monotonic() >= self._warned_at + _WARN_S:
            self._warned_at = time.monotonic()
            _log.warning("%s", clock_words("this server", self.clock_off))

    def begin_draining(self) -> None:
        """Say from now on that this server ends."""
        self.is_draining = True

    def leads(self) -> bool:
        """Return whether this server leads the others."""
        return self.is_leader

    async def leave(self) -> None:
        """Take away what this server told of itself."""
        try:
            await self._store.announce(self._name, None)
        except StoreUnavailable:
            return  # it is forgotten after a while

    def facts(self, state: State) -> dict[str, Json]:
        """Return what everybody may know: which study in which text, by which software, and how it is."""
        return {
            "state": "draining" if self.is_draining and state == "ready" else state,
            "digest": self._digest,
            "version": version("beholder"),
            "leads": self.is_leader,
            "clock_off_ms": None if self.clock_off is None else round(self.clock_off / timedelta(milliseconds=1)),
        }


def clock_words(whose: str, off: timedelta) -> str:
    """Return how far a clock is off, and what to do about it."""
    seconds = abs(off).total_seconds()
    told = f"{seconds:.1f} s" if seconds < 60 else plain_count(round(seconds / 60), "minute")
    return (
        f"The clock of {whose} is {told} {'ahead of' if off > timedelta(0) else 'behind'} that of the database: times "
        "of answers are wrong by that, and lists come free too early or too late. Let both take their time from the "
        "network (NTP)."
    )


# Several servers, for who reads the store


def server_warnings(told: Mapping[str, Mapping[str, Json]]) -> Sequence[str]:
    """Return what a researcher should look at, of what servers tell of themselves."""
    warnings = []
    for name, one in told.items():
        off = one.get("clock_off_ms")
        if isinstance(off, int) and abs(off) >= FAR_OFF / timedelta(milliseconds=1):
            warnings.append(clock_words(f"server {name}", timedelta(milliseconds=off)))
    for what, words in (("version", "versions of Beholder"), ("digest", "texts of the study")):
        values = sorted({str(one.get(what))[:12] for one in told.values() if one.get("state") == "ready"})
        if len(values) > 1:
            warnings.append(
                f"{plain_count(len(told), 'server')} serve different {words} ({', '.join(values)}). While they are "
                "replaced one after the other that is right, and everybody keeps what they began with."
            )
    return warnings
