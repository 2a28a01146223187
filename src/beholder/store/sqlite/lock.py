"""The locks of an embedded store: one process writes, one sends, and a lock is gone when its process dies."""

from __future__ import annotations

import json
import os
import socket
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from beholder.errors import UserError
from beholder.store.rules import in_use
from beholder.store.sqlite.files import unwritable

LOCK, HOLDER = "lock.sqlite", "writer.json"


class Lock:
    """An exclusive lock on a file that SQLite holds for us, the same way on every system."""

    def __init__(
        self,
        folder: Path,
        file: str = LOCK,
        holder: str = HOLDER,
        refusal: Callable[[str, str], UserError] | None = None,
    ) -> None:
        """Take the lock, or raise what is said to others, with where it is and who holds it."""
        self._holder = folder / holder
        try:
            os.close(os.open(folder / file, os.O_RDWR | os.O_CREAT, 0o600))
            self._connection = sqlite3.connect(folder / file, isolation_level=None, check_same_thread=False, timeout=0)
        except (OSError, sqlite3.Error) as error:
            raise unwritable(folder, error) from error
        try:
            self._connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            self._connection.close()
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise unwritable(folder, error) from error
            raise (refusal or in_use)(str(folder), self._who()) from error
        # Who holds the lock stands beside it, because the locked file cannot be read. Only a held lock makes it true.
        since = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
        with suppress(OSError):
            self._holder.write_text(
                json.dumps({"process": os.getpid(), "host": socket.gethostname(), "since": since}), "utf-8"
            )

    def release(self) -> None:
        """Let another process have it."""
        with suppress(OSError):
            self._holder.unlink()
        self._connection.close()

    def _who(self) -> str:
        with suppress(OSError, ValueError, KeyError, TypeError):
            holder = json.loads(self._holder.read_text("utf-8"))
            return f" (process {holder['process']} on {holder['host']} since {holder['since']})"
        return ""
