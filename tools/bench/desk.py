"""What watching costs participants: people who answer at full pace, with nobody at the desk and with ten."""

from __future__ import annotations

import asyncio
import contextlib
import statistics
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import psutil

from beholder.desk.companion import desk_beside
from beholder.server.connections import connection_limits
from beholder.store.open import open_store
from bench.crowd import write_crowd_study
from bench.servers import serving_study
from bench.table import Row, below
from load import Crowd, send_crowd, use_of

PEOPLE, WATCHERS, ROUNDS = 500, 10, 4
_PAUSE_S = (0.2, 0.4)
"""So short that the server is never idle: what the desk takes is missing at once."""


def measure_desk(scratch: Path, people: int = PEOPLE, watchers: int = WATCHERS, rounds: int = ROUNDS) -> list[Row]:
    """Return how many answers fewer a server takes in a second while others watch the study on the desk."""
    connection_limits()
    study, url = write_crowd_study(scratch / "watched"), str(scratch / "store-watched")
    with serving_study(study, url) as server, desk_beside(study, store=url, accounts=scratch / "desk.sqlite") as link:
        alone, watched, documents, core = asyncio.run(
            _alternate(link, server.process.pid, server.port, url, people, watchers, rounds)
        )
    loss = 100 * (1 - statistics.median(watched) / statistics.median(alone))
    name = f"{people} people who answer without a rest, {watchers} watch"
    return [
        Row(f"{name}: answers", f"{statistics.median(watched):.0f} /s, {statistics.median(alone):.0f} /s alone"),
        below(f"{name}: answers lost", max(0.0, loss), 5, "%"),
        Row(f"{name}: pages sent to each, cores of the desk", f"{documents / watchers:.0f}, {core:.2f}"),
    ]


async def _alternate(
    link: str, server: int, port: int, url: str, people: int, watchers: int, rounds: int
) -> tuple[list[float], list[float], int, float]:
    """Return answers per second in rounds without and with watchers, the pages that they got, and the desk's cores."""
    async with open_store(url, write=False) as store:
        secret = store.secret
    await send_crowd(Crowd("127.0.0.1", port, "tiny", secret, _PAUSE_S, seed=1), 20)  # warm
    desks = [one for one in psutil.Process().children() if one.pid != server and "desk" in one.cmdline()]
    alone, watched = list[float](), list[float]()
    seen, cores = [0], list[float]()
    address, _, code = link.partition("/login#code=")
    limits = httpx.Limits(max_connections=2 * watchers)
    async with httpx.AsyncClient(
        base_url=address, headers={"origin": address}, timeout=httpx.Timeout(60, read=None), limits=limits
    ) as browser:
        (await browser.post("/api/login", json={"code": code})).raise_for_status()
        (study,) = (await browser.get("/api/studies")).json()["studies"]
        for number in range(2 * rounds):
            is_watched = number % 2 == 1
            crowd = Crowd("127.0.0.1", port, "tiny", secret, _PAUSE_S, seed=10 + number)
            async with _watching(browser, study["key"], watchers * is_watched, seen):
                began, before = asyncio.get_running_loop().time(), use_of(desks).cpu_s
                waits = await send_crowd(crowd, people)
                seconds = asyncio.get_running_loop().time() - began
            (watched if is_watched else alone).append(len(waits.seconds["answer"]) / seconds)
            if is_watched:
                cores.append((use_of(desks).cpu_s - before) / seconds)
    return alone, watched, seen[0], statistics.median(cores)


@contextlib.asynccontextmanager
async def _watching(browser: httpx.AsyncClient, key: str, watchers: int, seen: list[int]) -> AsyncIterator[None]:
    """Keep so many streams of the page Now open, and count what comes."""
    tasks = [asyncio.create_task(_watch(browser, key, seen)) for _ in range(watchers)]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _watch(browser: httpx.AsyncClient, key: str, seen: list[int]) -> None:
    async with browser.stream("GET", f"/api/studies/{key}/stream") as stream:
        stream.raise_for_status()
        async for line in stream.aiter_lines():
            seen[0] += line.startswith("data: ")


DESK_NOTE = (
    "- The desk: robots that answer after 0.2 to 0.4 s keep the server busy, in rounds without and with watchers, one"
    " after the other; each watcher holds the live page open. The desk is a process of its own with a lower priority,"
    " as `beholder serve --desk` starts it."
)
