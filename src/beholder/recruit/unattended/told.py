"""What an unattended run tells while it works, and how it waits."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

DECIDE_AND_PAY = "Decide and pay: `beholder decide`, then `beholder pay`, then `beholder close`."
"""What waits for a person at the end of a run that may not spend anything by itself."""


@dataclass(frozen=True)
class Progress:
    """One line of news: at which stage the run is, and what is new there."""

    stage: str
    """launch, collect, extend, decide, pay, close; where people are played, also people"""
    words: str


Tell = Callable[[Progress], None]


class Wait(Protocol):
    """Waits until it is time to look at the platform again; or for so many seconds, where that is sooner."""

    def __call__(self, seconds: float = ...) -> Awaitable[None]: ...


def silent(_: Progress) -> None:
    """Tell nobody."""
