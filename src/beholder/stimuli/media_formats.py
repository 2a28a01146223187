"""Media and containers as data: which suffix is which medium, and what browsers play."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from beholder.types import Medium

MEDIA: Mapping[Medium, tuple[str, ...]] = {
    "video": (".mp4", ".m4v", ".mov", ".webm", ".mkv"),
    "audio": (".wav", ".mp3", ".flac", ".ogg", ".oga", ".opus", ".m4a", ".aac", ".aif", ".aiff"),
    "image": (".png", ".jpg", ".jpeg", ".webp", ".avif", ".gif", ".bmp", ".tif", ".tiff", ".svg"),
    "text": (".txt", ".md", ".html", ".htm"),
}
"""Suffixes of each medium, in lower case."""


def medium_of(name: str) -> Medium | None:
    """Return the medium of a file name by its suffix, None when the suffix is unknown."""
    suffix = Path(name).suffix.lower()
    return next((medium for medium, suffixes in MEDIA.items() if suffix in suffixes), None)


def known_suffixes() -> tuple[str, ...]:
    """Return the suffixes of all media."""
    return tuple(suffix for suffixes in MEDIA.values() for suffix in suffixes)


@dataclass(frozen=True)
class ServedFormat:
    """A format that participants get, with the codecs that browsers play in it."""

    medium: Medium
    suffix: str
    format: str
    """ffmpeg's name of the muxer, where ffmpeg writes it."""
    content_type: str
    codecs: frozenset[str] = frozenset()
    """Of a video, which is copied as it is; everything else is decoded, so that no codec tells conditions apart."""
    audio_codecs: frozenset[str] = frozenset()
    """An empty name stands for no sound."""
    arguments: tuple[str, ...] = ()
    """What ffmpeg is told when it writes the format."""


SERVED: tuple[ServedFormat, ...] = (
    ServedFormat(
        "video", ".webm", "webm", "video/webm",
        codecs=frozenset({"vp8", "vp9", "av1"}), audio_codecs=frozenset({"", "opus", "vorbis"}),
    ),
    ServedFormat(
        "video", ".mp4", "mp4", "video/mp4",
        codecs=frozenset({"h264", "vp9", "av1"}), audio_codecs=frozenset({"", "aac", "mp3", "opus", "flac"}),
        arguments=("-movflags", "+faststart", "-write_tmcd", "0"),
    ),
    ServedFormat("audio", ".wav", "wav", "audio/wav"),
    ServedFormat("image", ".webp", "webp", "image/webp"),
    # Safe HTML, but a browser that is led to its address must not run it as a page.
    ServedFormat("text", ".txt", "text", "text/plain; charset=utf-8"),
)  # fmt: skip
"""Whatever the researcher has (mov, mkv, flac, tiff), participants get one of these."""


def served_container(container: str, codec: str, audio_codec: str) -> ServedFormat | None:
    """Return the container to serve a video of these codecs in, its own where it fits; None when none plays."""
    fits = [row for row in SERVED if codec in row.codecs and audio_codec in row.audio_codecs]
    return next((row for row in fits if row.format == container), fits[0] if fits else None)


def served_by_suffix(suffix: str) -> ServedFormat:
    """Return the row of a served file's suffix."""
    for row in SERVED:
        if row.suffix == suffix.lower():
            return row
    raise ValueError(f"no served container has the suffix {suffix!r}")


def served_suffix(medium: Medium) -> str:
    """Return the suffix of every served file of a medium that has one format only."""
    (suffix,) = [row.suffix for row in SERVED if row.medium == medium]
    return suffix
