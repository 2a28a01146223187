"""Restoring: verified first, nobody who was erased comes back, and nothing is overwritten by accident."""

from __future__ import annotations

import asyncio
import re
import sqlite3
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from beholder.backups.backup_settings import BackupSettings
from beholder.backups.cycle import make_backup, tell_erasures
from beholder.backups.destinations import DestinationAway
from beholder.backups.encryption import make_key
from beholder.backups.history import read_history
from beholder.errors import BackupError, UserError
from beholder.store.contract import LedgerEntry
from beholder.store.open import open_store, read_rows
from beholder.testing.stores.facts import NOON
from beholder.workflow.restore import restore
from support.backed_up_store import answered_in, erase, fill, key_in, settings_to
from support.planted_bytes import planted_in


@pytest.fixture
def settings(tmp_path: Path) -> BackupSettings:
    return settings_to(tmp_path / "to", tmp_path)


def _traces(folder: Path, name: str) -> int:
    """Return how often bytes of somebody are in files; besides the id of the visit, which the ledger keeps to pay."""
    visits = sum(path.read_bytes().count(f"planted-{name}-visit".encode()) for path in folder.rglob("ledger.sqlite"))
    return sum(planted_in(folder, name).values()) - visits


def _refusal(*arguments: object, **options: object) -> str:
    with pytest.raises(UserError) as caught:
        restore(*arguments, **options)  # type: ignore[arg-type]
    return str(caught.value)


def test_the_newest_comes_back_whole_and_an_earlier_one_by_its_time(tmp_path: Path, settings: BackupSettings) -> None:
    (ann,) = fill(tmp_path / "store", "ann")
    first = make_backup(settings, tmp_path / "store").note
    (bob,) = fill(tmp_path / "store", "bob")
    make_backup(settings, tmp_path / "store")
    assert first is not None
    done = restore(settings.to, tmp_path / "new", identity=tmp_path / "backup.key")
    assert answered_in(tmp_path / "new" / "store") == [ann, bob]
    assert (done.study, done.erased, done.aside) == ("walk", 0, None)
    assert done.words[0].startswith("Restored to store/, whole and verified: ")
    assert done.words[1] == "study.yaml is as it was served; stimuli are in no backup."
    at = first.at + timedelta(microseconds=1)
    restore(settings.to, tmp_path / "old", identity=tmp_path / "backup.key", at=at)
    assert answered_in(tmp_path / "old" / "store") == [ann]
    assert [path.name for path in (tmp_path / "old").glob(".restore-*")] == []
    listed = restore(settings.to, tmp_path / "none", only_list=True)
    assert len(listed.words) == len(listed.backups) == 2
    assert not (tmp_path / "none").exists()


def _take(tmp_path: Path, settings: BackupSettings, url: str | Path) -> tuple[str, str, str]:
    """Make a backup of three people, erase one, and tell it to the list; return all, who was erased first."""
    cy, ann, bob = fill(url, "cy", "ann", "bob")
    make_backup(settings, url)
    erase(url, cy)
    tell_erasures(settings, url)
    return cy, ann, bob


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_who_was_erased_does_not_come_back_not_by_a_byte(
    tmp_path: Path, settings: BackupSettings, database: str, request: pytest.FixtureRequest
) -> None:
    give: Callable[[], str] = (
        request.getfixturevalue("postgresql_databases") if database == "postgresql" else lambda: str(tmp_path / "store")
    )
    _, ann, bob = _take(tmp_path, settings, give())
    key = tmp_path / "backup.key"
    if database == "postgresql":
        target = give()
        done = restore(settings.to, tmp_path / "new", identity=key, store=target)
        assert answered_in(target) == [ann, bob]

        async def texts() -> str:
            async with open_store(target, write=False) as store:
                tables = [await read_rows(store, table) for table in ("sessions", "answers", "events", "told", "posed")]
                return f"{tables}{await store.platform_identities()}{await store.platform_visits()}"

        found = asyncio.run(texts())
        assert "planted-cy-" not in found
        assert "planted-ann-" in found
        assert "already" in _refusal(settings.to, tmp_path / "again", identity=key, store=target)
    # The same backup on this machine, where every byte can be looked at.
    done = restore(settings.to, tmp_path / "home", identity=key)
    assert done.erased == 1
    assert "Erased again, as they were since it was made: 1 session of people who do not come back." in done.words
    assert _traces(tmp_path / "home", "cy") == 0
    assert _traces(tmp_path / "home", "ann") > 0
    assert answered_in(tmp_path / "home" / "store") == [ann, bob]


def test_who_was_erased_while_the_place_was_away_does_not_come_back_over_the_same_store(
    tmp_path: Path, settings: BackupSettings
) -> None:
    cy, ann = fill(tmp_path / "home" / "store", "cy", "ann")
    make_backup(settings, tmp_path / "home" / "store")
    erase(tmp_path / "home" / "store", cy)
    (tmp_path / "to").rename(tmp_path / "gone")
    (tmp_path / "to").write_text("in its place", "utf-8")
    with pytest.raises(DestinationAway):
        tell_erasures(settings, tmp_path / "home" / "store")
    (tmp_path / "to").unlink()
    (tmp_path / "gone").rename(tmp_path / "to")
    why = "only to see who comes back"
    done = restore(settings.to, tmp_path / "home", identity=tmp_path / "backup.key", anyway=why)
    assert done.erased == 1
    assert answered_in(tmp_path / "home" / "store") == [ann]
    assert _traces(tmp_path / "home" / "store", "cy") == 0
    # The restored store knows it, and tells the list with its next backup.
    make_backup(settings, tmp_path / "home" / "store")
    again = restore(settings.to, tmp_path / "new", identity=tmp_path / "backup.key")
    assert again.erased == 0
    assert answered_in(tmp_path / "new" / "store") == [ann]


def test_identities_that_were_purged_do_not_come_back(tmp_path: Path, settings: BackupSettings) -> None:
    fill(tmp_path / "store", "ann")
    made = make_backup(settings, tmp_path / "store").note
    assert made is not None

    async def purge() -> None:
        async with open_store(tmp_path / "store") as store:
            await store.purge_identity()
            entry = LedgerEntry("purge", "done", made.at + timedelta(days=1), reason_code="identity")
            await store.ledger.append([entry])

    async def identities() -> int:
        async with open_store(tmp_path / "new" / "store", write=False) as store:
            return len(await store.platform_identities()) + len(await store.platform_visits())

    asyncio.run(purge())
    tell_erasures(settings, tmp_path / "store")
    restore(settings.to, tmp_path / "new", identity=tmp_path / "backup.key")
    assert asyncio.run(identities()) == 0
    assert b"planted-ann-id" not in (tmp_path / "new" / "store" / "identity.sqlite").read_bytes()


def test_a_list_of_erasures_that_is_missing_or_damaged_is_told_before_anything_is_done(
    tmp_path: Path, settings: BackupSettings
) -> None:
    _take(tmp_path, settings, tmp_path / "store")
    make_backup(settings, tmp_path / "store")
    (list_,) = (tmp_path / "to").glob("*.erasures.*")
    key, content = tmp_path / "backup.key", list_.read_bytes()
    list_.write_bytes(content[:20])
    assert "is damaged: it names who was erased" in _refusal(settings.to, tmp_path / "new", identity=key)
    list_.unlink()
    assert _refusal(settings.to, tmp_path / "new", identity=key) == (
        f"the list of erasures at {settings.to}  names 0 of 1 erasures: people who were erased would come back. Put "
        "the file back that is missing there; or say --anyway WORDS, and erase them again by their receipts."
    )
    assert not (tmp_path / "new").exists()
    restore(settings.to, tmp_path / "new", identity=key, anyway="the list is lost")


def test_a_store_that_holds_more_is_replaced_only_for_a_reason_in_words_and_kept(
    tmp_path: Path, settings: BackupSettings
) -> None:
    home, key = tmp_path / "home", tmp_path / "backup.key"
    (ann,) = fill(home / "store", "ann")
    make_backup(settings, home / "store")
    (bob,) = fill(home / "store", "bob")
    assert _refusal(settings.to, home, identity=key) == (
        f"{home / 'store'}  holds 1 session and 3 answers that the backup does not have. Take a later backup (--list); "
        "or say why it is replaced all the same: --anyway WORDS. It is kept aside."
    )
    assert answered_in(home / "store") == [ann, bob]
    assert "--anyway  is 'yes'. Allowed: why, in three words or more" in _refusal(
        settings.to, home, identity=key, anyway="yes"
    )
    done = restore(settings.to, home, identity=key, anyway="bob was a test")
    assert done.aside is not None
    assert answered_in(home / "store") == [ann]
    assert answered_in(done.aside) == [ann, bob]

    async def reasons() -> list[str]:
        async with open_store(home / "store", write=False) as store:
            return [one.reason_text for one in await store.ledger.entries() if one.kind == "restore"]

    assert asyncio.run(reasons()) == ["bob was a test"]


def test_a_store_in_use_is_not_replaced(tmp_path: Path, settings: BackupSettings) -> None:
    home = tmp_path / "home"
    fill(home / "store", "ann")
    make_backup(settings, home / "store")

    async def work() -> str:
        async with open_store(home / "store"):
            return await asyncio.to_thread(_refusal, settings.to, home, identity=tmp_path / "backup.key")

    assert "is in use" in asyncio.run(work())
    assert answered_in(home / "store")


def test_a_damaged_store_may_be_replaced(tmp_path: Path, settings: BackupSettings) -> None:
    home = tmp_path / "home"
    (ann,) = fill(home / "store", "ann")
    make_backup(settings, home / "store")
    (home / "store" / "facts.sqlite").write_bytes(b"not a database" * 1000)
    with pytest.raises(sqlite3.DatabaseError):
        sqlite3.connect(home / "store" / "facts.sqlite").execute("SELECT 1 FROM answers")
    restore(settings.to, home, identity=tmp_path / "backup.key")
    assert answered_in(home / "store") == [ann]


def test_what_cannot_be_restored_is_told_and_changes_nothing(
    tmp_path: Path, settings: BackupSettings, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from beholder.testing import write_study

    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    new, key = tmp_path / "new", key_in(tmp_path).file
    assert re.search("to  holds no backup of Beholder. Name the place as", _refusal(settings.to, new, identity=key))
    fill(tmp_path / "store", "ann")
    make_backup(settings, tmp_path / "store")
    (note,) = read_history(settings.destination())
    eve = make_key(tmp_path / "eve.key").file
    assert "is encrypted for another key than" in _refusal(settings.to, new, identity=eve)
    assert "--identity  is missing, and the backup is encrypted" in _refusal(settings.to, new)
    assert "cannot be read (No such file" in _refusal(settings.to, new, identity=tmp_path / "none")
    assert _refusal(settings.to, new, identity=key, at="yesterday") == (
        "--at  is yesterday. Allowed: a time in UTC such as 2026-11-18T14:30."
    )
    early = _refusal(settings.to, new, identity=key, at=NOON - timedelta(days=900), anyway="a", store=str(tmp_path))
    assert [line.split("  ")[0] for line in early.splitlines()] == ["--anyway", "--store", "--at"]
    assert "and the first backup is of" in early
    other = write_study(tmp_path / "other", tiny, name="other").parent
    assert "holds no backup of other, but of walk" in _refusal(settings.to, other, identity=key)
    file = tmp_path / "to" / note.file
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2])
    assert "is cut off" in _refusal(settings.to, new, identity=key)
    file.write_bytes(content[:-1] + b"x")
    assert "is damaged" in _refusal(settings.to, new, identity=key)
    file.unlink()
    assert "holds no backup" in _refusal(settings.to, new, identity=key)
    assert not new.exists()
    assert not (other / "store").exists()
    with pytest.raises(BackupError, match="ftp"):
        restore("ftp://x", new)
