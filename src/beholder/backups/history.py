"""The backups of a study at a destination: their names, what is told of each beside it, and which of them stay."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from beholder.backups.archive import FORMAT, Packed
from beholder.backups.destinations import Destination, file_digest, put_verified
from beholder.backups.seal import fits, seal
from beholder.errors import BackupError, Problem
from beholder.formats import megabytes, plain_count
from beholder.store.full_copy import held

_STAMP = "%Y%m%dT%H%M%S.%fZ"
_NAME = re.compile(
    r"(?P<study>[a-z0-9][a-z0-9_-]*)\.(?P<at>\d{8}T\d{6}\.\d{6}Z)\.(?P<origin>o[0-9a-f]{7})\.(?P<end>.+)"
)
_ENCRYPTED, _PLAIN, _NOTE = "tar.gz.age", "tar.gz", "json"
_KIND = "note of a beholder backup"
_ABANDONED = timedelta(days=1)
"""After so long a file without its note belongs to a process that died while it made it."""


@dataclass(frozen=True)
class BackupNote:
    """What is told of a backup beside it, without its key: it is written last, so that a backup with one is whole."""

    file: str
    study: str
    origin: str
    """Of which store: one that was begun anew has another, and neither takes the place of the other."""
    at: datetime
    size: int
    sha256: str
    sessions: int
    answers: int
    digest: str
    software: str
    keys: tuple[str, ...]
    """For whom it is encrypted; nobody where it is not."""
    erasures: int
    """How many erasures the list beside it named by then."""
    seals: Mapping[str, str] = field(default_factory=dict)
    """By public key, the seal of everything else here; without one, anybody could have written it."""

    @property
    def name(self) -> str:
        """The name of the note."""
        return f"{self.file.removesuffix(_ENCRYPTED).removesuffix(_PLAIN)}{_NOTE}"

    @property
    def words(self) -> str:
        """It in a line."""
        answers = f"{plain_count(self.sessions, 'session')}, {plain_count(self.answers, 'answer')}"
        return f"{self.at:%Y-%m-%d %H:%M:%S} UTC, {megabytes(self.size)}, {answers}"

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {**self.facts, "seals": dict(self.seals)}

    @property
    def facts(self) -> dict[str, Any]:
        """What is sealed: everything but the seals."""
        facts = {"kind": _KIND, "format": FORMAT, **asdict(self), "at": self.at.isoformat(), "keys": list(self.keys)}
        del facts["seals"]
        return facts

    def sealed(self, keys: Mapping[str, bytes]) -> BackupNote:
        """Return it sealed with some keys."""
        return replace(self, seals={public: seal(self.facts, key) for public, key in sorted(keys.items())})

    def is_sealed(self, keys: Mapping[str, bytes]) -> bool:
        """Return whether it was sealed with one of these keys, and is as it was then."""
        return fits(self.facts, self.seals, keys)


def store_backup(
    destination: Destination,
    packed: Packed,
    keys: Sequence[str],
    erasures: int,
    scratch: Path,
    seal_keys: Mapping[str, bytes] | None = None,
) -> BackupNote:
    """Store a backup and verify it, then its note: until that is there, nobody sees the backup."""
    manifest = packed.manifest
    stamp = manifest.at.astimezone(UTC).strftime(_STAMP)
    file = f"{manifest.study}.{stamp}.{manifest.origin}.{_ENCRYPTED if keys else _PLAIN}"
    note = BackupNote(
        file, manifest.study, manifest.origin, manifest.at, packed.file.stat().st_size, file_digest(packed.file),
        held(manifest.counts, "sessions"), held(manifest.counts, "answers"), manifest.digest, manifest.software,
        tuple(keys), erasures,
    ).sealed(seal_keys or {})  # fmt: skip
    put_verified(destination, file, packed.file, scratch)
    text = scratch / "note.json"
    text.write_text(json.dumps(note.to_json(), indent=1), "utf-8")
    put_verified(destination, note.name, text, scratch)
    return note


def read_history(destination: Destination, study: str | None = None) -> list[BackupNote]:
    """Return all backups of a study that are whole, oldest first; raise BackupError where there are several studies.

    A note that cannot be read is left out, as is one whose backup is gone.
    """
    names = set(destination.names())
    notes: list[BackupNote] = []
    with tempfile.TemporaryDirectory(prefix="beholder-notes-") as folder:
        for name in sorted(names):
            match = _NAME.fullmatch(name)
            if match is None or match["end"] != _NOTE or (study is not None and match["study"] != study):
                continue
            note = _read_note(destination, name, Path(folder) / "note.json")
            if note is not None and note.name == name and note.file in names:
                notes.append(note)
    if study is None and len(found := sorted({note.study for note in notes})) > 1:
        fix = "Restore into the folder of the study, whose study.yaml says which: `beholder restore PLACE FOLDER`."
        raise BackupError(Problem(destination.address, f"holds backups of {', '.join(found)}", "one study", fix))
    return sorted(notes, key=lambda note: (note.at, note.file))


def _read_note(destination: Destination, name: str, file: Path) -> BackupNote | None:
    try:
        destination.fetch(name, file)
        found = json.loads(file.read_bytes())
        kind, _, at, keys = found.pop("kind"), found.pop("format"), found.pop("at"), found.pop("keys")
        note = BackupNote(**found, at=datetime.fromisoformat(at), keys=tuple(keys))
        if not all(isinstance(one, str) for one in note.seals.values()):
            return None
        # Only names of ours are fetched: a note that leads elsewhere is none.
        return note if kind == _KIND and _NAME.fullmatch(note.file) else None
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError):
        return None


# Which of them stay


def kept(times: Iterable[datetime], now: datetime, keep: timedelta) -> set[datetime]:
    """Return which backups stay: all of the last hour, the newest of each hour of the last day, then of each day.

    None is older than `keep`, except the newest of all, which stays however old it is. Hours and days are those of UTC,
    so that what is kept today does not depend on when it was last pruned.
    """
    ordered = sorted(times, reverse=True)
    stay: set[datetime] = set(ordered[:1])
    spans: set[str] = set()
    for at in ordered:
        age, hour = now - at, at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
        if age <= timedelta(hours=1):
            stay.add(at)
            continue
        if age > keep:
            break
        # By its hour, not by its age: else two of one hour would fall into an hour and a day.
        span = f"{hour:%Y-%m-%d %H}" if now - hour <= timedelta(days=1) else f"{hour:%Y-%m-%d}"
        if span not in spans:
            spans.add(span)
            stay.add(at)
    return stay


def prune(destination: Destination, study: str, now: datetime, keep: timedelta) -> list[str]:
    """Remove the backups of a study that the rule does not keep, and what killed processes have left; return them.

    The note goes first, so that nobody takes a backup that is about to go.
    """
    history = read_history(destination, study)
    by_origin: dict[str, set[datetime]] = {}
    for note in history:
        by_origin.setdefault(note.origin, set()).add(note.at)
    stay = {origin: kept(times, now, keep) for origin, times in by_origin.items()}
    removed: list[str] = []
    for note in history:
        if note.at not in stay[note.origin]:
            destination.delete(note.name)
            destination.delete(note.file)
            removed.append(note.file)
    known = {note.file for note in history}
    for name in destination.names():
        match = _NAME.fullmatch(name)
        if match is None or match["study"] != study or name in known or match["end"] == _NOTE:
            continue
        at = datetime.strptime(match["at"], _STAMP).replace(tzinfo=UTC)
        if now - at > _ABANDONED:
            destination.delete(name)
            removed.append(name)
    return removed


def fetch_backup(destination: Destination, note: BackupNote, file: Path) -> None:
    """Fetch a backup, and hold its bytes against its note; raise BackupError where they differ."""
    fix = "Take the one before it: `beholder restore … --list` shows them, and --at chooses."
    try:
        destination.fetch(note.file, file)
    except FileNotFoundError as error:
        raise BackupError(Problem(note.file, f"is gone from {destination.address}", "", fix)) from error
    size = file.stat().st_size
    if size < note.size:
        what = f"is cut off: {size} of {note.size} bytes are there"
        raise BackupError(Problem(note.file, what, "", fix))
    if size != note.size or file_digest(file) != note.sha256:
        raise BackupError(Problem(note.file, "is damaged: it has other bytes than when it was made", "", fix))
