"""A paying process is killed while it writes its ledger: the ledger stays readable, and everybody is paid once."""

from __future__ import annotations

import asyncio
import os
import random
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from beholder.recruiting.fake import FakeProlific, serve_fake
from beholder.recruiting.fake.state import FakeClock
from beholder.store.open import open_store
from support.crashing_payments import PaymentHistory, prepare

PEOPLE = 3
MOST = 40
"""Observed changes of the files of the ledger during a complete payment: a few for each append."""


def file_states(store: Path) -> list[tuple[int, int]]:
    """Return the states of the files of a ledger; each append creates, fills and deletes a journal."""
    states = []
    for name in ("ledger.sqlite", "ledger.sqlite-journal"):
        try:
            one = (store / name).stat()
            states.append((one.st_size, one.st_mtime_ns))
        except FileNotFoundError:
            states.append((-1, 0))
    return states


async def kill_at(change: int, history: PaymentHistory, url: str) -> bool:
    """Start a payment and kill it after this number of ledger changes; return whether it was killed."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "beholder", "pay", str(history.template.study.folder), "--send", "--store",
        str(history.folder), env=os.environ | {"PROLIFIC_TOKEN": history.fake.token, "BEHOLDER_PROLIFIC_URL": url},
        stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    asked, before = len(history.fake.requests), file_states(history.folder)
    while len(history.fake.requests) == asked and process.returncode is None:
        await asyncio.sleep(0.01)  # until it has started
    while change and process.returncode is None:
        await asyncio.sleep(0)  # the platform answers from this loop
        now = file_states(history.folder)
        change -= now != before
        before = now
    if process.returncode is None:
        process.kill()
    await process.wait()
    return not change


async def check_whole(store: Path) -> None:
    """Raise AssertionError if the ledger has a gap or cannot be read."""
    async with open_store(store, write=False) as opened:
        entries = await opened.ledger.entries()
    assert [entry.entry for entry in entries] == list(range(1, len(entries) + 1))
    with closing(sqlite3.connect(store / "ledger.sqlite")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


@pytest.fixture
def on_disk() -> Iterator[Path]:
    """A folder on disk: in memory, where other tests have theirs, an append is over before anybody sees its journal."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


@pytest.mark.long
async def test_kill_9_while_the_ledger_is_written_pays_nobody_twice_and_forgets_nobody(
    on_disk: Path, whole: bool
) -> None:
    template = await prepare(on_disk / "template", PEOPLE)
    rng = random.Random(1)
    for number in range(10 if whole else 1):
        fake = FakeProlific(clock=FakeClock(datetime.now(UTC)), approving_takes=timedelta(), paying_takes=timedelta())
        history = PaymentHistory(template, on_disk / f"history-{number}", fake)
        async with serve_fake(fake) as url:
            for change in [rng.randint(1, MOST) for _ in range(3)] if whole else [5, 9]:
                was_killed = await kill_at(change, history, url)
                assert was_killed or whole
                await check_whole(history.folder)
                await history.check()
        await history.finish()
