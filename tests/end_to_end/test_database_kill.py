"""The database, or a worker of the server, is killed while answers come: no acknowledged answer is lost or twice."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import psutil
import pytest

from beholder.methods import load_study
from beholder.server.process import load_served
from beholder.simulation.crowd import send_robots
from beholder.simulation.robot import Robot
from beholder.store.contract import Answer, StoreUnavailable
from beholder.store.open import open_store
from beholder.testing import write_study
from beholder.testing.stores.facts import arrive, rows, study_record
from support.killed_database import KilledDatabase, killed_database
from support.server_process import Service, free_port


@pytest.fixture
def database() -> Iterator[KilledDatabase]:
    with killed_database() as database:
        yield database


@pytest.mark.long
async def test_a_killed_database_loses_no_acknowledged_answer(database: KilledDatabase, whole: bool) -> None:
    kills = 100 if whole else 1
    acknowledged: list[str] = []
    is_over = False
    async with open_store(database.url) as store:
        await store.begin(study_record())
        sessions = [await arrive(store, str(number)) for number in range(4)]

        async def rate(session: str) -> None:
            number = 1
            while not is_over:
                key = f"trial:{number}"
                answer = Answer(session, key, {}, {}, 1, 2, "mouse", "tab", datetime.now(UTC))
                try:
                    await store.append([answer])
                except StoreUnavailable:
                    await asyncio.sleep(0.02)  # as a browser does: the same answer again
                    continue
                acknowledged.append(f"{session} {key}")
                number += 1

        async def kill() -> None:
            nonlocal is_over
            for strike in range(1, kills + 1):
                before = len(acknowledged)
                while len(acknowledged) < before + 20:
                    await asyncio.sleep(0.005)
                await asyncio.to_thread(database.kill)
                await asyncio.to_thread(database.start)
                assert strike <= kills
            is_over = True

        await asyncio.gather(kill(), *map(rate, sessions))
        stored = Counter([f"{row['session']} {row['key']}" for row in await rows(store, "answers")])
    assert set(stored.values()) == {1}, "an answer is there twice"
    assert set(acknowledged) == set(stored), "an acknowledged answer is lost"
    assert len(acknowledged) == len(set(acknowledged)) >= 20 * kills


@pytest.mark.long
@pytest.mark.variant
@pytest.mark.skipif(sys.platform != "linux", reason="several servers on one port need SO_REUSEPORT")
async def test_a_killed_worker_loses_no_acknowledged_answer(
    tmp_path: Path, tiny: Path, postgresql_url: str, whole: bool
) -> None:
    robots, kills = (120, 20) if whole else (8, 1)
    study = write_study(tmp_path / "study", tiny, design={"participants": robots, "trials": 4, "seed": 3})
    port = free_port()
    served, _ = load_served(load_study(study), f"http://127.0.0.1:{port}")
    service = Service(study, postgresql_url, port, "--workers", "2")
    await service.until_ready()
    sent: list[Robot] = []
    steps = robots * 6
    try:
        async with open_store(postgresql_url, write=False) as reader:
            sending = asyncio.create_task(
                send_robots(served, reader, service.address, robots, patience_s=120, robots=sent)
            )
            for strike in range(1, kills + 1):
                while sum(len(robot.acknowledged) for robot in sent) < steps * strike / (kills + 1):
                    await asyncio.sleep(0.005)
                    assert not sending.done() or not sending.exception()
                workers = psutil.Process(service.process.pid).children()
                if workers:
                    workers[-1].kill()
                else:  # the last worker is gone, and with it what started them
                    await service.kill_parent()
                    service = Service(study, postgresql_url, port, "--workers", "2")
            await sending
            stored = {(row["session"], row["key"]): row["answer"] async for row in reader.rows("answers")}
            times = Counter([(row["session"], row["key"]) async for row in reader.rows("answers")])
    finally:
        for process in [*psutil.Process(service.process.pid).children(recursive=True)]:
            process.kill()
        await service.kill_parent()
    acknowledged = [answer for robot in sent for answer in robot.acknowledged]
    assert len(acknowledged) == steps
    assert all(stored[one.session, one.key] == one.answer for one in acknowledged)
    assert set(times.values()) == {1}
