"""Sounds brought to one loudness: a single gain for the whole, never beyond full scale."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from beholder.stimuli.loudness import hear
from beholder.types import Medium

CEILING_DB = -1.0
"""The highest true peak that is made (EBU R 128): a lossy codec may decode to a little more than it was given."""
_HARDLY = 0.05


@dataclass(frozen=True)
class Levelled:
    """How a sound gets its loudness: filters of ffmpeg, and what is worth knowing."""

    filters: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def level(path: Path, medium: Medium, lufs: float) -> Levelled:
    """Return the gain that brings a file to `lufs`, or as near as full scale allows."""
    heard = hear(path, medium)
    if heard.lufs is None:
        return Levelled(notes=("silent or shorter than 0.4 s, so its loudness stays as it is.",))
    wanted = lufs - heard.lufs
    # What is louder than the ceiling already may be made softer, not louder still.
    gain = min(wanted, max(CEILING_DB - heard.peak_db, min(0.0, wanted)))
    notes: tuple[str, ...] = ()
    if wanted - gain > _HARDLY:
        notes = (f"{heard.lufs + gain:.1f} LUFS instead of {lufs:g}, for louder would go beyond full scale.",)
    return Levelled((f"volume={gain:.2f}dB",) if abs(gain) >= _HARDLY else (), notes)
