"""The contract of a check with a page: a new task for each attempt, judged on the server.

A rule over a whole session is `beholder.checks.contract.Rule`. The private half of a task never leaves the server;
pictures and sounds are drawn from it on request, so that they can be drawn again.
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
    """The format of one second of video that a browser has to decode."""

    codec: str
    container: str
    width: int
    height: int
    fps: float


@dataclass(frozen=True)
class Needs:
    """What the study needs of a device: computed once, from its stimuli and its playback options."""

    codecs: tuple[str, ...] = ()
    """MIME types with codecs of everything that is shown, as `canPlayType` takes them."""
    medium: str = "video"
    fps: float = 0
    """The highest frame rate among the clips."""
    size: tuple[int, int] | None = None
    """The largest width and height among the clips, where playback is `native`."""
    fullscreen: bool = False
    sound: bool = False
    first_bytes: int = 0
    """Approximate size of the media of one trial."""
    sample: Sample | None = None
    """As hard to decode as the hardest clip; None where there are no clips."""


@dataclass(frozen=True)
class CheckContext:
    """What is known when a task is made: device, last answer to each earlier check, and needs of the study."""

    device: Mapping[str, Json] = field(default_factory=dict)
    answers: Mapping[str, Json] = field(default_factory=dict)
    """By the name of the check."""
    needs: Needs = Needs()


@dataclass(frozen=True)
class CheckTask:
    """The task of one attempt: what the page gets, what only the server knows, and the names of its media."""

    public: Mapping[str, Json] = field(default_factory=dict)
    private: Mapping[str, Json] = field(default_factory=dict)
    media: tuple[str, ...] = ()


class WordKey(str):
    """A value in a message that is itself translated: its key among the words, such as that of a device."""

    __slots__ = ()


class DrawnFile(NamedTuple):
    """A picture or a sound that was drawn for one attempt."""

    body: bytes
    content_type: str


@dataclass(frozen=True)
class Attempt:
    """What a verdict is based on: stored whole, so that it can be judged again with other thresholds."""

    private: Mapping[str, Json]
    answer: Mapping[str, Json]
    context: CheckContext = CheckContext()
    number: int = 1


@dataclass(frozen=True)
class RobotAbilities:
    """What a simulated participant is able to do: everything except `fails`."""

    fails: frozenset[str] = frozenset()

    def can(self, check: str) -> bool:
        return check not in self.fails


class PageCheck(ABC, Generic[_Rule]):
    """Base of every check with a page of its own, `web/checks/<name>.js`.

    `rule` holds the options of the study, `folder` is the study folder. `scope` says what a pass belongs to: the
    person, or the device as well.
    """

    name: ClassVar[str]
    version: ClassVar[int] = 1
    stage: ClassVar[Stage]
    scope: ClassVar[Literal["person", "device"]] = "device"
    seconds: ClassVar[float]
    """Approximate duration of one attempt."""
    screens: ClassVar[int] = 1
    """Number of successive pages or pictures in one attempt; 0 where it asks nothing."""
    lasting_reasons: ClassVar[frozenset[str]] = frozenset()
    """Reasons of an unknown that carries over like a pass: this device allows no better."""
    is_costly: ClassVar[bool] = True
    """Whether `clean` excludes a session that failed it."""

    def __init__(self, rule: _Rule, folder: Path = Path()) -> None:
        self.rule, self.folder = rule, folder

    @classmethod
    def is_asked(cls, rule: _Rule) -> bool:
        """Return whether these options ask for this check; one key of the study can stand for several."""
        return True

    @property
    def action(self) -> Action:
        return self.rule.action

    def pose(self, rng: Generator, context: CheckContext) -> CheckTask:
        """Return a new task. Everything random is decided here."""
        return CheckTask()

    def draw(self, private: Mapping[str, Json], name: str) -> DrawnFile:
        """Return a picture or sound of a task, from its private half alone."""
        raise LookupError(f"{self.name} draws no {name}")

    @abstractmethod
    def read(self, private: Mapping[str, Json], answer: Json) -> Mapping[str, Json]:
        """Return the normalised answer, or raise Refused. `{"cannot": true}` is handled before."""

    @abstractmethod
    def judge(self, attempt: Attempt) -> Verdict:
        """Return the verdict. Pure. `clean` calls it again, without `context.needs`: what it uses is in `private`."""

    def message_values(self, verdict: Verdict) -> Mapping[str, str | float]:
        """Return the values in the message `told.<reason>` (web/words, checks.<name>) that a participant reads."""
        return {}

    def needs(self) -> Mapping[str, str | float]:
        """Return the values in the text `needs`, which participants read before they agree."""
        return {}

    def guess_rate(self) -> float:
        """Return the probability that the best blind guess passes one attempt; 0 where nothing is guessed."""
        return 0.0

    @abstractmethod
    def respond(self, task: CheckTask, robot: RobotAbilities, rng: Generator) -> Json:
        """Return the answer of a simulated participant with these abilities."""

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
        """Return a verdict. `again`: unknown, and to be repeated. `action`: overrides that of the study."""
        return Verdict(self.name, self.version, say, reason, measured, needed, evidence, again, action)


def refuse(where: str, what: str, allowed: str) -> Refused:
    """Return the error for an answer that its page would not send."""
    return Refused(what, where=f"answer.{where}" if where else "answer", allowed=allowed)


# Reading parts of an answer


def read_number(answer: Mapping[str, Json], name: str, least: float, most: float) -> float:
    """Return a number within bounds."""
    value = _within(answer.get(name), least, most)
    if value is None:
        raise refuse(name, f"{name} is missing or out of bounds", f"a number, {least:g} to {most:g}")
    return value


def read_whole_number(answer: Mapping[str, Json], name: str, least: int, most: int) -> int:
    """Return a whole number within bounds."""
    value = answer.get(name)
    if not isinstance(value, int) or _within(value, least, most) is None:
        raise refuse(name, f"{name} is missing or out of bounds", f"a whole number, {least} to {most}")
    return value


def read_pair(answer: Mapping[str, Json], name: str, least: float, most: float) -> tuple[float, float]:
    """Return two numbers within bounds."""
    values = _all_within(answer.get(name), least, most)
    if values is None or len(values) != 2:
        raise refuse(name, f"{name} is missing or out of bounds", f"two numbers, {least:g} to {most:g}")
    return values[0], values[1]


def read_numbers(answer: Mapping[str, Json], name: str, least: float, most: float, count: int) -> list[float]:
    """Return up to `count` numbers within bounds."""
    values = _all_within(answer.get(name), least, most)
    if values is None or len(values) > count:
        raise refuse(name, f"{name} is missing or out of bounds", f"up to {count} numbers, {least:g} to {most:g}")
    return values


def read_flag(answer: Mapping[str, Json], name: str) -> bool | None:
    """Return true or false; None where the browser could not tell."""
    value = answer.get(name)
    if value is None or isinstance(value, bool):
        return value
    raise refuse(name, f"{name} is neither yes nor no", "true, false or null")


def _within(value: Json, least: float, most: float) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # Compared before the conversion: a whole number in JSON can be larger than any float.
    return float(value) if least <= value <= most else None


def _all_within(value: Json, least: float, most: float) -> list[float] | None:
    if not isinstance(value, list | tuple):
        return None
    values = [one for one in (_within(part, least, most) for part in value) if one is not None]
    return values if len(values) == len(value) else None


# The window that a picture has to fit

_USUAL = (1280.0, 720.0)
_SIDES = (200, 20_000)
_RATIOS = (0.5, 5)
_MOST_LINES = 8640
"""Twice those of the finest screens. Drawing for more would take the server minutes."""
_SCALES = (0.01, 100)
_SCALED = 0.02
"""A picture that is scaled by more than this is not judged."""


@dataclass(frozen=True)
class Window:
    """Size of the window and of the screen in CSS pixels; `ratio` is device pixels per CSS pixel."""

    width: float
    height: float
    screen_width: float
    screen_height: float
    ratio: float

    @property
    def lines(self) -> float:
        """Height of the screen in device pixels, within plausible limits: pictures grow with it."""
        return min(self.screen_height * self.ratio, _MOST_LINES)


def window_of(context: CheckContext) -> Window:
    """Return the window of a device, with usual values where its report is missing or impossible."""
    device = _latest(context)
    screen = _size(device.get("screen"), _USUAL)
    # A phone held upright may report a window that is wider than its screen; a picture has to fit both.
    width, height = _size(device.get("viewport"), screen)
    ratio = _number(device.get("dpr"), _RATIOS) or 1.0
    return Window(min(width, screen[0]), min(height, screen[1]), *screen, ratio)


def _latest(context: CheckContext) -> Mapping[str, Json]:
    """Return the latest report: the ratio changes when the zoom is set to 100 % for the screen check."""
    measured = context.answers.get("screen")
    if not isinstance(measured, Mapping) or "dpr" not in measured:
        return context.device
    return {**context.device, "screen": measured["screen"], "viewport": measured["inner"], "dpr": measured["dpr"]}


def read_scale(answer: Mapping[str, Json]) -> float | None:
    """Return the device pixels per pixel of a picture, as measured by its page; None where it was not."""
    return _number(answer.get("scale"), _SCALES)


def is_scaled(scale: Json) -> bool:
    """Return whether a picture was shown in another size than its own."""
    return isinstance(scale, int | float) and abs(scale - 1) > _SCALED


def _size(value: Json, usual: tuple[float, float]) -> tuple[float, float]:
    if not isinstance(value, list | tuple) or len(value) != 2:
        return usual
    width, height = (_number(side, _SIDES) for side in value)
    return (width, height) if width and height else usual


def _number(value: Json, within: tuple[float, float]) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if within[0] <= value <= within[1] else None
