"""Two thousand participants with media at once, on SQLite and PostgreSQL; and a day in compressed time."""

from __future__ import annotations

import asyncio
import gc
import sys
from pathlib import Path

import psutil
import pytest

from beholder.server.connections import connection_limits
from beholder.store.open import open_store
from beholder.testing import write_study
from support.clock_service import Person, hosted
from support.flooded_server import flooded_server
from support.load import send_participants


@pytest.fixture
def study(tmp_path: Path, tiny: Path) -> Path:
    (tmp_path / "study").mkdir()
    return write_study(tmp_path / "study", tiny, design={"participants": 40, "trials": 4, "seed": 3})


@pytest.mark.long
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
async def test_two_thousand_participants_with_media_wait_for_nothing(
    study: Path, kind: str, whole: bool, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    if kind == "postgresql" and not whole:
        pytest.skip("the same client; the whole proof has both stores")
    count, pause_s = (2000, 16.0) if whole else (60, 0.2)
    connection_limits()
    folder = study.parent / "store"
    url = str(folder) if kind == "sqlite" else request.getfixturevalue("postgresql_databases")()
    async with flooded_server(study, folder, url=url) as server, open_store(url, write=False) as store:
        own, theirs = psutil.Process(), server.process
        before = _seconds(own), _seconds(theirs)
        began = asyncio.get_running_loop().time()
        waits = await send_participants(server.port, store.secret, count, pause_s)
        lasted = asyncio.get_running_loop().time() - began
        shares = [(_seconds(one) - spent) / lasted for one, spent in zip((own, theirs), before, strict=True)]
    cores = f"client {shares[0]:.2f}, server {shares[1]:.2f}"
    told = f"{kind}: {waits.count} replies in {lasted:.0f} s, p99 {waits.p99_ms():.0f} ms; cores: {cores}"
    if whole:
        with capsys.disabled():
            sys.stdout.write(f"\n{told}\n")
    assert waits.faults == []
    assert waits.completed == count
    if whole:
        assert waits.p99_ms() <= 600, told


def _seconds(process: psutil.Process) -> float:
    spent = process.cpu_times()
    return float(spent.user + spent.system)


@pytest.mark.long
async def test_a_day_of_participants_leaves_memory_and_descriptors_as_they_were(
    tmp_path: Path, tiny: Path, whole: bool
) -> None:
    """Every hour people come, some of them finish, some leave in the middle, and some never agree."""
    hours, each = (24, 100) if whole else (6, 8)
    process = psutil.Process()
    design = {"participants": 5000 if whole else 100, "trials": 1}
    async with hosted(tmp_path, tiny, design=design) as (host, clock, store):
        seen: list[tuple[float, int]] = []
        for hour in range(hours):
            for number in range(each):
                person = await Person(host, clock, f"{hour}-{number}").come()
                if number % 4 < 2:
                    await person.until("end")
                elif number % 4 == 2:
                    await person.until("trial")
                host.hear(person.token, "tab", is_open=True)
            clock.wait(minutes=60)
            host.context.presence.open_pages(host.now())
            gc.collect()
            seen.append((process.memory_info().rss / 1024**2, process.num_fds()))
        counts = await store.counts(host.now())
    assert counts["arrived"] == hours * each
    assert counts["completed"] >= hours * each // 2
    warm = hours // 3
    assert seen[-1][0] < seen[warm][0] + (30 if whole else 10), seen
    assert seen[-1][1] <= seen[warm][1] + 2, seen
    files = {path.name for path in tmp_path.rglob("store/*")}
    assert len(files) <= 12, files
