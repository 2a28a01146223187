"""Mappings that remember the newest entries alone, for what strangers can make grow."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

MOST_SESSIONS = 20_000
"""Of so many sessions, or addresses, something is remembered. One that is forgotten is treated as new."""


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
