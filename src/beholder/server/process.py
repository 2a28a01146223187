"""A running server: load the study, open the store, listen on the port, and serve until stopped."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import gc
import logging
import os
import socket
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.server.embed import Server as Granian
from starlette.types import ASGIApp

from beholder.aio import stopped_by_signal
from beholder.backups.backup_settings import BackupSettings, backup_settings
from beholder.backups.cycle import backing_up
from beholder.buckets.disguises import require_copies
from beholder.buckets.signed_addresses import host_media
from beholder.checks.registry import check_problems
from beholder.clock import utc_now
from beholder.errors import Problem, StudyError, UserError
from beholder.methods import find, load_study
from beholder.methods.contract import Break, Trial
from beholder.planning import open_plan
from beholder.planning.digest import study_digest
from beholder.planning.message_trials import load_stimuli
from beholder.planning.model import Plan, no_collection
from beholder.planning.own_stimuli import bound_lists
from beholder.planning.serialization import lists_to_json
from beholder.server import ServerStatus
from beholder.server.app import make_app
from beholder.server.assets import Assets
from beholder.server.batch_dealer import add_joined
from beholder.server.connections import ConnectionLimits, Connections, Proxies, connection_limits
from beholder.server.entrances import entrance_of
from beholder.server.further_sessions import restore_extended_plan
from beholder.server.lab import own_address
from beholder.server.limits import StoreRoom, free_bytes
from beholder.server.script import ServedStudy
from beholder.server.service import StudyService
from beholder.server.visits import Platform
from beholder.store.contract import Store, StoreUnavailable
from beholder.store.open import folder_of, is_postgresql, open_store
from beholder.store.rules import record_of
from beholder.study.model import Study
from beholder.study.recruitment import is_personal

if TYPE_CHECKING:
    from beholder.server.workers import ParentProcess


@dataclass(frozen=True)
class RunningServer:
    """A server that is listening. `address` is where this machine reaches it."""

    service: StudyService
    store: Store
    address: str

    @property
    def link(self) -> str:
        """The address for participants."""
        return f"{self.service.served.public_url}/s/{self.service.served.study.name}"

    @property
    def start_address(self) -> str:
        """The address to publish, with what a platform fills in."""
        return self.service.context.entrance.start_address(self.service.served.public_url)

    @property
    def lab(self) -> dict[str, str]:
        """The addresses of a laboratory, by name."""
        return self.service.context.entrance.addresses(self.service.served.public_url)


def load_served(
    study: Study, public_url: str, progress: Callable[[int, int], None] | None = None
) -> tuple[ServedStudy, Plan]:
    """Return the served study and its plan."""
    if problems := check_problems(study):
        raise StudyError(problems)
    method = find(study.method)
    catalogue = load_stimuli(study, method, progress)
    plan = open_plan(study, catalogue)
    lists: list[Sequence[Trial | Break]] = [planned.entries for planned in plan.lists]
    groups = [planned.group for planned in plan.lists] if study.design.between else []
    batches = [planned.batch for planned in plan.lists] if study.design.active is not None else []
    return ServedStudy(
        study, study_digest(study, catalogue), catalogue, method, lists, public_url.rstrip("/"), groups,
        plan.plan_digest, batches, bound_lists(study, catalogue, plan.lists),
    ), plan  # fmt: skip


OpenPlatform = Callable[[Study, Store], contextlib.AbstractAsyncContextManager[Platform | None]]
"""Opens what asks the platform who left and which visits are real, for as long as a server runs."""


def no_platform(study: Study, store: Store) -> contextlib.AbstractAsyncContextManager[None]:
    """Ask nobody: there is no platform."""
    return contextlib.nullcontext()


Beside = Callable[[Study, str | Path, Callable[[], bool]], contextlib.AbstractContextManager[object]]
"""Does something else while a server runs; gets the study, its store, and whether this server leads the others."""


def nothing_beside(
    study: Study, store: str | Path, leads: Callable[[], bool]
) -> contextlib.AbstractContextManager[None]:
    """Only serve."""
    return contextlib.nullcontext()


@contextlib.asynccontextmanager
async def run_server(
    study: Study,
    *,
    store: str | Path | None = None,
    host: str = "127.0.0.1",
    port: int = 8000,
    public_url: str | None = None,
    proxies: Sequence[str] = (),
    shares_port: bool = False,
    progress: Callable[[int, int], None] | None = None,
    open_platform: OpenPlatform = no_platform,
    backup: BackupSettings | None = None,
    also: Beside = nothing_beside,
    hosts_media: bool = True,
    now: Callable[[], datetime] = utc_now,
) -> AsyncIterator[RunningServer]:
    """Yield a server that is listening, and close port and store at the end. Port 0 takes a free one.

    With `backup`, copies of the store are made beside it; `also` does more. `hosts_media`: media come from where the
    study says; for robots, who look at none, this server is enough.
    """
    if public_url is not None and not public_url.startswith(("http://", "https://")):
        raise UserError(Problem("--public-url", f"is {public_url}", "an address that begins with https:// or http://"))
    trusted = Proxies([*proxies, *filter(None, os.environ.get("BEHOLDER_PROXY", "").split(","))])
    port = free_port(host, port, shares_port)
    address = f"http://{'127.0.0.1' if host in ('0.0.0.0', '::') else host}:{port}"
    if public_url is None:
        is_open = study.recruit.source.is_on_site and host in (
            "0.0.0.0",
            "::",
        )  # other machines must reach it
        public_url = f"http://{own_address()}:{port}" if is_open else address
    served, plan = load_served(study, public_url, progress)
    place = store or study.folder / "store"
    async with open_store(place) as opened:
        if await restore_extended_plan(opened, study, plan, progress):
            served, plan = load_served(study, public_url, progress)
        elif study.design.arena is not None and await add_joined(served, opened, now):
            await restore_extended_plan(opened, study, plan, progress)
            served, plan = load_served(study, public_url, progress)
        with no_collection():
            lists = list(lists_to_json(plan))
        hosted = None
        if study.media is not None and hosts_media:
            session = entrance_of(study, opened.secret).lease
            hosted = await asyncio.to_thread(host_media, study, served.catalogue, public_url, session, progress)
            require_copies(study, hosted.copies, served.lists)
        await opened.begin(record_of(study, served.catalogue, plan.plan_digest, lists, utc_now()), study.run)
        async with open_platform(study, opened) as platform:
            room = StoreRoom(None if is_postgresql(place) else lambda: free_bytes(folder_of(place)))
            service = StudyService(served, opened, now, platform, room, hosted)
            async with contextlib.AsyncExitStack() as beside:
                await service.readiness.go_on()
                beside.push_async_callback(service.readiness.leave)
                beside.push_async_callback(service.context.dealer.finish)
                leads = service.readiness.leads
                service.backups = beside.enter_context(backing_up(backup, place, leads=leads))
                beside.enter_context(also(study, place, leads))
                await beside.enter_async_context(listen(make_app(service, Assets.of(served)), host, port, trusted))
                yield RunningServer(service, opened, address)


USUAL_PORT = 8000
_BACKLOG = 4096
"""Connections that wait to be accepted, as far as the system allows."""
_LARGEST_HEADERS = 32 * 1024
"""Bytes of address and headers of one request."""
_IDLE_MS = 75_000
"""How long a connection may wait for its next headers; proxies keep theirs for a minute, and have to be the first."""


@contextlib.asynccontextmanager
async def listen(
    app: ASGIApp,
    host: str,
    port: int,
    proxies: Proxies | None = None,
    limits: ConnectionLimits | None = None,
    clock: Callable[[], float] = time.monotonic,
    grace_s: float = 10.0,
) -> AsyncIterator[None]:
    """Serve an application on a port while the context is open; at its end, requests have `grace_s` to finish."""
    limits = limits or connection_limits()
    connections = Connections(app, proxies or Proxies(), limits, clock)
    logging.getLogger("_granian").setLevel(logging.ERROR)
    server = Granian(
        connections, host, port, interface=Interfaces.ASGINL, log_enabled=False,
        backlog=_BACKLOG, backpressure=limits.total,
        # HTTP/2 without TLS is for proxies alone, which do well without; its headers would have other limits.
        http=HTTPModes.http1, websockets=False,
        http1_settings=HTTP1Settings(header_read_timeout=_IDLE_MS, max_buffer_size=_LARGEST_HEADERS),
    )  # fmt: skip
    serving = asyncio.create_task(server.serve())
    try:
        await _until_listening(host, port, serving)
        watching = asyncio.create_task(connections.watch(port))
        try:
            yield
        finally:
            watching.cancel()
    finally:
        server.stop()  # type: ignore[no-untyped-call]
        if not (await asyncio.wait([serving], timeout=grace_s))[0]:
            connections.end_all(port)  # else one that sends no more would hold the server for ever
        await serving


def free_port(host: str, port: int, shares_port: bool = False) -> int:
    """Return the port after checking that it is free: the server would silently share a busy one (SO_REUSEPORT)."""
    if shares_port:
        return port
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        if sys.platform != "win32":  # there it means the opposite
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise UserError(_port_problem(host, port, error)) from None
        return int(probe.getsockname()[1])


def port_for_a_look(host: str = "127.0.0.1") -> int:
    """Return the usual port, or 0 for a free one where something else uses it: nobody has been sent the address yet."""
    try:
        return free_port(host, USUAL_PORT, shares_port=False)
    except UserError:
        return 0


def _port_problem(host: str, port: int, error: OSError) -> Problem:
    """Return why a port of a host cannot be opened, and which option helps."""
    if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
        what = f"cannot be opened: {error.strerror}"
        return Problem(f"--host {host}", what, "an address of this machine, such as 127.0.0.1 or 0.0.0.0")
    if error.errno == errno.EADDRINUSE:
        fix = "Stop what runs there, perhaps another `beholder serve`; or take a free port with `--port 0`."
        return Problem(f"--port {port}", "is in use", "a port that nothing else uses", fix)
    fix = "Take another port with --port, such as 8000, or a free one with `--port 0`."
    return Problem(f"--port {port}", f"cannot be opened: {error.strerror}", "", fix)


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


# Serving until stopped

Report = Callable[[ServerStatus], None]
Progress = Callable[[int, int], None]
EVERY_S = 1.0
_COUNT_SHARE = 20
_log = logging.getLogger("beholder.server")


async def serve_until_stopped(
    study: str | Path,
    *,
    store: str | None,
    host: str,
    port: int,
    public_url: str | None,
    proxies: Sequence[str] = (),
    preview: bool = False,
    tell: Report | None = None,
    shares_port: bool = False,
    parent: ParentProcess | None = None,
    progress: Progress | None = None,
    open_platform: OpenPlatform = no_platform,
    backup: str | None = None,
    also: Beside = nothing_beside,
    drain_s: float = 0.0,
) -> None:
    """Serve until SIGTERM, Ctrl-C, or the end of the parent process.

    After SIGTERM it drains: for `drain_s` it says at /healthz that it ends, and serves those who still come.
    """
    stop, loaded = asyncio.Event(), load_study(study)
    scratch = tempfile.TemporaryDirectory(prefix="beholder-preview-") if preview else contextlib.nullcontext()
    with scratch as folder, stopped_by_signal(stop):
        async with run_server(
            loaded, store=Path(folder) / "store" if folder else store, host=host, port=port,
            public_url=public_url, proxies=proxies, shares_port=shares_port, progress=progress,
            open_platform=open_platform, backup=None if preview else backup_settings(loaded, backup),
            also=nothing_beside if preview else also, hosts_media=not preview,
        ) as server:  # fmt: skip
            with reduced_collection(), longer_turns():
                await report_until_stopped(server, stop, tell, parent)
                await drain(server, drain_s, parent)


async def drain(server: RunningServer, seconds: float, parent: ParentProcess | None = None) -> None:
    """Let a balancer find another server for everybody: say that this one ends, and go on answering meanwhile."""
    if seconds <= 0 or (parent is not None and parent.is_gone):
        return
    server.service.readiness.begin_draining()
    _log.info("this server ends in %g s; /healthz says so, and nobody begins here any more", seconds)
    until = time.monotonic() + seconds
    while time.monotonic() < until and not (parent is not None and parent.is_gone):
        await asyncio.sleep(min(EVERY_S, max(0.0, until - time.monotonic())))


async def report_until_stopped(
    server: RunningServer, stop: asyncio.Event, tell: Report | None, parent: ParentProcess | None = None
) -> None:
    """Report the counts whenever they change, until `stop` is set or the parent process wants that.

    What only one of several servers may do is done here, where this one leads.
    """
    reported = counts = None
    next_count = 0.0
    service, study = server.service, server.service.served.study
    while not stop.is_set() and not (parent and parent.wants_end):
        with contextlib.suppress(StoreUnavailable):  # it comes back, or the health route reports that it does not
            await service.refresh()
            await service.readiness.go_on()
            began = time.monotonic()
            if began >= next_count and (tell or service.readiness.is_leader):
                counted = await server.store.counts(utc_now(), study.run)
                counts = {**counted, "lists": study.design.lists_in_all(counted["lists"])}
                # All answers are counted: in a large study that takes at most a twentieth of the time.
                next_count = time.monotonic() + _COUNT_SHARE * (time.monotonic() - began)
            if service.readiness.is_leader and counts:
                await service.removal.go_on()
                await service.wiping.go_on(is_quiet=not counts["live"])
        if tell and counts and counts != reported:
            shut = server.service.context.moderation.pauses.notice(study)
            tell(
                ServerStatus(
                    server.start_address,
                    server.service.preview.link,
                    counts,
                    server.lab,
                    is_personal(study.recruit),
                    shut,
                )
            )
            reported = counts
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), EVERY_S)


@contextlib.contextmanager
def reduced_collection() -> Iterator[None]:
    """Exclude what is loaded, such as a large plan, from garbage collection, and collect less often.

    Answers are many small objects without cycles; collecting them delayed every request.
    """
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(20_000, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


_TURN_S = 0.02


@contextlib.contextmanager
def longer_turns() -> Iterator[None]:
    """Let a thread keep the interpreter for longer before another one may take it.

    The writer of the store and the HTTP server give it back after a few lines; that the answers between are interrupted
    for them costs a third of all answers per second. Larger groups of answers share a commit instead.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(_TURN_S)
    try:
        yield
    finally:
        sys.setswitchinterval(before)
