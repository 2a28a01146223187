"""What is known of one participant."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from beholder.study.money import Sum
from beholder.types import Mode, Outcome


class Step(NamedTuple):
    """One page that was answered."""

    key: str
    at: datetime
    seconds: float
    """How long it was looked at."""


class Ruled(NamedTuple):
    """What one rule says of a session."""

    check: str
    verdict: str
    """pass, fail or unknown"""
    reason: str
    words: str
    """Empty where it is not failed."""


class Done(NamedTuple):
    """Something that was done about a person, and why."""

    kind: str
    at: datetime
    session: str
    reason: str


@dataclass(frozen=True)
class Visited:
    """One session of a person."""

    session: str
    run: int
    began: datetime
    ended: datetime | None
    outcome: Outcome | None
    """None while it has not ended."""
    at: str
    """Where they are, in words."""
    list: int | None
    accept: bool | None
    """None where a person has to look, or where it was not judged."""
    use: bool
    reasons: tuple[str, ...]
    """As `check:reason`."""
    is_erased: bool = False
    steps: tuple[Step, ...] = ()
    rules: tuple[Ruled, ...] = ()

    @property
    def minutes(self) -> float | None:
        """How long it took, to its end or else to its last answer."""
        last = self.ended or max((step.at for step in self.steps), default=None)
        return round((last - self.began).total_seconds() / 60, 1) if last else None


@dataclass(frozen=True)
class Person:
    """Somebody who came: their sessions, what was done about them, and what they were paid."""

    participant: str
    """The pseudonym."""
    mode: Mode
    sessions: tuple[Visited, ...]
    """Oldest first."""
    acts: tuple[Done, ...] = ()
    paid: Sum | None = None
    """What has surely reached them; None where nothing has."""
    is_shut_out: bool = False
