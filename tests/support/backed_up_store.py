"""A small store, the settings of its backups, and every kind of destination."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from beholder.backups.backup_settings import BackupSettings
from beholder.backups.destinations import Destination
from beholder.backups.encryption import KeyPair, make_key
from beholder.backups.seal import seal_keys_of
from beholder.server.erasure import erase_sessions
from beholder.store.contract import Store
from beholder.store.open import open_store
from beholder.testing.stores.facts import NOON
from support.planted_bytes import plant

STUDY = "walk"
"""The name of the study that planted sessions are of."""


def fill(url: str | Path, *names: str) -> list[str]:
    """Let people come to a store, and return their sessions."""

    async def work() -> list[str]:
        async with open_store(url) as store:
            return [await plant(store, name, trials=3) for name in names]

    return asyncio.run(work())


def erase(url: str | Path, session: str) -> None:
    """Erase a session, as a participant may."""

    async def work() -> None:
        async with open_store(url) as store:
            await erase_sessions(store, [session], "receipt", NOON)
            await store.wipe()

    asyncio.run(work())


def key_in(folder: Path) -> KeyPair:
    """Return a key, made in a folder."""
    return make_key(folder / "backup.key")


def settings_to(to: str | Path, folder: Path, keys: Sequence[str] = ()) -> BackupSettings:
    """Return settings of backups to a place; encrypted for the key of a folder, if for no other."""
    encrypted_for = tuple(keys) or (key_in(folder).public,)
    seal_keys = seal_keys_of(key_in(folder).file)
    return BackupSettings(STUDY, str(to), folder, timedelta(minutes=10), timedelta(days=30), encrypted_for, seal_keys)


async def answered(store: Store) -> list[str]:
    """Return the sessions of whom answers are there."""
    from beholder.store.open import read_rows

    return sorted({str(row["session"]) for row in await read_rows(store, "answers")})


def answered_in(url: str | Path) -> list[str]:
    """Return the sessions of whom answers are in a store."""

    async def work() -> list[str]:
        async with open_store(url, write=False) as store:
            return await answered(store)

    return asyncio.run(work())


def check_destination(destination: Destination, folder: Path) -> None:
    """Fail unless a destination keeps the contract; it is empty before and after."""
    small, large, back = folder / "small", folder / "large", folder / "back"
    small.write_bytes(b"one")
    large.write_bytes(os.urandom(3_000_000))
    assert destination.names() == []
    destination.put("walk.1.json", small)
    destination.put("walk.2.age", large)
    assert destination.names() == ["walk.1.json", "walk.2.age"]
    destination.fetch("walk.2.age", back)
    assert back.read_bytes() == large.read_bytes()
    destination.put("walk.2.age", small)  # another in its place
    destination.fetch("walk.2.age", back)
    assert back.read_bytes() == b"one"
    with pytest.raises(FileNotFoundError):
        destination.fetch("walk.3.age", back)
    destination.delete("walk.1.json")
    destination.delete("walk.1.json")  # gone is gone
    assert destination.names() == ["walk.2.age"]
    destination.delete("walk.2.age")
    assert destination.names() == []
