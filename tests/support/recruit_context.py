"""The context of a tiny study in a real store, with a platform in memory and a server in process."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from beholder.errors import RecruitError
from beholder.methods import load_study
from beholder.planning.serialization import lists_to_json
from beholder.recruiting.context import RecruitContext, recruiter_of
from beholder.recruiting.contract import Recruiter
from beholder.recruiting.fake import FakeProlific
from beholder.recruiting.launches import launch_study
from beholder.recruiting.prolific.client import ProlificClient
from beholder.recruiting.prolific.recruiter import ProlificRecruiter
from beholder.server.app import make_app
from beholder.server.assets import Assets
from beholder.server.process import load_served
from beholder.server.service import StudyService
from beholder.store.contract import LedgerEntry, Store
from beholder.store.open import open_store
from beholder.store.rules import record_of
from beholder.study.model import Study
from beholder.testing import write_study

ON_PROLIFIC = {"mode": "prolific", "minutes": 10, "reward": "2.00 GBP", "places": 4}
URL = "https://lab.example.org"
TEXTS = {"consent": "We keep what you answer for two years. Do you agree?"}


@dataclass(frozen=True)
class LaunchSetup:
    """The context of a study, and its platform and server."""

    context: RecruitContext
    fake: FakeProlific
    server: httpx.AsyncBaseTransport

    @property
    def study(self) -> Study:
        return self.context.study

    async def kinds(self) -> list[str]:
        """Return the entries of the ledger as `kind event`."""
        return [f"{one.kind} {one.event}" for one in await self.entries()]

    async def entries(self) -> tuple[LedgerEntry, ...]:
        return await self.context.store.ledger.entries()

    async def launch(self, **options: Any) -> Any:
        """Launch the study, with its server in process."""
        every: dict[str, Any] = {"public_url": URL, "transport": self.server} | options
        return await launch_study(self.context, **every)

    async def open(self) -> str:
        """Launch and publish the study, and return the id of the posting."""
        launch = await self.launch()
        if launch.due is not None:
            launch = await self.launch(publish=str(launch.due))
        return str(launch.posting.id)


@asynccontextmanager
async def launch_setup(
    folder: Path,
    like: Path,
    *,
    fake: FakeProlific | None = None,
    now: Callable[[], datetime] | None = None,
    **keys: Any,
) -> AsyncIterator[LaunchSetup]:
    """Yield the context of a tiny study that a server has begun, recruited by a platform in memory or by hand."""
    platform = fake or FakeProlific()
    path = folder / "study.yaml"
    study = load_study(path if path.exists() else write_study(folder, like, **({"texts": TEXTS} | keys)))
    served, plan = load_served(study, URL)
    async with open_store(folder / "store") as store:
        lists = list(lists_to_json(plan))
        await store.begin(record_of(study, served.catalogue, plan.plan_digest, lists, platform.now), study.run)
        app = make_app(StudyService(served, store), Assets.of(served))
        recruiter = await _recruiter(study, store, platform)
        context = RecruitContext(study, store, str(folder / "store"), recruiter, now or (lambda: platform.now))
        try:
            yield LaunchSetup(context, platform, httpx.ASGITransport(app))
        finally:
            await recruiter.close()


async def _recruiter(study: Study, store: Store, fake: FakeProlific) -> Recruiter:
    if study.recruit.mode != "prolific":
        return await recruiter_of(study, store)
    client = ProlificClient(
        os.environ.get("BEHOLDER_PROLIFIC_URL", "https://prolific.invalid"), fake.token, fake.transport(), fake.sleep
    )
    return ProlificRecruiter(study, store, client, lambda: fake.now)


async def problems_of(work: Awaitable[object]) -> list[str]:
    """Return every problem of a refused operation."""
    with pytest.raises(RecruitError) as error:
        await work
    return [str(problem) for problem in error.value.problems]


async def launch_problems(setup: LaunchSetup, **options: Any) -> list[str]:
    """Return every problem of a refused launch."""
    return await problems_of(setup.launch(**options))
