"""Serving a desk on a port of its own, until it is stopped; and finding one that runs."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx

from beholder.aio import stopped_by_signal
from beholder.desk.access_file import AccessFile, default_access_file, drop_desk, note_desk, noted_desks
from beholder.desk.alarms import keep_sending, require_mail
from beholder.desk.app import make_desk
from beholder.desk.context import Desk
from beholder.desk.desk_study import OpenStudies, study_places
from beholder.desk.gate import Gate
from beholder.desk.logins import make_link
from beholder.errors import Problem, UserError
from beholder.methods import load_study
from beholder.server.connections import Proxies
from beholder.server.process import free_port, listen
from beholder.server.workers import ParentProcess

DESK_PORT = 8800
OWNER = "owner"
"""The name of whoever is at the machine and gives no other."""
_LOOK_S = 0.2


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
    _require_safe_address(host, public_url)
    places = study_places(studies, store)
    alarmed = {place.key: to for place in places if (to := load_study(place.file).alarms)}
    for to in alarmed.values():
        require_mail(to)
    file = AccessFile(accounts or default_access_file())
    opened = OpenStudies(places)
    try:
        port = free_port(host, port)
        # Not 127.0.0.1, where studies are tried out: cookies are kept by the name of a host and not by its port.
        address = (public_url or f"http://localhost:{port}").rstrip("/")
        desk = Desk(opened, Gate(file, public_url or ""))
        async with listen(make_desk(desk), host, port, Proxies(proxies), grace_s=2.0):
            note_desk(file, address, {place.key: str(place.file) for place in places})
            senders = [asyncio.create_task(keep_sending(desk, key, to)) for key, to in alarmed.items()]
            try:
                yield RunningDesk(address, file, desk)
            finally:
                drop_desk(file, address)
                for sender in senders:
                    sender.cancel()
                await asyncio.gather(*senders, return_exceptions=True)
                desk.end_streams()
    finally:
        await opened.close()
        file.close()


def _require_safe_address(host: str, public_url: str | None) -> None:
    """Raise UserError where passwords would go through a network in the open."""
    if public_url is not None and not public_url.startswith("https://"):
        fix = "Put a web server with a certificate in front; from one machine to another, `--to` goes through ssh."
        raise UserError(Problem("--public-url", f"is {public_url}", "an address that begins with https://", fix))
    if public_url is None and host not in ("127.0.0.1", "localhost", "::1"):
        fix = "Name the https address of what stands in front; or reach it through ssh with `--to`."
        raise UserError(Problem("--host", f"is {host}, without --public-url", "127.0.0.1, or both", fix))


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
    proxies: Sequence[str] = (),
    is_companion: bool = False,
) -> None:
    """Serve a desk until SIGTERM or Ctrl-C, or as a companion until the process that started it has ended.

    `tell` gets the one-time link.
    """
    stop, parent = asyncio.Event(), ParentProcess() if is_companion else None
    if parent is not None:
        parent.listen()
        if sys.platform != "win32":
            os.nice(10)  # the server of the participants comes first
    with stopped_by_signal(stop):
        async with run_desk(
            studies, store=store, host=host, port=port, public_url=public_url, accounts=accounts, proxies=proxies
        ) as running:
            tell(running.link(name))
            while not stop.is_set() and not (parent is not None and parent.is_gone):
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(stop.wait(), None if parent is None else _LOOK_S)


# A desk that runs


def running_desk(file: AccessFile, study: Path) -> str | None:
    """Return the address of a desk that runs and has this study; of one that is gone, nothing is left in the file."""
    where = str(study.resolve())
    for address, studies in noted_desks(file):
        if where in studies.values() or str(Path(where) / "study.yaml") in studies.values():
            if _answers(address):
                return address
            file.write("delete from desks where address = ?", address)
    return None


def _answers(address: str) -> bool:
    with contextlib.suppress(httpx.HTTPError):
        page = httpx.get(f"{address}/login", timeout=5)
        return "Beholder desk" in page.text
    return False


def link_to_running(study: Path, name: str = OWNER, accounts: Path | None = None) -> str | None:
    """Return a one-time link to a desk that runs and has this study; None where there is none."""
    with _opened(accounts) as file:
        address = running_desk(file, study)
        return None if address is None else one_time_link(address, make_link(file, name))


@contextlib.contextmanager
def _opened(accounts: Path | None) -> Iterator[AccessFile]:
    file = AccessFile(accounts or default_access_file())
    try:
        yield file
    finally:
        file.close()
