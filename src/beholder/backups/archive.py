"""What one backup is: a manifest and the files of a copy in one archive, and the verification of what comes back."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from beholder.backups.destinations import file_digest
from beholder.backups.encryption import MAGIC, decrypt, encrypt
from beholder.errors import BackupError, Problem, StoreError
from beholder.store.full_copy import FILES, copy_counts, copy_store, store_origin
from beholder.store.open import open_store

FORMAT = 1
_KIND = "beholder backup"
_MANIFEST = "manifest.json"
_LARGEST_MANIFEST = 1 << 20


class PackedFile(NamedTuple):
    """One file of a backup: its size, its SHA-256, and how many rows each of its tables has."""

    size: int
    sha256: str
    counts: Mapping[str, int]


@dataclass(frozen=True)
class Manifest:
    """What a backup holds, as it is written inside it."""

    study: str
    origin: str
    """Which store it is of: what `store_origin` tells."""
    digest: str
    """Of the study text that was current; empty where none was."""
    at: datetime
    """Not later than any fact that is missing in it."""
    software: str
    files: Mapping[str, PackedFile]

    @property
    def counts(self) -> dict[str, dict[str, int]]:
        """The number of rows by file and table."""
        return {name: dict(file.counts) for name, file in self.files.items()}

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        files = {name: file._asdict() for name, file in self.files.items()}
        return {"kind": _KIND, "format": FORMAT, **asdict(self), "at": self.at.isoformat(), "files": files}


def _read_manifest(text: bytes, where: str) -> Manifest:
    try:
        found = json.loads(text)
        if found["kind"] != _KIND:
            raise ValueError
        if found["format"] != FORMAT:
            what = f"has the format {found['format']} of {found['software']}, and this Beholder reads {FORMAT}"
            raise BackupError(Problem(where, what, "", "Restore it with the Beholder that made it, or a later one."))
        files = {name: PackedFile(**file) for name, file in found["files"].items()}
        at = datetime.fromisoformat(found["at"])
        return Manifest(found["study"], found["origin"], found["digest"], at, found["software"], files)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _foreign(where) from error


def _foreign(where: str) -> BackupError:
    fix = "Name the place to which a study of Beholder made its backups."
    return BackupError(Problem(where, "is no backup of Beholder", "", fix))


# Making one


class Packed(NamedTuple):
    """A backup as a file, ready to be sent."""

    file: Path
    manifest: Manifest


def pack_store(
    url: str | Path,
    study: str,
    keys: Sequence[str],
    scratch: Path,
    now: datetime,
) -> Packed:
    """Copy a store, pack it, and encrypt it for some public keys; without keys it stays readable."""
    from beholder.aio import block_on

    copy = scratch / "copy"
    counts = copy_store(url, copy)
    files = {
        name: PackedFile((copy / name).stat().st_size, file_digest(copy / name), tables)
        for name, tables in counts.items()
    }
    digest = block_on(study_digest(copy)) if files else ""
    manifest = Manifest(study, store_origin(copy), digest, now, f"beholder {version('beholder')}", files)
    (copy / _MANIFEST).write_text(json.dumps(manifest.to_json(), indent=1), "utf-8")
    plain = scratch / "backup.tar.gz"
    with tarfile.open(plain, "w:gz", compresslevel=3) as archive:
        for name in (_MANIFEST, *files):
            archive.add(copy / name, name, filter=_without_owner)
            (copy / name).unlink()
    if not keys:
        return Packed(plain, manifest)
    encrypted = scratch / "backup.age"
    encrypt(plain, encrypted, keys)
    plain.unlink()
    return Packed(encrypted, manifest)


def _without_owner(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mode = 0o600
    return member


async def study_digest(store: Path) -> str:
    """Return the digest of the study that a copy holds; empty where none was served yet."""
    async with open_store(store, write=False) as opened:
        record = await opened.current()
        return record.digest if record is not None else ""


# Taking one apart


def unpack(file: Path, folder: Path, identity: Path | None) -> Manifest:
    """Decrypt a backup into an empty folder, and return what it holds, after verifying every part of it.

    Raises BackupError: another key, damaged, cut off, of something else, or not what its manifest says.
    """
    from beholder.aio import block_on

    folder.mkdir(mode=0o700, parents=True)
    plain = file
    with file.open("rb") as beginning:
        is_encrypted = beginning.read(len(MAGIC)) == MAGIC
    if is_encrypted:
        if identity is None:
            raise BackupError(Problem("--identity", "is missing, and the backup is encrypted", "the file of your key"))
        plain = folder / "backup.tar.gz"
        decrypt(file, plain, identity)
    try:
        manifest = _extract(plain, folder, file.name)
    except (tarfile.TarError, EOFError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None and not isinstance(error, EOFError):
            raise
        if not is_encrypted and not _is_compressed(plain):
            raise _foreign(file.name) from error
        raise _damaged(file.name, "it cannot be unpacked") from error
    finally:
        if is_encrypted:
            plain.unlink(missing_ok=True)
    _verify(manifest, folder, file.name)
    if manifest.files and block_on(study_digest(folder)) != manifest.digest:
        raise _damaged(file.name, "it holds another study text than it says")
    return manifest


def _is_compressed(file: Path) -> bool:
    with file.open("rb") as stream:
        return stream.read(2) == b"\x1f\x8b"


def _extract(plain: Path, folder: Path, where: str) -> Manifest:
    manifest: Manifest | None = None
    with tarfile.open(plain, "r:gz") as archive:
        for member in archive:
            source = archive.extractfile(member) if member.isreg() else None
            if source is None or member.name not in (_MANIFEST, *FILES):
                raise _foreign(where)
            if member.name == _MANIFEST:
                manifest = _read_manifest(source.read(_LARGEST_MANIFEST), where)
                continue
            with (folder / member.name).open("xb") as target:
                while block := source.read(1 << 20):
                    target.write(block)
            (folder / member.name).chmod(0o600)
    if manifest is None:
        raise _foreign(where)
    return manifest


def _verify(manifest: Manifest, folder: Path, where: str) -> None:
    """Hold every file against what the manifest says: its bytes, its pages, and the rows of its tables."""
    if {path.name for path in folder.iterdir()} != set(manifest.files):
        raise _damaged(where, "it does not hold the files that it says")
    for name, file in manifest.files.items():
        if (folder / name).stat().st_size != file.size or file_digest(folder / name) != file.sha256:
            raise _damaged(where, f"{name} has other bytes than it says")
    try:
        counts = copy_counts(folder)
    except StoreError as error:
        raise _damaged(where, error.problems[0].what) from error
    if counts != manifest.counts:
        raise _damaged(where, "its tables have other rows than it says")


def _damaged(where: str, why: str) -> BackupError:
    fix = "Take the one before it: `beholder restore … --list` shows them, and --at chooses."
    return BackupError(Problem(where, f"is damaged: {why}", "", fix))
