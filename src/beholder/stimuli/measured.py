"""What a look into a file gives: its probe, what copying it needs, or the problem that it cannot be read."""

from __future__ import annotations

from dataclasses import dataclass

from beholder.errors import Problem, StimuliError
from beholder.stimuli.catalogue import Probe
from beholder.types import Medium

AGAIN = "Export or copy it again, or take it out."


@dataclass(frozen=True)
class Measured:
    """A probe, with what only checks and copies need."""

    probe: Probe
    pixels: str = ""
    """ffmpeg's name of the pixel format of a video."""
    frames: int = 0
    """Pictures of a video, samples of one channel of a sound."""
    is_square: bool = True
    """Whether the pixels of a video are as wide as high; else its size as shown is not that of its frames."""
    is_deep: bool = False
    """A sound that holds more than 16 bits a sample."""


def unreadable(where: str, medium: Medium, reason: str, fix: str = AGAIN) -> StimuliError:
    """Return the error of a file that is not what its suffix says, or not whole."""
    return StimuliError(Problem(where, f"cannot be read as {medium}: {reason}", fix=fix))


def uncopied(where: str, reason: str, fix: str) -> StimuliError:
    """Return the error of a file whose copy for participants would not be the same."""
    return StimuliError(Problem(where, f"cannot be copied without its metadata: {reason}", fix=fix))
