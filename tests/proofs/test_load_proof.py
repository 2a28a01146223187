"""Two thousand participants with media at once, on SQLite and PostgreSQL; and a day in compressed time."""

from __future__ import annotations

import gc
import sys
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

import psutil
import pytest

from beholder.store.open import is_postgresql
from beholder.store.rules import QUICK_TO_WIPE
from beholder.testing import write_study
from beholder.testing.stores.facts import rows
from bench.crowd import PAUSE_S, PEOPLE, SESSIONS, play, write_crowd_study
from support.clock_service import NOON, Person, hosted
from support.postgresql_queries import sql


@pytest.fixture
def study(tmp_path: Path, tiny: Path) -> Path:
    (tmp_path / "study").mkdir()
    return write_study(tmp_path / "study", tiny, design={"participants": 40, "trials": 4, "seed": 3})


@pytest.mark.long
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_two_thousand_participants_with_media_wait_for_nothing_and_leave_nothing(
    study: Path, kind: str, whole: bool, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    if kind == "postgresql" and not whole:
        pytest.skip("the same client; the whole proof has both stores")
    people, sessions, pause_s = (PEOPLE, SESSIONS, PAUSE_S) if whole else (20, 30, (0.1, 0.3))
    if whole:
        study = write_crowd_study(study.parent / "crowd")
    url = str(study.parent / "store") if kind == "sqlite" else request.getfixturevalue("postgresql_databases")()
    run = play(study, url, people, sessions, pause_s)
    waits, grown = run.waits, run.after.megabytes - run.half.megabytes
    told = (
        f"{kind}: {waits.count} replies in {run.seconds:.0f} s, p99 of answers {waits.p99_ms('answer'):.0f} ms, of all "
        f"{waits.p99_ms():.0f} ms; cores: {run.cores}; MB {run.before.megabytes:.0f}, {run.half.megabytes:.0f}, "
        f"{run.after.megabytes:.0f}; descriptors {run.before.descriptors}, {run.half.descriptors}, "
        f"{run.after.descriptors}; {run.store_bytes / run.answers:.0f} bytes an answer"
    )
    if whole:
        with capsys.disabled():
            sys.stdout.write(f"\n{told}\n")
    assert waits.faults == []
    assert waits.completed == sessions
    assert run.descriptors_left <= run.most_descriptors_left, told
    if whole:
        assert waits.p99_ms("answer") <= 250, told
        assert grown <= 30, told


class DayUsage(NamedTuple):
    """What a server and its store take at the end of an hour."""

    megabytes: float
    descriptors: int
    files: int
    """Under the folder of the study, and of its store."""
    store_mb: float
    """All files or tables of the store, without its logs."""
    log_mb: float
    """The logs of the store: the write-ahead logs of SQLite, or what PostgreSQL keeps of its own."""


async def usage_of(folder: Path, url: str) -> DayUsage:
    gc.collect()
    process, paths = psutil.Process(), [path for path in folder.rglob("*") if path.is_file()]
    logs = sum(path.stat().st_size for path in paths if path.name.endswith("-wal"))
    kept = sum(path.stat().st_size for path in paths if path.parent.name == "store") - logs
    if is_postgresql(url):
        ((kept, logs),) = await sql(
            url, "SELECT pg_database_size(current_database()), coalesce(sum(size), 0)::bigint FROM pg_ls_waldir()"
        )
    return DayUsage(process.memory_info().rss / 1024**2, process.num_fds(), len(paths), kept / 1e6, logs / 1e6)


@pytest.mark.variant
@pytest.mark.long
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
async def test_a_day_of_participants_leaves_memory_descriptors_files_and_logs_as_they_were(
    tmp_path: Path,
    tiny: Path,
    kind: str,
    whole: bool,
    request: pytest.FixtureRequest,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Every hour people come, some of them finish, some leave in the middle, and some never agree and are removed."""
    if kind == "postgresql" and not whole:
        pytest.skip("the same people; the whole proof has both stores")
    # A day until the first visits without an answer are due, and a day in which as many go as come.
    hours, each = (48, 52) if whole else (26, 4)
    url = str(tmp_path / "store") if kind == "sqlite" else request.getfixturevalue("postgresql_databases")()
    design = {"participants": 3000 if whole else 100, "trials": 1}
    async with hosted(tmp_path, tiny, store=url, design=design) as (host, clock, store):
        seen: list[DayUsage] = []
        removed = 0
        for hour in range(hours):
            for number in range(each):
                person = await Person(host, clock, f"{hour}-{number}").come()
                if number % 4 < 2:
                    await person.until("end")
                elif number % 4 == 2:
                    await person.until("trial")
                host.hear(person.token, "tab", is_open=True)
            assert clock() < NOON + timedelta(hours=hour + 1)
            clock.time = NOON + timedelta(hours=hour + 1)
            host.context.presence.open_pages(host.now())
            removed += await host.removal.go_on()
            await store.wipe(QUICK_TO_WIPE)
            seen.append(await usage_of(tmp_path, url))
        counts, sessions = await store.counts(host.now()), len(await rows(store, "sessions"))
    told = "\n".join(f"{kind}, hour {hour + 1}: {seen[hour]}" for hour in (0, hours // 2 - 1, hours - 1))
    told += f"\n{kind}, largest log {max(one.log_mb for one in seen):.0f} MB"
    if whole:
        with capsys.disabled():
            sys.stdout.write(f"\n{told}\n{kind}: {removed} of {counts['arrived']} visits removed\n")
    assert counts["arrived"] == hours * each == sessions + removed
    assert counts["completed"] == hours * each // 2
    assert removed == (hours - 24) * each // 4, "everybody who never agreed, a day after they came"
    warm, last = seen[hours // 3], seen[-1]
    assert last.megabytes < warm.megabytes + (30 if whole else 10), told
    assert last.descriptors <= warm.descriptors + 2, told
    assert last.files == warm.files, told
    # That of PostgreSQL is only told: it empties its log by the minutes of a real clock, not of this one.
    assert is_postgresql(url) or max(one.log_mb for one in seen) <= 70, told
    assert last.store_mb < 10 + 0.02 * sessions, f"20 kB for each session that is kept: {told}"
