"""What only the embedded store does: its files, its lock, its upgrades, its errors."""

from __future__ import annotations

import os
import re
import socket
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from beholder.errors import StoreError
from beholder.store.open import open_store, read_tables
from beholder.store.rules import migrations
from beholder.store.sqlite.database_files import connect_write, migrate, schema_version
from beholder.testing.stores.facts import (
    study_record,
)
from support.sqlite_files import fill, sql


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
