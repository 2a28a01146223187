"""Presence: who is inside a study, whose pages are open, and when a server that has enough answers may stop.

Pages of a browser say every few seconds that they are open, and when they are left. That is kept in memory only: it
decides how long a server stays, and is no fact about a participant.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from beholder.aio import stopped_by_signal
from beholder.formats import plain_count
from beholder.recent_entries import MOST_SESSIONS, RecentEntries
from beholder.store.contract import StoreUnavailable

if TYPE_CHECKING:  # which imports the service, and so this module
    from beholder.server.process import RunningServer

_HEARD = timedelta(seconds=90)
"""How long a page counts as open after its last word: browsers let pages in the background speak once a minute."""
_LEFT = timedelta(seconds=5)
"""How long a page that was left still counts as open: a reload leaves it, too."""
_GONE = timedelta(minutes=2)
"""Whoever has given no sign for so long has closed the page, or is cut off: they are no longer waited for."""
_LAST_PAGES = timedelta(minutes=5)
"""How long last pages are served at most: for the code, the receipt, and who wants to be erased at once."""
_EVERY_S = 0.5
_MOST_TABS = 8
"""So many pages of one session are remembered: a made-up tab in every request must not fill the memory."""


class Presence:
    """Whether people may begin, and which pages are open, by session and tab."""

    def __init__(self) -> None:
        self.is_closing = False
        """Whether nobody can begin any more, because enough have finished. Whoever is inside goes on."""
        self._open_until: RecentEntries[str, RecentEntries[str, datetime]] = RecentEntries(MOST_SESSIONS)
        self._heard_at: RecentEntries[str, datetime] = RecentEntries(MOST_SESSIONS)

    def close(self) -> None:
        """Let nobody begin any more."""
        self.is_closing = True

    def hear(self, session: str, tab: str, now: datetime, *, is_open: bool) -> None:
        """Take note that a page is open, or was left."""
        tabs = self._open_until.get(session) or RecentEntries(_MOST_TABS)
        tabs[tab] = now + (_HEARD if is_open else _LEFT)
        self._open_until[session] = tabs
        self._heard_at[session] = now

    def open_pages(self, now: datetime) -> int:
        """Return how many sessions have an open page, and forget all others."""
        for session in [one for one, tabs in self._open_until.items() if max(tabs.values()) <= now]:
            del self._open_until[session]
        return len(self._open_until)

    def is_open(self, session: str, now: datetime) -> bool:
        """Return whether a page of this session is open."""
        tabs = self._open_until.get(session)
        return tabs is not None and max(tabs.values()) > now

    def silent(self, now: datetime) -> tuple[str, ...]:
        """Return the sessions whose pages were open once and gave no sign for two minutes."""
        return tuple(session for session, at in self._heard_at.items() if at <= now - _GONE)

    def forget(self, session: str) -> None:
        """No longer remember when a session was heard."""
        self._heard_at.pop(session, None)


# Until a server may stop


async def close_server(server: RunningServer, report: Callable[[str], None], *, waits_for_lists: bool = True) -> None:
    """Let nobody begin any more, and return when everybody inside has finished and their last pages were left.

    Whoever holds a list has the time limit of a session, counted from now; after it, and after two minutes without a
    sign of them, they are told of in the report and no longer waited for. Last pages are served for five minutes at
    most. Returns at once where nobody is inside. The first Ctrl-C ends the waiting, the second one what called this.
    Without `waits_for_lists` a platform has said already that nobody is at work.
    """
    stop = asyncio.Event()
    with stopped_by_signal(stop, signal.SIGINT):
        await _wait_for_people(server, report, stop, waits_for_lists)


async def _wait_for_people(
    server: RunningServer, report: Callable[[str], None], stop: asyncio.Event, waits_for_lists: bool
) -> None:
    service = server.service
    context, run = service.context, service.served.study.run
    context.presence.close()
    began = last = service.now()
    latest, reported, inside, gone = began + context.entrance.lease, "", 0, 0
    while not stop.is_set():
        now = service.now()
        if waits_for_lists:
            with contextlib.suppress(StoreUnavailable):  # it comes back, or the time is up
                inside = (await server.store.counts(now, run))["live"]
                gone = await _gone(server, now)
        if inside > gone:
            last = now
            if now >= latest:
                break
            words = _inside_words(inside - gone, latest)
        elif (pages := context.presence.open_pages(now)) and now < last + _LAST_PAGES:
            words = _page_words(pages, last + _LAST_PAGES)
        else:
            break
        if words != reported:
            report(words)
            reported = words
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), _EVERY_S)
    if inside:
        report(_end_words(inside))


async def _gone(server: RunningServer, now: datetime) -> int:
    """Return how many hold a list and have given no sign for two minutes, neither by their page nor by an answer."""
    presence, count = server.service.context.presence, 0
    silent = presence.silent(now)
    sending = await server.store.senders(now - _GONE) if silent else frozenset[str]()
    for session in silent:
        facts = await server.store.session_facts(session)
        if facts is None or facts.list is None or facts.end is not None:
            presence.forget(session)
        elif session not in sending:
            count += 1
    return count


def _inside_words(people: int, latest: datetime) -> str:
    has = plain_count(people, "person is", "people are")
    return (
        f"Enough have finished: nobody else can begin. {has} inside and can finish, "
        f"until {latest.astimezone():%H:%M} at the latest. Ctrl-C ends it now, twice at once."
    )


def _page_words(pages: int, latest: datetime) -> str:
    has = plain_count(pages, "person still has", "people still have")
    return (
        f"{has} a page open, such as the last one with code, receipt and erasure: it is served until they leave it, "
        f"until {latest.astimezone():%H:%M} at the latest. Ctrl-C goes on now."
    )


def _end_words(people: int) -> str:
    was = plain_count(people, "person was", "people were")
    return f"It ends while {was} inside. Their answers so far are stored; they can go on when it is served again."
