"""Names of encoders inside streams: container metadata is stripped, but some write their name among the sound."""

from __future__ import annotations

import mmap
import re
from pathlib import Path

_NAMES = re.compile(
    rb"Lav[cf]\d+\.[\d.]*\d|LAME ?\d\.\d+|FAAC \d\.[\d.]*\d|Xiph\.Org libVorbis I \d+|x26[45] - core \d+"
)
"""Of some length each, so that no compressed stream holds one by chance."""
_VORBIS_COMMENT = b"\x03vorbis"


def encoders_in(path: Path) -> tuple[str, ...]:
    """Return the names of encoders that stand in a file as text, each once."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return tuple(sorted({name.decode("ascii") for name in _NAMES.findall(data)}))


def blank_vorbis_comment(path: Path) -> None:
    """Overwrite the comment header of a WebM file's Vorbis sound: its vendor, and every tag of the researcher.

    A stream copy keeps that header, for it is part of the codec's set-up (Vorbis I, 5.2.1). Its length stays: what is
    left is a vendor of blanks and no comments, which every decoder reads.
    """
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as data:
        start = data.find(_VORBIS_COMMENT) + len(_VORBIS_COMMENT)
        if start < len(_VORBIS_COMMENT):
            return
        end = start + 4 + _number(data, start)
        comments, end = _number(data, end), end + 4
        for _ in range(comments):
            end += 4 + _number(data, end)
            if end > len(data):
                return
        blanks = end - start - 8
        data[start:end] = blanks.to_bytes(4, "little") + b" " * blanks + bytes(4)


def _number(data: mmap.mmap, place: int) -> int:
    return int.from_bytes(data[place : place + 4], "little")
