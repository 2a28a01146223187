"""The copies that participants get: the same pictures, sound and words, nothing that tells where they come from."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path

from beholder.stimuli.audio import RECIPE as SOUND
from beholder.stimuli.audio import copy_audio
from beholder.stimuli.catalogue import Probe
from beholder.stimuli.image import RECIPE as PICTURE
from beholder.stimuli.image import copy_image
from beholder.stimuli.media_formats import served_suffix
from beholder.stimuli.streams import Measurement
from beholder.stimuli.text import RECIPE as PROSE
from beholder.stimuli.text import copy_text
from beholder.stimuli.video import copy_video, video_format, video_recipe
from beholder.types import Medium

_COPY: Mapping[Medium, Callable[[Path, Path, Measurement, str], None]] = {
    "video": copy_video,
    "audio": copy_audio,
    "image": copy_image,
    "text": copy_text,
}
_RECIPES: Mapping[Medium, tuple[str, ...]] = {"audio": SOUND, "image": PICTURE, "text": PROSE}


def served_name(sha256: str, probe: Probe, medium: Medium = "video") -> str:
    """Return the name of the copy in media/: a hash of the recipe, so that a new recipe makes new copies."""
    if medium == "video":
        recipe, suffix = video_recipe(probe), video_format(probe).suffix
    else:
        # Markdown and plain text become different HTML of the same bytes.
        recipe, suffix = (*_RECIPES[medium], probe.container), served_suffix(medium)
    return hashlib.sha256("\n".join((sha256, *recipe)).encode()).hexdigest()[:32] + suffix


def write_copy(path: Path, target: Path, measured: Measurement, where: str, medium: Medium = "video") -> None:
    """Write the stripped copy of `path` to `target`, whole and read back, or not at all."""
    part = target.with_name(f".{target.stem}.{uuid.uuid4().hex}.part")
    try:
        _COPY[medium](path, part, measured, where)
        put_in_place(part, target)
    finally:
        part.unlink(missing_ok=True)


def put_in_place(part: Path, target: Path) -> None:
    """Rename a finished file onto its name; where another process was first with the same bytes, leave those."""
    try:
        part.replace(target)
    except PermissionError:
        # Windows does not replace a file that is being read.
        if not target.exists():
            raise
