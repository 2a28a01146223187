"""Backups in an object store, S3 and what speaks like it, Google Cloud Storage, Azure: by obstore, an extra."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from beholder.backups.destinations import DestinationAway
from beholder.errors import BackupError, Problem

CREDENTIALS = {
    "s3": ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION", "AWS_DEFAULT_REGION",
           "AWS_ENDPOINT_URL"),
    "gs": ("GOOGLE_SERVICE_ACCOUNT", "GOOGLE_SERVICE_ACCOUNT_KEY", "GOOGLE_APPLICATION_CREDENTIALS"),
    "az": ("AZURE_STORAGE_ACCOUNT_NAME", "AZURE_STORAGE_ACCOUNT_KEY", "AZURE_STORAGE_SAS_KEY",
           "AZURE_STORAGE_CLIENT_ID", "AZURE_STORAGE_CLIENT_SECRET", "AZURE_STORAGE_TENANT_ID"),
}  # fmt: skip
"""The variables by which obstore is told who we are, by scheme; a server elsewhere gets those that are set here."""
_CHUNK = 8 << 20
_TIMEOUT = timedelta(seconds=60)


class BucketDestination:
    """A folder of a bucket. A file that is put becomes visible as a whole, or not at all: that is what they promise."""

    def __init__(self, address: str) -> None:
        self.address = address.rstrip("/")
        self._scheme = urlsplit(address).scheme
        try:
            import obstore
        except ImportError as error:
            fix = 'Run `pip install "beholder[buckets]"`; or give a folder, or an address with sftp://.'
            raise BackupError(Problem(self.address, "needs the package obstore", "", fix)) from error
        self._obstore: Any = obstore
        with self._messages("opened"):
            self._store: Any = obstore.store.from_url(
                self.address,
                client_options={
                    "connect_timeout": timedelta(seconds=10),
                    "timeout": _TIMEOUT,
                    # Whoever names such a server means it, such as one in a laboratory: what goes there is encrypted.
                    "allow_http": os.environ.get("AWS_ENDPOINT_URL", "").startswith("http://"),
                },
                retry_config={"max_retries": 2, "retry_timeout": _TIMEOUT},
            )

    def names(self) -> list[str]:
        with self._messages("read"):
            return sorted(
                str(one["path"])
                for page in self._obstore.list(self._store)
                for one in page
                if "/" not in str(one["path"])
            )

    def put(self, name: str, file: Path) -> None:
        with self._messages("written"):
            self._obstore.put(self._store, name, file, chunk_size=_CHUNK)

    def fetch(self, name: str, file: Path) -> None:
        with self._messages("read"), file.open("wb") as target:
            for block in self._obstore.get(self._store, name).stream(min_chunk_size=1 << 20):
                target.write(block)

    def delete(self, name: str) -> None:
        with self._messages("written"), contextlib.suppress(FileNotFoundError):
            self._obstore.delete(self._store, name)

    @contextlib.contextmanager
    def _messages(self, verb: str) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError:
            raise
        except (PermissionError, self._obstore.exceptions.BaseError, OSError, ValueError) as error:
            wanted = ", ".join(CREDENTIALS[self._scheme][:2])
            fix = f"See that it is there, and that {wanted} are those of somebody who may write to it."
            raise DestinationAway(Problem(self.address, f"cannot be {verb} ({_words(error)})", "", fix)) from None


def _words(error: Exception) -> str:
    """Return what an object store said, in a few words: never its address with what signs it."""
    text = str(error)
    if code := re.search(r"<Code>(\w+)</Code>", text):
        return code[1]
    if "error sending request" in text or "operation timed out" in text:
        return "it does not answer"
    text = " ".join(re.sub(r"\?\S+", "", text.split("\n\nDebug source")[0]).split())
    return text if len(text) <= 200 else f"{text[:200]}…"
