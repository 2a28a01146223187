"""Sounds: decoded once to the last sample, served as PCM in WAV, so that no codec tells conditions apart."""

from __future__ import annotations

import re
from pathlib import Path

from beholder.errors import StimuliError
from beholder.stimuli.catalogue import Probe
from beholder.stimuli.ffmpeg import file_argument, run_ffmpeg
from beholder.stimuli.streams import (
    MEASURE_LEVELS,
    Measurement,
    Stream,
    copy_error,
    first_stream,
    header_seconds,
    is_truncated,
    read_error,
    sound_levels,
)

READ_AUDIO = ("-format_whitelist", "wav,mp3,flac,ogg,mov,mp4,m4a,3gp,3g2,mj2,aac,aiff", "-protocol_whitelist", "file")
"""Nothing but these containers: a text file that is a playlist must not make ffmpeg open other files."""
RECIPE = ("sound", "-map", "0:a:0", "-map_metadata", "-1", "-fflags", "+bitexact", "-flags:a", "+bitexact", "-f", "wav")

_CONTAINER = re.compile(r"^Input #0, ([^ ]+), from ", re.MULTILINE)
_DAMAGED = re.compile(r"Packet corrupt|filesize and duration do not match", re.IGNORECASE)
_LOSSLESS = ("pcm_", "flac", "alac")
_DEEP = re.compile(r", (?:s32p?|s64p?|fltp?|dblp?)\b")
_SAMPLE_BYTES = 2
_UNKNOWN_FORMAT = "it is no wav, mp3, flac, ogg, opus, m4a, aac or aiff, or it is cut off"


def measure_audio(path: Path, where: str, *, levels: bool = True) -> Measurement:
    """Return what a sound holds, its length counted in decoded samples; without `levels` not how loud it is."""
    decoded = ("-map", "0:a:0", "-c:a", "pcm_s16le", "-f", "framecrc", "pipe:1")
    heard = ("-map", "0:a:0", *MEASURE_LEVELS) if levels else ()
    run = run_ffmpeg([*READ_AUDIO, "-i", file_argument(path), *decoded, *heard])
    head, _, tail = run.log.partition("Stream mapping:")
    if is_truncated(run.log) or _DAMAGED.search(run.log):
        raise read_error(where, "audio", "it is cut off or damaged")
    if run.code != 0 or not tail:
        raise read_error(where, "audio", _read_failure(head, run.error_line()))
    stream = first_stream(head, "Audio")
    if stream is None or stream.sample_rate == 0 or stream.channels == 0:
        raise read_error(where, "audio", "no sample of it can be decoded")
    samples = _decoded_bytes(run.out) // (_SAMPLE_BYTES * stream.channels)
    hertz = stream.sample_rate
    if samples == 0:
        raise read_error(where, "audio", "no sample of it can be decoded")
    if samples / hertz < 0.98 * header_seconds(head) - 0.1 or _ends_inside_a_page(path):
        raise read_error(where, "audio", "it is cut off or damaged")
    if samples * 1000 < hertz:
        # Nobody could have heard it to its end: the log of a session counts in milliseconds.
        raise read_error(where, "audio", "it is shorter than a millisecond")
    container = _CONTAINER.search(head)
    duration_ms = round(1000 * samples / hertz)
    probe = Probe(
        bytes=path.stat().st_size,
        container=_short_name(container[1]) if container else "",
        duration_ms=duration_ms,
        width=0,
        height=0,
        fps=0.0,
        codec=stream.codec,
        audio_codec=stream.codec,
        channels=stream.channels,
        sample_rate=hertz,
        **sound_levels(tail, duration_ms)._asdict(),
    )
    return Measurement(probe, frames=samples, is_deep=_is_deep(stream))


def copy_audio(path: Path, part: Path, measured: Measurement, where: str) -> None:
    """Write a sound as WAV: the same samples, channels and rate, 24 bits where it holds more than 16."""
    codec = "pcm_s24le" if measured.is_deep else "pcm_s16le"
    run = run_ffmpeg(
        [
            "-v", "error", "-y", *READ_AUDIO, "-i", file_argument(path),
            "-c:a", codec, *RECIPE[1:], file_argument(part),
        ]
    )  # fmt: skip
    fix = "Export it again as WAV."
    if run.code != 0:
        raise copy_error(where, f"ffmpeg says {run.error_line()}", fix)
    try:
        copy = measure_audio(part, where, levels=False)
    except StimuliError:
        raise copy_error(where, "the copy cannot be read", fix) from None
    same = (copy.frames, copy.probe.channels, copy.probe.sample_rate)
    if same != (measured.frames, measured.probe.channels, measured.probe.sample_rate):
        raise copy_error(where, "the copy does not last as long", fix)


def _decoded_bytes(lines: bytes) -> int:
    """Return the sum of the sizes in ffmpeg's list of decoded frames."""
    return sum(int(line.split(b",")[4]) for line in lines.splitlines() if line and not line.startswith(b"#"))


def is_lossless(codec: str) -> bool:
    """Return whether a codec keeps every sample, so that what it holds has a depth."""
    return codec.startswith(_LOSSLESS)


def _is_deep(stream: Stream) -> bool:
    """Return whether 16 bits would lose something; what a lossy codec decodes to has no depth of its own."""
    return is_lossless(stream.codec) and _DEEP.search(stream.description) is not None


def _ends_inside_a_page(path: Path) -> bool:
    """Return whether an Ogg file stops within its last page: ffmpeg passes over that in silence."""
    with path.open("rb") as file:
        if file.read(4) != b"OggS":
            return False
        size = path.stat().st_size
        # The largest page there is has 65307 bytes (RFC 3533, 6).
        file.seek(max(0, size - 65_400))
        end = file.read()
    place = end.rfind(b"OggS")
    if place < 0 or len(end) < place + 27:
        return True
    count = end[place + 26]
    lacing = end[place + 27 : place + 27 + count]
    return len(lacing) < count or len(end) < place + 27 + count + sum(lacing)


def _short_name(names: str) -> str:
    return "mp4" if "mp4" in names.split(",") else names.split(",")[0]


def _read_failure(head: str, words: str) -> str:
    if "Error opening input" in head:
        return _UNKNOWN_FORMAT
    if "matches no streams" in head or "matches no streams" in words:
        return "it has no sound, or it is cut off"
    return f"ffmpeg says {words}"
