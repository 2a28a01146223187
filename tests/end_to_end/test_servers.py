"""Several servers of one study; a killed server, and an unreachable store."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import pytest

from beholder.errors import UserError
from beholder.methods import load_study
from beholder.server.process import port_for_a_look, run_server
from beholder.simulation.crowd import send_robots
from beholder.testing import write_study
from support.server_process import Service, free_port


@pytest.fixture
def study(tmp_path: Path, tiny: Path) -> Path:
    return write_study(tmp_path / "study", tiny, design={"participants": 24, "trials": 2, "seed": 3})


async def test_several_servers_serve_one_study_at_once(study: Path, postgresql_databases: Callable[[], str]) -> None:
    store = postgresql_databases()
    async with (
        run_server(load_study(study), store=store, port=0) as one,
        run_server(load_study(study), store=store, port=0) as two,
    ):
        both = await asyncio.gather(
            send_robots(one.service.served, one.store, one.address, 12, seed=1),
            send_robots(two.service.served, two.store, two.address, 12, seed=2),
        )
        lists = Counter([row["list"] async for row in one.store.rows("claims")])
        wandering = both[0].robots[0]
        async with httpx.AsyncClient(
            base_url=two.address, timeout=60
        ) as client:  # begun at one server, asked at the other
            headers = {"authorization": f"Bearer {wandering.token}"}
            assert (await client.get("/api/step", headers=headers)).json()["code"] == wandering.step["code"]
    assert set(lists.values()) == {1}
    assert len(lists) == 24


async def test_a_store_that_is_away_is_said_with_503_and_comes_back(
    study: Path, postgresql_databases: Callable[[], str]
) -> None:
    store = postgresql_databases()
    name = store.partition("?")[0].rpartition("/")[2]
    admin = await asyncpg.connect(store.replace(f"/{name}", "/postgres"))
    async with (
        run_server(load_study(study), store=store, port=0) as server,
        httpx.AsyncClient(base_url=server.address, timeout=60) as client,
    ):
        body: dict[str, Any] = {"study": "tiny", "params": {"participant": "ada"}, "device": {}}
        arrived = await client.post("/api/arrive", json=body)
        assert arrived.status_code == 201
        body["token"] = arrived.json()["token"]
        await admin.execute(f"ALTER DATABASE {name} WITH ALLOW_CONNECTIONS false")
        await admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1", name)
        away = await client.post("/api/arrive", json=body)
        assert away.status_code == 503
        assert away.headers["retry-after"]
        assert away.json()["error"]["code"] == "store_away"
        assert (await client.get("/healthz")).status_code == 503
        await admin.execute(f"ALTER DATABASE {name} WITH ALLOW_CONNECTIONS true")
        assert (await client.post("/api/arrive", json=body)).status_code == 200
        assert (await client.get("/healthz")).status_code == 200
    await admin.close()


async def test_a_busy_port_is_said(study: Path, tmp_path: Path) -> None:
    async with run_server(load_study(study), port=0) as first:
        port = int(first.address.rpartition(":")[2])
        with pytest.raises(UserError, match=f"--port {port}  is in use"):
            async with run_server(load_study(study), store=tmp_path / "other", port=port):
                pass


def test_pages_to_look_at_take_a_free_port_where_the_usual_one_is_in_use() -> None:
    with socket.socket() as taken:
        with contextlib.suppress(OSError):  # something else uses it already
            taken.bind(("127.0.0.1", 8000))
            taken.listen()
        assert port_for_a_look() == 0


async def test_sigterm_ends_a_server_cleanly(study: Path, tmp_path: Path) -> None:
    service = Service(study, str(tmp_path / "store"), free_port())
    await service.until_ready()
    service.process.terminate()
    assert await asyncio.to_thread(service.process.wait) == 0
    await service.is_silent()


@pytest.mark.variant
@pytest.mark.long
def test_of_servers_that_start_in_one_folder_one_serves_and_the_others_say_so(tmp_path: Path, whole: bool) -> None:
    for number in range(8 if whole else 1):
        study = write_study(tmp_path / f"study{number}")
        command = [sys.executable, "-m", "beholder", "serve", str(study), "--port"]
        servers = [
            subprocess.Popen([*command, str(free_port())], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            for _ in range(3 if whole else 2)
        ]
        while len(ended := [one for one in servers if one.poll() is not None]) < len(servers) - 1:
            time.sleep(0.02)
        for one in ended:
            assert one.stderr is not None
            told = one.stderr.read().decode()
            seen = one.returncode, "is in use by another server" in told, "Traceback" in told
            assert seen == (2, True, False), told
        for one in servers:
            one.kill()
            one.communicate()
