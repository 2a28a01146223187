"""What a check of a recruiter works with: the recruiter, a job, and people who come from wherever it brings them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TypeAlias

from beholder.recruit.contract import Job, PlatformRefused, Posting, Recruiter


@dataclass(frozen=True)
class Scene:
    """A recruiter, with what a test can do on the other side of it."""

    recruiter: Recruiter
    job: Job
    """For 2 places or more, with a reward."""
    come: Callable[[str], Awaitable[str]] | None = None
    """Somebody takes a place in a posting and hands in; returns the submission. None where it lists no submissions."""
    moved: Callable[[], Sequence[int]] = tuple
    """Every payment to a person that has left the wallet, in hundredths."""
    later: Callable[[], Awaitable[None]] | None = None
    """Lets happen what the platform does later."""


Opener: TypeAlias = Callable[[str], AbstractAsyncContextManager[Scene]]
"""Opens the scene of a name, a new one for each name."""


async def opened(scene: Scene) -> Posting:
    """Return the posting of the scene's job after it was published."""
    drafted = await scene.recruiter.draft(scene.job)
    return await scene.recruiter.publish(drafted.id)


async def brought(scene: Scene, posting: str, number: int) -> list[str]:
    """Return the submissions of so many people who have come and handed in."""
    assert scene.come is not None, "a recruiter that lists submissions needs Scene.come"
    return [await scene.come(posting) for _ in range(number)]


async def settle(scene: Scene) -> None:
    """Let happen what the platform does later."""
    if scene.later is not None:
        await scene.later()


async def refused(doing: Awaitable[object]) -> bool:
    """Return whether a recruiter says no."""
    words: str | None = None
    try:
        await doing
    except PlatformRefused as error:
        words = str(error)
    assert words is None or words.strip(), "it refuses without a word of why"
    return words is not None
