"""Several processes that serve one study on one port: the first starts the others, and they end with it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from beholder.aio import block_on, stopped_by_signal
from beholder.backups.backup_settings import backup_settings
from beholder.errors import Problem, UserError
from beholder.methods import load_study
from beholder.server.process import (
    EVERY_S,
    Beside,
    OpenPlatform,
    Progress,
    Report,
    drain,
    longer_turns,
    no_platform,
    nothing_beside,
    reduced_collection,
    report_until_stopped,
    run_server,
    serve_until_stopped,
)

_log = logging.getLogger("beholder.server")
_DRAIN = "drain"
_LONGEST_WAIT_S = 60.0


class ParentProcess:
    """What a worker hears from the process that started it, by its standard input: to drain, or that it is gone."""

    def __init__(self) -> None:
        self._ended, self._asked = threading.Event(), threading.Event()

    def listen(self) -> None:
        """Begin to listen, in a thread."""
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        for line in sys.stdin:
            if line.strip() == _DRAIN:
                self._asked.set()
        self._ended.set()

    @property
    def wants_end(self) -> bool:
        """Whether this worker has to end, at once or after draining."""
        return self._asked.is_set() or self._ended.is_set()

    @property
    def is_gone(self) -> bool:
        """Whether the process that started this one has ended, or no longer waits for it."""
        return self._ended.is_set()


def serve_as_worker(
    study: str | Path,
    *,
    host: str,
    port: int,
    public_url: str,
    proxies: Sequence[str] = (),
    open_platform: OpenPlatform = no_platform,
    backup: str | None = None,
    also: Beside = nothing_beside,
    drain_s: float = 0.0,
) -> None:
    """Serve with other processes on one port until standard input ends, so that no worker outlives its parent.

    Its first line is the address of the store.
    """
    store, parent = sys.stdin.readline().rstrip("\n"), ParentProcess()
    parent.listen()
    block_on(
        serve_until_stopped(
            study,
            store=store,
            host=host,
            port=port,
            public_url=public_url,
            proxies=proxies,
            shares_port=True,
            parent=parent,
            open_platform=open_platform,
            backup=backup,
            also=also,
            drain_s=drain_s,
        )
    )


async def serve_with_workers(
    study: str | Path,
    *,
    store: str | None,
    host: str,
    port: int,
    public_url: str | None,
    proxies: Sequence[str],
    workers: int,
    tell: Report | None,
    progress: Progress | None = None,
    open_platform: OpenPlatform = no_platform,
    backup: str | None = None,
    also: Beside = nothing_beside,
    drain_s: float = 0.0,
) -> None:
    """Serve from several processes until interrupted; this one also reports the counts."""
    shared = _require_shared(store, workers)
    stop, loaded = asyncio.Event(), load_study(study)
    async with run_server(
        loaded,
        store=shared,
        host=host,
        port=port,
        public_url=public_url,
        proxies=proxies,
        progress=progress,
        open_platform=open_platform,
        backup=backup_settings(loaded, backup),
        also=also,
    ) as first:
        command = [
            sys.executable, "-m", "beholder", "serve", str(study), "--host", host,
            "--port", first.address.rpartition(":")[2], "--public-url", first.service.served.public_url, "--as-worker",
            *(f"--proxy={one}" for one in proxies), *([f"--backup={backup}"] if backup else []),
            f"--drain={drain_s:g}",
        ]  # fmt: skip
        started = [_start_worker(command, shared) for _ in range(workers - 1)]
        watching = asyncio.create_task(_restart_workers(started, lambda: _start_worker(command, shared)))
        try:
            with stopped_by_signal(stop), reduced_collection(), longer_turns():
                await report_until_stopped(first, stop, tell)
                watching.cancel()
                if drain_s:
                    for worker in started:
                        _tell_worker(worker, _DRAIN)
                await drain(first, drain_s)
        finally:
            watching.cancel()
            for worker in started:
                assert worker.stdin is not None
                with contextlib.suppress(OSError):
                    worker.stdin.close()
            for worker in started:
                await asyncio.to_thread(worker.wait)


def _require_shared(store: str | None, workers: int) -> str:
    """Return the store, which several processes must be able to share, as they must the port."""
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
    return store


def _start_worker(command: Sequence[str], store: str) -> subprocess.Popen[bytes]:
    """Start a worker. The address of the store goes through the pipe: everybody can read a command line."""
    worker = subprocess.Popen(command, stdin=subprocess.PIPE)
    _tell_worker(worker, store)
    return worker


def _tell_worker(worker: subprocess.Popen[bytes], line: str) -> None:
    """Write a line to a worker; one that has ended reads nothing."""
    assert worker.stdin is not None
    with contextlib.suppress(OSError):
        worker.stdin.write(f"{line}\n".encode())
        worker.stdin.flush()


async def _restart_workers(
    workers: list[subprocess.Popen[bytes]], start: Callable[[], subprocess.Popen[bytes]]
) -> None:
    """Start a worker again when it has died, and say so in the log; one that dies again and again waits longer."""
    waits, due = [0.0] * len(workers), [0.0] * len(workers)
    while True:
        await asyncio.sleep(EVERY_S)
        now = time.monotonic()
        for number, worker in enumerate(workers):
            if worker.poll() is None:
                continue
            if not due[number]:
                waits[number] = min(max(1.0, 2 * waits[number]), _LONGEST_WAIT_S)
                due[number] = now + waits[number]
                _log.error("worker %s has ended with %s, and is started again", number + 2, worker.returncode)
            elif now >= due[number]:
                assert worker.stdin is not None
                worker.stdin.close()
                workers[number], due[number] = start(), 0.0
