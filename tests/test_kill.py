"""Kill -9 of the process that answers, in the middle of many robots: nothing acknowledged is lost, nothing is twice."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from beholder.methods import load_study
from beholder.serve.server import load_served
from beholder.simulate.crowd import Crowd, send_robots
from beholder.store.open import open_store
from beholder.testing import write_study


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Service:
    """`beholder serve` as a process of its own."""

    def __init__(self, study: Path, store: str, port: int) -> None:
        command = [sys.executable, "-m", "beholder", "serve", str(study), "--store", store, "--port", str(port)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        self.address = f"http://127.0.0.1:{port}"

    async def until_ready(self) -> None:
        async with httpx.AsyncClient(base_url=self.address) as client:
            while self.process.poll() is None:
                try:
                    if (await client.get("/healthz")).status_code == 200:
                        return
                except httpx.TransportError:
                    await asyncio.sleep(0.02)
        raise AssertionError(f"the server ended with {self.process.returncode}")

    async def kill(self) -> None:
        """Kill the process that answers, and make sure that nothing answers any more."""
        self.process.kill()
        await asyncio.to_thread(self.process.wait)
        async with httpx.AsyncClient(base_url=self.address) as client:
            with pytest.raises(httpx.ConnectError):
                await client.get("/healthz")


@pytest.mark.long
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
async def test_no_acknowledged_answer_is_lost_and_none_is_twice(
    kind: str, tmp_path: Path, tiny: Path, request: pytest.FixtureRequest, whole: bool
) -> None:
    robots, kills = (200, 5) if whole else (40, 2)
    study = write_study(tmp_path / "study", tiny, design={"participants": robots, "trials": 4, "seed": 3})
    make_database: Callable[[], str] = request.getfixturevalue("postgresql_databases") if kind == "postgresql" else str
    store = make_database() or str(tmp_path / "store")
    port = free_port()
    served, _ = load_served(load_study(study), f"http://127.0.0.1:{port}")
    service = Service(study, store, port)
    await service.until_ready()
    crowd = Crowd()
    async with open_store(store, write=False) as reader:
        sending = asyncio.create_task(send_robots(served, reader, service.address, robots, patience_s=120, crowd=crowd))
        steps = robots * 6  # consent, instructions, four trials
        for strike in range(1, kills + 1):
            while len(crowd.acknowledged) < steps * strike / (kills + 1) and not sending.done():
                await asyncio.sleep(0.005)
            await service.kill()
            service = Service(study, store, port)
        await sending
        stored = {(row["session"], row["key"]): row async for row in reader.rows("answers")}
        times = Counter([(row["session"], row["key"]) async for row in reader.rows("answers")])
        ends = Counter([row["session"] async for row in reader.rows("ends")])
    await service.kill()
    assert len(crowd.acknowledged) == steps
    for answer in crowd.acknowledged:
        row = stored[answer.session, answer.key]
        assert row["answer"] == answer.answer
        assert row["at"].isoformat() == answer.stored_at
    assert set(times.values()) == {1}
    assert len(times) == steps
    assert ends == Counter({robot.session: 1 for robot in crowd.robots})
