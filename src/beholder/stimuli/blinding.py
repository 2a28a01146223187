"""Blinded files: the served copy and, behind it, a filler whose length and bytes belong to one slot of one session.

Players ignore the filler. It fills a file up to the largest one of its content, as far as
`class_size` goes, and then adds a length that is drawn for the slot: within one content neither size nor hash tells
two slots apart. Who takes the filler off, or decodes the pictures, can still compare.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from pathlib import Path

from beholder.stimuli.media_formats import served_by_suffix

MIN_DRAWN, MAX_DRAWN = 1024, 65536
"""The part of a filler whose length is drawn; its first `SHORTEST` bytes are those of one slot alone."""
MAX_FILL_FACTOR, MAX_FILL_BYTES = 4, 32_000_000
"""A file is filled up to this many times its size, and by this many bytes: people pay for what they download."""
HIDDEN_DIFFERENCE = (MAX_DRAWN - MIN_DRAWN) // 8
"""A difference that the drawn lengths drown: by it, two slots are put into the right order 62 times in 100."""
MAX_SLOTS = 16
"""More slots than a page can have."""
_DRAWN_STEPS = (MAX_DRAWN - MIN_DRAWN) // (2 * MAX_SLOTS)
_CHUNK = 262144
_POOL_BYTES = 1 << 20


def class_size(own: int, largest: int) -> int:
    """Return the size up to which a file of `own` bytes is filled, where the largest of its content has `largest`."""
    # What the drawn part may cost anyway is no cost that counts.
    room = min(MAX_FILL_BYTES, max((MAX_FILL_FACTOR - 1) * own, MAX_DRAWN))
    return min(max(own, largest), own + room)


def drawn_size(key: bytes) -> int:
    """Return how many bytes the slot with this key gets beyond the class of its file.

    Even, as RIFF needs it, and never the same for two keys that end in different bytes below `PLACES`.
    """
    place = key[-1] % MAX_SLOTS if key else 0
    return MIN_DRAWN + 2 * (MAX_SLOTS * (_number(key, b"length") % _DRAWN_STEPS) + place)


@dataclass(frozen=True)
class BlindedFile:
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
    def mark(self) -> bytes:
        """The start of the filler, `SHORTEST` bytes: what makes it legal, then bytes that no other slot has."""
        filler = _FILLERS[self.format]
        start = filler.mark(self.tail_size)
        drawn = hashlib.shake_256(b"filler:" + self.key).digest(MIN_DRAWN - len(start))
        return start + (drawn.translate(_BLANKS) if filler.is_blank else drawn)

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
                    piece = file.read(min(_CHUNK, left))
                    if not piece:
                        raise OSError(f"{self.path} has become shorter while it was served")
                    left -= len(piece)
                    yield piece
        if stop > self.file_size:
            yield from self._filler(max(0, start - self.file_size), stop - self.file_size)

    def read_cached(self, start: int, stop: int) -> bytes | bytearray | None:
        """Return a range if the system has it in memory; None where a disk would have to be waited for.

        Also None on systems that cannot tell.
        """
        if not _CAN_TELL:
            return None
        stop = min(stop, self.size)
        parts: list[bytes | bytearray] = [self.head[start:stop]] if start < len(self.head) else []
        first, last = max(start, len(self.head)), min(stop, self.file_size)
        if first < last:
            found = _read_if_cached(self.path, first, last - first)
            if found is None:
                return None
            parts.append(found)
        if stop > self.file_size:
            parts += self._filler(max(0, start - self.file_size), stop - self.file_size)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _filler(self, start: int, stop: int) -> Iterator[bytes]:
        """Yield a range of the filler: its mark, then the pool, entered at a place of this slot and gone round."""
        if start < min(stop, MIN_DRAWN):
            yield self.mark[start:stop]
            start = min(stop, MIN_DRAWN)
        pool, entry = _pool(_FILLERS[self.format].is_blank), _number(self.key, b"entry")
        while start < stop:
            here = (entry + start) % len(pool)
            piece = pool[here : here + min(_CHUNK, stop - start)]
            start += len(piece)
            yield piece


_CAN_TELL = hasattr(os, "preadv") and hasattr(os, "RWF_NOWAIT")


def _read_if_cached(path: Path, start: int, count: int) -> bytearray | None:
    """Return so many bytes of a file, unless some of them would have to be read from a disk."""
    buffer = bytearray(count)
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            return buffer if os.preadv(file, [buffer], start, os.RWF_NOWAIT) == count else None
        finally:
            os.close(file)
    except OSError:  # also of a file system that cannot tell
        return None


def blind(path: Path, key: bytes, fill_to: int = 0) -> BlindedFile:
    """Return the served file as the slot with this key gets it: the same key, the same bytes.

    `fill_to` is its class: the size up to which it is filled before the drawn part. Its own where that is larger.
    """
    served = served_by_suffix(path.suffix)
    found = path.stat()
    filler = _FILLERS[served.format]
    tail = filler.rounded(max(0, fill_to - found.st_size) + drawn_size(key))
    start = _start(served.format, path, tail, found.st_size, found.st_mtime_ns)
    return BlindedFile(path, served.content_type, found.st_size, tail, served.format, key, start)


@lru_cache(4096)
def _start(name: str, path: Path, more: int, size: int, changed: int) -> bytes:
    """Return the rewritten start of a file, which is read once as long as the file has not changed."""
    return _FILLERS[name].start(path, more)


def _number(key: bytes, what: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(key, digest_size=8, person=what).digest(), "big")


@cache
def _pool(is_blank: bool) -> bytes:
    """Return bytes that look like a compressed stream, or white space, the same in every process, made once."""
    pool = hashlib.shake_256(b"beholder filler").digest(_POOL_BYTES)
    return pool.translate(_BLANKS) if is_blank else pool


# Fillers: bytes that each served format ignores at its end

#
# mp4     a `free` box (ISO/IEC 14496-12, 8.1.2)
# webm    a Void element (RFC 8794, 11.3.2), the last one in the Segment, whose size is rewritten
# wav     a `JUNK` chunk, which RIFF readers skip; the size of the whole is rewritten
# webp    the same: an unknown chunk at the end of the extended form (RFC 9649, 2.7)
# text    white space, which HTML folds away


_BLANKS = bytes(b" \t\n "[byte % 4] for byte in range(256))
"""A table for `bytes.translate` that makes white space of any bytes."""


@dataclass(frozen=True)
class _Filler:
    """How one format is filled."""

    mark: Callable[[int], bytes]
    """The first bytes of a filler of this length."""
    start: Callable[[Path, int], bytes]
    """The first bytes of the file, rewritten for a filler of this length."""
    step: int = 1
    """What the length of a filler has to be a multiple of."""
    is_blank: bool = False
    """Made of white space alone."""

    def rounded(self, length: int) -> int:
        """Return the next length that the format takes."""
        return -(-length // self.step) * self.step


def _no_bytes(path: Path, more: int) -> bytes:
    return b""


def _free_box(length: int) -> bytes:
    return length.to_bytes(4, "big") + b"free"


def _void(length: int) -> bytes:
    # Four bytes of size, marked by the high nibble 0001, whatever the length: the head is always five bytes.
    return b"\xec" + (0x10000000 | (length - 5)).to_bytes(4, "big")


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


def _junk(length: int) -> bytes:
    return b"JUNK" + (length - 8).to_bytes(4, "little")


def _longer_riff(path: Path, more: int) -> bytes:
    """Return the start of a RIFF file up to its size, with `more` added to that size."""
    return b"RIFF" + (path.stat().st_size - 8 + more).to_bytes(4, "little")


_FILLERS: Mapping[str, _Filler] = {
    "mp4": _Filler(_free_box, _no_bytes),
    "webm": _Filler(_void, _longer_segment),
    # Chunks of RIFF begin at even places.
    "wav": _Filler(_junk, _longer_riff, step=2),
    "webp": _Filler(_junk, _longer_riff, step=2),
    "text": _Filler(lambda length: b"\n", _no_bytes, is_blank=True),
}
"""By format."""
