"""Studies on a desk, opened for a test."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from beholder.desk.desk_study import DeskStudy, OpenStudies, study_places
from beholder.desk.viewer import Viewer, viewer_of
from beholder.recruiting.context import RecruitContext

BLINDED: Viewer = viewer_of("Ada", "owner")
UNBLINDED: Viewer = BLINDED.seeing(blinded=False)


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[DeskStudy]:
    """Yield the study of a folder as it is on a desk."""
    studies = OpenStudies(study_places([folder]))
    try:
        (key,) = studies.places
        study = await studies.find(key)
        assert study is not None
        yield study
    finally:
        await studies.close()


def on_desk(folder: Path, work: Callable[[DeskStudy], Awaitable[Any]]) -> Any:
    """Return what a function makes of the study of a folder."""

    async def inside() -> Any:
        async with opened(folder) as study:
            return await work(study)

    return asyncio.run(inside())


def desk_study(context: RecruitContext) -> DeskStudy:
    """Return a study on a desk whose store is open already."""
    return DeskStudy("study", "identity", context)
