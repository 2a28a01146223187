"""What `forget` and `purge` have erased."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Forgotten:
    """What was erased of one person, or would be."""

    sessions: tuple[str, ...]
    rows: int
    """Facts that are gone: answers, events, what was posed and told."""
    at: datetime | None
    """When it was done; None where it was only looked at."""
    was_done: bool
    """Whether it had been done before."""
    outputs: tuple[str, ...]
    """Folders that were written before and may still hold what this person said."""
    words: tuple[str, ...]


@dataclass(frozen=True)
class Purged:
    """What was erased because its day has come, or would be."""

    people: int
    """Whose ids on platforms are gone."""
    sessions: int
    """Whose answers are gone."""
    rows: int
    is_done: bool
    words: tuple[str, ...]
