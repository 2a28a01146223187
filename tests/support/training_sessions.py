"""Served studies with training, and visitors who are trained."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from beholder.methods import load_study
from beholder.server.process import run_server
from support.training_studies import LESSONS, write_taught
from support.visitor import Site, Visitor

Serve = Callable[..., Any]


@dataclass
class Clock:
    """A clock that stands still until it is moved; every look at it takes a second, so that nothing is too fast."""

    now: datetime = field(default_factory=lambda: datetime(2026, 3, 1, 9, tzinfo=UTC))

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now

    def move(self, **by: float) -> None:
        self.now += timedelta(**by)


@pytest.fixture
async def serve(tmp_path: Path, tiny: Path) -> AsyncIterator[Serve]:
    """A function that serves a study with training."""
    async with AsyncExitStack() as stack:

        async def start(lessons: Any = LESSONS, **keys: Any) -> Site:
            study = load_study(write_taught(tmp_path / "study", tiny, lessons, **keys))
            server = await stack.enter_async_context(run_server(study, port=0, now=Clock()))
            client = await stack.enter_async_context(httpx.AsyncClient(base_url=server.address, timeout=60))
            return Site(server.service, server.store, server.address, client)

        yield start


async def start_training(site: Site, name: str = "ada") -> Visitor:
    """Return somebody who has read the instructions."""
    visitor = Visitor(site, participant=name)
    await visitor.arrive()
    for answer in ({"agree": True}, {}):
        (await visitor.answer(answer)).raise_for_status()
    return visitor


async def stored_verdicts(site: Site) -> dict[str, tuple[str, str]]:
    return {row["key"]: (row["verdict"], row["reason"]) async for row in site.store.rows("told")}


async def rate(visitor: Visitor, value: float) -> dict[str, Any]:
    """Watch the clip at hand, rate it, and return what the server said."""
    response = await visitor.answer(visitor.scores(value), visitor.watched())
    response.raise_for_status()
    reply: dict[str, Any] = response.json()
    return reply
