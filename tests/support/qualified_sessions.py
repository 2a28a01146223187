"""Served studies with checks before the trials."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from beholder.server.service import StudyService
from beholder.store.contract import Store
from support.clock_service import Clock, hosted

HostedStudy = tuple[StudyService, Clock, Store]


DESIGN = {"participants": 6, "trials": 4, "seed": 3, "breaks": 2}


ROOM = {"brightness": {"second": False}}


@pytest.fixture
async def room(tmp_path: Path, tiny: Path) -> AsyncIterator[HostedStudy]:
    async with hosted(tmp_path, tiny, design=DESIGN, qualification=ROOM) as site:
        yield site


OFTEN = {
    "method": "acr",
    "questions": [{"id": "quality", "text": "How good is it?", "scale": "cont100"}],
    "design": {**DESIGN, "sessions_per_participant": 3},
}


@pytest.fixture
async def visited(tmp_path: Path, tiny: Path) -> AsyncIterator[HostedStudy]:
    """A study that may be taken three times, with a check of the eyes and one of the room."""
    rules = {"colour": True, "brightness": {"second": False}}
    async with hosted(tmp_path, tiny, **OFTEN, qualification=rules) as site:
        yield site
