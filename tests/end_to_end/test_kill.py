"""Kill -9 of the serving process while robots answer: no acknowledged answer is lost, none is stored twice."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from beholder.methods import load_study
from beholder.server.process import load_served
from beholder.simulation.crowd import send_robots
from beholder.simulation.robot import Robot
from beholder.store.open import open_store
from beholder.testing import write_study
from support.server_process import Service, free_port
from support.variants import variant


@pytest.mark.long
@pytest.mark.parametrize("kind", ["sqlite", variant("postgresql")])
async def test_no_acknowledged_answer_is_lost_and_none_is_twice(
    kind: str, tmp_path: Path, tiny: Path, request: pytest.FixtureRequest, whole: bool
) -> None:
    robots, kills = (200, 60) if whole else (8, 1)
    study = write_study(tmp_path / "study", tiny, design={"participants": robots, "trials": 4, "seed": 3})
    make_database: Callable[[], str] = request.getfixturevalue("postgresql_databases") if kind == "postgresql" else str
    store = make_database() or str(tmp_path / "store")
    port = free_port()
    served, _ = load_served(load_study(study), f"http://127.0.0.1:{port}")
    service = Service(study, store, port)
    await service.until_ready()
    sent: list[Robot] = []
    async with open_store(store, write=False) as reader:
        sending = asyncio.create_task(send_robots(served, reader, service.address, robots, patience_s=120, robots=sent))
        steps = robots * 6  # consent, instructions, four trials
        for strike in range(1, kills + 1):
            while sum(len(robot.acknowledged) for robot in sent) < steps * strike / (kills + 1) and not sending.done():
                await asyncio.sleep(0.005)
            await service.kill()
            service = Service(study, store, port)
        await sending
        stored = {(row["session"], row["key"]): row async for row in reader.rows("answers")}
        times = Counter([(row["session"], row["key"]) async for row in reader.rows("answers")])
        ends = Counter([row["session"] async for row in reader.rows("ends")])
    await service.kill()
    acknowledged = [answer for robot in sent for answer in robot.acknowledged]
    assert len(acknowledged) == steps
    for answer in acknowledged:
        row = stored[answer.session, answer.key]
        assert row["answer"] == answer.answer
        assert row["at"].isoformat() == answer.stored_at
    assert set(times.values()) == {1}
    assert len(times) == steps
    assert ends == Counter({robot.session: 1 for robot in sent})
