"""Where backups go: a contract of four verbs, a folder that keeps it, and the destination that an address names."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from beholder.errors import BackupError, Problem
from beholder.study.backup import BUCKETS, PLACE_WORDS, place_faults

PARTIAL = ".partial-"
"""How files begin that are not whole yet: nobody lists them."""


class DestinationAway(BackupError):
    """The place cannot be reached or written right now; trying again may help."""


class Destination(Protocol):
    """A place with files under plain names. Every method may raise DestinationAway."""

    address: str
    """What messages call it; no secret is in it."""

    def names(self) -> list[str]:
        """Return the names of all files that are whole; none where there is no such folder yet."""

    def put(self, name: str, file: Path) -> None:
        """Store a file under a name: afterwards it is there as a whole, or, whatever happens, not at all."""

    def fetch(self, name: str, file: Path) -> None:
        """Write what is stored under a name to a file, or raise FileNotFoundError."""

    def delete(self, name: str) -> None:
        """Remove a file; one that is gone is gone."""


def open_destination(address: str, folder: Path = Path()) -> Destination:
    """Return the destination that an address names; a relative folder is one beside the study in `folder`."""
    if faults := place_faults(address):
        raise BackupError([Problem("backup", one.what, one.allowed, one.fix) for one in faults])
    scheme, separator, _ = address.partition("://")
    if not separator:
        return FolderDestination(folder / Path(address).expanduser())
    if scheme in BUCKETS:
        from beholder.backups.buckets import BucketDestination

        return BucketDestination(address)
    from beholder.backups.sftp import SftpDestination

    assert scheme == "sftp", PLACE_WORDS
    return SftpDestination(address)


def partial_prefix(name: str) -> str:
    """Return how the unfinished files of the same study begin. One process writes at a time: others are left over."""
    return f"{PARTIAL}{name.partition('.')[0]}."


def file_digest(file: Path) -> str:
    """Return the SHA-256 of a file."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def put_verified(destination: Destination, name: str, file: Path, scratch: Path) -> None:
    """Store a file, read it back, and remove it again where it is not the same; `scratch` is a folder for a copy."""
    destination.put(name, file)
    back = scratch / "read-back"
    try:
        destination.fetch(name, back)
        is_same = file_digest(back) == file_digest(file)
    except FileNotFoundError:
        is_same = False
    finally:
        back.unlink(missing_ok=True)
    if not is_same:
        with contextlib.suppress(DestinationAway):
            destination.delete(name)
        what = f"gave back {name} otherwise than it was sent"
        raise DestinationAway(Problem(destination.address, what, "", "It is sent again with the next backup."))


class FolderDestination:
    """A folder: another disk, or one that is mounted from elsewhere."""

    def __init__(self, folder: Path) -> None:
        self._folder, self.address = folder, str(folder)

    def names(self) -> list[str]:
        with self._messages("read"):
            if not self._folder.exists():
                return []
            return sorted(path.name for path in self._folder.iterdir() if not path.name.startswith(PARTIAL))

    def put(self, name: str, file: Path) -> None:
        with self._messages("written"):
            if not self._folder.parent.exists():
                # A disk that is not plugged in: a folder in its place would fill the disk of the answers.
                raise FileNotFoundError(2, f"there is no {self._folder.parent}")
            self._folder.mkdir(mode=0o700, exist_ok=True)
            for left in self._folder.glob(f"{partial_prefix(name)}*"):
                left.unlink(missing_ok=True)
            handle, partial = tempfile.mkstemp(prefix=partial_prefix(name), dir=self._folder)
            try:
                with os.fdopen(handle, "wb") as target, file.open("rb") as source:
                    shutil.copyfileobj(source, target, 1 << 20)
                    target.flush()
                    os.fsync(target.fileno())
                Path(partial).replace(self._folder / name)
            finally:
                Path(partial).unlink(missing_ok=True)

    def fetch(self, name: str, file: Path) -> None:
        path = self._folder / name
        if not path.is_file():
            raise FileNotFoundError(name)
        with self._messages("read"):
            shutil.copyfile(path, file)

    def delete(self, name: str) -> None:
        with self._messages("written"):
            (self._folder / name).unlink(missing_ok=True)

    @contextlib.contextmanager
    def _messages(self, verb: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            what = f"cannot be {verb} ({error.strerror or error})"
            fix = "See that the disk is there, has room, and that you may write to it."
            raise DestinationAway(Problem(self.address, what, "", fix)) from error
