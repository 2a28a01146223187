"""Scenes of the fake platform for the conformance suite of recruiters."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from beholder.recruiting.fake import FakeProlific
from beholder.testing import Scene
from support.prolific_rehearsal import JOB, RECRUIT, prolific, study_in

Opener = Callable[[str], AbstractAsyncContextManager[Scene]]


def rehearsal(folder: Path) -> Opener:
    """Open scenes of Prolific over its fake."""

    @asynccontextmanager
    async def open_(name: str) -> AsyncIterator[Scene]:
        fake = FakeProlific()

        async def come(posting: str) -> str:
            return fake.people.finish(posting)[0].submission.id

        async def later() -> None:
            fake.advance(hours=1)

        study = study_in(folder / name, recruit=RECRUIT | {"signed_visits": True})
        async with prolific(study, fake) as recruiter:
            yield Scene(recruiter, JOB, come, lambda: [moved.amount for moved in fake.payments], later)

    return open_
