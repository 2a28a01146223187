"""A running server: the study loaded, the store open, the port listening."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from granian.constants import Interfaces
from granian.server.embed import Server as Granian
from starlette.types import ASGIApp

from beholder.checks.problems import check_problems
from beholder.errors import Problem, StudyError, UserError
from beholder.methods import find
from beholder.methods.contract import Break, Trial
from beholder.plan import open_plan
from beholder.plan.bulk import no_collection
from beholder.plan.digest import study_digest
from beholder.plan.model import Plan
from beholder.plan.placing.clips import load_stimuli
from beholder.plan.written import lists_to_json
from beholder.serve.assets import Assets
from beholder.serve.growing import restore
from beholder.serve.host import Host
from beholder.serve.lab.keys import lab_addresses
from beholder.serve.lab.network import own_address
from beholder.serve.routes import make_app
from beholder.serve.served import Served
from beholder.store.contract import Store
from beholder.store.open import open_store
from beholder.store.record import record_of
from beholder.study.model import Study


@dataclass(frozen=True)
class Running:
    """A server that answers. `address` is where this machine reaches it."""

    host: Host
    store: Store
    address: str

    @property
    def link(self) -> str:
        """The address for participants."""
        return f"{self.host.served.public_url}/s/{self.host.served.study.name}"

    @property
    def lab(self) -> dict[str, str]:
        """The addresses of a laboratory, by what they are called."""
        return lab_addresses(self.host.served.study, self.store.secret, self.host.served.public_url)


def load_served(
    study: Study, public_url: str, progress: Callable[[int, int], None] | None = None
) -> tuple[Served, Plan]:
    """Return everything that a server holds in memory, and the plan it follows."""
    if problems := check_problems(study):
        raise StudyError(problems)
    method = find(study.method)
    catalogue = load_stimuli(study, method, progress)
    plan = open_plan(study, catalogue)
    lists: list[Sequence[Trial | Break]] = [planned.entries for planned in plan.lists]
    groups = [planned.group for planned in plan.lists] if study.design.between else []
    return Served(study, study_digest(study, catalogue), catalogue, method, lists, public_url.rstrip("/"), groups), plan


@contextlib.asynccontextmanager
async def running(
    study: Study,
    *,
    store: str | Path | None = None,
    host: str = "127.0.0.1",
    port: int = 8000,
    public_url: str | None = None,
    shares_port: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> AsyncIterator[Running]:
    """Yield a server that listens; closes port and store when left. Port 0 takes a free one."""
    if public_url is not None and not public_url.startswith(("http://", "https://")):
        raise UserError(Problem("--public-url", f"is {public_url}", "an address that begins with https:// or http://"))
    port = _free_port(host, port, shares_port)
    address = f"http://{'127.0.0.1' if host in ('0.0.0.0', '::') else host}:{port}"
    if public_url is None:
        is_open = study.recruit.mode == "lab" and host in ("0.0.0.0", "::")  # then others have to find it
        public_url = f"http://{own_address()}:{port}" if is_open else address
    served, plan = load_served(study, public_url, progress)
    async with open_store(store or study.folder / "store") as opened:
        if await restore(opened, study, plan, progress):
            served, plan = load_served(study, public_url, progress)
        with no_collection():
            lists = list(lists_to_json(plan))
        await opened.begin(record_of(study, served.catalogue, plan.plan_digest, lists, datetime.now(UTC)), study.run)
        app_host = Host(served, opened)
        async with listening(make_app(app_host, Assets(served.method)), host, port):
            yield Running(app_host, opened, address)


@contextlib.asynccontextmanager
async def listening(app: ASGIApp, host: str, port: int) -> AsyncIterator[None]:
    """Let an application answer on a port, until left."""
    logging.getLogger("_granian").setLevel(logging.ERROR)
    server = Granian(app, host, port, interface=Interfaces.ASGINL, log_enabled=False, backlog=1024)
    serving = asyncio.create_task(server.serve())
    try:
        await _until_listening(host, port, serving)
        yield
    finally:
        server.stop()  # type: ignore[no-untyped-call]
        await serving


def _free_port(host: str, port: int, shares_port: bool) -> int:
    """Return the port, checked: the server's own socket would share a busy one without a word (SO_REUSEPORT)."""
    if shares_port:
        return port
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        if sys.platform != "win32":  # there it means the opposite
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            wrong = f"--host {host}" if isinstance(error, socket.gaierror) else f"--port {port}"
            fix = "Try another --host, such as 127.0.0.1 or 0.0.0.0, or another --port."
            raise UserError(Problem(wrong, f"cannot be opened: {error.strerror}", fix=fix)) from None
        return int(probe.getsockname()[1])


async def _until_listening(host: str, port: int, serving: asyncio.Task[None]) -> None:
    target = "127.0.0.1" if host in ("0.0.0.0", "::") else host
    while not serving.done():
        try:
            _, writer = await asyncio.open_connection(target, port)
        except OSError:
            await asyncio.sleep(0.01)
        else:
            writer.close()
            return
    serving.result()
