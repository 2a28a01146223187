"""How the backups of a store are doing: kept beside the facts, read by every server, and told to people."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from beholder.aio import block_on
from beholder.backups.backup_settings import BackupSettings
from beholder.backups.history import BackupNote
from beholder.errors import Problem, UserError
from beholder.formats import megabytes, plain_count
from beholder.store.open import folder_of, is_postgresql
from beholder.store.sqlite.database_files import Lock

_FILE, _LOCK, _HOLDER = "backup.json", "backup-lock.sqlite", "backup-holder.json"
_META = "backup"
_LATE = 3
"""A backup is late after so many times of its interval."""


class BackupRunning(UserError):
    """Another process makes a backup of the same store."""


@dataclass(frozen=True)
class BackupState:
    """The last backup that was verified, the last look, and what has failed since. No secret is in it."""

    to: str = ""
    at: datetime | None = None
    """Of the last backup."""
    size: int = 0
    sessions: int = 0
    answers: int = 0
    looked_at: datetime | None = None
    """When it was last known that everything is in a backup."""
    tried_at: datetime | None = None
    fingerprint: str = ""
    """Of what the store held at the last backup."""
    failing_since: datetime | None = None
    failure: str = ""
    erased: int = 0
    """Erasures of which the store knows."""
    told: int = 0
    """Those of which the list at the destination knows."""

    @property
    def queued(self) -> int:
        """Erasures that the list at the destination does not name yet."""
        return max(0, self.erased - self.told)

    def succeeded(self, note: BackupNote | None, fingerprint: str, erased: int, now: datetime) -> BackupState:
        """Return the state after a look, with its backup if it made one."""
        state = replace(
            self, looked_at=now, tried_at=now, fingerprint=fingerprint, failing_since=None, failure="",
            erased=erased, told=erased,
        )  # fmt: skip
        if note is None:
            return state
        return replace(state, at=note.at, size=note.size, sessions=note.sessions, answers=note.answers)

    def failed(self, why: str, erased: int, now: datetime) -> BackupState:
        """Return the state after a look that has failed."""
        return replace(self, tried_at=now, failing_since=self.failing_since or now, failure=why, erased=erased)

    @property
    def facts(self) -> dict[str, Any]:
        """What everybody may know of it, as `/healthz` tells it: neither where nor why."""
        at, since = (_iso(one) for one in (self.at, self.failing_since))
        return {"at": at, "bytes": self.size, "failing_since": since, "queued_erasures": self.queued}


def _iso(at: datetime | None) -> str | None:
    return at.astimezone(UTC).isoformat(timespec="seconds") if at is not None else None


_TIMES = ("at", "looked_at", "tried_at", "failing_since")


def _to_text(state: BackupState) -> str:
    return json.dumps({name: at.isoformat() if isinstance(at, datetime) else at for name, at in asdict(state).items()})


def _from_text(text: str) -> BackupState:
    try:
        found = json.loads(text)
        times = {name: datetime.fromisoformat(found[name]) for name in _TIMES if found.get(name)}
        return BackupState(**{**found, **{name: times.get(name) for name in _TIMES}})
    except (ValueError, TypeError, AttributeError):
        return BackupState()  # of another version: the next backup writes it anew


# Beside the facts: a file of the folder, or a row of the database


def read_state(url: str | Path) -> BackupState:
    """Return the state of the backups of a store; an empty one where none was made."""
    if is_postgresql(url):
        return _from_text(block_on(_read_row(str(url))))
    with contextlib.suppress(OSError):
        return _from_text((folder_of(url) / _FILE).read_text("utf-8"))
    return BackupState()


def write_state(url: str | Path, state: BackupState) -> None:
    """Keep the state of the backups of a store."""
    if is_postgresql(url):
        block_on(_write_row(str(url), _to_text(state)))
        return
    path = folder_of(url) / _FILE
    partial = path.with_suffix(".new")
    with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(_to_text(state))
    partial.replace(path)


async def _read_row(url: str) -> str:
    from beholder.store.postgresql.connection import open_pool, transaction

    pool = await open_pool(url)
    try:
        async with transaction(pool) as connection:
            return str(await connection.fetchval("SELECT value FROM meta WHERE name = $1", _META) or "{}")
    finally:
        await pool.close()


async def _write_row(url: str, text: str) -> None:
    from beholder.store.postgresql.connection import open_pool, set_meta, transaction

    pool = await open_pool(url)
    try:
        async with transaction(pool) as connection:
            await set_meta(connection, _META, text)
    finally:
        await pool.close()


@contextlib.contextmanager
def one_backup(url: str | Path) -> Iterator[None]:
    """Be the only process that makes a backup of a store; raise BackupRunning where another does.

    The right ends with the process, also one that is killed.
    """
    if not is_postgresql(url):
        lock = Lock(folder_of(url), _LOCK, _HOLDER, _running)
        try:
            yield
        finally:
            lock.release()
        return
    with _AdvisoryLock(str(url)):
        yield


def _running(where: str, holder: str) -> BackupRunning:
    return BackupRunning(Problem(where, f"is being backed up by another process{holder}", "", "Wait until it is done."))


class _AdvisoryLock:
    """The right to make a backup, held in PostgreSQL for as long as a connection is open; a thread holds it open."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._is_held: Future[bool] = Future()
        self._thread = threading.Thread(target=self._run, daemon=True, name="beholder backup lock")

    def __enter__(self) -> None:
        self._thread.start()
        if not self._is_held.result():
            raise _running("the database", "")

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join()

    def _run(self) -> None:
        try:
            asyncio.run(self._hold())
        except BaseException as error:
            if self._is_held.done():
                raise
            self._is_held.set_exception(error)

    async def _hold(self) -> None:
        from beholder.store.postgresql.connection import LOCK_BACKUP, connected, open_pool

        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        pool = await open_pool(self._url)
        try:
            async with connected(pool) as connection:
                is_held = bool(await connection.fetchval("SELECT pg_try_advisory_lock($1)", LOCK_BACKUP))
                self._is_held.set_result(is_held)
                if is_held:
                    await self._end.wait()
        finally:
            await pool.close()


# In words


@dataclass(frozen=True)
class BackupStatus:
    """How backups are doing, in words."""

    words: str
    warnings: tuple[str, ...]
    """What a researcher should look at; empty where all is well."""


def backup_status(settings: BackupSettings, url: str | Path, now: datetime) -> BackupStatus:
    """Return how the backups of a store are doing, as the store knows it; the destination is not asked."""
    state = read_state(url)
    warnings = []
    if state.failing_since is not None:
        last = f"the last one is of {state.at:%Y-%m-%d %H:%M} UTC" if state.at else "there is none yet"
        warnings.append(f"Backups fail since {state.failing_since:%Y-%m-%d %H:%M} UTC, and {last}: {state.failure}")
    elif state.looked_at is not None and now - state.looked_at > _LATE * settings.every + timedelta(minutes=1):
        warnings.append(f"Nobody has looked after backups since {state.looked_at:%Y-%m-%d %H:%M} UTC: none is served.")
    if state.queued:
        warnings.append(
            f"{plain_count(state.queued, 'erasure')} could not be told to {settings.to} yet: a restore from there "
            "alone would bring them back. It is tried again with every backup."
        )
    return BackupStatus(state_words(state.facts, now), tuple(warnings))


def state_words(facts: Mapping[str, Any], now: datetime) -> str:
    """Return what `/healthz` tells of backups, in words; for those who are told by it, such as `deploy status`."""
    since = facts.get("failing_since")
    failing = f"; failing since {datetime.fromisoformat(since):%Y-%m-%d %H:%M} UTC" if since else ""
    if number := int(facts.get("queued_erasures") or 0):
        failing += f"; {plain_count(number, 'erasure')} not told there yet"
    if not facts.get("at"):
        return f"none yet{failing}"
    at = datetime.fromisoformat(str(facts["at"]))
    minutes = max(0, round((now - at) / timedelta(minutes=1)))
    ago = f"{minutes} min" if minutes < 120 else f"{minutes // 60} h"
    return f"{at:%Y-%m-%d %H:%M} UTC ({ago} ago), {megabytes(facts['bytes'])}{failing}"
