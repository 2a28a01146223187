"""Several processes that serve one study on one port: replaced when they die, ended with their parent, drained."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psutil
import pytest

from beholder.errors import UserError
from beholder.server.readiness import HEARD
from beholder.store.open import open_store
from beholder.testing import write_study
from beholder.workflow.serve import serve
from support.server_process import Service, free_port, health


@pytest.fixture
def study(tmp_path: Path, tiny: Path) -> Path:
    return write_study(tmp_path / "study", tiny, design={"participants": 24, "trials": 2, "seed": 3})


def test_several_workers_need_postgresql(study: Path) -> None:
    with pytest.raises(UserError, match="2 servers cannot share an SQLite store"):
        serve(study, workers=2)


@pytest.mark.skipif(sys.platform != "linux", reason="several servers on one port need Linux")
async def test_workers_share_a_port_keep_the_password_to_themselves_are_replaced_and_die_with_their_parent(
    study: Path, postgresql_databases: Callable[[], str]
) -> None:
    store = urlsplit(postgresql_databases())
    own = store._replace(netloc=f"{store.username}:planted-password@{store.netloc.rpartition('@')[2]}")
    service = Service(study, urlunsplit(own), free_port(), "--workers", "3")
    await service.until_ready()
    parent = psutil.Process(service.process.pid)
    while len(workers := parent.children()) < 2:
        await asyncio.sleep(0.02)
    assert all("--as-worker" in worker.cmdline() for worker in workers)
    assert not [worker.cmdline() for worker in workers if "planted-password" in " ".join(worker.cmdline())]
    workers[0].kill()
    while len(alive := [child for child in parent.children() if child.status() != psutil.STATUS_ZOMBIE]) < 2 or (
        workers[0] in alive
    ):
        await asyncio.sleep(0.02)
    await service.kill_parent()
    await asyncio.to_thread(psutil.wait_procs, workers, timeout=60)
    assert not [worker for worker in workers if worker.is_running() and worker.status() != psutil.STATUS_ZOMBIE]
    await service.is_silent()


@pytest.mark.long
@pytest.mark.variant
@pytest.mark.skipif(sys.platform != "linux", reason="several servers on one port need Linux")
async def test_workers_drain_together_and_end(tmp_path: Path, tiny: Path, postgresql_url: str) -> None:
    study = write_study(tmp_path / "study", tiny)
    service = Service(study, postgresql_url, free_port(), "--workers", "3", "--drain", "8")
    await service.until_ready()
    parent = psutil.Process(service.process.pid)
    while len(workers := parent.children()) < 2:
        await asyncio.sleep(0.02)
    port = int(service.address.rpartition(":")[2])
    async with open_store(postgresql_url, write=False) as store:
        while len(await store.servers(HEARD)) < 3:
            await asyncio.sleep(0.05)
    service.process.terminate()
    told = 0
    while told < 20:  # in a row: each of them answers some, and a worker hears of it within a second
        told = told + 1 if (await health(port))["state"] == "draining" else 0
    assert await asyncio.to_thread(service.process.wait) == 0
    assert not [worker for worker in workers if worker.is_running()]
