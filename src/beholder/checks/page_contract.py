"""The contract of a check with a page: a new task for each attempt, judged on the server.

A check is one folder: `__init__.py` with its class, `page.js`, and `words/<language>.json` with what participants read.
A rule over a whole session is `beholder.checks.contract.Rule`. The private half of a task never leaves the server;
pictures and sounds are drawn from it on request, so that they can be drawn again.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, get_args

from numpy.random import Generator

from beholder.checks.contract import Verdict
from beholder.errors import Problem, ReadTexts, Refused
from beholder.study.checks import CheckKind
from beholder.study.model import Study
from beholder.study.qualification import Action, CheckOptions
from beholder.types import Json, Outcome
from beholder.words import folder_words, read_words

Stage = Literal["device", "qualify", "setup"]
STAGES: tuple[Stage, ...] = get_args(Stage)
"""In the order in which participants meet them: a list of rows that measure by themselves, then one page each."""
Sense = Literal["eyes", "ears"]


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
    ppi: float | None = None
    """Density of their screen, in device pixels per inch; left out, dense enough for every check."""

    def can(self, check: str) -> bool:
        return check not in self.fails


class BrowserPage(Protocol):
    """One attempt in a real browser, as a test of a page sees it: the answer to give, and hands to give it with.

    Parts of the page are named by selectors; `find` waits for one. `leave` presses what leads to the next screen, and
    waits until this one is gone.
    """

    @property
    def key(self) -> str: ...
    @property
    def answer(self) -> Mapping[str, Any]: ...
    @property
    def page(self) -> Any:
        """The page of Playwright."""
        ...

    async def find(self, selector: str) -> Any: ...
    async def press(self, selector: str) -> None: ...
    async def tick(self, selector: str) -> None: ...
    async def write(self, selector: str, value: object) -> None: ...
    async def slide(self, selector: str, share: float) -> None:
        """Set a slider to a share of its range, 0 to 1."""
        ...

    async def leave(self, selector: str = "#next") -> None: ...
    async def pass_row(self, *buttons: str) -> None:
        """Wait until a row of the list of device checks is done, pressing these buttons where they appear."""
        ...

    async def on_screen(self) -> None:
        """Look at the screen, before it is left."""
        ...


class PageCheck(ABC, CheckKind):
    """Base of every check with a page of its own.

    `options` are those of the study, `folder` is the study folder, `language` is that in which somebody takes part.
    """

    language: str = "en"

    # What it is

    version: ClassVar[int] = 1

    class Options(CheckOptions):
        """Options of every check."""

    options: CheckOptions
    brings: ClassVar[tuple[str, ...]] = ()
    """Checks whose measurements it needs: they come with it, with their defaults."""
    example: ClassVar[Mapping[str, Any]] = {}
    """Options to try it with, where the defaults do not do."""

    # When it comes, and what it costs

    stage: ClassVar[Stage]
    scope: ClassVar[Literal["person", "device"]] = "device"
    """What a pass belongs to: the person, or the device as well."""
    seconds: ClassVar[float]
    """Approximate duration of one attempt."""
    screens: ClassVar[int] = 1
    """Number of successive pages or pictures in one attempt; 0 where it asks nothing."""
    lasting_reasons: ClassVar[frozenset[str]] = frozenset()
    """Reasons of an unknown that carries over like a pass: this device allows no better."""
    is_costly: ClassVar[bool] = True
    """Whether `clean` excludes a session that failed it."""
    outcome: ClassVar[Outcome] = "screened_out"
    """How the session of a participant ends who does not pass its gate."""

    # What others ask of it

    title: ClassVar[str]
    """What researchers read."""
    reasons: ClassVar[Mapping[str, str]] = {}
    """The reasons of its failures, as researchers read them after the title."""
    sense: ClassVar[Sense | None] = None
    """The sense that it tests, which is personal: participants read of it before they agree."""
    is_of_device: ClassVar[bool] = False
    """Whether it looks at how this device shows or sounds, which says nothing where another one is the stage."""
    decodes: ClassVar[bool] = False
    """Whether it tries to play what the study shows: only then are codecs and a sample among its needs."""
    measures: ClassVar[tuple[str, ...]] = ()
    """The columns of devices.csv that it fills, its own number first."""
    variants: ClassVar[tuple[str, ...]] = ()
    """Other ways in which a robot can fail it, each as `name:variant` among its `RobotAbilities.fails`."""

    # Its files, beside the class

    page: ClassVar[str] = "page.js"
    words: ClassVar[str] = "words"
    """The folder of its texts for participants, one file for each language."""

    def __init__(self, options: CheckOptions, folder: Path = Path()) -> None:
        self.options, self.folder = options, folder

    @classmethod
    def home(cls) -> Path:
        """Return the folder with its page; a subclass without a page of its own has that of its parent."""
        files = [getattr(sys.modules[kind.__module__], "__file__", None) for kind in cls.__mro__]
        folders = [Path(file).parent for file in files if file]
        return next((folder for folder in folders if (folder / cls.page).is_file()), folders[0])

    @classmethod
    def texts(cls, language: str) -> Mapping[str, str]:
        """Return what participants read, in English where a language lacks a text."""
        return folder_words(cls.home() / cls.words, language)

    @classmethod
    def fault(cls) -> str | None:
        if getattr(cls, "stage", None) not in STAGES:
            return f"has no stage, one of {', '.join(STAGES)}"
        if not (cls.home() / cls.page).is_file():
            return f"has no {cls.page} beside it"
        try:
            has_title = bool(cls.texts("en").get("title"))
        except ValueError as error:
            return f"has words that cannot be read: {error}"
        return None if has_title else f"has no title in {cls.words}/en.json"

    @classmethod
    def is_asked(cls, options: Any) -> bool:
        """Return whether these options ask for this check; one key of the study can stand for several."""
        return True

    @property
    def action(self) -> Action:
        return self.options.action

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
        """Return the values in the text `told.<reason>` that a participant reads."""
        return {}

    def needs(self) -> Mapping[str, str | float]:
        """Return the values in the text `needs`, which participants read before they agree."""
        return {}

    def requirement(self) -> str:
        """Return what it asks for as a paper says it, where that is a number or a kind."""
        return ""

    def allowed_devices(self) -> tuple[str, ...]:
        """Return the kinds of device to which it restricts the study; empty where it does not."""
        return ()

    def problems(self, study: Study) -> Iterator[Problem]:
        """Yield what is wrong with its files in the study folder."""
        return iter(())

    def is_carried(self, evidence: Mapping[str, Json]) -> bool:
        """Return whether a pass in another session, with this evidence of its verdict, can count in this one."""
        return True

    def device_facts(self, verdict: Verdict) -> Mapping[str, Json]:
        """Return what a verdict says of the device, by column of devices.csv."""
        is_number = verdict.verdict != "unknown" and isinstance(verdict.measured, int | float)
        return {self.measures[0]: float(verdict.measured)} if self.measures and is_number else {}  # type: ignore[arg-type]

    def guess_rate(self) -> float:
        """Return the probability that the best blind guess passes one attempt; 0 where nothing is guessed."""
        return 0.0

    @abstractmethod
    def respond(self, task: CheckTask, robot: RobotAbilities, rng: Generator) -> Json:
        """Return the answer of a simulated participant with these abilities."""

    @classmethod
    async def take(cls, page: BrowserPage) -> None:
        """Give the answer in a real browser, from the first screen to the last."""
        if cls.stage != "device":
            raise NotImplementedError(f"{cls.name} does not say how its page is taken")
        await page.pass_row()

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

    def refuse(self, where: str, what: str, allowed: str, **values: Any) -> Refused:
        """Return the error for an answer that its page would not send.

        Its text is `refused.<what>` of the words of the check or its parents, or else of ours, or else `what` itself.
        """
        kinds = (kind for kind in type(self).__mro__ if issubclass(kind, PageCheck))
        own = (kind.texts for kind in kinds if f"refused.{what}" in kind.texts("en"))
        return refuse(where, what, allowed, next(own, read_words), **values)


# Reading parts of an answer


def refuse(where: str, what: str, allowed: str, texts: ReadTexts = read_words, **values: Any) -> Refused:
    """Return the error for an answer that no page would send; `what` is a word among the texts, or else the text."""
    place = f"answer.{where}" if where else "answer"
    if f"refused.{what}" in texts("en"):
        return Refused.because(what, where=place, allowed=allowed, texts=texts, **values)
    return Refused(what, where=place, allowed=allowed)


def read_number(answer: Mapping[str, Json], name: str, least: float, most: float) -> float:
    """Return a number within bounds."""
    value = _within(answer.get(name), least, most)
    if value is None:
        raise refuse(name, "out_of_bounds", f"a number, {least:g} to {most:g}", name=name)
    return value


def read_whole_number(answer: Mapping[str, Json], name: str, least: int, most: int) -> int:
    """Return a whole number within bounds."""
    value = answer.get(name)
    if not isinstance(value, int) or _within(value, least, most) is None:
        raise refuse(name, "out_of_bounds", f"a whole number, {least} to {most}", name=name)
    return value


def read_pair(answer: Mapping[str, Json], name: str, least: float, most: float) -> tuple[float, float]:
    """Return two numbers within bounds."""
    values = _all_within(answer.get(name), least, most)
    if values is None or len(values) != 2:
        raise refuse(name, "out_of_bounds", f"two numbers, {least:g} to {most:g}", name=name)
    return values[0], values[1]


def read_numbers(answer: Mapping[str, Json], name: str, least: float, most: float, count: int) -> list[float]:
    """Return up to `count` numbers within bounds."""
    values = _all_within(answer.get(name), least, most)
    if values is None or len(values) > count:
        raise refuse(name, "out_of_bounds", f"up to {count} numbers, {least:g} to {most:g}", name=name)
    return values


def read_flag(answer: Mapping[str, Json], name: str) -> bool | None:
    """Return true or false; None where the browser could not tell."""
    value = answer.get(name)
    if value is None or isinstance(value, bool):
        return value
    raise refuse(name, "neither_yes_nor_no", "true, false or null", name=name)


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
