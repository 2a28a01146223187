"""What a check says, what it looks at, and its contract."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from beholder.study.qualification import Action
from beholder.types import Json, Outcome

Say = Literal["pass", "fail", "unknown"]
Watch = Literal["whole", "start", "none"]


@dataclass(frozen=True)
class Verdict:
    """Pass, fail or unknown, with the reason, what was measured and what was needed. Unknown costs nobody anything."""

    check: str
    version: int
    verdict: Say
    reason: str = ""
    measured: Json = None
    needed: Json = None
    evidence: Mapping[str, Json] = field(default_factory=dict)
    again: bool = False
    """Unknown, and worth another try while there are any."""
    action: Action | None = None
    """In place of the action that the study gives to the check."""


@dataclass(frozen=True)
class Viewing:
    """How one slot of one trial played. None where nothing was measured."""

    trial: str
    slot: str
    length_ms: int | None
    plays: int | None
    coverage: float | None
    furthest_ms: float | None
    frames: int | None
    missing: str | None = None


@dataclass(frozen=True)
class Click:
    """One answer as it was clicked, before any sign is turned, with the scale it was given on."""

    question: str
    raw_value: float
    scale_min: float
    scale_max: float
    kind: str = "score"


@dataclass(frozen=True)
class Evidence:
    """What the facts hold about one session. `outcome` is None while the session has not ended."""

    outcome: Outcome | None
    watch: Watch
    viewings: tuple[Viewing, ...] = ()
    clicks: tuple[Click, ...] = ()


class Check(Protocol):
    """A rule over the evidence of a session. `judge` is pure: the same evidence gives the same verdict."""

    @property
    def name(self) -> str: ...
    @property
    def version(self) -> int: ...
    @property
    def stage(self) -> Literal["device", "qualify", "setup", "rate", "clean"]: ...
    @property
    def action(self) -> Literal["gate", "warn", "flag", "record"]: ...
    def judge(self, evidence: Evidence) -> Verdict: ...
