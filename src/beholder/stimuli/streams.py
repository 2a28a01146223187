"""What ffmpeg reports about a file: measurements, streams in its log, and encoder names inside streams."""

from __future__ import annotations

import math
import mmap
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from beholder.errors import Problem, StimuliError
from beholder.stimuli.catalogue import Probe
from beholder.types import Medium

_EXPORT_AGAIN = "Export or copy it again, or take it out."


@dataclass(frozen=True)
class Measurement:
    """The probe of a file, and what only checks and copies need."""

    probe: Probe
    pixels: str = ""
    """ffmpeg's name of the pixel format of a video."""
    frames: int = 0
    """Pictures of a video, samples of one channel of a sound."""
    is_square: bool = True
    """Whether the pixels of a video are as wide as high; else its size as shown is not that of its frames."""
    is_deep: bool = False
    """A sound that holds more than 16 bits a sample."""


def read_error(where: str, medium: Medium, reason: str, fix: str = _EXPORT_AGAIN) -> StimuliError:
    """Return the error of a file that is not what its suffix says, or not whole."""
    return StimuliError(Problem(where, f"cannot be read as {medium}: {reason}", fix=fix))


def copy_error(where: str, reason: str, fix: str) -> StimuliError:
    """Return the error of a file whose copy for participants would not be the same."""
    return StimuliError(Problem(where, f"cannot be copied without its metadata: {reason}", fix=fix))


# Streams in the log of ffmpeg

_STREAM = re.compile(r"^\s*Stream #(\d+):\d+.*?: (Video|Audio): ([A-Za-z0-9_]+)(.*)$")
_CHANNELS = re.compile(r"\b(\d+) channels|, (mono|stereo|2\.1|3\.0|4\.0|quad|5\.0|5\.1|6\.1|7\.1)\b")
_DURATION = re.compile(r"^\s*Duration: (\d+):(\d\d):(\d\d\.\d+)", re.MULTILINE)
_TRUNCATED = re.compile(r"partial file|File ended prematurely|corrupt input packet|Output file is empty", re.IGNORECASE)


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

    @property
    def sample_rate(self) -> int:
        """How many samples a second a sound has, 0 when the log does not say."""
        match = _RATE.search(self.description)
        return int(match[1]) if match else 0


def first_stream(head: str, kind: Literal["Video", "Audio"]) -> Stream | None:
    """Return the first stream of this kind in the log; cover pictures do not count."""
    for line in head.splitlines():
        match = _STREAM.match(line)
        if match and match[1] == "0" and match[2] == kind and "(attached pic)" not in line:
            return Stream(match[3], match[4])
    return None


def header_seconds(head: str) -> float:
    """Return the duration in the header of a file, 0 when there is none."""
    match = _DURATION.search(head)
    return int(match[1]) * 3600 + int(match[2]) * 60 + float(match[3]) if match else 0.0


def is_truncated(log: str) -> bool:
    """Return whether ffmpeg reports that a file is truncated."""
    return _TRUNCATED.search(log) is not None


# Loudness and silence in the log of ffmpeg

_LEVELS = (
    "silencedetect=noise=-50dB:d=0.05,astats=measure_perchannel=Peak_level:measure_overall=none,ebur128=framelog=quiet"
)
MEASURE_LEVELS = ("-af", _LEVELS, "-f", "null", "-")
"""An output of ffmpeg that measures the loudness and the silences of a sound and is not written."""
SILENCE_LUFS = -70.0
"""What ffmpeg says of silence, and of sounds shorter than the 0.4 s that loudness is measured over."""
LOUDNESS = re.compile(r"^\s*I:\s+(-?[0-9.]+) LUFS", re.MULTILINE)
_RATE = re.compile(r", (\d+) Hz")
_SILENCE = re.compile(r"silence_(start|end): (-?[0-9.]+)")
_PEAK = re.compile(r"Peak level dB: (-?[0-9.]+|-?inf|nan)")
_DEAD_DB = -80.0
"""A channel that never gets above this is dead: nobody hears anything on it."""
_EDGE_S = 0.05
"""Silence that begins or ends so near to an end of the sound is at that end."""


class SoundLevels(NamedTuple):
    """Loudness and silences of a sound, as `Probe` has them."""

    loudness: float | None
    silence_before_ms: int
    silence_after_ms: int
    dead_channels: int


def sound_levels(log: str, duration_ms: int) -> SoundLevels:
    """Return the levels in the log of a run with `MEASURE_LEVELS`; none where there is no sound."""
    found = LOUDNESS.search(log)
    lufs = float(found[1]) if found else SILENCE_LUFS
    spans: list[list[float]] = []
    for edge, seconds in _SILENCE.findall(log):
        if edge == "start":
            # Older versions leave the end out where the sound ends in silence.
            spans.append([max(0.0, float(seconds)), duration_ms / 1000])
        elif spans:
            spans[-1][1] = float(seconds)
    before = spans[0][1] if spans and spans[0][0] <= _EDGE_S else 0.0
    after = duration_ms / 1000 - spans[-1][0] if spans and spans[-1][1] >= duration_ms / 1000 - _EDGE_S else 0.0
    peaks = [-math.inf if peak in ("-inf", "nan") else float(peak) for peak in _PEAK.findall(log)]
    dead = sum(peak < _DEAD_DB for peak in peaks)
    return SoundLevels(lufs if lufs > SILENCE_LUFS else None, round(1000 * before), round(1000 * after), dead)


# Names of encoders inside streams

_ENCODER_NAMES = re.compile(
    rb"Lav[cf]\d+\.[\d.]*\d|LAME ?\d\.\d+|FAAC \d\.[\d.]*\d|Xiph\.Org libVorbis I \d+|x26[45] - core \d+"
)
"""Of some length each, so that no compressed stream holds one by chance."""
_VORBIS_COMMENT = b"\x03vorbis"


def encoders_in(path: Path) -> tuple[str, ...]:
    """Return the names of encoders that stand in a file as text, each once."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return tuple(sorted({name.decode("ascii") for name in _ENCODER_NAMES.findall(data)}))


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
