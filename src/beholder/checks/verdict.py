"""What a check says, what it looks at, and its contract."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

from beholder.study.qualification import Action
from beholder.types import Json, Outcome

if TYPE_CHECKING:
    from beholder.checks.trust import Seen

Say = Literal["pass", "fail", "unknown"]
Watch = Literal["whole", "start", "none"]
_NO_EVIDENCE: Mapping[str, Json] = {}


class Verdict(NamedTuple):
    """Pass, fail or unknown, with the reason, what was measured and what was needed. Unknown costs nobody anything."""

    check: str
    version: int
    verdict: Say
    reason: str = ""
    measured: Json = None
    needed: Json = None
    evidence: Mapping[str, Json] = _NO_EVIDENCE
    again: bool = False
    """Unknown, and worth another try while there are any."""
    action: Action | None = None
    """In place of the action that the study gives to the check."""


class Viewing(NamedTuple):
    """How one slot of one trial played. None where nothing was measured."""

    trial: str
    slot: str
    length_ms: int | None
    plays: int | None
    coverage: float | None
    furthest_ms: float | None
    frames: int | None
    missing: str | None = None


class Click(NamedTuple):
    """One answer as it was clicked, before any sign is turned, with the scale it was given on."""

    question: str
    raw_value: float
    scale_min: float
    scale_max: float
    kind: str = "score"


Others = Mapping[tuple[str, str], float]
"""What the others say on average of (stimulus, question), without this person; only where there are others."""


class Scatter(NamedTuple):
    """How far somebody's votes scatter round those of the others, over all of their sessions."""

    ratings: int
    raters: int
    """Of how many people with enough ratings the usual scatter is taken."""
    z: float | None
    """In robust standard deviations of its logarithm above their median; None where it is not known."""
    width: float = 1.0
    """The scatter itself, as a standard deviation in widths of the scale."""


@dataclass(frozen=True)
class Evidence:
    """What the facts hold about one session. `outcome` is None while the session has not ended."""

    outcome: Outcome | None
    watch: Watch
    viewings: tuple[Viewing, ...] = ()
    clicks: tuple[Click, ...] = ()
    seen: tuple[Seen, ...] = ()
    """Every answered trial in the order of the list, each as it was answered last."""
    others: Others = field(default_factory=dict)
    scatter: Scatter | None = None
    """Only where the votes of all have been looked at together."""
    number: int = 1
    """Which of this person's sessions that were finished this is."""
    spared: frozenset[tuple[str, str]] = frozenset()
    """Content and question of pages whose anchors fool so many that nobody is judged by them."""


class Loss(NamedTuple):
    """Ratings of one trial that are not used: those that rest on these slots, or all of them."""

    trial: str
    """The key of the answer, as `trial:7`."""
    reason: str
    """As `check:reason`."""
    slots: frozenset[str] | None = None


class Looked(NamedTuple):
    """What a check makes of a session."""

    verdict: Verdict
    trials: tuple[tuple[Seen, Verdict], ...] = ()
    """What it says of single trials."""
    losses: tuple[Loss, ...] = ()


class Check(ABC):
    """A rule over the evidence of a session. Pure: the same evidence gives the same verdict."""

    name: ClassVar[str]
    version: ClassVar[int] = 1

    @property
    def is_costly(self) -> bool:
        """Whether a failure takes the session out of use."""
        return True

    @abstractmethod
    def judge(self, evidence: Evidence) -> Verdict:
        """Return the verdict on a session."""

    def look(self, evidence: Evidence) -> Looked:
        """Return the verdict, with what is said of single trials and which ratings are not used for it."""
        return Looked(self.judge(evidence))
