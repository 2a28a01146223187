"""One database, reached through several servers in turn: whoever asks meets another one each time."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import cycle
from typing import Any, cast

from beholder.store.contract import Ledger, Store
from beholder.store.open import open_store

_OWN = ("lead", "resign", "secret", "purge_identity")
"""What belongs to one server, or has to be the same at all; a purge changes the secret, and wants no other server."""


class _InTurn:
    """Something that each server has, asked of one after the other."""

    def __init__(self, several: Sequence[Any]) -> None:
        self._first, self._next = several[0], cycle(several)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._first if name in _OWN else next(self._next), name)


class _StoreInTurn(_InTurn):
    def __init__(self, several: Sequence[Store]) -> None:
        super().__init__(several)
        self.ledger = cast(Ledger, _InTurn([one.ledger for one in several]))


@asynccontextmanager
async def store_in_turn(url: str, servers: int = 3) -> AsyncIterator[Store]:
    """Yield a store of which each call goes to the next of several servers; all have one secret."""
    async with AsyncExitStack() as stack:
        several = [await stack.enter_async_context(open_store(url)) for _ in range(servers)]
        assert len({one.secret for one in several}) == 1
        yield cast(Store, _StoreInTurn(several))
