"""Facts in SQLite are append-only, and an erasure or a removal deletes identities."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from beholder.store.contract import PlatformIdentity, PlatformVisit, PosedAttempt, StoredVerdict
from beholder.store.open import open_store
from beholder.store.sqlite.database_files import connect_write
from beholder.store.sqlite.study import remove_unanswered
from beholder.testing.stores.facts import HOUR, NOON, arrive
from support.sqlite_files import fill, sql


@pytest.mark.parametrize("table", ["studies", "stimuli", "lists", "sessions", "claims", "answers"])
async def test_facts_are_append_only(tmp_path: Path, table: str) -> None:
    await fill(tmp_path)
    column = sql(tmp_path, f"SELECT name FROM pragma_table_info('{table}') ORDER BY cid DESC")[0][0]
    for statement in (f"UPDATE {table} SET {column} = {column}", f"DELETE FROM {table}"):
        with pytest.raises(sqlite3.IntegrityError, match="facts are append-only"):
            sql(tmp_path, statement)


async def test_what_a_check_posed_and_said_is_append_only_too(tmp_path: Path) -> None:
    session = await fill(tmp_path)
    async with open_store(tmp_path) as store:
        await store.append([
            PosedAttempt(session, "check:colour:1", "seed", {}, {"key": [29]}, NOON),
            StoredVerdict(session, "check:colour:1", "colour", "pass", "", {}, NOON),
        ])  # fmt: skip
    for statement in ("UPDATE posed SET private = '{}'", "DELETE FROM posed", "UPDATE told SET verdict = 'fail'"):
        with pytest.raises(sqlite3.IntegrityError, match="facts are append-only"):
            sql(tmp_path, statement)


async def test_erasing_the_last_session_of_a_person_forgets_who_it_was(tmp_path: Path) -> None:
    first = await fill(tmp_path)
    async with open_store(tmp_path) as store:
        second = await arrive(store, "ann", number=2)
        await store.erase(first, NOON)
        assert sql(tmp_path, "SELECT * FROM links", file="identity.sqlite") == [("p-ann", "prolific", "5f3a")]
        await store.erase(second, NOON)
        assert sql(tmp_path, "SELECT * FROM links", file="identity.sqlite") == []


async def test_after_a_crash_between_both_files_the_next_process_finishes_a_removal(tmp_path: Path) -> None:
    await fill(tmp_path)
    async with open_store(tmp_path) as store:
        session = await arrive(store, "bob")
        await store.identify(PlatformIdentity("p-bob", "prolific", "77bc"), PlatformVisit(session, "post", "v1"))
    with closing(connect_write(tmp_path / "facts.sqlite", "sqlite")) as facts:
        assert [one.session for one in remove_unanswered(facts, ["p-ann", "p-bob"], NOON + HOUR, NOON)] == [session]
    assert len(sql(tmp_path, "SELECT * FROM links", file="identity.sqlite")) == 2
    async with open_store(tmp_path) as store:
        assert [one.participant for one in await store.platform_identities()] == ["p-ann"]
        assert list(await store.platform_visits()) == []
        assert await store.is_wipe_due() is False, "and of its bytes nothing is left"
