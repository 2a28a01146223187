"""The desk: everything that a verb of recruiting works with."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from beholder.methods import load_study
from beholder.recruit.clock import utc_now
from beholder.recruit.contract import Recruiter
from beholder.recruit.modes import recruiter_of
from beholder.recruit.served import as_served
from beholder.store.contract import Store
from beholder.store.open import open_store
from beholder.study.model import Study


@dataclass(frozen=True)
class Desk:
    """A study, its store, where its people come from, and the clock."""

    study: Study
    store: Store
    """Open at least for reading; its ledger may always be written."""
    url: str
    """Of the store."""
    recruiter: Recruiter
    now: Callable[[], datetime] = utc_now

    @property
    def is_by_hand(self) -> bool:
        """Whether no platform stands behind it, so that opening it costs nothing there."""
        return "submissions" not in self.recruiter.can


@asynccontextmanager
async def open_desk(
    study: str | Path | Study, store: str | None = None, *, now: Callable[[], datetime] = utc_now
) -> AsyncIterator[Desk]:
    """Give the desk of a study, whose store must be there, and close what it opened."""
    loaded = study if isinstance(study, Study) else load_study(study)
    url = store or str(loaded.folder / "store")
    async with open_store(url, write=False) as opened:
        loaded = await as_served(loaded, opened)
        recruiter = await recruiter_of(loaded, opened)
        try:
            yield Desk(loaded, opened, url, recruiter, now)
        finally:
            await recruiter.close()
