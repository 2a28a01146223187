"""Backups in an object store, S3 and what speaks like it, Google Cloud Storage, Azure: by obstore, an extra."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from beholder.backups.destinations import DestinationAway
from beholder.buckets.connection import BucketError, access_fix, error_words, open_store_of_obstore
from beholder.errors import BackupError, Problem

_CHUNK = 8 << 20


class BucketDestination:
    """A folder of a bucket. A file that is put becomes visible as a whole, or not at all: that is what they promise."""

    def __init__(self, address: str) -> None:
        self.address = address.rstrip("/")
        self._scheme = urlsplit(address).scheme
        self._obstore: Any = None
        self._store: Any
        fix = 'Run `pip install "beholder[buckets]"`; or give a folder, or an address with sftp://.'
        with self._messages("opened"):
            self._obstore, self._store = open_store_of_obstore(self.address, fix=fix)

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
        except BucketError as error:
            raise BackupError(error.problems) from error
        except Exception as error:
            what = f"cannot be {verb} ({error_words(error)})"
            raise DestinationAway(Problem(self.address, what, "", access_fix(self._scheme))) from None
