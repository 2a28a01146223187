"""Serving a desk on a port of its own, until it is stopped."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from beholder.aio import stopped_by_signal
from beholder.desk.access_file import AccessFile, default_access_file, drop_desk, note_desk
from beholder.desk.app import Desk, make_desk
from beholder.desk.desk_study import OpenStudies, study_places
from beholder.desk.gate import Gate
from beholder.desk.logins import make_link
from beholder.server.connections import Proxies
from beholder.server.process import free_port, listen

DESK_PORT = 8800
OWNER = "owner"
"""The name of whoever is at the machine and gives no other."""


@dataclass(frozen=True)
class RunningDesk:
    """A desk that is listening."""

    address: str
    file: AccessFile
    desk: Desk

    def link(self, name: str = OWNER) -> str:
        """Return a new one-time link for the person at this machine."""
        return one_time_link(self.address, make_link(self.file, name))


def one_time_link(address: str, code: str) -> str:
    """Return the link of a code. What stands behind the # is sent to no server and written into no log."""
    return f"{address}/login#code={code}"


@contextlib.asynccontextmanager
async def run_desk(
    studies: Sequence[str | Path],
    *,
    store: str | None = None,
    host: str = "127.0.0.1",
    port: int = DESK_PORT,
    public_url: str | None = None,
    accounts: Path | None = None,
    proxies: Sequence[str] = (),
) -> AsyncIterator[RunningDesk]:
    """Yield a desk that is listening, and close it at the end. Port 0 takes a free one."""
    places = study_places(studies, store)
    file = AccessFile(accounts or default_access_file())
    opened = OpenStudies(places)
    try:
        port = free_port(host, port)
        # Not 127.0.0.1: cookies are kept by name and not by port, and that is where studies are tried out.
        address = (public_url or f"http://localhost:{port}").rstrip("/")
        desk = Desk(opened, Gate(file, public_url or ""))
        async with listen(make_desk(desk), host, port, Proxies(proxies)):
            note_desk(file, address, {place.key: str(place.file) for place in places})
            try:
                yield RunningDesk(address, file, desk)
            finally:
                drop_desk(file, address)
    finally:
        await opened.close()
        file.close()


async def desk_until_stopped(
    studies: Sequence[str | Path],
    *,
    store: str | None,
    host: str,
    port: int,
    public_url: str | None,
    accounts: Path | None,
    name: str,
    tell: Callable[[str], None],
) -> None:
    """Serve a desk until SIGTERM or Ctrl-C; `tell` gets the one-time link."""
    stop = asyncio.Event()
    with stopped_by_signal(stop):
        async with run_desk(
            studies, store=store, host=host, port=port, public_url=public_url, accounts=accounts
        ) as running:
            tell(running.link(name))
            await stop.wait()
