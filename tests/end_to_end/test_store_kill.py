"""A process that is killed while it stores loses nothing that it acknowledged, and stores nothing twice."""

from __future__ import annotations

import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from beholder.store.open import open_store
from beholder.testing.stores.facts import arrive, rows, session_facts, study_record

APPEND = """
import asyncio, sys
from datetime import UTC, datetime
from beholder.store.contract import Answer
from beholder.store.open import open_store

async def store_forever(url, sessions):
    async with open_store(url) as store:
        async def one(session):
            number = len((await store.session_facts(session)).answers)
            while True:
                number += 1
                now = datetime.now(UTC)
                await store.append([Answer(session, f"trial:{number}", {}, {}, 1, 2, "mouse", "tab", now)])
                sys.stdout.write(f"{session} trial:{number}\\n")
                sys.stdout.flush()

        await asyncio.gather(*map(one, sessions))

asyncio.run(store_forever(sys.argv[1], sys.argv[2:]))
"""


@pytest.mark.long
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
async def test_kill_9_loses_no_acknowledged_answer(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest, whole: bool
) -> None:
    kills = 380 if whole else 2
    moments = random.Random(kills)
    url = str(tmp_path / "store") if kind == "sqlite" else request.getfixturevalue("postgresql_url")
    async with open_store(url) as store:
        await store.begin(study_record())
        sessions = [await arrive(store, str(number)) for number in range(8)]
    acknowledged: list[str] = []
    for _ in range(kills):
        command = [sys.executable, "-c", APPEND, url, *sessions]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            lines = [process.stdout.readline() for _ in range(moments.randint(1, 60))]
            process.kill()
            lines += process.stdout.readlines()
        assert process.returncode != 0
        acknowledged += [line.rstrip() for line in lines if line.endswith("\n")]
    async with open_store(url) as store:
        stored = Counter([f"{row['session']} {row['key']}" for row in await rows(store, "answers")])
        assert set(stored.values()) == {1}, "an answer is there twice"
        assert len(acknowledged) == len(set(acknowledged)) >= kills
        assert set(acknowledged) <= set(stored), "an acknowledged answer is lost"
        assert sum([len((await session_facts(store, session)).answers) for session in sessions]) == stored.total()
