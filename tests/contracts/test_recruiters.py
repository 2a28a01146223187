"""Every recruiter keeps the contract."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from beholder.recruiting.context import recruiter_of
from beholder.recruiting.contract import Posting, Recruiter
from beholder.recruiting.fake import FakeProlific
from beholder.store.open import open_store
from beholder.testing import RECRUITER_CHECKS, Scene, check_recruiter
from beholder.testing.stores.facts import study_record
from support.prolific_rehearsal import JOB, prolific, study_in

Opener = Callable[[str], AbstractAsyncContextManager[Scene]]

MODES = {
    "link": {"mode": "link"},
    "panel": {"mode": "panel", "id_parameter": "participantId", "reward": "2.00 GBP"},
    "lab": {"mode": "lab"},
}


@pytest.fixture(params=[*MODES, "prolific"])
def opener(request: pytest.FixtureRequest, tmp_path: Path) -> Opener:
    """Opens scenes by name, of the mode under test."""
    mode: str = request.param

    @asynccontextmanager
    async def by_hand(name: str) -> AsyncIterator[Scene]:
        study = study_in(tmp_path / name, recruit=MODES[mode])
        async with open_store(study.folder / "store") as store:
            await store.begin(study_record())
            recruiter = await recruiter_of(study, store)
            yield Scene(recruiter, JOB)
            await recruiter.close()

    return rehearsal(tmp_path) if mode == "prolific" else by_hand


def rehearsal(folder: Path) -> Opener:
    """Open scenes of Prolific over its fake."""

    @asynccontextmanager
    async def open_(name: str) -> AsyncIterator[Scene]:
        fake = FakeProlific()

        async def come(posting: str) -> str:
            return fake.people.finish(posting)[0].submission.id

        async def later() -> None:
            fake.advance(hours=1)

        async with prolific(study_in(folder / name), fake) as recruiter:
            yield Scene(recruiter, JOB, come, lambda: [moved.amount for moved in fake.payments], later)

    return open_


@pytest.mark.parametrize("check", RECRUITER_CHECKS)
async def test_recruiter(opener: Opener, check: str) -> None:
    assert await check_recruiter(opener, only=[check]) == (check,)


async def test_check_recruiter_says_what_is_not_true_of_a_recruiter(tmp_path: Path) -> None:
    class Forgetful:
        """Says that it can do everything, and publishes nothing."""

        def __init__(self, inner: Recruiter) -> None:
            self._inner = inner

        def __getattr__(self, name: str) -> object:
            return getattr(self._inner, name)

        async def publish(self, id: str) -> Posting:
            return await self._inner.posting(id)

    @asynccontextmanager
    async def open_(name: str) -> AsyncIterator[Scene]:
        async with rehearsal(tmp_path)(name) as scene:
            yield Scene(Forgetful(scene.recruiter), scene.job, scene.come)  # type: ignore[arg-type]

    with pytest.raises(AssertionError, match="not true of this recruiter: a posting that is published twice is pub"):
        await check_recruiter(open_, only=["a_posting_that_is_published_twice_is_published"])
