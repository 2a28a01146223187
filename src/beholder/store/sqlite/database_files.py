"""The files of an SQLite store: creating, opening, migrating and locking them."""

from __future__ import annotations

import errno
import glob
import json
import os
import secrets
import socket
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from datetime import UTC, datetime
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Literal

from beholder.clock import utc_now
from beholder.errors import Problem, StoreError, UserError, no_answers
from beholder.formats import listed
from beholder.store.contract import Remains, StoreUnavailable
from beholder.store.rules import QUICK_TO_WIPE, check_current, due_migrations, in_use, migrations, sql_statements

FACTS, IDENTITY, LEDGER = "facts.sqlite", "identity.sqlite", "ledger.sqlite"
_UNAVAILABLE = {
    sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_PERM,
}  # fmt: skip


def unavailable(error: BaseException) -> StoreUnavailable | None:
    """Return the error to raise when the disk is at fault, not the request: full, read-only, broken, locked."""
    code = getattr(error, "sqlite_errorcode", None)
    if isinstance(error, sqlite3.Error) and code is not None and (code & 0xFF) in _UNAVAILABLE:
        return StoreUnavailable(str(error))
    return None


class OpenFile:
    """A file as it was when it was opened. After it was deleted or replaced, commits to it would be lost."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._identity = self._file_id()

    def lost(self) -> StoreUnavailable | None:
        """Return the error to raise when the path no longer leads to the open file."""
        if self._identity is not None and self._file_id() == self._identity:
            return None
        return StoreUnavailable(f"{self._path} was deleted or replaced while it was open")

    def _file_id(self) -> tuple[int, int] | None:
        try:
            status = self._path.stat()
        except OSError:
            return None
        # On a file system without inodes they are all 0, and only the existence of the file is compared.
        return status.st_dev, status.st_ino


def make_folder(folder: Path) -> None:
    """Create the folder of a store, for its owner only, or raise StoreError; an existing one gets private files."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for path in exposed_files(folder):
            path.chmod(0o600)
    except OSError as error:
        raise unwritable(folder, error) from error


def exposed_files(folder: Path) -> list[Path]:
    """Return the files of a store that others than their owner may read; none where a system has no such modes."""
    if os.name == "nt":
        return []
    names = (FACTS, IDENTITY, LEDGER, LOCK, HOLDER, SENDER_LOCK, SENDER)
    return [
        path
        for path in sorted(folder.iterdir())
        if path.is_file() and path.name.startswith(names) and path.stat().st_mode & 0o077
    ]


def unwritable(folder: Path, error: Exception) -> StoreError:
    """Return the error of a folder that cannot be written."""
    what = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    is_full = getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_FULL or (
        isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
    )
    fix = "Make room on the disk." if is_full else "Name a folder that you may write to, on a local disk."
    return StoreError(Problem(str(folder), f"cannot be written ({what})", fix=fix))


def connect_write(
    path: Path, schema: str | Traversable, *, journal: Literal["WAL", "DELETE"] = "WAL", timeout: float = 2
) -> sqlite3.Connection:
    """Return a connection that writes durably, after migrating; the file is for its owner only.

    WAL suits one process that writes for long, DELETE several processes that write briefly.
    """
    folder = path.parent
    check_present(path)
    try:
        # SQLite gives its -wal and -shm files the mode of the database, so the mode must be right from the start.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=timeout)
    except (OSError, sqlite3.Error) as error:
        raise unwritable(folder, error) from error
    try:
        for setting in (
            f"journal_mode = {journal}",
            f"synchronous = {'FULL' if journal == 'WAL' else 'EXTRA'}",
            "foreign_keys = ON",
            # Without it INSERT OR REPLACE would delete a fact without firing its trigger.
            "recursive_triggers = ON",
            "secure_delete = ON",
            "wal_autocheckpoint = 4000",
            "journal_size_limit = 67108864",
        ):
            connection.execute(f"PRAGMA {setting}")
        if journal == "WAL" and path.stat().st_size <= QUICK_TO_WIPE:  # the others are opened for each entry
            check_pages(connection, path)
        migrate(connection, str(folder), schema)
    except sqlite3.OperationalError as error:
        connection.close()
        raise unwritable(folder, error) from error
    except sqlite3.DatabaseError as error:
        connection.close()
        raise damaged(path, str(error)) from error
    except BaseException:
        connection.close()
        raise
    return connection


def connect_read(path: Path, schema: str | Traversable) -> sqlite3.Connection:
    """Return a connection that only reads, also while another process writes."""
    check_present(path)
    if not path.is_file():
        raise StoreError(no_answers(str(path.parent)))
    failure: sqlite3.Error | None = None
    # A WAL file needs its -shm file even for reading; in a read-only folder no other process writes.
    for mode in ("mode=ro", "immutable=1"):
        connection = sqlite3.connect(
            f"{path.resolve().as_uri()}?{mode}", uri=True, isolation_level=None, check_same_thread=False, timeout=5
        )
        try:
            check_current(str(path.parent), schema_version(connection), migrations(schema))
        except sqlite3.Error as error:
            connection.close()
            failure = error
            if (path.parent / f"{path.name}-wal").exists():
                break
        except BaseException:
            connection.close()
            raise
        else:
            return connection
    assert failure is not None
    raise damaged(path, str(failure)) from failure


# Damage

_HEADER = b"SQLite format 3\x00"


def check_present(path: Path) -> None:
    """Raise StoreError where a file of facts is gone or empty beside others that are not: nothing begins anew then."""
    if path.name != FACTS or not path.parent.is_dir() or _size(path):
        return
    others = (f"{FACTS}-wal", IDENTITY, LEDGER)
    if there := [name for name in others if _size(path.with_name(name))]:
        what = "is empty (0 bytes)" if path.exists() else "is missing"
        raise StoreError(Problem(str(path), f"{what}, although {listed(there, 'and')} of the same store is there",
                                 fix=backup_advice(path)))  # fmt: skip


def check_pages(connection: sqlite3.Connection, path: Path, *, is_whole: bool = False) -> None:
    """Raise StoreError where pages of a file contradict each other; with `is_whole`, or its indexes the rows."""
    (found,) = connection.execute(f"PRAGMA {'integrity_check' if is_whole else 'quick_check'}(1)").fetchone()
    if found != "ok":
        raise damaged(path, " ".join(str(found).replace("*** in database main ***", "").split()))


def check_file(path: Path, schema: str) -> None:
    """Raise StoreError where a file cannot be read, is damaged anywhere, or has rows whose session is gone."""
    with closing(connect_read(path, schema)) as connection:
        try:
            check_pages(connection, path, is_whole=True)
            orphan = connection.execute("PRAGMA foreign_key_check").fetchone()
        except sqlite3.DatabaseError as error:
            raise damaged(path, str(error)) from error
    if orphan is not None:
        raise damaged(path, f"a row of {orphan[0]} belongs to nothing in {orphan[2]}")


def damaged(path: Path, said: str) -> StoreError:
    """Return the error of a file that cannot be read, or not in full, with what SQLite said."""
    try:
        with path.open("rb") as file:
            is_ours = file.read(len(_HEADER)) == _HEADER
    except OSError:
        is_ours = False
    what = "is damaged" if is_ours else "is not a store of Beholder"
    return StoreError(Problem(str(path), f"{what} ({said})", fix=backup_advice(path)))


def backup_advice(path: Path) -> str:
    """Return which copy to put in the place of a file: the newest one beside it, or in a copy of its folder."""
    aside = "Stop every server, move the file and its -wal aside"
    # A copy of the folder has the beginning of its name; other folders may hold another study.
    folders = path.parent.parent.glob(f"{glob.escape(path.parent.name)}*/{path.name}")
    copies = [one for one in (*path.parent.glob(f"{path.name}*"), *folders)
              if one != path and not one.name.endswith(("-wal", "-shm", "-journal"))]  # fmt: skip
    for copy in sorted(copies, key=lambda one: one.stat().st_mtime, reverse=True):
        if _is_whole(copy):
            at = datetime.fromtimestamp(copy.stat().st_mtime, UTC)
            return f"{aside}, and put {copy}, of {at:%Y-%m-%d %H:%M} UTC, in its place: it is whole."
    return f"{aside}, and put a backup in its place; there is none beside it. Or name another folder."


def _is_whole(path: Path) -> bool:
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?immutable=1", uri=True)) as connection:
            return schema_version(connection) > 0 and connection.execute("PRAGMA quick_check(1)").fetchone() == ("ok",)
    except sqlite3.Error:
        return False


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def schema_version(connection: sqlite3.Connection) -> int:
    """Return the number of the last migration; 0 in a new file."""
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
        return 0
    row = connection.execute("SELECT value FROM meta WHERE name = 'schema_version'").fetchone()
    return int(row[0]) if row else 0


def migrate(connection: sqlite3.Connection, where: str, schema: str | Traversable) -> None:
    """Migrate a file to the newest schema, in one transaction."""
    steps = migrations(schema)
    connection.execute("BEGIN IMMEDIATE")
    try:
        for step in due_migrations(where, schema_version(connection), steps):
            connection.execute("CREATE TABLE IF NOT EXISTS meta (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL)")
            for statement in sql_statements(step.sql):
                connection.execute(statement)
            connection.execute("INSERT OR REPLACE INTO meta VALUES ('schema_version', ?)", (str(step.number),))
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def make_secret(connection: sqlite3.Connection) -> bytes:
    """Return the secret of this store, generated on the first call."""
    connection.execute("INSERT INTO meta VALUES ('secret', ?) ON CONFLICT DO NOTHING", (secrets.token_hex(32),))
    return read_secret(connection)


def replace_secret(connection: sqlite3.Connection, secret: bytes) -> None:
    """Replace the secret of this store."""
    connection.execute("UPDATE meta SET value = ? WHERE name = 'secret'", (secret.hex(),))
    note_erasure(connection)


def read_secret(connection: sqlite3.Connection) -> bytes:
    """Return the secret of this store."""
    row = connection.execute("SELECT value FROM meta WHERE name = 'secret'").fetchone()
    if row is None:
        raise sqlite3.DatabaseError("its secret is missing")
    return bytes.fromhex(row[0])


# Removing the bytes of what was erased

_REWRITE, _LOG = "rewrite", "log"
"""What is still to be done about erased rows, in the table `meta`: rewrite the file, or only empty its log."""
_WAIT_MS = 100
"""How long emptying the log waits for readers; writing waits with it."""


def note_erasure(connection: sqlite3.Connection) -> None:
    """Note that rows were deleted whose bytes have to go from the files, in the transaction that deletes them."""
    connection.execute("INSERT OR REPLACE INTO meta VALUES ('wipe', ?)", (_REWRITE,))


def wipe_due(connection: sqlite3.Connection) -> str:
    """Return what is still to be done about erased rows; empty where nothing is."""
    row = connection.execute("SELECT value FROM meta WHERE name = 'wipe'").fetchone()
    return str(row[0]) if row else ""


def wipe(connection: sqlite3.Connection, path: Path, largest: int | None = None) -> Remains | None:
    """Rewrite a file without what was deleted, and empty its log; return what still holds it up.

    Overwriting deleted rows is not enough: when SQLite rearranges pages it leaves copies of rows in their gaps.
    """
    due, remains = wipe_due(connection), None
    if not due:
        return None
    if due == _REWRITE:
        remains = _rewrite(connection, path, largest)
    (timeout,) = connection.execute("PRAGMA busy_timeout").fetchone()
    connection.execute(f"PRAGMA busy_timeout = {_WAIT_MS}")
    try:
        is_blocked, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except sqlite3.OperationalError as error:  # a full disk
        return Remains(f"{path.name} keeps it in its log ({error})", is_read=False)
    finally:
        connection.execute(f"PRAGMA busy_timeout = {timeout}")
    if is_blocked:
        return Remains(f"{path.name} keeps it in its log while another program reads the file", is_read=True)
    if remains is None:
        connection.execute("DELETE FROM meta WHERE name = 'wipe'")
    return remains


def _rewrite(connection: sqlite3.Connection, path: Path, largest: int | None) -> Remains | None:
    megabytes = path.stat().st_size / 1e6
    if largest is not None and path.stat().st_size > largest:
        words = f"{path.name} ({megabytes:.0f} MB) is rewritten without it when nobody is in the study"
        return Remains(words, is_read=False)
    try:
        connection.execute("VACUUM")
        connection.execute("UPDATE meta SET value = ? WHERE name = 'wipe'", (_LOG,))
    except sqlite3.OperationalError as error:
        words = f"{path.name} cannot be rewritten without it ({error}); that needs {3 * megabytes:.0f} MB of room"
        return Remains(words, is_read=False)
    return None


# Locks

LOCK, HOLDER = "lock.sqlite", "writer.json"
SENDER_LOCK, SENDER = "ledger-lock.sqlite", "sender.json"


class Lock:
    """An exclusive lock, held as an SQLite transaction, so that it works on every system and ends with the process."""

    def __init__(
        self,
        folder: Path,
        file: str = LOCK,
        holder: str = HOLDER,
        refusal: Callable[[str, str], UserError] | None = None,
    ) -> None:
        """Take the lock, or raise `refusal(folder, holder)` while another process holds it."""
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
            raise (refusal or in_use)(str(folder), self._holder_text()) from error
        # The holder is written to another file, because the locked file cannot be read. It is valid only while locked.
        since = f"{utc_now():%Y-%m-%d %H:%M} UTC"
        told = json.dumps({"process": os.getpid(), "host": socket.gethostname(), "since": since})
        with suppress(OSError):
            self._holder.unlink(missing_ok=True)
            with os.fdopen(os.open(self._holder, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as holding:
                holding.write(told)

    def release(self) -> None:
        """Release the lock."""
        with suppress(OSError):
            self._holder.unlink()
        self._connection.close()

    def _holder_text(self) -> str:
        with suppress(OSError, ValueError, KeyError, TypeError):
            holder = json.loads(self._holder.read_text("utf-8"))
            return f" (process {holder['process']} on {holder['host']} since {holder['since']})"
        return ""
