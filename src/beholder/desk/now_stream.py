"""The live page Now: one snapshot for everybody who watches a study, taken when something has changed.

It is taken in a thread with a store of its own, so that the pages of the desk do not wait for it; while nobody watches,
nothing is taken.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress

from beholder.desk.desk_study import StudyPlace, state_of
from beholder.errors import UserError
from beholder.methods import load_study
from beholder.recruiting.context import RecruitContext, open_context
from beholder.recruiting.monitor_snapshot import MonitorSnapshot
from beholder.recruiting.monitoring import watch
from beholder.store.contract import StoreUnavailable
from beholder.store.open import read_rows
from beholder.study.recruitment import is_person, is_robot

_AGAIN_S, _LOOK_S = 5.0, 0.25
_log = logging.getLogger("beholder.desk")


class NowStream:
    """The snapshots of one study, for any number of watchers."""

    def __init__(self, place: StudyPlace) -> None:
        self._place = place
        self._watchers: set[asyncio.Event] = set()
        self._last: MonitorSnapshot | None = None
        self._number = 0
        self._stop: threading.Event | None = None

    @property
    def watchers(self) -> int:
        """How many watch."""
        return len(self._watchers)

    async def snapshots(self, quiet_s: float) -> AsyncGenerator[MonitorSnapshot | None, None]:
        """Yield every new snapshot, the last one first; None after so many seconds without one."""
        changed = asyncio.Event()
        self._watchers.add(changed)
        self._begin()
        shown = 0
        try:
            while True:
                if self._last is not None and shown != self._number:
                    shown = self._number
                    yield self._last
                try:
                    await asyncio.wait_for(changed.wait(), quiet_s)
                    changed.clear()
                except TimeoutError:
                    yield None
        finally:
            self._watchers.discard(changed)
            if not self._watchers:
                self.end()

    def end(self) -> None:
        """Take no more snapshots, until somebody watches again."""
        if self._stop is not None:
            self._stop.set()
        self._stop, self._last = None, None

    def _begin(self) -> None:
        if self._stop is not None:
            return
        self._stop = stop = threading.Event()
        loop = asyncio.get_running_loop()

        def show(snapshot: MonitorSnapshot) -> None:
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(self._hear, snapshot, stop)

        # Not of the loop's own pool, which waits for its threads at the end.
        threading.Thread(target=_watch_until, args=(self._place, show, stop), name="desk-now", daemon=True).start()

    def _hear(self, snapshot: MonitorSnapshot, of: threading.Event) -> None:
        if self._stop is not of:  # of a thread that has not ended yet
            return
        self._last, self._number = snapshot, self._number + 1
        for watcher in self._watchers:
            watcher.set()


class _OpenAnew(Exception):
    """The study file or its store has changed, or people have come where only robots were."""


class _Stopped(Exception):
    """Nobody watches any more."""


def _watch_until(place: StudyPlace, show: Callable[[MonitorSnapshot], None], stop: threading.Event) -> None:
    """Show snapshots of a study until `stop` is set, whatever becomes of its store meanwhile."""
    while not stop.is_set():
        try:
            asyncio.run(_watch_open(place, show, stop))
        except _OpenAnew:
            continue
        except _Stopped:
            return
        except (UserError, StoreUnavailable) as error:
            _log.warning("%s cannot be watched: %s", place.key, error)
            stop.wait(_AGAIN_S)


async def _watch_open(place: StudyPlace, show: Callable[[MonitorSnapshot], None], stop: threading.Event) -> None:
    state = state_of(place)
    async with open_context(load_study(place.file), place.store, may_be_new=True) as context:
        only_robots = await has_only_robots(context)

        async def pause(seconds: float) -> None:
            until = time.monotonic() + seconds
            while (left := until - time.monotonic()) > 0:
                if stop.is_set():
                    raise _Stopped
                await asyncio.sleep(min(_LOOK_S, left))
            if state_of(place) != state or (await has_only_robots(context)) != only_robots:
                raise _OpenAnew

        await watch(context, show, robots=only_robots, sleep=pause)


async def has_only_robots(context: RecruitContext) -> bool:
    """Return whether nobody but robots has come, so that the desk shows these."""
    modes = {row["mode"] for row in await read_rows(context.store, "sessions")}
    return not any(map(is_person, modes)) and any(map(is_robot, modes))
