"""The contract of a check that a participant meets as a step: posed afresh for each attempt, judged on the server.

A rule over a whole session is `beholder.checks.verdict.Check`. What is private never leaves the server; pictures and
sounds are drawn from it on request, so that the evidence can be drawn again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Generic, Literal, NamedTuple, TypeVar

from numpy.random import Generator

from beholder.checks.verdict import Verdict
from beholder.errors import Refused
from beholder.study.qualification import Action, Rule
from beholder.types import Json

Stage = Literal["device", "qualify", "setup"]
_Rule = TypeVar("_Rule", bound=Rule)


class Sample(NamedTuple):
    """How a second of video is made that a browser has to be able to decode."""

    codec: str
    container: str
    width: int
    height: int
    fps: float


@dataclass(frozen=True)
class Needs:
    """What the study asks of a device: made once, from its stimuli and its playback."""

    codecs: tuple[str, ...] = ()
    """MIME types with codecs, as `canPlayType` takes them, of everything that is shown."""
    medium: str = "video"
    fps: float = 0
    """The highest frame rate among the clips."""
    size: tuple[int, int] | None = None
    """The largest width and height among the clips, where playback is `native`."""
    fullscreen: bool = False
    sound: bool = False
    first_bytes: int = 0
    """About how large the media of one trial are."""
    sample: Sample | None = None
    """As hard to decode as the hardest clip; None where there are none."""


@dataclass(frozen=True)
class Known:
    """What is known of the person when a check is posed: the device, and the last answer to each earlier check."""

    device: Mapping[str, Json] = field(default_factory=dict)
    answers: Mapping[str, Json] = field(default_factory=dict)
    """By the name of the check."""
    needs: Needs = Needs()


@dataclass(frozen=True)
class Posed:
    """One attempt: what the page gets, what only the server knows, and the names of what has to be drawn for it."""

    public: Mapping[str, Json] = field(default_factory=dict)
    private: Mapping[str, Json] = field(default_factory=dict)
    media: tuple[str, ...] = ()


class Word(str):
    """A value of our words that is itself one of them: the key of it, as a device or a direction has a name."""

    __slots__ = ()


class Drawn(NamedTuple):
    """A picture or a sound, made for one attempt."""

    body: bytes
    content_type: str


@dataclass(frozen=True)
class Attempt:
    """What a verdict rests on: stored whole, so that it can be judged again under other thresholds."""

    private: Mapping[str, Json]
    answer: Mapping[str, Json]
    known: Known = Known()
    number: int = 1


@dataclass(frozen=True)
class Robot:
    """What a simulated participant is able to do: nothing that is in `fails`, everything else."""

    fails: frozenset[str] = frozenset()

    def can(self, check: str) -> bool:
        return check not in self.fails


class Step(ABC, Generic[_Rule]):
    """Base of every check with a page of its own, `web/checks/<name>.js`. A subclass is one file in this folder.

    `rule` holds the options of the study, `folder` is where its files are. `bound` says what a pass belongs to: the
    person, or the device as well.
    """

    name: ClassVar[str]
    version: ClassVar[int] = 1
    stage: ClassVar[Stage]
    bound: ClassVar[Literal["person", "device"]] = "device"
    seconds: ClassVar[float]
    """About how long one attempt takes a person."""
    screens: ClassVar[int] = 1
    """How many pages or pictures one attempt shows, one after the other; 0 where it asks nothing."""
    lasting: ClassVar[frozenset[str]] = frozenset()
    """Reasons of an unknown that is carried over like a pass: on this device no better can be had."""
    is_lost: ClassVar[bool] = True
    """Whether a session that failed it is not used by `clean`."""

    def __init__(self, rule: _Rule, folder: Path = Path()) -> None:
        self.rule, self.folder = rule, folder

    @classmethod
    def is_asked(cls, rule: _Rule) -> bool:
        """Return whether these options ask for this check; several can come of one key of the study."""
        return True

    @property
    def action(self) -> Action:
        return self.rule.action

    def pose(self, rng: Generator, known: Known) -> Posed:
        """Return a fresh attempt. Everything that is drawn by chance is decided here."""
        return Posed()

    def draw(self, private: Mapping[str, Json], name: str) -> Drawn:
        """Return a picture or sound of an attempt, from its private part alone."""
        raise LookupError(f"{self.name} draws no {name}")

    @abstractmethod
    def read(self, private: Mapping[str, Json], answer: Json) -> Mapping[str, Json]:
        """Return the normalised answer, or raise Refused. `{"cannot": true}` never comes here."""

    @abstractmethod
    def judge(self, attempt: Attempt) -> Verdict:
        """Return the verdict. Pure. `clean` calls it again without `known.needs`: what it needs of them is private."""

    def told(self, verdict: Verdict) -> Mapping[str, str | float]:
        """Return the values of the words `told.<reason>` (web/words, checks.<name>) that a person reads."""
        return {}

    def needs(self) -> Mapping[str, str | float]:
        """Return the values of the words `needs`, which people read before they agree."""
        return {}

    def luck(self) -> float:
        """Return the probability that the best blind guess passes one attempt; 0 where there is nothing to guess."""
        return 0.0

    @abstractmethod
    def respond(self, posed: Posed, robot: Robot, rng: Generator) -> Json:
        """Return how a robot answers that is able to pass, or is not."""

    def verdict(
        self,
        say: Literal["pass", "fail", "unknown"],
        reason: str = "",
        *,
        measured: Json = None,
        needed: Json = None,
        again: bool = False,
        action: Action | None = None,
        **evidence: Json,
    ) -> Verdict:
        """Return a verdict. `again`: unknown, and worth another try. `action`: in place of the study's."""
        return Verdict(self.name, self.version, say, reason, measured, needed, evidence, again, action)


def refuse(where: str, what: str, allowed: str) -> Refused:
    """Return the refusal of an answer that is not of the shape that its page sends."""
    return Refused(what, where=f"answer.{where}" if where else "answer", allowed=allowed)
