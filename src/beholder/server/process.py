"""Serving until somebody says stop, with live counts; alone or with several processes."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from beholder.blocking import block_on
from beholder.errors import Problem, UserError
from beholder.methods import load_study
from beholder.serve import Live
from beholder.serve.server import Running, running
from beholder.store.contract import StoreAway
from beholder.study.recruiting import is_personal

Tell = Callable[[Live], None]
Progress = Callable[[int, int], None]
Beside = Callable[[Running], contextlib.AbstractAsyncContextManager[None]]
"""What goes on while a server runs, such as asking a platform."""
_EVERY_S = 1.0


def alone(server: Running) -> contextlib.AbstractAsyncContextManager[None]:
    """Let nothing go on beside a server."""
    return contextlib.nullcontext()


async def serve_until_stopped(
    study: str | Path,
    *,
    store: str | None,
    host: str,
    port: int,
    public_url: str | None,
    preview: bool = False,
    tell: Tell | None = None,
    shares_port: bool = False,
    parent: threading.Event | None = None,
    progress: Progress | None = None,
    beside: Beside = alone,
) -> None:
    """Serve until SIGTERM, Ctrl-C, or the end of the parent process."""
    stop = asyncio.Event()
    scratch = tempfile.TemporaryDirectory(prefix="beholder-preview-") if preview else contextlib.nullcontext()
    with scratch as folder, _stopped_by_signal(stop):
        async with running(
            load_study(study), store=Path(folder) / "store" if folder else store, host=host, port=port,
            public_url=public_url, shares_port=shares_port, progress=progress,
        ) as server, beside(server):  # fmt: skip
            with _rarely_collecting():
                await watch(server, stop, tell, parent)


async def watch(server: Running, stop: asyncio.Event, tell: Tell | None, parent: threading.Event | None = None) -> None:
    """Tell the counts whenever they change, until `stop` is set or the parent is gone."""
    told = counts = None
    study = server.host.served.study
    while not stop.is_set() and not (parent and parent.is_set()):
        with contextlib.suppress(StoreAway):  # it comes back, or the health page says that it does not
            await server.host.look()
            counts = await server.store.counts(datetime.now(UTC), study.run)
        if tell and counts and counts != told:
            shut = server.host.halts.words(study)
            tell(Live(server.link, server.host.preview.link, counts, server.lab, is_personal(study.recruit), shut))
            told = counts
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), _EVERY_S)


@contextlib.contextmanager
def _rarely_collecting() -> Iterator[None]:
    """Keep the cycle collector away from what is loaded, such as a large plan, and let it look at the rest less often.

    Answers are many small objects without a cycle; looking through them made everybody wait.
    """
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(20_000, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


@contextlib.contextmanager
def _stopped_by_signal(stop: asyncio.Event) -> Iterator[None]:
    """Set `stop` on SIGTERM, where this is the main thread, so that a service manager gets a clean end."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()
    before = signal.signal(signal.SIGTERM, lambda *_: loop.call_soon_threadsafe(stop.set))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def serve_as_worker(
    study: str | Path, *, store: str, host: str, port: int, public_url: str, beside: Beside = alone
) -> None:
    """Serve beside other processes on one port, until standard input ends: so no worker outlives its parent."""
    gone = threading.Event()

    def wait_for_end() -> None:
        sys.stdin.read()
        gone.set()

    threading.Thread(target=wait_for_end, daemon=True).start()
    block_on(
        serve_until_stopped(
            study,
            store=store,
            host=host,
            port=port,
            public_url=public_url,
            shares_port=True,
            parent=gone,
            beside=beside,
        )
    )


def serve_with_workers(
    study: str | Path,
    *,
    store: str | None,
    host: str,
    port: int,
    public_url: str | None,
    workers: int,
    tell: Tell | None,
    progress: Progress | None = None,
    beside: Beside = alone,
) -> None:
    """Serve from several processes until interrupted; this one only watches and tells the counts."""
    if not store or not store.startswith(("postgresql://", "postgres://")):
        raise UserError(
            Problem(
                "--workers",
                f"{workers} servers cannot share an SQLite store",
                "1",
                "Give a PostgreSQL URL with --store.",
            )
        )
    if sys.platform != "linux":
        raise UserError(
            Problem(
                "--workers",
                "several servers on one port need Linux",
                "1",
                "Start each with its own --port behind a proxy.",
            )
        )
    block_on(_watch_workers(study, store, host, port, public_url, workers, tell, progress, beside))


async def _watch_workers(
    study: str | Path,
    store: str,
    host: str,
    port: int,
    public_url: str | None,
    workers: int,
    tell: Tell | None,
    progress: Progress | None,
    beside: Beside,
) -> None:
    stop = asyncio.Event()
    async with running(
        load_study(study), store=store, host=host, port=port, public_url=public_url, progress=progress
    ) as first, beside(first):  # fmt: skip
        command = [
            sys.executable, "-m", "beholder", "serve", str(study), "--store", store, "--host", host,
            "--port", first.address.rpartition(":")[2], "--public-url", first.host.served.public_url, "--as-worker",
        ]  # fmt: skip
        others = [subprocess.Popen(command, stdin=subprocess.PIPE) for _ in range(workers - 1)]
        try:
            with _stopped_by_signal(stop), _rarely_collecting():
                await watch(first, stop, tell)
        finally:
            for other in others:
                assert other.stdin is not None
                other.stdin.close()
            for other in others:
                await asyncio.to_thread(other.wait)
