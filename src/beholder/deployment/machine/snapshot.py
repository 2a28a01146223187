"""A consistent copy of an SQLite store while people take part, and the counts by which a copy is held against it."""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from beholder.deployment.machine.places import MachineFault

FILES = ("facts.sqlite", "identity.sqlite", "ledger.sqlite")
"""In this order: whoever is in the facts has come before, so is known to the identities that are copied later."""


def take_snapshot(store: Path, folder: Path) -> list[dict[str, Any]]:
    """Copy every file of a store by SQLite's backup API into an empty folder, and return what each copy holds."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700, parents=True)
    return [_copy(store / name, folder / name) for name in FILES if (store / name).is_file()]


def describe_copies(folder: Path) -> list[dict[str, Any]]:
    """Return what each file of a copy in a folder holds."""
    return [_described(folder / name) for name in FILES if (folder / name).is_file()]


def held_sessions(store: Path) -> int:
    """Return how many sessions a store holds; 0 where there is none."""
    return table_counts(store / FILES[0]).get("sessions", 0) if (store / FILES[0]).is_file() else 0


def _copy(path: Path, copy: Path) -> dict[str, Any]:
    os.close(os.open(copy, os.O_WRONLY | os.O_CREAT, 0o600))
    try:
        with (
            closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=30)) as source,
            closing(sqlite3.connect(copy)) as target,
        ):
            # All pages in one step: a copy in several would begin anew with every answer that is stored in between.
            # Nobody waits for it, as the store writes to a log beside the file.
            source.backup(target)
            # A copy is one file, which needs no log beside it.
            target.execute("PRAGMA journal_mode = DELETE")
    except sqlite3.Error as error:
        fix = "See `beholder deploy logs`; nothing was changed."
        raise MachineFault(str(path), f"cannot be copied ({error})", "", fix) from error
    return _described(copy)


def _described(copy: Path) -> dict[str, Any]:
    return {"name": copy.name, "size": copy.stat().st_size, "sha256": file_hash(copy), "counts": table_counts(copy)}


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def table_counts(path: Path) -> dict[str, int]:
    """Return the number of rows of every table, after checking that the file is whole; else raise MachineFault."""
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            (found,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
            if found != "ok":
                raise MachineFault(str(path), f"is damaged ({found})", "", "`beholder doctor` says what to do.")
            names = [
                name
                for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
                if not name.startswith("sqlite_")
            ]
            # Names come from our own schema.
            return {name: connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in names}
    except sqlite3.Error as error:
        raise MachineFault(str(path), f"cannot be read ({error})", "", "`beholder doctor` says what to do.") from error
