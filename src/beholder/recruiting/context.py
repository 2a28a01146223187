"""The desk: everything that a verb of recruiting works with."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import yaml

from beholder.aio import utc_now
from beholder.methods import load_study
from beholder.recruiting.contract import Recruiter
from beholder.store.contract import Store
from beholder.store.open import open_store
from beholder.study.model import Study
from beholder.study.serialization import resolved_yaml


@dataclass(frozen=True)
class RecruitContext:
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
async def open_context(
    study: str | Path | Study, store: str | None = None, *, now: Callable[[], datetime] = utc_now
) -> AsyncIterator[RecruitContext]:
    """Give the desk of a study, whose store must be there, and close what it opened."""
    loaded = study if isinstance(study, Study) else load_study(study)
    url = store or str(loaded.folder / "store")
    async with open_store(url, write=False) as opened:
        loaded = await served_study(loaded, opened)
        recruiter = await recruiter_of(loaded, opened)
        try:
            yield RecruitContext(loaded, opened, url, recruiter, now)
        finally:
            await recruiter.close()


# --- Which recruiter brings the people of a study ---


async def recruiter_of(study: Study, store: Store) -> Recruiter:
    """Return where the people of a study come from, by its `recruit.mode`."""
    mode = study.recruit.mode
    if mode == "prolific":
        from beholder.recruiting.prolific.recruiter import open_prolific

        return await open_prolific(study, store)
    if mode == "panel":
        from beholder.recruiting.panel import PanelRecruiter

        return PanelRecruiter(study, store)
    if mode == "lab":
        from beholder.recruiting.manual import LabRecruiter

        return LabRecruiter(study, store)
    from beholder.recruiting.manual import LinkRecruiter

    return LinkRecruiter(study, store)


# --- The text that a server has begun with, beside the one that study.yaml has now ---


def without_budget(text: str) -> str:
    """Return what a study's text says to people: what it may cost changes nothing for them."""
    return re.sub(r"^budget: .*\n", "", text, flags=re.MULTILINE)


async def served_study(study: Study, store: Store) -> Study:
    """Return a study with everybody left out whom a chain has left out; study.yaml does not name the studies before it.

    Where anything else is different too, the study is returned as it is.
    """
    record = await store.current()
    served = (yaml.safe_load(record.yaml).get("recruit") or {}).get("exclude") if record is not None else None
    named = study.recruit.exclude
    more = [one for one in served or () if one not in named]
    if record is None or not more:
        return study
    recruit = study.recruit.model_copy(update={"exclude": (*named, *more)})
    wider = study.model_copy(update={"recruit": recruit})
    return wider if without_budget(resolved_yaml(wider)) == without_budget(record.yaml) else study
