"""What `launch` finds and does."""

from __future__ import annotations

from dataclasses import dataclass

from beholder.errors import Problem
from beholder.recruit.contract import Job, Posting, Quote
from beholder.study.money import Sum
from beholder.types import Mode


@dataclass(frozen=True)
class Turned:
    """How a study stands on its platform after somebody paused it, or let people begin again."""

    posting: Posting
    due: Sum | None
    """What letting people in again sets aside for whoever does not fit, on top of what was; None where nothing."""
    words: tuple[str, ...]
    """All of this in sentences."""


@dataclass(frozen=True)
class Launch:
    """A study that is ready for people: what it costs, where it stands, and what to do next."""

    mode: Mode
    job: Job
    posting: Posting | None
    """As it stands on the platform; None where there is none, and in a dry run."""
    quote: Quote | None
    """None where nobody earns anything."""
    due: Sum | None
    """What has to be named to go on: for the first places all they cost, for more of them the difference; None where
    nothing is left to be confirmed."""
    link: str
    """Where people begin."""
    files: tuple[str, ...]
    """What was written, below the study's folder."""
    warnings: tuple[Problem, ...]
    words: tuple[str, ...]
    """All of this in sentences."""
