"""Bytes that mean nothing, legally: how each served format takes them at its end.

mp4     a `free` box (ISO/IEC 14496-12, 8.1.2)
webm    a Void element (RFC 8794, 11.3.2), the last one in the Segment, whose size is rewritten
wav     a `JUNK` chunk, which RIFF readers skip; the size of the whole is rewritten
webp    the same: an unknown chunk at the end of the extended form (RFC 9649, 2.7)
text    white space, which HTML folds away
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

BLANKS = bytes(b" \t\n "[byte % 4] for byte in range(256))
"""A table for `bytes.translate` that makes white space of any bytes."""


@dataclass(frozen=True)
class Filler:
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


FILLERS: Mapping[str, Filler] = {
    "mp4": Filler(_free_box, _no_bytes),
    "webm": Filler(_void, _longer_segment),
    # Chunks of RIFF begin at even places.
    "wav": Filler(_junk, _longer_riff, step=2),
    "webp": Filler(_junk, _longer_riff, step=2),
    "text": Filler(lambda length: b"\n", _no_bytes, is_blank=True),
}
"""By format."""
