"""Room: whether a list is left for somebody, after whoever can make room was asked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from datetime import datetime

from beholder.store.contract import Store

MakeRoom = Callable[[], Awaitable[None]]
"""Opens the lists that nobody will finish. It takes a few seconds at most, and raises nothing of its own."""


class Room:
    """Looks for a list twice: in between, lists may be given back whose people are gone."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.maker: MakeRoom | None = None
        """Who is asked to make room; nobody where people come from no platform that could tell who is gone."""

    async def is_left(self, now: datetime, barred: Collection[int] = ()) -> bool:
        """Return whether there is a list that nobody has, but for those barred."""
        if await self._store.has_room(now, barred):
            return True
        return await self.make() and await self._store.has_room(now, barred)

    async def make(self) -> bool:
        """Return whether somebody was asked to make room, so that it is worth looking again."""
        if self.maker is None:
            return False
        await self.maker()
        return True
