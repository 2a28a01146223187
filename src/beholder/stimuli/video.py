"""Videos: measured by ffmpeg (every packet is read, one frame is decoded), copied stream by stream."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from beholder.errors import Problem, StimuliError
from beholder.stimuli.catalogue import Probe
from beholder.stimuli.ffmpeg import file_argument, run_ffmpeg
from beholder.stimuli.media_formats import SERVED, ServedFormat, served_container
from beholder.stimuli.streams import (
    MEASURE_LEVELS,
    Measurement,
    blank_vorbis_comment,
    copy_error,
    first_stream,
    header_seconds,
    is_truncated,
    read_error,
    sound_levels,
)

READ_VIDEO = ("-format_whitelist", "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm", "-protocol_whitelist", "file")
"""Nothing but these containers: a text file that is a playlist must not make ffmpeg open other files."""

_SIZE = re.compile(r", (\d+)x(\d+)(?:,? \[?SAR (\d+):(\d+))?")
_FPS = re.compile(r", ([0-9.]+)(k?) fps\b")
_PIXELS = re.compile(r", ([a-z][a-z0-9]+)(?:\([^)]*\))?, \d+x\d+")

_NAMES = {"hevc": "HEVC", "prores": "ProRes", "mpeg4": "MPEG-4 part 2", "h264": "H.264"}
_PREPARE = "Re-encode it with beholder media prepare."
_PLAYABLE_PIXELS = frozenset({"yuv420p", "yuvj420p", ""})
_COPY_STREAMS = (
    "-map", "0:V:0", "-map", "0:a:0?", "-dn", "-sn", "-c", "copy", "-map_metadata", "-1", "-map_chapters", "-1",
    "-fflags", "+bitexact", "-flags:v", "+bitexact", "-flags:a", "+bitexact",
)  # fmt: skip
_BY_CODEC = {"h264": ("-bsf:v", "filter_units=remove_types=6")}
"""NAL units of type 6 hold user data: x264 writes its version and every setting there."""


def measure_video(path: Path, where: str, *, levels: bool = True) -> Measurement:
    """Return what the file holds, or raise StimuliError naming `where` when it cannot be read as video.

    Without `levels` not how loud its sound is.
    """
    # The picture is copied along, for an output without any stream is an error where there is no sound.
    heard = ("-map", "0:V:0", "-map", "0:a:0?", "-c:v", "copy", *MEASURE_LEVELS) if levels else ()
    run = run_ffmpeg(
        [
            *READ_VIDEO, "-i", file_argument(path),
            "-map", "0:V:0", "-frames:v", "1", "-f", "null", "-",
            *heard,
            "-map", "0:V:0", "-map", "0:a:0?", "-c", "copy", "-f", "framecrc", "pipe:1",
        ]
    )  # fmt: skip
    head, _, tail = run.log.partition("Stream mapping:")
    if is_truncated(run.log):
        raise read_error(where, "video", "it is cut off or damaged")
    if run.code != 0 or not tail:
        raise read_error(where, "video", _read_failure(head, run.error_line()))
    video = first_stream(head, "Video")
    shown = next((line for line in tail.splitlines() if "Video: wrapped_avframe" in line), None)
    packets = _Packets.read(run.out.decode("ascii", "replace").splitlines())
    if video is None or shown is None or packets.frames == 0:
        raise read_error(where, "video", "no frame of it can be decoded")
    if packets.seconds < 0.9 * header_seconds(head) - 0.2:
        raise read_error(where, "video", "it is cut off or damaged")
    width, height, is_square = _size(shown)
    audio = first_stream(head, "Audio")
    duration_ms = round(packets.seconds * 1000)
    probe = Probe(
        bytes=path.stat().st_size,
        container=_container(path),
        duration_ms=duration_ms,
        width=width,
        height=height,
        fps=_fps(video.description) or round(packets.frames / packets.seconds, 3),
        codec=video.codec,
        audio_codec=audio.codec if audio else "",
        channels=audio.channels if audio else 0,
        sample_rate=audio.sample_rate if audio else 0,
        **sound_levels(tail, duration_ms)._asdict(),
    )
    pixels = _PIXELS.search(video.description)
    return Measurement(probe, pixels[1] if pixels else "", packets.frames, is_square=is_square)


def video_playback_problem(measured: Measurement, where: str) -> Problem | None:
    """Return why browsers would not play this, None when they would."""
    probe = measured.probe
    if not any(probe.codec in row.codecs for row in SERVED):
        name = _NAMES.get(probe.codec, probe.codec)
        return Problem(where, f"is {name}, which browsers do not play", "H.264, VP8, VP9, AV1", _PREPARE)
    if probe.codec == "h264" and measured.pixels not in _PLAYABLE_PIXELS:
        return Problem(where, f"is H.264 in {measured.pixels}, which some browsers do not play", "yuv420p", _PREPARE)
    if served_container(probe.container, probe.codec, probe.audio_codec) is None:
        codec = _NAMES.get(probe.codec, probe.codec.upper())
        return Problem(
            where,
            f"has {probe.audio_codec} sound, which browsers do not play with {codec}",
            ", ".join(
                sorted({name for row in SERVED if probe.codec in row.codecs for name in row.audio_codecs if name})
            ),
            _PREPARE,
        )
    return None


def video_format(probe: Probe) -> ServedFormat:
    """Return the container that participants get this video in."""
    served = served_container(probe.container, probe.codec, probe.audio_codec)
    if served is None:
        raise ValueError(f"{probe.codec} with {probe.audio_codec or 'no sound'} is served in no container")
    return served


def video_recipe(probe: Probe) -> tuple[str, ...]:
    """Return what is done to a video to make its copy."""
    after = ("blank comment",) if probe.audio_codec == "vorbis" else ()
    return (*_arguments(probe), *after)


def copy_video(path: Path, part: Path, measured: Measurement, where: str) -> None:
    """Write the copy of a video: the same streams, nothing that tells where they come from."""
    probe = measured.probe
    run = run_ffmpeg(
        ["-v", "error", "-y", *READ_VIDEO, "-i", file_argument(path), *_arguments(probe), file_argument(part)]
    )
    if run.code != 0:
        raise copy_error(where, f"ffmpeg says {run.error_line()}", _PREPARE)
    if probe.audio_codec == "vorbis":
        blank_vorbis_comment(part)
    if not _plays_like(part, measured):
        # A clip cut out of an open group of pictures starts at a recovery point, which is of type 6 as well.
        raise copy_error(where, "the copy does not play like it, as with clips cut between two key frames", _PREPARE)


def _arguments(probe: Probe) -> tuple[str, ...]:
    served = video_format(probe)
    return (*_COPY_STREAMS, *_BY_CODEC.get(probe.codec, ()), *served.arguments, "-f", served.format)


def _plays_like(copy: Path, measured: Measurement) -> bool:
    try:
        measured_copy = measure_video(copy, "", levels=False)
    except StimuliError:
        return False
    difference = abs(measured_copy.probe.duration_ms - measured.probe.duration_ms)
    return measured_copy.frames == measured.frames and difference <= 1000 / measured.probe.fps


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


def _size(shown: str) -> tuple[int, int, bool]:
    """Return the size as shown, after rotation and with square pixels, and whether they are square in the file."""
    match = _SIZE.search(shown)
    assert match is not None, shown
    width, height = int(match[1]), int(match[2])
    if match[3] and int(match[3]) and int(match[4]):
        width = round(width * int(match[3]) / int(match[4]))
    return width, height, match[3] == match[4]


def _fps(text: str) -> float:
    match = _FPS.search(text)
    return float(match[1]) * (1000 if match[2] else 1) if match else 0.0


def _container(path: Path) -> str:
    with path.open("rb") as file:
        start = file.read(64)
    if start.startswith(b"\x1a\x45\xdf\xa3"):
        return "webm" if b"webm" in start else "mkv"
    return "mp4" if start[4:8] == b"ftyp" and start[8:12] != b"qt  " else "mov"


def _read_failure(head: str, words: str) -> str:
    if "Error opening input" in head:
        return "it is no mp4, mov, webm or mkv, or it is cut off"
    if "matches no streams" in head or "matches no streams" in words:
        return "it has no picture, or it is cut off"
    return f"ffmpeg says {words}"
