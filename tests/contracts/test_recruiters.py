"""Every recruiter keeps the contract."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from beholder.recruiting.context import recruiter_of
from beholder.store.open import open_store
from beholder.testing import RECRUITER_CHECKS, Scene, check_recruiter
from beholder.testing.stores.facts import study_record
from support.prolific_rehearsal import JOB, study_in
from support.prolific_scenes import Opener, rehearsal

MODES = {
    "link": {"mode": "link"},
    "panel": {"mode": "panel", "id_parameter": "participantId", "reward": "2.00 GBP"},
    "lab": {"mode": "lab"},
}


@pytest.fixture(params=[*MODES, "prolific"])
def opener(request: pytest.FixtureRequest, tmp_path: Path) -> Opener:
    """Return a function that opens scenes by name, for the mode under test."""
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


@pytest.mark.parametrize("check", RECRUITER_CHECKS)
async def test_recruiter(opener: Opener, check: str) -> None:
    assert await check_recruiter(opener, only=[check]) == (check,)
