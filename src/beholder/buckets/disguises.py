"""Disguised copies: the same stimulus as several files of which neither key, size nor bytes tell that they are one.

Keys and fillers are drawn by a secret that lies beside the copies. So every server knows all of them, and what is there
already, by that one file and a list of keys; nothing has to be kept elsewhere, and an upload that was killed goes on.
"""

from __future__ import annotations

import hashlib
import json
import random
import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from beholder.buckets.connection import BucketError, CopyStore
from beholder.errors import Problem
from beholder.methods.contract import Break, Trial
from beholder.stimuli.blinding import MAX_SLOTS, BlindedFile, blind
from beholder.stimuli.catalogue import Catalogue
from beholder.stimuli.media_formats import served_by_suffix
from beholder.study.model import Study

SECRET_FILE = "secret"  # noqa: S105 (the name of a file)
"""What holds the secret, beside the copies: nobody gets an address of it."""
_KEY_BYTES, _FILLER_BYTES = 16, 15


class Copy(NamedTuple):
    """One copy of a stimulus."""

    key: str
    """Its name at its place: drawn, so that it tells nothing."""
    file: BlindedFile

    @property
    def size(self) -> int:
        """How many bytes a browser gets."""
        return self.file.size


@dataclass(frozen=True)
class DisguisedCopies:
    """All copies of the stimuli of a study."""

    by_file: Mapping[tuple[str, int], Sequence[Copy]]
    """By the stripped file, and the size up to which it is filled: stimuli with the same bytes share their copies."""
    of_stimulus: Mapping[str, tuple[str, int]]
    """The file and size of each stimulus."""

    @cached_property
    def by_key(self) -> Mapping[str, Copy]:
        """Every copy, in the random order of their keys, in which they are also uploaded: so dates tell nothing."""
        copies = (copy for group in self.by_file.values() for copy in group)
        return {copy.key: copy for copy in sorted(copies, key=lambda copy: copy.key)}

    @property
    def size(self) -> int:
        """How many bytes they are together."""
        return sum(copy.size for copy in self.by_key.values())

    def draw(self, stimulus: str, digest: bytes, time: int) -> Copy:
        """Return the copy for the `time`-th occurrence of a stimulus's file in a session, from 0.

        `digest` belongs to the session and the file. No copy comes twice before all have come once.
        """
        copies = self.by_file[self.of_stimulus[stimulus]]
        order = random.Random(digest).sample(range(len(copies)), len(copies))  # noqa: S311 (the digest is keyed)
        return copies[order[time % len(order)]]


def disguise(catalogue: Catalogue, secret: bytes, number: int) -> DisguisedCopies:
    """Return `number` copies of every stimulus. When any stimulus changes, all keys do.

    Else files that are added later would be known by their dates.
    """
    of_stimulus = {one.id: (one.served.name, catalogue.class_sizes[one.id]) for one in catalogue.by_id.values()}
    paths = {of_stimulus[one.id]: one.served for one in catalogue.by_id.values()}
    generation = _keyed(secret, "generation", *(f"{name}:{size}" for name, size in sorted(paths))).hex()

    def make(file: tuple[str, int], place: int) -> Copy:
        parts = (file[0], str(file[1]), str(place))
        filler = _keyed(secret, "filler", *parts)[:_FILLER_BYTES] + bytes([place % MAX_SLOTS])
        key = _keyed(secret, "key", generation, *parts)[:_KEY_BYTES].hex()
        return Copy(key, blind(paths[file], filler, file[1]))

    return DisguisedCopies({file: [make(file, place) for place in range(number)] for file in paths}, of_stimulus)


def require_copies(study: Study, copies: DisguisedCopies, lists: Sequence[Sequence[Trial | Break]]) -> None:
    """Raise BucketError where a page would show the same copy twice, because there are too few."""
    assert study.media is not None
    pages = (entry.slots for entries in lists for entry in entries if isinstance(entry, Trial))
    counts = (Counter(copies.of_stimulus[slot.stimulus] for slot in slots) for slots in pages)
    most = max((max(count.values()) for count in counts if count), default=0)
    if most > study.media.copies:
        what = f"is {study.media.copies}, and a page shows the same file {most} times"
        raise BucketError(study.problem("media.copies", what, f"{most} or more"))


def _keyed(secret: bytes, *parts: str) -> bytes:
    return hashlib.blake2b("\x1f".join(parts).encode(), key=secret, digest_size=32).digest()


def is_key(name: str) -> bool:
    """Return whether a name is that of a copy, and not of something else that lies there."""
    return len(name) == 2 * _KEY_BYTES and set(name) <= set("0123456789abcdef")


def content_type(copy: Copy) -> str:
    """Return the type that browsers are told: that of the medium only."""
    return served_by_suffix(copy.file.path.suffix).content_type


# The secret


def read_secret(place: CopyStore, study: Study) -> bytes | None:
    """Return the secret of a place, None where there is none yet; raise BucketError where another study has it."""
    try:
        told = json.loads(b"".join(place.read(SECRET_FILE)))
        secret, owner = bytes.fromhex(told["secret"]), str(told["study"])
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError):
        what = f"holds a file {SECRET_FILE!r} that is not ours"
        raise BucketError(Problem(place.address, what, "", "Name a folder of its own in `media`.")) from None
    if owner != study.name:
        what = f"holds the media of the study {owner}"
        raise BucketError(study.problem("media", what, "a folder of its own", f"Such as {place.address}-{study.name}."))
    return secret


def open_secret(place: CopyStore, study: Study) -> bytes:
    """Return the secret of a place, made where there is none. Of two servers that begin at once one makes it."""
    while (secret := read_secret(place, study)) is None:
        made = json.dumps({"beholder": 1, "study": study.name, "secret": secrets.token_hex(32)}).encode()
        try:
            place.put(SECRET_FILE, iter([made]), "application/json", is_new=True)
        except FileExistsError:
            continue
    return secret
