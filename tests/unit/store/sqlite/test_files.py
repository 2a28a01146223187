"""What only the embedded store does: its files, its lock, its upgrades, its errors."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from beholder.errors import StoreError
from beholder.store.contract import PlatformIdentity, StoreUnavailable
from beholder.store.open import open_store, read_tables
from beholder.store.rules import migrations
from beholder.store.sqlite.files import connect_write, migrate, schema_version
from beholder.testing.stores.facts import (
    NOON,
    answer,
    arrive,
    claim,
    rows,
    session_facts,
    session_of,
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


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
async def test_the_files_of_a_store_are_for_their_owner_only(tmp_path: Path) -> None:
    async with open_store(tmp_path / "store") as store:
        await store.begin(study_record())
        modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "store").glob("*sqlite*")}
    assert {"facts.sqlite", "facts.sqlite-wal", "identity.sqlite"} <= set(modes)
    assert set(modes.values()) == {0o600}


async def test_a_second_server_is_refused_and_told_who_holds_the_store(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    script = (
        "import asyncio, sys; from beholder.store.open import open_store\n"
        "async def hold():\n"
        "    async with open_store(sys.argv[1]): print('open', flush=True); sys.stdin.read()\n"
        "asyncio.run(hold())"
    )
    command = [sys.executable, "-c", script, str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "open\n"
        with pytest.raises(StoreError) as refused:
            async with open_store(folder):
                pass
        other.kill()
    message = (
        rf"{re.escape(str(folder))}  is in use by another server"
        rf" \(process {other.pid} on {re.escape(socket.gethostname())} since \d{{4}}-\d\d-\d\d \d\d:\d\d UTC\)\."
        r" Stop it, or use PostgreSQL: there several servers may share one study\."
    )
    assert re.fullmatch(message, str(refused.value)), str(refused.value)
    async with open_store(folder) as store:
        assert await store.ready(), "the lock of a killed process is gone"


async def test_one_process_opens_a_store_for_writing_once(tmp_path: Path) -> None:
    async with open_store(tmp_path) as first:
        with pytest.raises(StoreError, match=f"is in use by another server .process {os.getpid()} on"):
            async with open_store(tmp_path):
                pass
        assert await first.ready()


async def test_others_read_while_one_writes(tmp_path: Path) -> None:
    async with open_store(f"sqlite:///{tmp_path}") as store:
        await store.begin(study_record())
        session = await arrive(store, "ann")
        await store.append([answer(session)])
        found = read_tables(tmp_path, ["sessions", "answers"])
        assert [row["session"] for row in found["sessions"]] == [session]
        assert [row["key"] for row in found["answers"]] == ["trial:1"]
        async with open_store(tmp_path, write=False) as reader:
            assert reader.secret == store.secret
            assert (await session_facts(reader, session)).answers == {"trial:1": answer(session)}
            assert await reader.current() == study_record()
            assert not await reader.ready()
            with pytest.raises(StoreError) as refused:
                await reader.append([answer(session, "trial:2")])
            assert str(refused.value) == f"{tmp_path}  is open for reading only. Open it with write=True."


def test_a_store_is_read_without_a_loop_and_without_a_writer(tmp_path: Path) -> None:
    asyncio.run(fill(tmp_path))
    assert [row["stimulus"] for row in read_tables(str(tmp_path), ["stimuli"])["stimuli"]] == ["a/b"]


def test_reading_a_folder_without_facts_says_what_to_run(tmp_path: Path) -> None:
    with pytest.raises(StoreError) as missing:
        read_tables(tmp_path / "store", ["answers"])
    assert str(missing.value) == (
        f"{tmp_path / 'store'}  holds no facts yet. Run `beholder serve` or `beholder simulate` first."
    )
    assert not (tmp_path / "store").exists()


def test_another_kind_of_address_is_refused() -> None:
    with pytest.raises(StoreError) as refused:
        read_tables("mysql://user:password@host/db", ["answers"])
    assert str(refused.value) == (
        "mysql://  is not the address of a store. Allowed: a folder, sqlite:///folder, postgresql://user@host/database."
    )


async def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(StoreError) as refused:
        async with open_store(tmp_path / "file" / "store"):
            pass
    assert str(refused.value).startswith(f"{tmp_path / 'file' / 'store'}  cannot be written (")
    assert str(refused.value).endswith("). Name a folder that you may write to, on a local disk.")


async def test_a_file_that_is_no_store_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "facts.sqlite").write_text("something else entirely, and long enough to be looked at " * 20)
    before = (tmp_path / "facts.sqlite").read_bytes()
    for write in (True, False):
        with pytest.raises(StoreError) as refused:
            async with open_store(tmp_path, write=write):
                pass
        assert str(refused.value) == (
            f"{tmp_path / 'facts.sqlite'}  is not a store of Beholder (file is not a database)."
            " Name another folder, or put a backup in its place."
        )
    assert (tmp_path / "facts.sqlite").read_bytes() == before


@pytest.mark.parametrize("table", ["studies", "stimuli", "lists", "sessions", "claims", "answers"])
async def test_facts_are_append_only(tmp_path: Path, table: str) -> None:
    await fill(tmp_path)
    column = sql(tmp_path, f"SELECT name FROM pragma_table_info('{table}') ORDER BY cid DESC")[0][0]
    for statement in (f"UPDATE {table} SET {column} = {column}", f"DELETE FROM {table}"):
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


async def test_an_older_store_is_upgraded_in_one_transaction(tmp_path: Path) -> None:
    await fill(tmp_path / "store")
    schema = tmp_path / "schema"
    schema.mkdir()
    ours = migrations("sqlite")
    for step in ours:
        (schema / f"{step.number:04}.sql").write_text(step.sql)
    newest = ours[-1].number
    newer = schema / f"{newest + 1:04}.sql"
    newer.write_text("CREATE TABLE extra (x TEXT);\nCREATE TABLE broken (;\n")
    facts = tmp_path / "store" / "facts.sqlite"
    with closing(sqlite3.connect(facts, isolation_level=None)) as connection:
        with pytest.raises(sqlite3.OperationalError):
            migrate(connection, "store", schema)
        assert schema_version(connection) == newest, "a migration that fails leaves nothing behind"
        assert connection.execute("SELECT * FROM sqlite_master WHERE name = 'extra'").fetchall() == []
    newer.write_text("-- one more\nCREATE TABLE extra (x TEXT);\nINSERT INTO extra VALUES ('kept');\n")
    with closing(connect_write(facts, schema)) as connection:
        assert schema_version(connection) == newest + 1
        assert connection.execute("SELECT x FROM extra").fetchall() == [("kept",)]
        assert connection.execute("SELECT count(*) FROM answers").fetchone() == (1,)


async def test_a_newer_store_is_refused(tmp_path: Path) -> None:
    await fill(tmp_path)
    sql(tmp_path, "UPDATE meta SET value = '7' WHERE name = 'schema_version'")
    for write in (True, False):
        with pytest.raises(StoreError) as refused:
            async with open_store(tmp_path, write=write):
                pass
        assert str(refused.value) == (
            f"{tmp_path}  was written by a newer Beholder (schema 7, this one knows 3)."
            " Update Beholder: pip install --upgrade beholder."
        )


@pytest.mark.parametrize(("file", "version", "oldest"), [("facts.sqlite", 2, 3), ("identity.sqlite", 1, 2)])
async def test_a_store_from_before_the_first_release_is_refused(
    tmp_path: Path, file: str, version: int, oldest: int
) -> None:
    await fill(tmp_path)
    sql(tmp_path, f"UPDATE meta SET value = '{version}' WHERE name = 'schema_version'", file=file)
    for write in (True, False):
        with pytest.raises(StoreError) as refused:
            async with open_store(tmp_path, write=write) as store:
                await store.platform_identities()
        assert str(refused.value) == (
            f"{tmp_path}  was written before the first release of Beholder (schema {version}, this one reads {oldest})."
            " Read it with the version that wrote it, or begin a new folder or database."
        )


async def test_an_older_store_is_not_read_before_it_is_upgraded(tmp_path: Path) -> None:
    await fill(tmp_path)
    sql(tmp_path, "UPDATE meta SET value = '0' WHERE name = 'schema_version'")
    with pytest.raises(StoreError) as refused:
        read_tables(tmp_path, ["answers"])
    assert str(refused.value) == (
        f"{tmp_path}  was written by an older Beholder (schema 0, this one reads 3)."
        " Run `beholder serve` once: it brings the store up to date."
    )


@pytest.mark.skipif(os.name == "nt", reason="Windows cannot limit the size of a file")
async def test_a_full_disk_is_said_and_survived(tmp_path: Path) -> None:
    import resource

    async with open_store(tmp_path) as store:
        await store.begin(study_record())
        session = await arrive(store, "ann")
        await store.append([answer(session)])
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024, before[1]))
        try:
            with pytest.raises(StoreUnavailable):
                await store.append([answer(session, "trial:2")])
            assert not await store.ready()
            assert list((await session_facts(store, session)).answers) == ["trial:1"]
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert await store.ready()
        await store.append([answer(session, "trial:2")])
        assert [row["key"] for row in await rows(store, "answers")] == ["trial:1", "trial:2"]


@pytest.mark.skipif(os.name == "nt", reason="Windows deletes no file that is open")
@pytest.mark.parametrize("replaced", [False, True])
async def test_nothing_is_acknowledged_into_a_file_that_was_deleted_or_replaced(tmp_path: Path, replaced: bool) -> None:
    folder, backup = tmp_path / "store", tmp_path / "backup"
    async with open_store(folder) as store:
        await store.begin(study_record())
        session = await arrive(store, "ann")
        shutil.copytree(folder, backup)
        shutil.rmtree(folder)
        if replaced:
            shutil.copytree(backup, folder)
        results = await asyncio.gather(
            *(store.append([answer(session, f"trial:{number}")]) for number in range(5)),
            store.arrive(session_of("bob")),
            store.counts(NOON),
            rows(store, "answers"),
            return_exceptions=True,
        )
        message = f"{folder / 'facts.sqlite'} was deleted or replaced while it was open"
        assert [(type(result), str(result)) for result in results] == [(StoreUnavailable, message)] * 8
        assert not await store.ready()
        with pytest.raises(StoreUnavailable, match=r"identity\.sqlite was deleted or replaced while it was open"):
            await store.identify(PlatformIdentity("p-ann", "prolific", "5f3a"))


@pytest.mark.skipif(os.name == "nt", reason="Windows moves no folder with open files")
async def test_a_folder_that_was_moved_away_and_back_holds_what_is_known(tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "store", tmp_path / "elsewhere"
    async with open_store(folder) as store:
        await store.begin(study_record())
        session = await arrive(store, "ann")
        folder.rename(elsewhere)
        with pytest.raises(StoreUnavailable):
            await store.append([answer(session)])
        elsewhere.rename(folder)
        assert await store.ready()
        await store.append([answer(session)])
        assert (await session_facts(store, session)).answers == {"trial:1": answer(session)}
        assert [row["key"] for row in await rows(store, "answers")] == ["trial:1"]


async def test_a_closed_store_is_away(tmp_path: Path) -> None:
    async with open_store(tmp_path) as store:
        await store.begin(study_record())
    with pytest.raises(StoreUnavailable, match="the store is closed"):
        await store.arrive(session_of("ann"))
