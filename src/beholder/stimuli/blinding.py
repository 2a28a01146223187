"""What one slot of one session gets: the served copy and, behind it, a filler of its own length and bytes.

The filler is legal and means nothing: a `free` box in mp4 (ISO/IEC 14496-12, 8.1.2), a Void element in WebM
(RFC 8794, 11.3.2), the last one in the Segment, whose size is rewritten on the way out. Neither size nor hash tells
two slots apart. Who takes the filler off, or decodes the pictures, can still compare.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from beholder.stimuli.media import served_by_suffix

SHORTEST, LONGEST = 1024, 65536
PIECE = 262144


def _free_box(filler: bytes) -> bytes:
    return (8 + len(filler)).to_bytes(4, "big") + b"free" + filler


def _void_element(filler: bytes) -> bytes:
    # Four bytes of size, marked by the high nibble 0001, whatever the length: the head is always five bytes.
    return b"\xec" + (0x10000000 | len(filler)).to_bytes(4, "big") + filler


_WRAPPERS: Mapping[str, tuple[int, Callable[[bytes], bytes]]] = {"mp4": (8, _free_box), "webm": (5, _void_element)}
"""By format: how many bytes stand before a filler, and how it is wrapped."""


@dataclass(frozen=True)
class Blinded:
    """A served file with its filler; nothing is copied, and a range costs what it holds."""

    path: Path
    content_type: str
    file_size: int
    tail_size: int
    format: str
    key: bytes
    head: bytes = b""
    """Stands in for as many bytes at the start of the file."""

    @property
    def size(self) -> int:
        """How many bytes a browser gets."""
        return self.file_size + self.tail_size

    @cached_property
    def tail(self) -> bytes:
        """What stands behind the file."""
        head, wrap = _WRAPPERS[self.format]
        return wrap(hashlib.shake_256(b"filler:" + self.key).digest(self.tail_size - head))

    def read(self, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
        """Yield the bytes from `start` up to and without `stop`, piece by piece."""
        stop = self.size if stop is None else min(stop, self.size)
        if start < min(stop, len(self.head)):
            yield self.head[start:stop]
            start = min(stop, len(self.head))
        if start < min(stop, self.file_size):
            with self.path.open("rb") as file:
                file.seek(start)
                left = min(stop, self.file_size) - start
                while left > 0:
                    piece = file.read(min(PIECE, left))
                    if not piece:
                        raise OSError(f"{self.path} has become shorter while it was served")
                    left -= len(piece)
                    yield piece
        if start < stop and stop > self.file_size:
            yield self.tail[max(0, start - self.file_size) : stop - self.file_size]


def blind(path: Path, key: bytes) -> Blinded:
    """Return the served file as the slot with this key gets it: the same key, the same bytes."""
    served = served_by_suffix(path.suffix)
    tail = tail_size(path, key)
    start = _longer_segment(path, tail) if served.format == "webm" else b""
    return Blinded(path, served.content_type, path.stat().st_size, tail, served.format, key, start)


def tail_size(path: Path, key: bytes) -> int:
    """Return how many bytes stand behind a served file in the slot with this key; the file is not touched."""
    head, _ = _WRAPPERS[served_by_suffix(path.suffix).format]
    draw = int.from_bytes(hashlib.blake2b(key, digest_size=8, person=b"length").digest(), "big")
    return head + SHORTEST + draw % (LONGEST - SHORTEST + 1)


def _longer_segment(path: Path, more: int) -> bytes:
    """Return the start of a WebM file up to the size of its Segment, with `more` added to that size.

    Empty where the size is unknown or has no room: there the Void stands behind the last element, legal as well.
    """
    with path.open("rb") as file:
        start = file.read(128)
    place = start.find(b"\x18\x53\x80\x67") + 4
    size = int.from_bytes(start[place : place + 8], "big")
    unknown = 0x01FFFFFFFFFFFFFF
    if place < 4 or start[place] != 0x01 or size == unknown:
        return b""
    return start[:place] + (size + more).to_bytes(8, "big")
