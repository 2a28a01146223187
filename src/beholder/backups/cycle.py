"""Making backups: one now, or one after another beside a server, for as long as it runs."""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

from beholder.backups.archive import pack_store
from beholder.backups.backup_settings import BackupSettings
from beholder.backups.backup_state import BackupRunning, BackupState, one_backup, read_state, write_state
from beholder.backups.erasure_list import store_erasures, update_list
from beholder.backups.history import BackupNote, prune, store_backup
from beholder.clock import utc_now
from beholder.errors import BackupError, BeholderError, UserError
from beholder.store.full_copy import live_counts
from beholder.store.open import folder_of, is_postgresql

_log = logging.getLogger("beholder.backups")
_SCRATCH = ".backup-"
_FIRST_PAUSE = timedelta(seconds=5)
"""After a failure; it doubles, up to the interval of backups."""
_LAST_S = 10.0
"""How long the end of a server waits for the last backup."""


@dataclass(frozen=True)
class MadeBackup:
    """What a look after backups has done."""

    note: BackupNote | None
    """The new backup; None where everything was in the last one."""
    removed: tuple[str, ...]
    """Files of old backups that are gone."""


def make_backup(
    settings: BackupSettings,
    url: str | Path,
    *,
    is_forced: bool = False,
    now: Callable[[], datetime] = utc_now,
) -> MadeBackup:
    """Bring the list of erasures up to date, make a backup where anything is new, verify it, and prune old ones.

    With `is_forced` there is one also where nothing is new. Raises BackupRunning while another process does it, and
    BackupError where it cannot be done; how it went is kept in the store.
    """
    with one_backup(url):
        before = read_state(url)
        if before.to != settings.to:
            before = BackupState(to=settings.to)
        remove_leftovers(url)
        erased = 0
        try:
            with _scratch(None if is_postgresql(url) else folder_of(url)) as scratch:
                found = store_erasures(url)
                erased = found.count
                destination = settings.destination()
                listed = update_list(destination, settings.study, found, scratch)
                fingerprint, note = _fingerprint(settings, url), None
                if is_forced or fingerprint != before.fingerprint or before.at is None:
                    packed = pack_store(url, settings.study, settings.keys, scratch, now())
                    note = store_backup(destination, packed, settings.keys, listed.size, scratch, settings.seal_keys)
                removed = prune(destination, settings.study, now(), settings.keep)
        except (BeholderError, OSError) as error:
            write_state(url, before.failed(_one_line(error), erased, now()))
            raise
        write_state(url, before.succeeded(note, fingerprint, erased, now()))
        return MadeBackup(note, tuple(removed))


def tell_erasures(settings: BackupSettings, url: str | Path, now: Callable[[], datetime] = utc_now) -> None:
    """Let the list of erasures at the destination name what was just erased; raise BackupError where that fails.

    What could not be told stays known in the store, and goes with the next backup.
    """
    erased, state = store_erasures(url), read_state(url)
    if state.to != settings.to:
        state = BackupState(to=settings.to)
    try:
        with _scratch(None) as scratch:
            update_list(settings.destination(), settings.study, erased, scratch)
    except (BackupError, OSError) as error:
        with contextlib.suppress(BeholderError, OSError):
            write_state(url, state.failed(_one_line(error), erased.count, now()))
        raise
    with contextlib.suppress(BeholderError, OSError):
        write_state(url, replace(state, erased=erased.count, told=erased.count))


def _fingerprint(settings: BackupSettings, url: str | Path) -> str:
    """Return a digest of how much the store holds, and for whom it is encrypted."""
    held = json.dumps([live_counts(url), settings.to, settings.keys], sort_keys=True)
    return hashlib.sha256(held.encode()).hexdigest()[:16]


def _one_line(error: BaseException) -> str:
    if isinstance(error, UserError):
        return str(error.problems[0])
    return " ".join(str(error).split())[:300]


@contextlib.contextmanager
def _scratch(place: Path | None) -> Iterator[Path]:
    """Yield a folder for unfinished files, on the disk of the store where that is a folder."""
    with tempfile.TemporaryDirectory(prefix=_SCRATCH, dir=place, ignore_cleanup_errors=True) as name:
        yield Path(name)


def remove_leftovers(url: str | Path) -> None:
    """Remove unfinished copies of a process that was killed: they are readable, and hold what may be erased since."""
    if not is_postgresql(url):
        for left in folder_of(url).glob(f"{_SCRATCH}*"):
            shutil.rmtree(left, ignore_errors=True)


# Beside a server


class BackupCycle:
    """A thread that makes backups of a store for as long as a server runs; of many servers, the one that leads."""

    def __init__(
        self,
        settings: BackupSettings,
        url: str | Path,
        now: Callable[[], datetime] = utc_now,
        leads: Callable[[], bool] = lambda: True,
    ) -> None:
        self._settings, self._url, self._now, self._leads = settings, url, now, leads
        self._wake, self._stop, self._has_erased = threading.Event(), threading.Event(), threading.Event()
        self._pause = _FIRST_PAUSE
        self._was_told = ""
        self.state = BackupState(to=settings.to)
        """As it was last seen."""
        self._thread = threading.Thread(target=self._run, name="beholder backups", daemon=True)

    def start(self) -> None:
        """Begin."""
        _log.info("Backups: %s", self._settings.words)
        self._thread.start()

    def wake(self) -> None:
        """Look now: somebody was erased."""
        self._has_erased.set()
        self._wake.set()

    def stop(self, patience: float = _LAST_S) -> None:
        """Make a last backup where anything is new, and end; after some seconds it is given up."""
        self._stop.set()
        self._wake.set()
        self._thread.join(patience)

    def _run(self) -> None:
        while True:
            is_last = self._stop.is_set()
            # Whoever erased somebody lets the list of erasures know, leader or not; it does so at the end, too.
            has_erased = self._has_erased.is_set()
            self._has_erased.clear()
            pause = self._look(is_due=has_erased or (is_last and self._leads()))
            if is_last:
                return
            self._wake.wait(pause)
            self._wake.clear()

    def _look(self, *, is_due: bool) -> float:
        """Make a backup where one is due, and return after how many seconds to look again."""
        every, now = self._settings.every, self._now()
        try:
            self.state = read_state(self._url)
            if not is_due and not self._leads():
                return min(_FIRST_PAUSE, every).total_seconds()
            if not is_due and self.state.to == self._settings.to and (wait := self._wait(now)) > 0:
                return wait
            make_backup(self._settings, self._url, now=self._now)
        except BackupRunning:
            if is_due:
                self._has_erased.set()
            return min(_FIRST_PAUSE, every).total_seconds()
        except (BeholderError, OSError) as error:
            self._tell(_one_line(error))
            self._pause = min(2 * self._pause, max(every, _FIRST_PAUSE))
            with contextlib.suppress(BeholderError, OSError):
                self.state = read_state(self._url)
            return (self._pause / 2).total_seconds()
        except Exception as error:
            # A fault of ours must not end all later backups of a study that goes on for weeks.
            _log.exception("a backup has failed")
            self.state = self.state.failed(type(error).__name__, self.state.erased, now)
            return every.total_seconds()
        if self._was_told:
            _log.warning("backups to %s work again", self._settings.to)
        self._pause, self._was_told = _FIRST_PAUSE, ""
        with contextlib.suppress(BeholderError, OSError):
            self.state = read_state(self._url)
        return every.total_seconds()

    def _wait(self, now: datetime) -> float:
        """Return for how long nothing is due: another server, or one before us, has made a backup."""
        if self.state.looked_at is None or self.state.failing_since is not None:
            return 0.0
        return (self.state.looked_at + self._settings.every - now).total_seconds()

    def _tell(self, why: str) -> None:
        """Say in the log that backups fail; once for each reason."""
        if why != self._was_told:
            _log.warning("a backup has failed, and is tried again: %s", why)
            self._was_told = why


@contextlib.contextmanager
def backing_up(
    settings: BackupSettings | None,
    url: str | Path,
    now: Callable[[], datetime] = utc_now,
    leads: Callable[[], bool] = lambda: True,
) -> Iterator[BackupCycle | None]:
    """Make backups while a block runs and `leads` says that this process does so; nothing without settings."""
    if settings is None:
        yield None
        return
    settings.destination()  # what is wrong with it is said at once
    cycle = BackupCycle(settings, url, now, leads)
    cycle.start()
    try:
        yield cycle
    finally:
        cycle.stop()
