"""Patience: a platform that is away, or did not say what it did, is asked again later. Every step looks first."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from beholder.errors import UserError
from beholder.recruit.contract import PlatformAway, PlatformUnsure
from beholder.recruit.unattended.told import Progress, Tell, Wait

T = TypeVar("T")
_PASSES = (PlatformAway, PlatformUnsure)


async def patiently(work: Callable[[], Awaitable[T]], stage: str, tell: Tell, wait: Wait) -> T:
    """Return what a step gives; while the platform is away, say so once and wait for it."""
    said = ""
    while True:
        try:
            return await work()
        except _PASSES as error:
            words = f"The platform gives no clear answer: {error}"
        except UserError as error:
            if not isinstance(error.__cause__, _PASSES):
                raise
            words = str(error)
        if words != said:
            tell(Progress(stage, words))
            said = words
        await wait()
