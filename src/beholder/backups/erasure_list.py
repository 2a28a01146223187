"""The list of erasures beside the backups: who was erased does not come back by a restore.

It holds salted digests of sessions and nothing that can be read. A store knows its own erasures, and the list is
brought up to date from it with every backup: what could not be sent waits in the store, and is sent later. Each
version of the list is a file of its own, which holds everything of those before it; so two processes that write at
once lose nothing.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from beholder.backups.destinations import Destination, put_verified
from beholder.errors import BackupError, Problem
from beholder.store.open import read_tables

_KIND = "beholder erasures"
_NAME = re.compile(r"(?P<study>[a-z0-9][a-z0-9_-]*)\.erasures\.[0-9a-f]{16}\.json")


@dataclass(frozen=True)
class StoreErasures:
    """What was erased from a store: sessions, and when every identity was."""

    sessions: frozenset[str]
    purged_at: datetime | None

    @property
    def count(self) -> int:
        """How many erasures there were; a purge is one."""
        return len(self.sessions) + (self.purged_at is not None)

    def __or__(self, other: StoreErasures) -> StoreErasures:
        purges = [at for at in (self.purged_at, other.purged_at) if at is not None]
        return StoreErasures(self.sessions | other.sessions, max(purges, default=None))


def store_erasures(url: str | Path) -> StoreErasures:
    """Return what was erased from a store, and what is planned to be: a crash in between changes nothing."""
    tables = read_tables(url, ("erasures", "ledger"))
    planned = {row["session"] for row in tables["ledger"] if row["kind"] == "forget"}
    purges = [row["at"] for row in tables["ledger"] if row["kind"] == "purge" and row["reason_code"] == "identity"]
    sessions = {str(row["session"]) for row in tables["erasures"]} | planned
    return StoreErasures(frozenset(sessions - {""}), max(purges, default=None))


@dataclass(frozen=True)
class ErasureList:
    """Salted digests of the sessions that were erased, by salt; and when identities were last purged."""

    digests: Mapping[str, frozenset[str]]
    purged_at: datetime | None = None

    @property
    def size(self) -> int:
        """How many sessions it names."""
        return sum(len(group) for group in self.digests.values())

    def names(self, session: str) -> bool:
        """Return whether a session is on it."""
        return any(_digest(salt, session) in group for salt, group in self.digests.items())

    def missing(self, erased: StoreErasures) -> StoreErasures:
        """Return what was erased and is not on it."""
        sessions = frozenset(session for session in erased.sessions if not self.names(session))
        is_later = erased.purged_at is not None and (self.purged_at is None or erased.purged_at > self.purged_at)
        return StoreErasures(sessions, erased.purged_at if is_later else None)

    def with_erasures(self, erased: StoreErasures) -> ErasureList:
        """Return the list with these on it."""
        new = self.missing(erased)
        salt = next(iter(self.digests), None) or secrets.token_hex(16)
        group = self.digests.get(salt, frozenset()) | {_digest(salt, session) for session in new.sessions}
        digests = {**self.digests, **({salt: group} if group else {})}
        return ErasureList(digests, new.purged_at or self.purged_at)

    def __or__(self, other: ErasureList) -> ErasureList:
        salts = {*self.digests, *other.digests}
        digests = {salt: self.digests.get(salt, frozenset()) | other.digests.get(salt, frozenset()) for salt in salts}
        purges = [at for at in (self.purged_at, other.purged_at) if at is not None]
        return ErasureList(digests, max(purges, default=None))

    def to_json(self, study: str) -> dict[str, Any]:
        """Return it as JSON, the same for the same list."""
        digests = {salt: sorted(group) for salt, group in sorted(self.digests.items())}
        at = self.purged_at.isoformat() if self.purged_at else None
        return {"kind": _KIND, "study": study, "identities_purged_at": at, "sessions": digests}


def _digest(salt: str, session: str) -> str:
    return hmac.new(bytes.fromhex(salt), session.encode(), hashlib.sha256).hexdigest()


def read_list(destination: Destination, study: str, scratch: Path) -> ErasureList:
    """Return the list at a destination, with all that any version names; raise BackupError where one is damaged."""
    found, _ = _read_versions(destination, study, scratch)
    return found


def _read_versions(destination: Destination, study: str, scratch: Path) -> tuple[ErasureList, list[str]]:
    names = [name for name in destination.names() if (match := _NAME.fullmatch(name)) and match["study"] == study]
    whole = ErasureList({})
    for name in names:
        file = scratch / "erasures.json"
        try:
            destination.fetch(name, file)
        except FileNotFoundError:  # another process has put a later version in its place
            return _read_versions(destination, study, scratch)
        whole |= _parse(file.read_bytes(), f"{destination.address}/{name}", study)
    return whole, names


def _parse(text: bytes, where: str, study: str) -> ErasureList:
    try:
        found = json.loads(text)
        if found["kind"] != _KIND or found["study"] != study:
            raise ValueError
        purged = found["identities_purged_at"]
        digests = {str(bytes.fromhex(salt).hex()): frozenset(group) for salt, group in found["sessions"].items()}
        return ErasureList(digests, datetime.fromisoformat(purged) if purged else None)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        what = "is damaged: it names who was erased and must not come back"
        fix = "Put a copy of it in its place; a server that still runs writes one with its next backup."
        raise BackupError(Problem(where, what, "", fix)) from error


def update_list(destination: Destination, study: str, erased: StoreErasures, scratch: Path) -> ErasureList:
    """Let the list at a destination name everything that was erased; return it.

    A damaged version is replaced by what the store knows, and stays beside it for a person to look at.
    """
    try:
        present, names = _read_versions(destination, study, scratch)
    except BackupError as error:
        if type(error) is not BackupError:  # the destination is away
            raise
        present, names = ErasureList({}), []
    new = present.with_erasures(erased)
    if new == present and len(names) <= 1:
        return present
    text = json.dumps(new.to_json(study), indent=1).encode()
    name = f"{study}.erasures.{hashlib.sha256(text).hexdigest()[:16]}.json"
    file = scratch / "new-erasures.json"
    file.write_bytes(text)
    put_verified(destination, name, file, scratch)
    for older in names:
        if older != name:
            destination.delete(older)
    return new


def erased_among(sessions: Iterable[str], listed: ErasureList, known: Sequence[StoreErasures] = ()) -> list[str]:
    """Return those sessions that are on a list, or that a store knows as erased."""
    gone = frozenset[str]().union(*(one.sessions for one in known))
    return [session for session in sessions if session in gone or listed.names(session)]
