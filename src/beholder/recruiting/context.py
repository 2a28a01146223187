"""The context of recruiting: the study, its store, its recruiter and a clock, which every verb works with."""

from __future__ import annotations

import re
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from pkgutil import resolve_name

import yaml

from beholder.clock import utc_now
from beholder.methods import load_study
from beholder.recruiting.contract import Recruiter
from beholder.store.contract import Store
from beholder.store.open import folder_of, is_postgresql, open_store
from beholder.study.model import Study
from beholder.study.serialization import resolved_yaml


@dataclass(frozen=True)
class RecruitContext:
    """A study, its store, where its people come from, and the clock."""

    study: Study
    store: Store
    """Open at least for reading; its ledger may always be written."""
    url: str
    """URL of the store."""
    recruiter: Recruiter
    now: Callable[[], datetime] = utc_now

    @property
    def is_by_hand(self) -> bool:
        """Whether there is no platform, so that publishing costs nothing there."""
        return "submissions" not in self.recruiter.can


@asynccontextmanager
async def open_context(
    study: str | Path | Study,
    store: str | None = None,
    *,
    may_be_new: bool = False,
    now: Callable[[], datetime] = utc_now,
) -> AsyncIterator[RecruitContext]:
    """Yield the context of a study, whose store must exist unless it `may_be_new`, and close what was opened.

    A store that is not there is then an empty one, of which nothing is left.
    """
    loaded = study if isinstance(study, Study) else load_study(study)
    url = store or str(loaded.folder / "store")
    async with AsyncExitStack() as stack:
        if may_be_new and not is_postgresql(url) and not folder_of(url).exists():
            empty = stack.enter_context(tempfile.TemporaryDirectory(prefix="beholder-"))
            opened = await stack.enter_async_context(open_store(empty))
        else:
            opened = await stack.enter_async_context(open_store(url, write=False))
        loaded = await served_study(loaded, opened)
        recruiter = await recruiter_of(loaded, opened)
        try:
            yield RecruitContext(loaded, opened, url, recruiter, now)
        finally:
            await recruiter.close()


# The recruiter of a study


async def recruiter_of(study: Study, store: Store) -> Recruiter:
    """Return the recruiter of a study, as the source of its participants names it."""
    open_recruiter: Callable[[Study, Store], Recruiter] = resolve_name(study.recruit.source.recruiter)
    return open_recruiter(study, store)


# The study as it was served


def without_budget(text: str) -> str:
    """Return the YAML of a study without its budget, which changes nothing for participants."""
    return re.sub(r"^budget: .*\n", "", text, flags=re.MULTILINE)


async def served_study(study: Study, store: Store) -> Study:
    """Return a study with the `recruit.exclude` under which it was served: a chain adds the studies before it.

    If anything else differs between study.yaml and the served study, the study is returned unchanged.
    """
    record = await store.current()
    served = (yaml.safe_load(record.yaml).get("recruit") or {}).get("exclude") if record is not None else None
    own = study.recruit.exclude
    added = [one for one in served or () if one not in own]
    if record is None or not added:
        return study
    recruit = study.recruit.model_copy(update={"exclude": (*own, *added)})
    extended = study.model_copy(update={"recruit": recruit})
    return extended if without_budget(resolved_yaml(extended)) == without_budget(record.yaml) else study
