"""What only the embedded store does: its files, its lock, its upgrades, its errors."""

from __future__ import annotations

import os
import random
import re
import socket
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from beholder.errors import StoreError
from beholder.store.contract import LedgerEntry
from beholder.store.open import open_store, read_tables
from beholder.store.rules import migrations
from beholder.store.sqlite.database_files import connect_write, migrate, note_erasure, schema_version, wipe
from beholder.testing.stores.facts import NOON, rows, session_facts, study_record
from support.planted_bytes import plant, planted_in
from support.sqlite_files import fill, sql


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
async def test_the_files_of_a_store_are_for_their_owner_only(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    async with open_store(folder) as store, store.ledger.hold():
        await store.begin(study_record())
        await store.ledger.append([LedgerEntry("stop", "done", NOON)])
        modes = {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()}
    assert {name for name in modes if not name.endswith("-journal")} == {
        "facts.sqlite", "facts.sqlite-shm", "facts.sqlite-wal", "identity.sqlite", "identity.sqlite-shm",
        "identity.sqlite-wal", "ledger.sqlite", "ledger-lock.sqlite", "lock.sqlite", "sender.json", "writer.json",
    }  # fmt: skip
    assert set(modes.values()) == {0o600}
    assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
async def test_files_that_others_could_read_are_made_private(tmp_path: Path) -> None:
    await fill(tmp_path)
    for path in tmp_path.iterdir():
        path.chmod(0o644)
    (tmp_path / "notes.txt").write_text("not ours")
    (tmp_path / "notes.txt").chmod(0o644)
    async with open_store(tmp_path):
        modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    assert modes.pop("notes.txt") == 0o644
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
            f"{tmp_path / 'facts.sqlite'}  is not a store of Beholder (file is not a database). {NO_COPY}"
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
            f"{tmp_path}  was written by a newer Beholder (schema 7, this one knows 6)."
            " Update Beholder: pip install --upgrade beholder."
        )


@pytest.mark.parametrize(("file", "version", "oldest"), [("facts.sqlite", 2, 6), ("identity.sqlite", 1, 2)])
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
        f"{tmp_path}  was written by an older Beholder (schema 0, this one reads 6)."
        " Run `beholder serve` once: it brings the store up to date."
    )


# Damage


NO_COPY = (
    "Stop every server, move the file and its -wal aside, and put a backup in its place; there is none beside it."
    " Or name another folder."
)


async def refusals(folder: Path) -> set[str]:
    """Return what is said of a store when it is opened, for writing and for reading."""
    said = set()
    for write in (True, False):
        with pytest.raises(StoreError) as refused:
            async with open_store(folder, write=write) as store:
                await store.platform_identities()
                await rows(store, "answers")
        said.add(str(refused.value))
    return said


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


@pytest.mark.parametrize(
    ("damage", "what"),
    [
        (lambda path: path.write_bytes(b""), "is empty (0 bytes), although identity.sqlite of the same store is there"),
        (Path.unlink, "is missing, although identity.sqlite of the same store is there"),
        (cut, "is damaged (database disk image is malformed)"),
        (lambda path: path.write_text("no database " * 99), "is not a store of Beholder (file is not a database)"),
    ],
    ids=["empty", "missing", "cut", "other"],
)
async def test_a_damaged_store_is_said_and_never_begun_anew(tmp_path: Path, damage: Any, what: str) -> None:
    await fill(tmp_path / "store")
    facts = tmp_path / "store" / "facts.sqlite"
    damage(facts)
    before = facts.read_bytes() if facts.exists() else None
    assert await refusals(tmp_path / "store") == {f"{facts}  {what}. {NO_COPY}"}
    assert (facts.read_bytes() if facts.exists() else None) == before, "left as it was"


async def test_the_newest_copy_that_is_whole_is_named(tmp_path: Path) -> None:
    await fill(tmp_path / "store")
    facts = tmp_path / "store" / "facts.sqlite"
    good, broken = tmp_path / "store-monday" / "facts.sqlite", facts.with_name("facts.sqlite.backup")
    good.parent.mkdir()
    good.write_bytes(facts.read_bytes())
    await fill(tmp_path / "another-study")
    cut(facts)
    broken.write_bytes(facts.read_bytes())
    os.utime(good, (1_700_000_000, 1_700_000_000))
    assert await refusals(tmp_path / "store") == {
        f"{facts}  is damaged (database disk image is malformed). Stop every server, move the file and its -wal aside,"
        f" and put {good}, of 2023-11-14 22:13 UTC, in its place: it is whole."
    }


async def test_pages_that_contradict_each_other_are_found_before_anything_is_written(tmp_path: Path) -> None:
    await fill(tmp_path)
    facts = tmp_path / "facts.sqlite"
    ((page,),) = sql(tmp_path, "SELECT rootpage FROM sqlite_master WHERE name = 'answers'")
    ((size,),) = sql(tmp_path, "PRAGMA page_size")
    assert isinstance(page, int)
    assert isinstance(size, int)
    content = bytearray(facts.read_bytes())
    content[(page - 1) * size : (page - 1) * size + 64] = bytes(64)
    facts.write_bytes(content)
    with pytest.raises(StoreError) as refused:
        async with open_store(tmp_path):
            pass
    assert str(refused.value).startswith(f"{facts}  is damaged (")
    assert str(refused.value).endswith(f"). {NO_COPY}")


@pytest.mark.parametrize("change", [lambda path: path.write_bytes(b"x" * 5000), cut])
async def test_a_damaged_file_of_identities_is_said(tmp_path: Path, change: Any) -> None:
    await fill(tmp_path)
    people = tmp_path / "identity.sqlite"
    change(people)
    for said in await refusals(tmp_path):
        assert said.startswith(f"{people}  is ")
        assert said.endswith(NO_COPY)


async def test_a_folder_in_which_a_first_start_was_cut_off_is_begun(tmp_path: Path) -> None:
    (tmp_path / "facts.sqlite").touch()
    async with open_store(tmp_path) as store:
        assert await store.ready()


# Bytes of what was erased


def reader_of(folder: Path, file: str = "facts.sqlite") -> sqlite3.Connection:
    """Return a connection that looks at a store in a transaction, as an export does."""
    connection = sqlite3.connect(folder / file, isolation_level=None)
    connection.execute("BEGIN")
    connection.execute("SELECT count(*) FROM meta").fetchone()
    return connection


async def test_no_byte_of_what_was_erased_is_in_any_file(tmp_path: Path) -> None:
    async with open_store(tmp_path) as store:
        ann, bob = await plant(store, "ann"), await plant(store, "bob")
        files = planted_in(tmp_path, "ann")
        assert {"facts.sqlite-wal", "identity.sqlite-wal"} <= set(files), "else there is nothing to look for"
        await store.erase(ann, NOON)
        assert await store.wipe() is None
        assert planted_in(tmp_path, "ann") == {}
        assert planted_in(tmp_path, "bob")
        assert [row["device"] for row in await rows(store, "sessions")] == [{}, {"browser": "planted-bob-device"}]
        assert (await session_facts(store, ann)).session.device == {}
        await store.erase(bob, NOON)
        await store.purge_identity()
        assert await store.wipe() is None
        assert planted_in(tmp_path, "bob") == {}
    assert planted_in(tmp_path, "bob") == {}


def test_rows_that_were_moved_between_pages_before_they_were_erased_leave_no_copy(tmp_path: Path) -> None:
    """Overwriting a deleted row is not enough: with these sizes SQLite 3.40 leaves copies in the gaps of pages."""
    sizes, people, erased = random.Random(15), [f"p{number:02}" for number in range(12)], list[str]()
    path = tmp_path / "facts.sqlite"
    with closing(connect_write(path, "sqlite")) as connection:
        connection.execute("BEGIN")
        connection.execute("INSERT INTO studies VALUES ('d', 'p', 's', 'y', 'w', 'a')")
        for name in people:
            connection.execute("INSERT INTO sessions VALUES (?, ?, 'd', 1, 'link', 1, '{}', 'a')", (name, name))
        for number in range(300):
            name = sizes.choice(people)
            if name not in erased:
                text = f"<{name}>" * sizes.choice([4, 40, 160, 600])
                row = (name, f"t{number}", text)
                connection.execute("INSERT INTO answers VALUES (?, ?, ?, '{}', 0, 1, 'm', 't', 'a')", row)
            if number % 40 == 39:
                erased.append(people[len(erased)])
                connection.execute("INSERT INTO erasures VALUES (?, 1, 'a')", erased[-1:])
                connection.execute("DELETE FROM answers WHERE session = ?", erased[-1:])
        note_erasure(connection)
        connection.execute("COMMIT")
        assert wipe(connection, path) is None
        found = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert [name for name in people if f"<{name}>".encode() in found] == people[len(erased) :]


async def test_a_reader_keeps_erased_bytes_in_the_log_until_it_ends_and_that_is_told(tmp_path: Path) -> None:
    async with open_store(tmp_path) as store:
        session = await plant(store, "ann")
        with closing(reader_of(tmp_path)):
            await store.erase(session, NOON)
            remains = await store.wipe()
            assert remains is not None
            assert (remains.words, remains.is_read) == (
                "facts.sqlite keeps it in its log while another program reads the file",
                True,
            )
            assert set(planted_in(tmp_path, "ann")) == {"facts.sqlite-wal"}
            assert await store.ready(), "answers are stored meanwhile"
        assert await store.wipe() is None
        assert planted_in(tmp_path, "ann") == {}


async def test_the_next_one_who_opens_a_store_finishes_what_a_reader_held_up(tmp_path: Path) -> None:
    async with open_store(tmp_path) as store:
        session = await plant(store, "ann")
        reader = reader_of(tmp_path)
        await store.erase(session, NOON)
        assert await store.wipe() is not None
    assert planted_in(tmp_path, "ann"), "the reader outlived the server"
    reader.close()
    async with open_store(tmp_path):
        assert planted_in(tmp_path, "ann") == {}
    assert sql(tmp_path, "SELECT value FROM meta WHERE name = 'wipe'") == []


async def test_a_large_file_is_rewritten_later_and_its_log_is_emptied_now(tmp_path: Path) -> None:
    async with open_store(tmp_path) as store:
        session = await plant(store, "ann")
        await store.erase(session, NOON)
        remains = await store.wipe(largest=1000)
        assert remains is not None
        assert re.fullmatch(
            r"facts.sqlite \(\d+ MB\) is rewritten without it when nobody is in the study;"
            r" identity.sqlite \(\d+ MB\) is rewritten without it when nobody is in the study",
            remains.words,
        )
        assert not remains.is_read
        assert (tmp_path / "facts.sqlite-wal").stat().st_size == 0
        assert await store.wipe() is None
        assert await store.wipe(largest=0) is None, "nothing is left to be done"


@pytest.mark.skipif(os.name == "nt", reason="Windows cannot limit the size of a file")
async def test_a_disk_without_room_to_rewrite_a_file_is_told(tmp_path: Path) -> None:
    import resource

    async with open_store(tmp_path) as store:
        session = await plant(store, "ann")
        await store.erase(session, NOON)
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (16384, before[1]))
        try:
            remains = await store.wipe()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert remains is not None
        assert (
            "facts.sqlite cannot be rewritten without it (" in remains.words or "keeps it in its log" in remains.words
        )
        assert await store.wipe() is None
        assert planted_in(tmp_path, "ann") == {}
