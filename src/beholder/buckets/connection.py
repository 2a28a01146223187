"""A folder of a bucket (S3 and what speaks like it, Google Cloud Storage, Azure: by obstore, an extra) or of a disk."""

from __future__ import annotations

import contextlib
import os
import re
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, Protocol
from urllib.parse import urlsplit

from beholder.errors import Problem, UserError

CREDENTIALS = {
    "s3": ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION", "AWS_DEFAULT_REGION",
           "AWS_ENDPOINT_URL"),
    "gs": ("GOOGLE_SERVICE_ACCOUNT", "GOOGLE_SERVICE_ACCOUNT_KEY", "GOOGLE_APPLICATION_CREDENTIALS"),
    "az": ("AZURE_STORAGE_ACCOUNT_NAME", "AZURE_STORAGE_ACCOUNT_KEY", "AZURE_STORAGE_SAS_KEY",
           "AZURE_STORAGE_CLIENT_ID", "AZURE_STORAGE_CLIENT_SECRET", "AZURE_STORAGE_TENANT_ID",
           "AZURE_STORAGE_ENDPOINT"),
}  # fmt: skip
"""The variables by which obstore is told who we are, by scheme; a server elsewhere gets those that are set here."""
SIGNING = {
    "s3": (("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"),),
    "gs": (("GOOGLE_SERVICE_ACCOUNT",), ("GOOGLE_SERVICE_ACCOUNT_KEY",), ("GOOGLE_APPLICATION_CREDENTIALS",)),
    "az": (("AZURE_STORAGE_ACCOUNT_NAME", "AZURE_STORAGE_ACCOUNT_KEY"),),
}
"""Which of these are needed, one group or another. Without them obstore would ask the machine on which it runs for its
instance metadata, which somebody else may answer, and whose keys are too short-lived to sign with."""
ENDPOINTS = ("AWS_ENDPOINT_URL", "AZURE_STORAGE_ENDPOINT")
_CHUNK = 8 << 20
_TIMEOUT = timedelta(seconds=60)


class BucketError(UserError):
    """A bucket, what is in it, or what is asked of it, has problems."""


class BucketAway(BucketError):
    """The bucket cannot be reached or written right now; trying again may help."""


class Held(NamedTuple):
    """What a place holds under a key: its size, and how the place marks its contents."""

    size: int
    tag: str


class CopyStore(Protocol):
    """A place for files under plain keys. Every method may raise BucketAway."""

    @property
    def address(self) -> str:
        """What messages call it; no secret is in it."""

    def held(self) -> dict[str, Held]:
        """Return everything that is there as a whole, by key."""

    def put(self, key: str, pieces: Iterator[bytes], content_type: str, *, is_new: bool = False) -> str:
        """Store a file and return its mark; `is_new`: raise FileExistsError where there is one already."""

    def read(self, key: str, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
        """Yield the bytes of a file, piece by piece, or raise FileNotFoundError."""

    def remove(self, keys: Sequence[str]) -> None:
        """Remove files; those that are gone are gone."""


def open_store_of_obstore(address: str, *, fix: str) -> tuple[Any, Any]:
    """Return obstore and the store of an address; raises what obstore raises, and BucketError where it is missing."""
    try:
        import obstore
    except ImportError as error:
        raise BucketError(Problem(address, "needs the package obstore", "", fix)) from error
    parts = urlsplit(address)
    options: dict[str, Any] = {}
    if parts.scheme == "s3" and not os.environ.get("AWS_ENDPOINT_URL") and "." not in parts.netloc:
        # The bucket has a host of its own then, so that our pages may reach this bucket and no other.
        options["virtual_hosted_style_request"] = True
    return obstore, obstore.store.from_url(
        address,
        client_options={
            "connect_timeout": timedelta(seconds=10),
            "timeout": _TIMEOUT,
            # Whoever names such a server means it, such as one in a laboratory.
            "allow_http": any(os.environ.get(name, "").startswith("http://") for name in ENDPOINTS),
        },
        retry_config={"max_retries": 2, "retry_timeout": _TIMEOUT},
        **options,
    )


def error_words(error: Exception) -> str:
    """Return what an object store said, in a few words: never its address with what signs it."""
    text = str(error)
    if code := re.search(r"<Code>(\w+)</Code>", text):
        return code[1]
    if "error sending request" in text or "operation timed out" in text:
        return "it does not answer"
    text = " ".join(re.sub(r"\?\S+", "", text.split("\n\nDebug source")[0]).split())
    return text if len(text) <= 200 else f"{text[:200]}…"


def access_fix(scheme: str) -> str:
    """Return what helps where a bucket refuses."""
    wanted = ", ".join(CREDENTIALS[scheme][:2])
    return f"See that it is there, and that {wanted} are those of somebody who may write to it."


class Bucket:
    """A folder of a bucket. A file that is put becomes visible as a whole, or not at all: that is what they promise."""

    def __init__(self, address: str) -> None:
        self.address = address.rstrip("/")
        self.scheme = urlsplit(address).scheme
        groups = SIGNING[self.scheme]
        if not any(all(os.environ.get(name, "").strip() for name in group) for group in groups):
            names = " or ".join(" and ".join(group) for group in groups)
            fix = f"Set {names} in the environment; the keys of a machine itself (instance metadata) are not asked for."
            raise BucketError(Problem(self.address, "has no keys in the environment", "", fix))
        with self._messages("opened"):
            self._obstore, self._store = open_store_of_obstore(
                self.address, fix='Run `pip install "beholder[buckets]"`.'
            )

    def held(self) -> dict[str, Held]:
        with self._messages("read"):
            return {
                str(one["path"]): Held(int(one["size"]), str(one["e_tag"] or "").strip('"'))
                for page in self._obstore.list(self._store)
                for one in page
                if "/" not in str(one["path"])
            }

    def put(self, key: str, pieces: Iterator[bytes], content_type: str, *, is_new: bool = False) -> str:
        # The same for all, so that no header tells one from another.
        attributes = {"Content-Type": content_type, "Cache-Control": "private, max-age=31536000, immutable"}
        parts: list[bytes] = []
        for piece in pieces:
            parts.append(piece)
            if sum(map(len, parts)) > _CHUNK:
                break
        is_small = sum(map(len, parts)) <= _CHUNK
        with self._messages("written"):
            try:
                done = self._obstore.put(
                    self._store,
                    key,
                    b"".join(parts) if is_small else chain(parts, pieces),
                    attributes=attributes,
                    mode="create" if is_new else "overwrite",
                    use_multipart=not is_small,
                    chunk_size=_CHUNK,
                )
            except self._obstore.exceptions.AlreadyExistsError:
                raise FileExistsError(key) from None
        return str(done["e_tag"] or "").strip('"')

    def read(self, key: str, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
        options = (
            {} if stop is None and not start else {"range": (start, stop) if stop is not None else {"offset": start}}
        )
        with self._messages("read"):
            for block in self._obstore.get(self._store, key, options=options).stream(min_chunk_size=1 << 18):
                yield bytes(block)

    def remove(self, keys: Sequence[str]) -> None:
        with self._messages("written"):
            for key in keys:
                with contextlib.suppress(FileNotFoundError):
                    self._obstore.delete(self._store, key)

    def sign(self, key: str, valid: timedelta) -> str:
        """Return an address by which whoever has it reads one file, for so long. Nothing is asked of the bucket."""
        with self._messages("signed for"):
            return str(self._obstore.sign(self._store, "GET", key, valid))

    @contextlib.contextmanager
    def _messages(self, verb: str) -> Iterator[None]:
        try:
            yield
        except (FileNotFoundError, FileExistsError, BucketError):
            raise
        except Exception as error:
            what = f"cannot be {verb} ({error_words(error)})"
            raise BucketAway(Problem(self.address, what, "", access_fix(self.scheme))) from None


@dataclass(frozen=True)
class DiskFolder:
    """A folder of this disk, all of whose files have one date: a web server in front tells it to whoever asks."""

    folder: Path

    @property
    def address(self) -> str:
        """The folder, as messages call it."""
        return str(self.folder)

    def held(self) -> dict[str, Held]:
        with self._messages("read"):
            if not self.folder.is_dir():
                return {}
            files = [path for path in self.folder.iterdir() if not path.name.startswith(".")]
            return {path.name: Held(path.stat().st_size, "") for path in files}

    def put(self, key: str, pieces: Iterator[bytes], content_type: str, *, is_new: bool = False) -> str:
        part = self.folder / f".{uuid.uuid4().hex}.part"
        with self._messages("written"):
            self.folder.mkdir(parents=True, exist_ok=True)
            try:
                with part.open("wb") as file:
                    file.writelines(pieces)
                os.utime(part, (_ONE_DATE, _ONE_DATE))
                if is_new:
                    os.link(part, self.folder / key)  # fails where there is one, unlike a renaming
                else:
                    part.replace(self.folder / key)
            finally:
                part.unlink(missing_ok=True)
        return ""

    def read(self, key: str, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
        with self._messages("read"), (self.folder / key).open("rb") as file:
            file.seek(start)
            left = None if stop is None else stop - start
            while piece := file.read(_PIECE if left is None else min(_PIECE, left)):
                left = None if left is None else left - len(piece)
                yield piece

    def remove(self, keys: Sequence[str]) -> None:
        with self._messages("written"):
            for key in keys:
                (self.folder / key).unlink(missing_ok=True)

    @contextlib.contextmanager
    def _messages(self, verb: str) -> Iterator[None]:
        try:
            yield
        except (FileNotFoundError, FileExistsError):
            raise
        except OSError as error:
            what = f"cannot be {verb} ({error.strerror or error})"
            fix = "See that the disk is there, has room, and that you may write to it."
            raise BucketAway(Problem(str(self.folder), what, "", fix)) from error


_ONE_DATE = 946_684_800
"""The first second of the year 2000."""
_PIECE = 1 << 18
