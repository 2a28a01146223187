"""What a video file holds, measured by ffmpeg: every packet is read, one frame is decoded."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from beholder.errors import Problem, StimuliError
from beholder.stimuli.catalogue import Probe
from beholder.stimuli.ffmpeg import file_argument, run_ffmpeg
from beholder.stimuli.media import SERVED, served_container

READ = ("-format_whitelist", "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm", "-protocol_whitelist", "file")
"""Nothing but these containers: a text file that is a playlist must not make ffmpeg open other files."""

_STREAM = re.compile(r"^\s*Stream #(\d+):\d+.*?: (Video|Audio): ([A-Za-z0-9_]+)(.*)$")
_SIZE = re.compile(r", (\d+)x(\d+)(?:,? \[?SAR (\d+):(\d+))?")
_FPS = re.compile(r", ([0-9.]+)(k?) fps\b")
_PIXELS = re.compile(r", ([a-z][a-z0-9]+)(?:\([^)]*\))?, \d+x\d+")
_CHANNELS = re.compile(r"\b(\d+) channels|, (mono|stereo|2\.1|3\.0|4\.0|quad|5\.0|5\.1|6\.1|7\.1)\b")
_LENGTH = re.compile(r"^\s*Duration: (\d+):(\d\d):(\d\d\.\d+)", re.MULTILINE)
_CUT = re.compile(r"partial file|File ended prematurely|corrupt input packet|Output file is empty", re.IGNORECASE)

_NAMES = {"hevc": "HEVC", "prores": "ProRes", "mpeg4": "MPEG-4 part 2", "h264": "H.264"}
_PLAIN_H264 = frozenset({"yuv420p", "yuvj420p", ""})


@dataclass(frozen=True)
class Measured:
    """A probe, with what only its checks need."""

    probe: Probe
    pixels: str
    frames: int


def measure(path: Path, where: str) -> Measured:
    """Return what the file holds, or raise StimuliError naming `where` when it cannot be read as video."""
    if path.stat().st_size == 0:
        raise _unreadable(where, "the file is empty")
    ran = run_ffmpeg(
        [
            *READ, "-i", file_argument(path),
            "-map", "0:V:0", "-frames:v", "1", "-f", "null", "-",
            "-map", "0:V:0", "-map", "0:a:0?", "-c", "copy", "-f", "framecrc", "pipe:1",
        ]
    )  # fmt: skip
    head, _, tail = ran.log.partition("Stream mapping:")
    if _CUT.search(ran.log):
        raise _unreadable(where, "it is cut off or damaged")
    if ran.code != 0 or not tail:
        raise _unreadable(where, _reason(head, ran.last_words()))
    video = _line(head, "Video")
    shown = next((line for line in tail.splitlines() if "Video: wrapped_avframe" in line), None)
    packets = _Packets.read(ran.out.decode("ascii", "replace").splitlines())
    if video is None or shown is None or packets.frames == 0:
        raise _unreadable(where, "no frame of it can be decoded")
    if packets.seconds < 0.9 * _header_seconds(head) - 0.2:
        raise _unreadable(where, "it is cut off or damaged")
    width, height = _size(shown)
    audio = _line(head, "Audio")
    probe = Probe(
        bytes=path.stat().st_size,
        container=_container(path),
        duration_ms=round(packets.seconds * 1000),
        width=width,
        height=height,
        fps=_fps(video[1]) or round(packets.frames / packets.seconds, 3),
        codec=video[0],
        audio_codec=audio[0] if audio else "",
        channels=_channels(audio[1]) if audio else 0,
    )
    pixels = _PIXELS.search(video[1])
    return Measured(probe, pixels[1] if pixels else "", packets.frames)


def unplayable(measured: Measured, where: str) -> Problem | None:
    """Return why browsers would not play this, None when they would."""
    probe = measured.probe
    fix = "Re-encode it to H.264 (ffmpeg -c:v libx264 -pix_fmt yuv420p) or VP9."
    if not any(probe.codec in row.codecs for row in SERVED):
        name = _NAMES.get(probe.codec, probe.codec)
        return Problem(where, f"is {name}, which browsers do not play", "H.264, VP8, VP9, AV1", fix)
    if probe.codec == "h264" and measured.pixels not in _PLAIN_H264:
        return Problem(where, f"is H.264 in {measured.pixels}, which some browsers do not play", "yuv420p", fix)
    if served_container(probe.container, probe.codec, probe.audio_codec) is None:
        codec = _NAMES.get(probe.codec, probe.codec.upper())
        return Problem(
            where,
            f"has {probe.audio_codec} sound, which browsers do not play with {codec}",
            ", ".join(
                sorted({name for row in SERVED if probe.codec in row.codecs for name in row.audio_codecs if name})
            ),
            "Re-encode the sound (ffmpeg -c:v copy -c:a aac, or -c:a libopus for webm).",
        )
    return None


@dataclass(frozen=True)
class _Packets:
    """The time line, from ffmpeg's list of packets: true also where the header is not."""

    frames: int
    seconds: float

    @classmethod
    def read(cls, lines: Iterable[str]) -> _Packets:
        base: dict[str, Fraction] = {}
        ends: list[Fraction] = []
        video: list[tuple[int, int]] = []
        for line in lines:
            if line.startswith("#tb "):
                stream, _, value = line[4:].partition(": ")
                base[stream] = Fraction(value)
            elif line and not line.startswith("#"):
                stream, _, pts, duration = (cell.strip() for cell in line.split(",")[:4])
                if stream == "0":
                    video.append((int(pts), int(duration)))
                else:
                    ends.append((int(pts) + int(duration)) * base[stream])
        if not video:
            return cls(0, 0.0)
        video.sort()
        last, length = video[-1]
        if length <= 0 and len(video) > 1:
            # Matroska may leave the last duration out: the spacing of the frames stands in.
            length = round((last - video[0][0]) / (len(video) - 1))
        ends.append((last + max(length, 1)) * base["0"])
        return cls(len(video), float(max(ends)))


def _line(head: str, kind: str) -> tuple[str, str] | None:
    """Return codec and description of the first stream of this kind; cover pictures are none."""
    for line in head.splitlines():
        match = _STREAM.match(line)
        if match and match[1] == "0" and match[2] == kind and "(attached pic)" not in line:
            return match[3], match[4]
    return None


def _size(shown: str) -> tuple[int, int]:
    """Return the size as shown: after rotation, with square pixels."""
    match = _SIZE.search(shown)
    assert match is not None, shown
    width, height = int(match[1]), int(match[2])
    if match[3] and int(match[3]) and int(match[4]):
        width = round(width * int(match[3]) / int(match[4]))
    return width, height


def _fps(text: str) -> float:
    match = _FPS.search(text)
    return float(match[1]) * (1000 if match[2] else 1) if match else 0.0


def _channels(text: str) -> int:
    match = _CHANNELS.search(text)
    if match is None:
        return 0
    if match[1]:
        return int(match[1])
    named = {"mono": 1, "stereo": 2, "quad": 4}
    return named.get(match[2]) or sum(int(part) for part in match[2].split("."))


def _header_seconds(head: str) -> float:
    match = _LENGTH.search(head)
    return int(match[1]) * 3600 + int(match[2]) * 60 + float(match[3]) if match else 0.0


def _container(path: Path) -> str:
    with path.open("rb") as file:
        start = file.read(64)
    if start.startswith(b"\x1a\x45\xdf\xa3"):
        return "webm" if b"webm" in start else "mkv"
    return "mp4" if start[4:8] == b"ftyp" and start[8:12] != b"qt  " else "mov"


def _reason(head: str, words: str) -> str:
    if "Error opening input" in head:
        return "it is no mp4, mov, webm or mkv, or it is cut off"
    if "matches no streams" in head or "matches no streams" in words:
        return "it has no picture, or it is cut off"
    return f"ffmpeg says {words}"


def _unreadable(where: str, reason: str) -> StimuliError:
    return StimuliError(
        Problem(where, f"cannot be read as video: {reason}", fix="Export or copy it again, or take it out.")
    )
