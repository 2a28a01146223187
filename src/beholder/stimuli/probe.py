"""What a file holds, whatever its medium."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from beholder.errors import Problem
from beholder.stimuli.audio import measure_audio
from beholder.stimuli.image import measure_image
from beholder.stimuli.media_formats import medium_of
from beholder.stimuli.streams import Measurement, read_error
from beholder.stimuli.text import measure_text
from beholder.stimuli.video import measure_video, video_playback_problem
from beholder.types import Medium

_MEASURE: Mapping[Medium, Callable[[Path, str], Measurement]] = {
    "video": measure_video,
    "audio": measure_audio,
    "image": measure_image,
    "text": measure_text,
}


def measure(path: Path, where: str, medium: Medium | None = None) -> Measurement:
    """Return what the file holds, or raise StimuliError naming `where` when it cannot be read as its medium.

    Without a medium it is that of the suffix, or video.
    """
    kind = medium or medium_of(path.name) or "video"
    if path.stat().st_size == 0:
        raise read_error(where, kind, "the file is empty")
    return _MEASURE[kind](path, where)


def playback_problem(measured: Measurement, where: str, medium: Medium = "video") -> Problem | None:
    """Return why browsers would not play this, None when they would: all but videos are decoded beforehand."""
    return video_playback_problem(measured, where) if medium == "video" else None
