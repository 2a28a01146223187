"""`check_recruiter` says what is not true of a recruiter."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from beholder.recruiting.contract import Posting, Recruiter
from beholder.testing import Scene, check_recruiter
from support.prolific_scenes import rehearsal


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
