"""The lock of an embedded store: one process writes, and the system lets go of it when that process dies."""

from __future__ import annotations

import json
import os
import socket
import sqlite3
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from beholder.errors import Problem, StoreError
from beholder.store.sqlite.files import unwritable

LOCK, HOLDER = "lock.sqlite", "writer.json"


class InUseError(StoreError):
    """Another process writes to this store."""


class Lock:
    """An exclusive lock on a file that SQLite holds for us, the same way on every system."""

    def __init__(self, folder: Path) -> None:
        """Take the lock, or raise StoreError with who holds it."""
        self._folder = folder
        try:
            os.close(os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600))
            self._connection = sqlite3.connect(folder / LOCK, isolation_level=None, check_same_thread=False, timeout=0)
        except (OSError, sqlite3.Error) as error:
            raise unwritable(folder, error) from error
        try:
            self._connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            self._connection.close()
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise unwritable(folder, error) from error
            raise _in_use(folder) from error
        # Who holds the lock stands beside it, because the locked file cannot be read. Only a held lock makes it true.
        since = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
        holder = {"process": os.getpid(), "host": socket.gethostname(), "since": since}
        with suppress(OSError):
            (folder / HOLDER).write_text(json.dumps(holder), "utf-8")

    def release(self) -> None:
        """Let another process write."""
        with suppress(OSError):
            (self._folder / HOLDER).unlink()
        self._connection.close()


def _in_use(folder: Path) -> InUseError:
    who = ""
    with suppress(OSError, ValueError, KeyError, TypeError):
        holder = json.loads((folder / HOLDER).read_text("utf-8"))
        who = f" (process {holder['process']} on {holder['host']} since {holder['since']})"
    return InUseError(
        Problem(
            str(folder),
            f"is in use by another server{who}",
            fix="Stop it, or use PostgreSQL: there several servers may share one study.",
        )
    )
