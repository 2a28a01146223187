"""What a file holds, whatever its medium."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from beholder.errors import Problem
from beholder.stimuli.audio import measure_sound
from beholder.stimuli.formats import medium_of
from beholder.stimuli.image import measure_picture
from beholder.stimuli.streams import Measured, unreadable
from beholder.stimuli.text import measure_prose
from beholder.stimuli.video import READ, measure_clip, unplayable_clip
from beholder.types import Medium

__all__ = ["READ", "Measured", "measure", "unplayable"]

_MEASURES: Mapping[Medium, Callable[[Path, str], Measured]] = {
    "video": measure_clip,
    "audio": measure_sound,
    "image": measure_picture,
    "text": measure_prose,
}


def measure(path: Path, where: str, medium: Medium | None = None) -> Measured:
    """Return what the file holds, or raise StimuliError naming `where` when it cannot be read as its medium.

    Without a medium it is that of the suffix, or video.
    """
    kind = medium or medium_of(path.name) or "video"
    if path.stat().st_size == 0:
        raise unreadable(where, kind, "the file is empty")
    return _MEASURES[kind](path, where)


def unplayable(measured: Measured, where: str, medium: Medium = "video") -> Problem | None:
    """Return why browsers would not play this, None when they would: all but videos are decoded beforehand."""
    return unplayable_clip(measured, where) if medium == "video" else None
