"""The view while it changes: looked at again whenever something has happened."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

from beholder.recruit.desk import Desk
from beholder.recruit.launching.recorded import recorded
from beholder.recruit.monitoring.found import Platform, View
from beholder.recruit.monitoring.look import look
from beholder.recruit.monitoring.platform import read_platform

LOOK_SECONDS = 2.0
ASK, ASK_AT_MOST = timedelta(seconds=60), timedelta(minutes=5)
"""How often the platform is asked: less and less while nothing moves there."""
_SHARE = 0.2
"""The most of its time that looking may take, so that a large store is left in peace."""


async def watch(
    desk: Desk,
    show: Callable[[View], None],
    *,
    robots: bool = False,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> None:
    """Show how a study stands whenever it has changed, until cancelled."""
    counts: object = None
    told: tuple[Platform | None, str] = None, ""
    asked: datetime | None = None
    pause, looked = ASK, desk.now()
    while True:
        began, now = time.monotonic(), desk.now()
        is_due = asked is None or now - asked >= pause
        if is_due:
            before, told = told, await read_platform(desk, recorded(await desk.store.ledger.entries(), desk.study.run))
            pause = min(ASK_AT_MOST, pause * 2) if _same(before[0], told[0]) else ASK
            asked = now
        fresh = await desk.store.counts(now, desk.study.run)
        if is_due or fresh != counts or robots or now - looked >= ASK:
            counts, looked = fresh, now
            show(await look(desk, robots=robots, platform=told))
        took = time.monotonic() - began
        await sleep(max(LOOK_SECONDS, took / _SHARE))


def _same(one: Platform | None, other: Platform | None) -> bool:
    return one is not None and other is not None and (one.taken, one.statuses) == (other.taken, other.statuses)
