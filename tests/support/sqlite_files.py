"""SQLite stores with a session, and queries to their files."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from beholder.store.contract import PlatformIdentity
from beholder.store.open import open_store
from beholder.testing.stores.facts import (
    answer,
    arrive,
    claim,
    study_record,
)


def sql(folder: Path, statement: str, *, file: str = "facts.sqlite") -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(folder / file, isolation_level=None)) as connection:
        return connection.execute(statement).fetchall()


async def fill(folder: Path) -> str:
    async with open_store(folder) as store:
        await store.begin(study_record())
        session = await arrive(store, "ann")
        await claim(store, session)
        await store.append([answer(session)])
        await store.identify(PlatformIdentity("p-ann", "prolific", "5f3a"))
    return session
