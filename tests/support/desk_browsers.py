"""A desk in process, and browsers that ask it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
from starlette.types import ASGIApp

from beholder.desk.access_file import AccessFile
from beholder.desk.app import make_desk
from beholder.desk.context import Desk
from beholder.desk.desk_study import OpenStudies, study_places
from beholder.desk.gate import Gate
from beholder.desk.logins import make_link
from beholder.desk.viewer import Role

OWN = "http://localhost:8800"
BEGAN = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)


@dataclass
class DeskClock:
    """A clock that a test moves, for days and for the seconds between wrong tries."""

    at: datetime = BEGAN

    def now(self) -> datetime:
        return self.at

    def seconds(self) -> float:
        return (self.at - BEGAN).total_seconds()

    def move(self, **by: float) -> None:
        self.at += timedelta(**by)


@dataclass
class DeskBench:
    """A desk without a port, its file and its clock."""

    app: ASGIApp
    desk: Desk
    file: AccessFile
    clock: DeskClock
    own: str = OWN
    clients: list[httpx.AsyncClient] = field(default_factory=list)

    def browser(self, address: str = OWN, **headers: str) -> httpx.AsyncClient:
        """Return a browser without a log-in, whose changes come from the desk's own pages."""
        transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
        client = httpx.AsyncClient(transport=transport, base_url=address, headers={"origin": address, **headers})
        self.clients.append(client)
        return client

    async def logged_in(self, name: str = "Ada", role: Role = "owner") -> httpx.AsyncClient:
        """Return a browser that has used a one-time link."""
        client = self.browser()
        reply = await client.post("/api/login", json={"code": make_link(self.file, name, role)})
        assert reply.status_code == 200, reply.text
        return client


@asynccontextmanager
async def open_desk(folder: Path, *studies: Path, public_url: str = "") -> AsyncIterator[DeskBench]:
    """Yield a desk of these studies, whose accounts are in a folder."""
    clock = DeskClock()
    file = AccessFile(folder / "access" / "desk.sqlite", clock.now)
    opened = OpenStudies(study_places(studies))
    desk = Desk(opened, Gate(file, public_url), clock.seconds)
    tested = DeskBench(make_desk(desk), desk, file, clock, public_url or OWN)
    try:
        yield tested
    finally:
        for client in tested.clients:
            await client.aclose()
        await opened.close()
        file.close()


def problem_of(reply: httpx.Response) -> dict[str, Any]:
    """Return the one problem of a refusal."""
    (problem,) = reply.json()["problems"]
    assert isinstance(problem, dict)
    return problem
