"""The contract of a check that a participant meets as a step: posed afresh for each attempt, judged on the server.

A rule over a whole session is `beholder.checks.contract.Rule`. What is private never leaves the server; pictures and
sounds are drawn from it on request, so that the evidence can be drawn again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Generic, Literal, NamedTuple, TypeVar

from numpy.random import Generator

from beholder.checks.contract import Verdict
from beholder.errors import Refused
from beholder.study.qualification import Action, CheckOptions
from beholder.types import Json

Stage = Literal["device", "qualify", "setup"]
_Rule = TypeVar("_Rule", bound=CheckOptions)


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
class CheckContext:
    """What is known of the person when a check is posed: the device, and the last answer to each earlier check."""

    device: Mapping[str, Json] = field(default_factory=dict)
    answers: Mapping[str, Json] = field(default_factory=dict)
    """By the name of the check."""
    needs: Needs = Needs()


@dataclass(frozen=True)
class CheckTask:
    """One attempt: what the page gets, what only the server knows, and the names of what has to be drawn for it."""

    public: Mapping[str, Json] = field(default_factory=dict)
    private: Mapping[str, Json] = field(default_factory=dict)
    media: tuple[str, ...] = ()


class WordKey(str):
    """A value of our words that is itself one of them: the key of it, as a device or a direction has a name."""

    __slots__ = ()


class DrawnFile(NamedTuple):
    """A picture or a sound, made for one attempt."""

    body: bytes
    content_type: str


@dataclass(frozen=True)
class Attempt:
    """What a verdict rests on: stored whole, so that it can be judged again under other thresholds."""

    private: Mapping[str, Json]
    answer: Mapping[str, Json]
    context: CheckContext = CheckContext()
    number: int = 1


@dataclass(frozen=True)
class RobotAbilities:
    """What a simulated participant is able to do: nothing that is in `fails`, everything else."""

    fails: frozenset[str] = frozenset()

    def can(self, check: str) -> bool:
        return check not in self.fails


class PageCheck(ABC, Generic[_Rule]):
    """Base of every check with a page of its own, `web/checks/<name>.js`. A subclass is one file in this folder.

    `rule` holds the options of the study, `folder` is where its files are. `scope` says what a pass belongs to: the
    person, or the device as well.
    """

    name: ClassVar[str]
    version: ClassVar[int] = 1
    stage: ClassVar[Stage]
    scope: ClassVar[Literal["person", "device"]] = "device"
    seconds: ClassVar[float]
    """About how long one attempt takes a person."""
    screens: ClassVar[int] = 1
    """How many pages or pictures one attempt shows, one after the other; 0 where it asks nothing."""
    lasting_reasons: ClassVar[frozenset[str]] = frozenset()
    """Reasons of an unknown that is carried over like a pass: on this device no better can be had."""
    is_costly: ClassVar[bool] = True
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

    def pose(self, rng: Generator, context: CheckContext) -> CheckTask:
        """Return a fresh attempt. Everything that is drawn by chance is decided here."""
        return CheckTask()

    def draw(self, private: Mapping[str, Json], name: str) -> DrawnFile:
        """Return a picture or sound of an attempt, from its private part alone."""
        raise LookupError(f"{self.name} draws no {name}")

    @abstractmethod
    def read(self, private: Mapping[str, Json], answer: Json) -> Mapping[str, Json]:
        """Return the normalised answer, or raise Refused. `{"cannot": true}` never comes here."""

    @abstractmethod
    def judge(self, attempt: Attempt) -> Verdict:
        """Return the verdict. Pure. `clean` calls it again, without `context.needs`: what it uses is in `private`."""

    def message_values(self, verdict: Verdict) -> Mapping[str, str | float]:
        """Return the values of the words `told.<reason>` (web/words, checks.<name>) that a person reads."""
        return {}

    def needs(self) -> Mapping[str, str | float]:
        """Return the values of the words `needs`, which people read before they agree."""
        return {}

    def guess_rate(self) -> float:
        """Return the probability that the best blind guess passes one attempt; 0 where there is nothing to guess."""
        return 0.0

    @abstractmethod
    def respond(self, posed: CheckTask, robot: RobotAbilities, rng: Generator) -> Json:
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


# --- Parts of an answer that a page measured: each read as what it has to be, or refused ---


def read_number(answer: Mapping[str, Json], name: str, least: float, most: float) -> float:
    """Return a number within bounds."""
    given = _within(answer.get(name), least, most)
    if given is None:
        raise refuse(name, f"{name} is missing or out of bounds", f"a number, {least:g} to {most:g}")
    return given


def read_whole_number(answer: Mapping[str, Json], name: str, least: int, most: int) -> int:
    """Return a whole number within bounds."""
    given = answer.get(name)
    if not isinstance(given, int) or _within(given, least, most) is None:
        raise refuse(name, f"{name} is missing or out of bounds", f"a whole number, {least} to {most}")
    return given


def read_pair(answer: Mapping[str, Json], name: str, least: float, most: float) -> tuple[float, float]:
    """Return two numbers within bounds."""
    found = _all_within(answer.get(name), least, most)
    if found is None or len(found) != 2:
        raise refuse(name, f"{name} is missing or out of bounds", f"two numbers, {least:g} to {most:g}")
    return found[0], found[1]


def read_numbers(answer: Mapping[str, Json], name: str, least: float, most: float, count: int) -> list[float]:
    """Return up to `count` numbers within bounds."""
    found = _all_within(answer.get(name), least, most)
    if found is None or len(found) > count:
        raise refuse(name, f"{name} is missing or out of bounds", f"up to {count} numbers, {least:g} to {most:g}")
    return found


def read_flag(answer: Mapping[str, Json], name: str) -> bool | None:
    """Return yes or no; None where the browser could not tell."""
    given = answer.get(name)
    if given is None or isinstance(given, bool):
        return given
    raise refuse(name, f"{name} is neither yes nor no", "true, false or null")


def _within(given: Json, least: float, most: float) -> float | None:
    if isinstance(given, bool) or not isinstance(given, int | float):
        return None
    # Compared before it is made a float: a whole number in JSON can be larger than any of those.
    return float(given) if least <= given <= most else None


def _all_within(given: Json, least: float, most: float) -> list[float] | None:
    if not isinstance(given, list | tuple):
        return None
    found = [one for one in (_within(part, least, most) for part in given) if one is not None]
    return found if len(found) == len(given) else None


# --- The window and the screen behind it, as the browser told them: what a picture has to fit ---


_USUAL = (1280.0, 720.0)
_SIDES = (200, 20_000)
_RATIOS = (0.5, 5)
_MOST_LINES = 8640
"""Twice those of the finest screens. Who claims more would keep the server drawing for minutes."""
_SCALES = (0.01, 100)
_SCALED = 0.02
"""A picture that is shown this much larger or smaller than it is proves nothing."""


@dataclass(frozen=True)
class Window:
    """Width and height of the window in CSS pixels, and of the screen; `ratio` device pixels make a CSS pixel."""

    width: float
    height: float
    screen_width: float
    screen_height: float
    ratio: float

    @property
    def lines(self) -> float:
        """How many device pixels the screen is high, as far as one can be: what is drawn grows with its lines."""
        return min(self.screen_height * self.ratio, _MOST_LINES)


def window_of(context: CheckContext) -> Window:
    """Return the window of a device. What was not told, or is not possible, is taken as usual."""
    device = _latest(context)
    screen = _size(device.get("screen"), _USUAL)
    # A phone held upright may tell of a window that is wider than its screen; a picture has to fit both.
    width, height = _size(device.get("viewport"), screen)
    ratio = _number(device.get("dpr"), _RATIOS) or 1.0
    return Window(min(width, screen[0]), min(height, screen[1]), *screen, ratio)


def _latest(context: CheckContext) -> Mapping[str, Json]:
    """Return what was told last: who set the zoom to 100 % for the check of the screen has another ratio since."""
    measured = context.answers.get("screen")
    if not isinstance(measured, Mapping) or "dpr" not in measured:
        return context.device
    return {**context.device, "screen": measured["screen"], "viewport": measured["inner"], "dpr": measured["dpr"]}


def read_scale(answer: Mapping[str, Json]) -> float | None:
    """Return how many device pixels each pixel of a picture covered, as its page measured it; None: not measured."""
    return _number(answer.get("scale"), _SCALES)


def is_scaled(scale: Json) -> bool:
    """Return whether a picture was shown in another size than its own."""
    return isinstance(scale, int | float) and abs(scale - 1) > _SCALED


def _size(told: Json, usual: tuple[float, float]) -> tuple[float, float]:
    if not isinstance(told, list | tuple) or len(told) != 2:
        return usual
    width, height = (_number(side, _SIDES) for side in told)
    return (width, height) if width and height else usual


def _number(told: Json, within: tuple[float, float]) -> float | None:
    if isinstance(told, bool) or not isinstance(told, int | float):
        return None
    return float(told) if within[0] <= told <= within[1] else None
