"""The streams of a file, as ffmpeg's log tells them."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

_STREAM = re.compile(r"^\s*Stream #(\d+):\d+.*?: (Video|Audio): ([A-Za-z0-9_]+)(.*)$")
_CHANNELS = re.compile(r"\b(\d+) channels|, (mono|stereo|2\.1|3\.0|4\.0|quad|5\.0|5\.1|6\.1|7\.1)\b")
_LENGTH = re.compile(r"^\s*Duration: (\d+):(\d\d):(\d\d\.\d+)", re.MULTILINE)
_CUT = re.compile(r"partial file|File ended prematurely|corrupt input packet|Output file is empty", re.IGNORECASE)


class Stream(NamedTuple):
    """A stream of the first input."""

    codec: str
    description: str

    @property
    def channels(self) -> int:
        """How many channels a sound has, 0 when the log does not say."""
        match = _CHANNELS.search(self.description)
        if match is None:
            return 0
        if match[1]:
            return int(match[1])
        named = {"mono": 1, "stereo": 2, "quad": 4}
        return named.get(match[2]) or sum(int(part) for part in match[2].split("."))


def first_stream(head: str, kind: Literal["Video", "Audio"]) -> Stream | None:
    """Return the first stream of this kind in the log; cover pictures are none."""
    for line in head.splitlines():
        match = _STREAM.match(line)
        if match and match[1] == "0" and match[2] == kind and "(attached pic)" not in line:
            return Stream(match[3], match[4])
    return None


def header_seconds(head: str) -> float:
    """Return how long the header says that the file lasts, 0 when it does not."""
    match = _LENGTH.search(head)
    return int(match[1]) * 3600 + int(match[2]) * 60 + float(match[3]) if match else 0.0


def is_cut(log: str) -> bool:
    """Return whether ffmpeg came upon an end that should not be there."""
    return _CUT.search(log) is not None
