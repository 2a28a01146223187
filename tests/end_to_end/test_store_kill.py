"""A process that is killed while it stores loses nothing that it acknowledged, and stores nothing twice."""

from __future__ import annotations

import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from beholder.store.open import open_store
from beholder.testing.stores.facts import NOON, arrive, rows, session_facts, study_record
from support.variants import variant

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


REMOVE = """
import asyncio, sys
from datetime import UTC, datetime, timedelta
from beholder.store.contract import Answer, PlatformIdentity, PlatformVisit, Session
from beholder.store.open import open_store

async def come_and_go(url, name):
    now = datetime.now(UTC)
    later = now + timedelta(hours=1)
    async with open_store(url) as store:
        for number in range(10_000):
            person = f"{name}-{number}"
            await store.arrive(Session(f"s-{person}", person, "d1", 1, "link", 1, {}, now))
            await store.identify(PlatformIdentity(person, "prolific", person), PlatformVisit(f"s-{person}", "", person))
            if number % 4 == 0:
                await store.append([Answer(f"s-{person}", "consent", {}, {}, 1, 2, "mouse", "tab", now)])
            sys.stdout.write(f"{number % 4} {person}\\n")
            sys.stdout.flush()
            if number % 3 == 2:
                due = await store.unanswered(later)
                await store.remove_unanswered([one.participant for one in due], later, later)

asyncio.run(come_and_go(*sys.argv[1:]))
"""


@pytest.mark.long
@pytest.mark.parametrize("kind", ["sqlite", variant("postgresql")])
async def test_kill_9_while_visits_are_removed_leaves_everybody_whole_or_gone(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest, whole: bool
) -> None:
    kills = 60 if whole else 1
    moments = random.Random(kills)
    url = str(tmp_path / "store") if kind == "sqlite" else request.getfixturevalue("postgresql_url")
    async with open_store(url) as store:
        await store.begin(study_record())
    came: list[str] = []
    for kill in range(kills):
        command = [sys.executable, "-c", REMOVE, url, f"k{kill}"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            lines = [process.stdout.readline() for _ in range(moments.randint(1, 60))]
            process.kill()
            lines += process.stdout.readlines()
        came += [line.rstrip() for line in lines if line.endswith("\n")]
    async with open_store(url) as store:
        there = {row["participant"] for row in await rows(store, "sessions")}
        answered = {line[2:] for line in came if line.startswith("0")}
        assert answered <= there, "who answered is gone"
        assert answered <= {one.participant for one in await store.platform_identities()}, "or nobody knows who it was"
        assert {one.participant for one in await store.platform_identities()} <= there, (
            "of who is gone something stayed"
        )
        sessions = {row["session"] for row in await rows(store, "sessions")}
        assert {one.session for one in await store.platform_visits()} <= sessions
        removed = sum(row["sessions"] for row in await rows(store, "removals"))
        assert len(came) <= removed + len(there) <= len(came) + kills, "each is counted once"
        assert (await store.counts(NOON))["arrived"] == removed + len(there)
