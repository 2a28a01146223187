"""The ledger of an embedded store: usable next to a running server, private to its owner, append-only."""

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

from beholder.errors import LedgerError, StoreError
from beholder.store.contract import LedgerEntry, PlatformIdentity, PlatformVisit
from beholder.store.open import open_store
from beholder.testing.stores.facts import NOON, study_record

_STOPPED = LedgerEntry("stop", "done", NOON)


async def test_who_only_reads_the_facts_adds_to_the_ledger_beside_a_server(tmp_path: Path) -> None:
    async with open_store(tmp_path) as server:
        await server.begin(study_record())
        async with open_store(tmp_path, write=False) as reader:
            assert await reader.ledger.entries() == ()
            assert not (tmp_path / "ledger.sqlite").exists(), "reading makes no file"
            await reader.ledger.append([_STOPPED])
            await server.ledger.append([_STOPPED])
            assert [entry.entry for entry in await reader.ledger.entries()] == [1, 2]
            assert await reader.ledger.entries() == await server.ledger.entries()
            with pytest.raises(StoreError, match="is open for reading only"):
                await reader.identify(PlatformIdentity("p", "prolific", "x"), PlatformVisit("s", "", ""))
            await server.identify(PlatformIdentity("p", "prolific", "x"))
            assert await reader.platform_identities() == [PlatformIdentity("p", "prolific", "x")]
    if os.name != "nt":
        assert (tmp_path / "ledger.sqlite").stat().st_mode & 0o777 == 0o600
    (tmp_path / "identity.sqlite").unlink()
    async with open_store(tmp_path, write=False) as reader:
        assert (tuple(await reader.platform_identities()), tuple(await reader.platform_visits())) == ((), ())


async def test_a_ledger_is_never_changed(tmp_path: Path) -> None:
    async with open_store(tmp_path) as store:
        await store.ledger.append([_STOPPED])
    with closing(sqlite3.connect(tmp_path / "ledger.sqlite")) as connection:
        changes = ("kind = 'x'", "amount_minor = 5", "participant = 'p'", "reason_code = 'x'", "evidence = '1'")
        for statement in (*(f"UPDATE ledger SET {change}" for change in changes), "DELETE FROM ledger"):
            with pytest.raises(sqlite3.IntegrityError, match="the ledger is append-only"):
                connection.execute(statement)


async def test_a_ledger_that_was_made_a_moment_ago_is_empty(tmp_path: Path) -> None:
    async with open_store(tmp_path) as store:
        (tmp_path / "ledger.sqlite").touch()
        assert await store.ledger.entries() == ()


async def test_a_second_process_that_wants_to_send_is_told_who_does(tmp_path: Path) -> None:
    async with open_store(tmp_path) as store:
        await store.begin(study_record())
    script = (
        "import asyncio, sys; from beholder.store.open import open_store\n"
        "async def hold():\n"
        "    async with open_store(sys.argv[1], write=False) as store, store.ledger.hold():\n"
        "        print('held', flush=True); sys.stdin.read()\n"
        "asyncio.run(hold())"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        async with open_store(tmp_path) as store:
            with pytest.raises(LedgerError) as refused:
                async with store.ledger.hold():
                    pass
            other.kill()
            other.wait()
            async with store.ledger.hold():
                await store.ledger.append([_STOPPED])
    message = (
        rf"{re.escape(str(tmp_path))}  somebody is sending money or messages already"
        rf" \(process {other.pid} on {re.escape(socket.gethostname())} since \d{{4}}-\d\d-\d\d \d\d:\d\d UTC\)\."
        r" Wait for them, then run it again\."
    )
    assert re.fullmatch(message, str(refused.value)), str(refused.value)
