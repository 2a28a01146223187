"""Thousands of participants at once who load media and answer every 10 to 20 s, on both stores."""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import psutil

from beholder.server.connections import connection_limits
from beholder.store.open import is_postgresql, open_store
from beholder.store.postgresql.connection import POOL_SIZE
from beholder.testing import write_study
from bench.servers import database_cpu_s, postgresql, serving_study
from bench.table import Row, below
from load import Crowd, ProcessUse, Waits, send_crowd, use_of

PEOPLE, SESSIONS, PAUSE_S = 2000, 5000, (10.0, 20.0)
_TRIALS = 4
ANSWERS_EACH = _TRIALS + 2
"""Consent, instructions, and the trials."""
_READERS = min(32, (os.cpu_count() or 1) + 4)
"""Threads of the server that read at once: those of `asyncio.to_thread`."""


@dataclass(frozen=True)
class CrowdRun:
    """How a server fared under a crowd."""

    kind: str
    people: int
    waits: Waits
    seconds: float
    before: ProcessUse
    """Of the server's process, warm, before anybody came."""
    half: ProcessUse
    """When half of the sessions had ended."""
    after: ProcessUse
    """When all had, and every connection was closed."""
    client_cpu_s: float
    database_cpu_s: float
    """Of PostgreSQL; SQLite is in the server's process."""
    store_bytes: int
    """By which the store grew."""

    @property
    def server_cpu_s(self) -> float:
        return self.after.cpu_s - self.before.cpu_s

    @property
    def descriptors_left(self) -> int:
        """By how many descriptors the server has more than before anybody came."""
        return self.after.descriptors - self.before.descriptors

    @property
    def most_descriptors_left(self) -> int:
        """How many it may keep, however many came: each session that left one behind would make thousands.

        Of PostgreSQL it keeps the connections that it has opened. Of an SQLite file it keeps the descriptors of as many
        connections as were reading at once: the system would take the locks of the writer away with any of them, so
        SQLite closes none while the writer has the file open, and takes them for the next that read.
        """
        return POOL_SIZE if self.kind == "PostgreSQL" else _READERS

    @property
    def answers(self) -> int:
        return len(self.waits.seconds["answer"])

    @property
    def cores(self) -> str:
        shares = {"client": self.client_cpu_s, "server": self.server_cpu_s, "database": self.database_cpu_s}
        return ", ".join(f"{name} {spent / self.seconds:.2f}" for name, spent in shares.items() if spent)


def write_crowd_study(folder: Path) -> Path:
    """Write a study of four clips a page in four trials, with a list for each session, and return its study.yaml."""
    return write_study(folder, design={"participants": SESSIONS, "trials": _TRIALS, "seed": 3})


def play(
    study: Path, url: str, people: int = PEOPLE, sessions: int = SESSIONS, pause_s: tuple[float, float] = PAUSE_S
) -> CrowdRun:
    """Return how a server in a process of its own fares under a crowd that starts no request twice."""
    connection_limits()  # the client needs as many descriptors as the server
    with serving_study(study, url) as server:
        return asyncio.run(_played(psutil.Process(server.process.pid), server.port, url, people, sessions, pause_s))


async def _played(
    process: psutil.Process, port: int, url: str, people: int, sessions: int, pause_s: tuple[float, float]
) -> CrowdRun:
    async with open_store(url, write=False) as store:
        secret = store.secret
    crowd, own, halves = Crowd("127.0.0.1", port, "tiny", secret, pause_s), psutil.Process(), list[ProcessUse]()
    await send_crowd(Crowd("127.0.0.1", port, "tiny", secret, (0.1, 0.2), seed=2), 20)  # warm
    size, database = await _size(url), await database_cpu_s(url)
    before, client = use_of([process]), use_of([own]).cpu_s

    async def look(waits: Waits) -> None:
        if not halves and waits.completed >= sessions // 2:
            halves.append(use_of([process]))

    began = time.perf_counter()
    waits = await send_crowd(crowd, people, sessions, on_done=look)
    seconds = time.perf_counter() - began
    spent = use_of([own]).cpu_s - client, await database_cpu_s(url) - database
    after = use_of([process])
    for _ in range(100):  # the server closes a connection after the client has
        if after.descriptors <= before.descriptors:
            break
        await asyncio.sleep(0.05)
        after = use_of([process])
    grown = await _size(url) - size
    return CrowdRun(
        "PostgreSQL" if is_postgresql(url) else "SQLite", people, waits, seconds, before,
        halves[0] if halves else after, after, *spent, grown,
    )  # fmt: skip


async def _size(url: str) -> int:
    """Return the bytes of a store: of its tables, or of its files without logs."""
    if not is_postgresql(url):
        return sum(path.stat().st_size for path in Path(url).glob("*.sqlite"))
    connection = await asyncpg.connect(url)
    try:
        return int(await connection.fetchval("SELECT pg_database_size(current_database())"))
    finally:
        await connection.close()


@contextlib.contextmanager
def stores(scratch: Path) -> Iterator[list[str]]:
    """Give an empty store of each kind that this system has."""
    with postgresql() as url:
        yield [str(scratch / "store-crowd"), *([url] if url else [])]


def measure_crowd(scratch: Path) -> list[Row]:
    """Return how 2,000 people at once fare until 5,000 sessions are over, on each store."""
    study = write_crowd_study(scratch / "crowd")
    with stores(scratch) as urls:
        return [row for url in urls for row in _rows(play(study, url))]


def _rows(run: CrowdRun) -> list[Row]:
    waits, name = run.waits, f"{run.kind}, {run.people:,} people at once, {run.waits.completed:,} sessions"
    return [
        below(f"{name}: p99 of answers", waits.p99_ms("answer"), 250, "ms"),
        Row(f"{name}: p99 of media", f"{waits.p99_ms('media'):.0f} ms"),
        below(f"{name}: errors", len(waits.faults), 1, ""),
        Row(f"{name}: replies, processor (cores)", f"{waits.count / run.seconds:.0f} /s ({run.cores})"),
        below(f"{name}: memory, second half", run.after.megabytes - run.half.megabytes, 30, "MB"),
        below(f"{name}: descriptors left over", run.descriptors_left, run.most_descriptors_left + 1, ""),
    ]


CROWD_NOTE = (
    "- People at once: each has a connection of their own, opens the page, loads four clips for each of four trials"
    " and answers after 10 to 20 s; whoever is done is replaced until all sessions are over. Nobody sends anything"
    " twice: a reply that does not come is an error. Cores are of the client, the server's process and PostgreSQL."
    " What is left over are connections to the database, kept for who comes next: up to 9 of PostgreSQL, and of SQLite"
    " as many as were reading at once."
)
