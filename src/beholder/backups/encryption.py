"""Encryption of backups for the key of a researcher, in the age format; whoever makes them cannot read them.

The public half of a key, `age1…`, encrypts, and may be known to everybody. The other half, the identity, is a file that
stays at home.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

from beholder.clock import utc_now
from beholder.errors import BackupError, Problem
from beholder.study.backup import KEY_WORDS

_BEGINNING = "AGE-SECRET-KEY-1"
MAGIC = b"age-encryption.org/v1"
"""How every file in the age format begins."""


def default_identity() -> Path:
    """Return where the key of this researcher is kept, if nothing else is said."""
    folder = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(folder) / "beholder" / "backup.key"


class KeyPair(NamedTuple):
    """A key: the file of its identity, and its public half."""

    file: Path
    public: str
    is_new: bool


def make_key(file: Path) -> KeyPair:
    """Make a key, for its owner alone; one that is there already is kept, and its public half returned."""
    if file.exists():
        return KeyPair(file, public_key(file), is_new=False)
    from pyrage import x25519

    identity = x25519.Identity.generate()
    public = str(identity.to_public())
    text = f"# created: {utc_now():%Y-%m-%dT%H:%M:%SZ}\n# public key: {public}\n{identity}\n"
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as target:
            target.write(text)
            target.flush()
            os.fsync(target.fileno())
    except OSError as error:
        what = f"cannot be written ({error.strerror})"
        raise BackupError(Problem(str(file), what, "", "Name another file.")) from error
    return KeyPair(file, public, is_new=True)


def public_key(file: Path) -> str:
    """Return the public half of the key in a file, or raise BackupError."""
    return str(_identities(file)[0].to_public())


def secret_halves(file: Path) -> dict[str, str]:
    """Return the secret halves of the keys in a file by their public halves, or raise BackupError."""
    return {str(key.to_public()): str(key) for key in _identities(file)}


def _identities(file: Path) -> list[Any]:
    from pyrage import IdentityError, x25519

    fix = "It is the file that `beholder backup key` has made; name it with --identity."
    try:
        lines = file.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        said = getattr(error, "strerror", None) or "it is no text"
        raise BackupError(Problem(str(file), f"cannot be read ({said})", "", fix)) from error
    keys = [line.strip() for line in lines if line.strip().startswith(_BEGINNING)]
    try:
        found = [x25519.Identity.from_str(key) for key in keys]
    except IdentityError:
        found = []
    if not found:
        raise BackupError(Problem(str(file), "holds no key", f"a line that begins with {_BEGINNING}", fix))
    return found


def recipients(keys: Sequence[str]) -> list[Any]:
    """Return the public keys, read; raise BackupError with all that are none."""
    from pyrage import RecipientError, x25519

    found, problems = [], []
    for key in keys:
        try:
            found.append(x25519.Recipient.from_str(key))
        except RecipientError:
            fix = "A letter of it is wrong, or missing: `beholder backup key` prints it again."
            problems.append(Problem("backup.key", f"is {key[:80]}", KEY_WORDS, fix))
    if problems:
        raise BackupError(problems)
    return found


class _Target:
    """A file that remembers why it could not be written: the library ends without a word where the last write fails."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.error: BaseException | None = None

    def write(self, data: bytes) -> int:
        try:
            return self._file.write(data)
        except BaseException as error:
            self.error = error
            raise

    def flush(self) -> None:
        try:
            self._file.flush()
        except OSError as error:
            self.error = error
            raise


@contextlib.contextmanager
def _writing(path: Path) -> Iterator[_Target]:
    with path.open("wb") as file:
        target = _Target(file)
        try:
            yield target
        except BaseException:
            if target.error is not None:
                raise target.error from None
            raise
        if target.error is not None:
            raise target.error


def encrypt(plain: Path, encrypted: Path, keys: Sequence[str]) -> None:
    """Write a file encrypted for some public keys."""
    import pyrage

    for_whom = recipients(keys)
    with plain.open("rb") as source, _writing(encrypted) as target:
        pyrage.encrypt_io(source, target, for_whom)


def decrypt(encrypted: Path, plain: Path, identity: Path) -> None:
    """Write a file decrypted with the key of a file, or raise BackupError: another key, damaged, cut off."""
    import pyrage

    keys = _identities(identity)
    with encrypted.open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            raise BackupError(Problem(encrypted.name, "is no backup in the age format", "", _ANOTHER))
    try:
        with encrypted.open("rb") as source, _writing(plain) as target:
            pyrage.decrypt_io(source, target, keys)
    except pyrage.DecryptError as error:
        if "No matching keys" in str(error):
            public = ", ".join(str(key.to_public()) for key in keys)
            fix = "Name the file with the other half of the key for which it was made: --identity."
            what = f"is encrypted for another key than {identity} ({public})"
            raise BackupError(Problem(encrypted.name, what, "", fix)) from None
        raise BackupError(Problem(encrypted.name, "is damaged or cut off", "", _ANOTHER)) from None
    except OSError as error:
        if error.errno is not None:  # the disk here
            raise
        raise BackupError(Problem(encrypted.name, "is damaged or cut off", "", _ANOTHER)) from None


_ANOTHER = "Take the one before it: `beholder restore … --list` shows them, and --at chooses."
