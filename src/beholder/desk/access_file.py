"""The file of a desk: who may log in, and who has; for its owner alone, and apart from the facts of every study.

Secrets, such as links, sessions and tokens, are kept as digests: whoever reads the file cannot log in with what it
holds. Every look-up reads the file, so that what is revoked by a command, or on another desk, is revoked at once.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from beholder.clock import utc_now
from beholder.errors import Problem, UserError

_VERSION = 1
_SCHEMA = """
create table accounts (
  name text primary key, role text not null, password text, studies text, made_at text not null
) strict;
create table links (
  digest text primary key, name text not null, role text not null, ends_at text not null
) strict;
create table sessions (
  id text primary key, digest text not null unique, kind text not null, name text not null, role text not null,
  scopes text, studies text, share text, begun_at text not null, seen_at text not null, ends_at text not null,
  browser text not null
) strict;
create table shares (
  id text primary key, digest text not null unique, label text not null, scopes text not null, studies text not null,
  study text not null, blinded integer not null, made_by text not null, made_at text not null, ends_at text not null,
  revoked_at text
) strict;
create table tokens (
  id text primary key, digest text not null unique, label text not null, role text not null, scopes text not null,
  studies text, made_by text not null, made_at text not null, ends_at text not null, used_at text, revoked_at text
) strict;
create table desks (
  address text primary key, process integer not null, studies text not null, begun_at text not null
) strict;
"""


def default_access_file() -> Path:
    """Return where the accounts of this researcher's desks are kept, if nothing else is said."""
    if named := os.environ.get("BEHOLDER_ACCOUNTS"):
        return Path(named)
    folder = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(folder) / "beholder" / "desk.sqlite"


class AccessFile:
    """An open file of accounts, links, sessions, shares and tokens, and the clock by which they end."""

    def __init__(self, path: Path, now: Callable[[], datetime] = utc_now) -> None:
        self.path, self.now = path, now
        self._connection = _connect(path)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def rows(self, query: str, *values: object) -> list[dict[str, Any]]:
        """Return the rows of a query."""
        return [dict(row) for row in self._connection.execute(query, values)]

    def row(self, query: str, *values: object) -> dict[str, Any] | None:
        """Return the first row of a query; None where there is none."""
        return next(iter(self.rows(query, *values)), None)

    def write(self, statement: str, *values: object) -> int:
        """Run one statement, durably; return how many rows it changed."""
        return self._connection.execute(statement, values).rowcount

    def insert(self, table: str, **values: object) -> None:
        """Insert one row, durably."""
        names, marks = ", ".join(values), ", ".join("?" for _ in values)
        statement = f"insert into {table} ({names}) values ({marks})"  # noqa: S608 - names of ours, not values
        self._connection.execute(statement, tuple(values.values()))

    @property
    def at(self) -> str:
        """The time now, as it is kept: texts of times in UTC are in the order of the times."""
        return stored_time(self.now())


def stored_time(at: datetime) -> str:
    """Return a time as it is kept."""
    return at.isoformat(timespec="microseconds")


def digest(secret: str) -> str:
    """Return what is kept of a secret."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def new_secret() -> str:
    """Return a secret that nobody can guess."""
    return secrets.token_urlsafe(32)


def new_id() -> str:
    """Return a short id by which something is listed and revoked; it opens nothing."""
    return secrets.token_hex(4)


def as_list(values: Iterable[str] | None) -> str | None:
    """Return texts as they are kept; None, for all, stays None."""
    return None if values is None else json.dumps(sorted(values))


def from_list(text: str | None) -> frozenset[str] | None:
    """Return kept texts; None for all."""
    return None if text is None else frozenset(json.loads(text))


def _connect(path: Path) -> sqlite3.Connection:
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):  # made by us, so that nobody else ever could open it
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        if os.name == "posix":
            _require_private(path)
        connection = sqlite3.connect(path, timeout=10, isolation_level=None, check_same_thread=False)
        connection.row_factory = sqlite3.Row
        with _transaction(connection):
            version = connection.execute("pragma user_version").fetchone()[0]
            if version == 0:
                for statement in _SCHEMA.split(";"):
                    connection.execute(statement)
                connection.execute(f"pragma user_version = {_VERSION}")
    except OSError as error:
        what = f"cannot be opened ({error.strerror})"
        raise UserError(Problem(str(path), what, "a file of your own", "Name another one with --accounts.")) from None
    except sqlite3.DatabaseError as error:
        what = f"holds no accounts of a desk ({error})"
        raise UserError(Problem(str(path), what, "", "Name another file with --accounts.")) from None
    if version > _VERSION:
        connection.close()
        raise UserError(Problem(str(path), "is of a newer Beholder", "", "Update Beholder, or name another file."))
    return connection


def _require_private(path: Path) -> None:
    """Raise UserError where others may read the file."""
    if path.stat().st_mode & 0o077:
        fix = f"Run `chmod 600 {path}`; if others could read it, make passwords and tokens anew."
        raise UserError(Problem(str(path), "can be read by others", "a file for its owner alone", fix))


@contextlib.contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("begin immediate")
    try:
        yield
    except BaseException:
        connection.execute("rollback")
        raise
    connection.execute("commit")


# The desks that run


def note_desk(file: AccessFile, address: str, studies: Mapping[str, str]) -> None:
    """Note that a desk runs at an address, with the files of its studies by their keys."""
    file.write("delete from desks where address = ?", address)
    file.insert("desks", address=address, process=os.getpid(), studies=json.dumps(dict(studies)), begun_at=file.at)


def drop_desk(file: AccessFile, address: str) -> None:
    """Note that a desk runs no more."""
    file.write("delete from desks where address = ? and process = ?", address, os.getpid())


def noted_desks(file: AccessFile) -> list[tuple[str, Mapping[str, str]]]:
    """Return address and studies of the desks that run, or that ended without a word; the newest first."""
    found = file.rows("select address, studies from desks order by begun_at desc")
    return [(row["address"], json.loads(row["studies"])) for row in found]
