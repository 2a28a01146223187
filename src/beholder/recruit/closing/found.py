"""What `close` finds and does."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from beholder.errors import Problem


@dataclass(frozen=True)
class Closed:
    """A study that is over, or what still holds it up."""

    is_closed: bool
    """Whether it is; in a dry run, whether it could be."""
    open: tuple[Problem, ...]
    """What holds it up, in a dry run; otherwise it is raised."""
    summary: Path | None
    """close/summary.md: the methods paragraph, and what is kept until when."""
    exported: Path | None
    words: tuple[str, ...]
    """All of this in sentences."""
