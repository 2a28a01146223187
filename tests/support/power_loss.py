"""SQLite on a disk that forgets: what was written and not synced is lost, or torn, when the power goes.

A file system of apsw passes everything on to real files, and keeps beside them what would be on the disk: what was
synced, and of what was written since, at a loss, any part in any order. The store uses the sqlite3 of Python, which
knows another library: so connections of apsw stand in for its own, with the few things that the store asks of one.
"""

from __future__ import annotations

import random
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

import apsw
import pytest

_SECTOR = 512
"""What a disk writes as a whole."""


class _Change(NamedTuple):
    file: str
    offset: int
    data: bytes | None
    """None: the file is cut at the offset."""


class ForgetfulDisk:
    """What is on the disk for sure, and what was written and not synced yet; one that lies syncs nothing."""

    def __init__(self, on_change: Callable[[], None], *, lies: bool = False) -> None:
        self._lies = lies
        self._durable: dict[str, bytearray] = {}
        self._pending: list[_Change] = []
        self._lock = threading.RLock()
        self._on_change = on_change
        self.changes = 0

    def write(self, change: _Change) -> None:
        with self._lock:
            self._pending.append(change)
            self.changes += 1
            self._on_change()

    def sync(self, file: str) -> None:
        with self._lock:
            for change in self._pending if not self._lies else ():
                if change.file == file:
                    _apply(self._durable, change)
            if not self._lies:
                self._pending = [change for change in self._pending if change.file != file]
            self._on_change()

    def delete(self, file: str) -> None:
        with self._lock:
            self._durable.pop(file, None)
            self._pending = [change for change in self._pending if change.file != file]

    def after_power_loss(self, folder: Path, rng: random.Random) -> None:
        """Write the files as they may be after a loss now: synced parts whole, of others some, some of them torn."""
        with self._lock:
            files = {name: bytearray(content) for name, content in self._durable.items()}
            survive = rng.choice((0.0, 0.5, 1.0))
            for change in self._pending:
                if rng.random() < survive:
                    whole = change.data or b""
                    torn = rng.randrange(0, len(whole) + 1, _SECTOR) if whole and rng.random() < 0.3 else len(whole)
                    _apply(files, change._replace(data=None if change.data is None else whole[:torn]))
        folder.mkdir(parents=True)
        for name, content in files.items():
            if name:  # a scratch file of SQLite has none, and nobody looks for it again
                (folder / name).write_bytes(content)


def _apply(files: dict[str, bytearray], change: _Change) -> None:
    content = files.setdefault(change.file, bytearray())
    if change.data is None:
        del content[change.offset :]
        return
    if len(content) < change.offset:
        content.extend(bytes(change.offset - len(content)))
    content[change.offset : change.offset + len(change.data)] = change.data


class _File(apsw.VFSFile):
    def __init__(self, disk: ForgetfulDisk, name: Any, flags: list[int]) -> None:
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        self._disk, self._name = disk, Path(path).name if path else ""
        super().__init__("", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        super().xWrite(data, offset)
        self._disk.write(_Change(self._name, offset, bytes(data)))

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        super().xTruncate(newsize)
        self._disk.write(_Change(self._name, newsize, None))

    def xSync(self, flags: int) -> None:  # noqa: N802
        super().xSync(flags)
        self._disk.sync(self._name)


class _FileSystem(apsw.VFS):
    def __init__(self, name: str, disk: ForgetfulDisk) -> None:
        self._disk = disk
        super().__init__(name, base="")

    def xOpen(self, name: Any, flags: list[int]) -> _File:  # noqa: N802
        return _File(self._disk, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        super().xDelete(filename, syncdir)
        self._disk.delete(Path(filename).name)


class _Cursor:
    """What the store asks of a cursor, by the rows of a statement that has run."""

    def __init__(self, rows: list[tuple[Any, ...]], changed: int, last: int) -> None:
        self._rows, self.rowcount, self.lastrowid = rows, changed, last

    def fetchone(self) -> tuple[Any, ...] | None:
        return self._rows.pop(0) if self._rows else None

    def fetchall(self) -> list[tuple[Any, ...]]:
        rows, self._rows = self._rows, []
        return rows

    def fetchmany(self, size: int = 1) -> list[tuple[Any, ...]]:
        rows, self._rows = self._rows[:size], self._rows[size:]
        return rows

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self.fetchall())


class _Connection:
    """What the store asks of a connection of sqlite3, by one of apsw."""

    def __init__(self, path: str, flags: int, system: str, timeout: float) -> None:
        self._inner = apsw.Connection(path, flags=flags, vfs=system)
        self._inner.set_busy_timeout(round(1000 * timeout))

    @property
    def in_transaction(self) -> bool:
        return bool(self._inner.in_transaction)

    @property
    def total_changes(self) -> int:
        return int(self._inner.total_changes())

    def execute(self, sql: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> _Cursor:
        return self._run(lambda: self._inner.execute(sql, values))

    def executemany(self, sql: str, values: Iterable[Sequence[Any]]) -> _Cursor:
        return self._run(lambda: self._inner.executemany(sql, values))

    def _run(self, work: Callable[[], Any]) -> _Cursor:
        before = self.total_changes
        try:
            rows = list(work())
        except apsw.Error as error:
            kind = sqlite3.IntegrityError if isinstance(error, apsw.ConstraintError) else sqlite3.OperationalError
            raised = kind(str(error))
            raised.sqlite_errorcode = getattr(error, "extendedresult", sqlite3.SQLITE_ERROR)
            raise raised from error
        return _Cursor(rows, self.total_changes - before, int(self._inner.last_insert_rowid()))

    def close(self) -> None:
        self._inner.close()


@contextmanager
def on_forgetful_disk(disk: ForgetfulDisk, folder: Path) -> Iterator[None]:
    """Let SQLite use this disk for the databases of a folder."""
    name = f"forgetful-{id(disk)}"
    system = _FileSystem(name, disk)
    real = sqlite3.connect

    def connect(path: Any, *, uri: bool = False, timeout: float = 5, **more: Any) -> Any:
        text = unquote(urlsplit(str(path)).path) if uri else str(path)
        if not Path(text).is_relative_to(folder) or Path(text).name == "lock.sqlite":
            return real(path, uri=uri, timeout=timeout, **more)
        reads = uri and "mode=ro" in str(path)
        flags = apsw.SQLITE_OPEN_READONLY if reads else apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
        return _Connection(text, flags, name, timeout)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sqlite3, "connect", connect)
        yield
    system.unregister()
