"""How a video file is encoded and put together, as somebody who looks into the file can read it.

Copies for participants are free of names, dates and user data, and all have the same order of parts. What a copy of the
streams cannot change is read here: the profile and level of the encoder, the distance of key frames, whether frames are
reordered, the clock, and which boxes the file has. Where one of these goes with a condition, it tells the condition.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from beholder.stimuli.streams import Measurement

_CONTAINERS = frozenset((b"moov", b"trak", b"mdia", b"minf", b"stbl", b"edts", b"dinf"))
_PROFILES = {
    66: "Baseline",
    77: "Main",
    88: "Extended",
    100: "High",
    110: "High 10",
    122: "High 4:2:2",
    244: "High 4:4:4",
}
_LONGEST_HEADER = 64_000_000
"""A table of samples of a whole day; a file that says more is not read."""


class _Mp4Box(NamedTuple):
    path: str
    content: bytes


def layout_of(path: Path, measured: Measurement) -> tuple[str, ...]:
    """Return the properties of a served video, each as words; files that differ in one can be told apart by it."""
    pixels = f"pixels {measured.pixels}" if measured.pixels else ""
    if path.suffix != ".mp4":
        return (measured.probe.codec, pixels)
    boxes = list(_boxes(path))
    pictures = [box for box in boxes if box.path.startswith(_track_of_pictures(boxes))]
    found = {box.path.rpartition("/")[2]: box.content for box in reversed(pictures)}
    brand = next((box.content[:4].decode("latin-1") for box in boxes if box.path == "ftyp"), "")
    return (
        _profile(measured.probe.codec, found.get("stsd", b"")),
        pixels,
        _key_frames(found),
        "frames in another order than shown" if "ctts" in found else "frames in the order shown",
        f"{_clock(found.get('mdhd', b''))} ticks a second",
        f"brand {brand}",
        "boxes " + " ".join(box.path.rpartition("/")[2] for box in pictures),
    )


def _boxes(path: Path) -> Iterator[_Mp4Box]:
    """Yield the boxes of an MP4 file but for its media, with their paths; a second track is `trak2`."""
    with path.open("rb") as file:
        while len(head := file.read(8)) == 8:
            size, kind = struct.unpack(">I4s", head)
            if size == 1:
                size = struct.unpack(">Q", file.read(8))[0] - 8
            if kind == b"mdat" or size > _LONGEST_HEADER or size < 8:
                if size < 8:  # up to the end of the file
                    return
                file.seek(size - 8, 1)
                continue
            content = file.read(size - 8)
            yield _Mp4Box(kind.decode("latin-1"), content)
            if kind in _CONTAINERS:
                yield from _inner(content, kind.decode("latin-1"))


def _inner(content: bytes, above: str) -> Iterator[_Mp4Box]:
    place, tracks = 0, 0
    while place + 8 <= len(content):
        size, kind = struct.unpack_from(">I4s", content, place)
        if size < 8:
            return
        tracks += kind == b"trak"
        path = f"{above}/{kind.decode('latin-1')}{tracks if kind == b'trak' else ''}"
        yield _Mp4Box(path, content[place + 8 : place + size])
        if kind in _CONTAINERS:
            yield from _inner(content[place + 8 : place + size], path)
        place += size


def _track_of_pictures(boxes: list[_Mp4Box]) -> str:
    """Return the path of the track with the pictures, which its handler names."""
    handlers = (box for box in boxes if box.path.endswith("/mdia/hdlr"))
    return next((box.path.partition("/mdia")[0] for box in handlers if box.content[8:12] == b"vide"), "moov/trak1")


def _profile(codec: str, description: bytes) -> str:
    """Return the profile and level of H.264, which stand behind the name of its configuration (ISO 14496-15, 5.3.3)."""
    place = description.find(b"avcC") + 4
    if place < 4 or place + 4 > len(description):
        return codec
    profile, level = description[place + 1], description[place + 3]
    return f"H.264 {_PROFILES.get(profile, f'profile {profile}')}, level {level / 10:.1f}"


def _key_frames(found: dict[str, bytes]) -> str:
    """Return the distance of key frames, where it is the same all along; `stss` lists them, without it all are."""
    if "stss" not in found:
        return "every frame a key frame"
    content = found["stss"]
    count = struct.unpack_from(">I", content, 4)[0]
    numbers = struct.unpack_from(f">{count}I", content, 8)
    steps = sorted({later - earlier for earlier, later in pairwise(numbers)})
    if not steps:
        return "one key frame"
    return (
        f"a key frame every {steps[0]} frames"
        if len(steps) == 1
        else f"key frames {steps[0]} to {steps[-1]} frames apart"
    )


def _clock(header: bytes) -> int:
    """Return the ticks a second of a track (ISO 14496-12, 8.4.2)."""
    place = 20 if header[:1] == b"\x01" else 12
    return int(struct.unpack_from(">I", header, place)[0]) if len(header) >= place + 4 else 0
