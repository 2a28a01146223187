"""The contract of a rating method, and the trial that it shares with the planner, the server and the robots.

A method folder imports from here and from the other modules of this package, and from nowhere else in Beholder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from types import MappingProxyType
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, runtime_checkable

from numpy.random import Generator
from pydantic import BaseModel

from beholder.errors import Problem, Refused, did_you_mean
from beholder.stimuli.catalogue import Catalogue, Stimulus
from beholder.study.groups import group_study
from beholder.study.markdown import marked, plain_text
from beholder.study.model import Question, Study
from beholder.study.parts import Fault, ShownText, StudyPart, Text, raise_faults
from beholder.study.questions import SCALES, Scale
from beholder.study.value_kinds import Allowed, InFile, Shown
from beholder.types import Json, Medium, Role
from beholder.words import english_name, read_items

__all__ = [
    "PERCENTAGE_POINTS",
    "Allowed",
    "Asked",
    "BaseModel",
    "Break",
    "Catalogue",
    "Fault",
    "Generator",
    "InFile",
    "Json",
    "Judgement",
    "Medium",
    "Method",
    "Metric",
    "MetricWords",
    "OptionWords",
    "Paper",
    "Percept",
    "Problem",
    "Question",
    "Refused",
    "Role",
    "Scale",
    "Scoring",
    "Shown",
    "ShownText",
    "Slot",
    "Stimulus",
    "Study",
    "StudyPart",
    "Target",
    "Text",
    "Trial",
    "Unit",
    "Units",
    "did_you_mean",
    "english_name",
    "marked",
    "named_scale",
    "plain_text",
    "raise_faults",
    "read_items",
]


class Slot(NamedTuple):
    """A place in a trial. Private but for id, label, rated and colour.

    A method leaves `label` None, and the planner permutes such slots and letters them A, B, ...; or it names a
    place that stays where it is, in small letters: `reference`, `x`, `driving` (words of web/words, `slot.<label>`).
    """

    id: str
    stimulus: str
    role: Role
    label: str | None
    rated: bool
    colour: str | None


class Asked(NamedTuple):
    """A question as it stands in one trial; `question`, `purpose` and `keyed` are private."""

    id: str
    question: str
    purpose: Literal["ask", "trap", "repeat"]
    text: str
    scale: Scale
    keyed: Literal["+", "-"] = "+"
    ticks: tuple[str, ...] = ()
    """What can be ticked, in place of the scale."""


class Target(NamedTuple):
    """The answer that a check or a training example expects."""

    value: float
    tolerance: float
    message: str
    """What is read after another answer; our own words when empty."""
    is_trap: bool = False
    """The stimulus itself asks for this answer."""
    also: tuple[float, ...] = ()
    """Other answers that are as right: numbers that sound alike."""


@dataclass(frozen=True)
class Trial:
    """One page of rating, every outcome of chance decided."""

    id: str
    content: str
    purpose: Literal["rate", "train", "show"]
    """`show`: examples on a page of the instructions, which no plan holds."""
    slots: tuple[Slot, ...]
    asked: tuple[Asked, ...]
    draws: Mapping[str, Json] = field(default_factory=dict)
    targets: Mapping[str, Target] = field(default_factory=dict)
    together: bool = False
    """All slots play at once, side by side, on one clock."""
    anchor: str = ""
    """What a training example stands for on the scale: read beside it."""
    passes: int = 1
    """How often every slot has to be played before the answer."""
    draw_probability: float | None = None
    """With which probability it was drawn what is compared, where that was drawn after the answers so far."""

    @cached_property
    def slot_by_id(self) -> Mapping[str, Slot]:
        """The slots by their ids."""
        return {slot.id: slot for slot in self.slots}

    @cached_property
    def roles(self) -> frozenset[Role]:
        """What the slots are there for."""
        return frozenset(slot.role for slot in self.slots)

    @cached_property
    def rated_questions(self) -> frozenset[str]:
        """The questions that are asked to be rated by, and not to check."""
        return frozenset(asked.question for asked in self.asked if asked.purpose == "ask")


@dataclass(frozen=True)
class Break:
    """A pause between two trials."""

    id: str


class Unit(NamedTuple):
    """What the planner deals out: a content, a stimulus, a pair. `stimuli` are in canonical order."""

    content: str
    stimuli: tuple[str, ...]
    asks: tuple[str, ...] = ()
    """Ids of the questions to ask; all of them when empty."""


@dataclass(frozen=True)
class Units:
    """All units of a study, and how the planner may arrange them.

    kind content: a trial is one content with `per_trial` of its stimuli, chosen by the planner;
    kind stimulus: a trial is one stimulus;
    kind pair: a trial is two stimuli of one content, as in `items`.
    `shuffle` slots: the planner permutes the slots without a label, each condition in each place equally often;
    order: it decides which of a pair comes first, evenly for each pair and within each list; none: as composed.
    `always`: conditions that are in every trial whatever the study says (kind content).
    `pairs_evenly`: every two conditions are on one page as equally often as can be (kind content).
    `companions`: a stimulus and those that must be in the same list when it is, at least `apart` trials away.
    `asks`: each dealt unit comes once for each of these sets of questions, in trials scattered over its list.
    `orders`: orders of the questions; a list asks in one of them throughout, each order in equally many lists.
    """

    kind: Literal["content", "stimulus", "pair", "tuple"]
    items: tuple[Unit, ...]
    per_trial: int
    shuffle: Literal["slots", "order", "none"]
    always: tuple[str, ...] = ()
    pairs_evenly: bool = False
    companions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    apart: int = 0
    asks: tuple[tuple[str, ...], ...] = ()
    orders: tuple[tuple[str, ...], ...] = ()


class Judgement(NamedTuple):
    """A rating without who, when and where."""

    question: str
    kind: Literal["score", "diff", "choice", "correct", "pick"]
    slot: str
    value: float | None
    raw_value: float | None
    scale_min: float
    scale_max: float
    other_slot: str | None = None
    keyed: float | None = None
    """The value turned so that more is always more of what the other questions measure; for kind `score`."""
    unit: str | None = None
    """What was ticked; of a word of a transcript, its place, counted from 1."""
    missing: str | None = None
    word: str | None = None
    """The word of a transcript that was judged: all words of a stimulus are one question, and not one each."""
    said: str | None = None
    """Of a text that was typed: the words of the transcript as they were compared, with spaces between."""
    heard: str | None = None
    """The words that were typed, in the same way; empty where nothing was understood."""


class OptionWords(NamedTuple):
    """How a report tells of an option of a method, as it was set."""

    title: str
    entry: str
    """After the title, in the list of how a study was done."""
    sentence: str = ""
    """For the methods paragraph, without its full stop; empty where it says nothing of it."""
    cites: tuple[str, ...] = ()
    """Keys of sources of the method as it was used, as in reporting/references.py."""


class Paper(NamedTuple):
    """How a paper describes a method, as its class variable `paper`; without one, only its name is used."""

    name: str
    """After "The study used"."""
    task: str
    """What participants did: a sentence without its full stop."""
    cites: tuple[str, ...] = ()
    """Keys of sources, as in reporting/references.py."""
    names_reference: bool = False
    """Whether participants know which one is the reference."""
    options: Callable[[Mapping[str, Any]], Iterable[OptionWords]] = lambda _: ()
    """What is told of the options of a study, from their values; how two were presented is told for all methods."""


class MetricWords(NamedTuple):
    """How reports speak of a number."""

    unit: str = "points"
    """Of differences. In `PERCENTAGE_POINTS` those of shares are written as hundred times the value."""
    heading: str = ""
    """The heading of the figure of the means; the name of the metric when empty."""
    is_quality: bool = True
    """Whether higher means better quality."""
    chosen: str = "preferred"
    """Of choices: what happened to a condition that was chosen; with the other one after it, `chosen_over`."""
    chosen_over: str = "preferred to"
    chose: str = "preferred it"
    undecided: str = "no preference"
    ticked: str = "ticked"
    """Of ticks: what happened to what was ticked, and of what its share is."""
    ticked_of: str = "answers"
    choices: str = "1 preferred, −1 the other preferred"
    answers: str = ""
    """What people could answer, where that is no value on the scale."""
    sides: tuple[str, str] | None = None
    """Of grades of two of one condition: what was better below zero, and above."""


class Metric(NamedTuple):
    """The name of a number, with its method, and what it says."""

    name: str
    meaning: str
    words: MetricWords = MetricWords()


PERCENTAGE_POINTS = "percentage points"


class Scoring(NamedTuple):
    """What the numbers of a method are called, as its class variable `scoring`; without one, they have plain names."""

    metrics: Mapping[str, Metric] = MappingProxyType({})
    """By kind of rating, as in `Judgement`, what the mean of a condition is; by analysis what its number is.

    Without a name of its own a number is called by its kind and by `short`, such as `CMOS(CCR)`.
    """
    short: str = ""
    """What the method is called in such names; its own name when empty."""
    citation: str = ""
    """Where its way to score comes from: sources, with semicolons between them."""
    controls_reference: bool = False
    """Whether the hidden reference is there to be recognised, as anchors are: no study is about its differences."""


def named_scale(name: str) -> Scale:
    """Return a scale by its name, such as acr5."""
    return SCALES[name]


def scoring_of(method: Method) -> Scoring:
    """Return what the numbers of a method are called."""
    scoring = getattr(method, "scoring", None)
    return scoring if isinstance(scoring, Scoring) else Scoring()


def wording_origin(method: Method, study: Study, question: Question, text: str) -> str:
    """Return in a sentence whose words a question has, where the method has words of its own; else nothing."""
    origin = getattr(method, "wording_origin", None)
    return str(origin(study, question, text)) if origin is not None else ""


Task = Literal["rate", "board", "change", "compare", "identify", "agree", "order", "extremes", "mark", "type"]
"""What people do on a page: rate one stimulus, several beside each other, or the change from a reference; compare two;
say which of two a third is like; answer statements about one; put several in order; mark the best and the worst,
or words; type what they hear. Our default texts are written by it."""


def task_of(method: Method) -> Task:
    """Return what people do on a page of this method."""
    task: Task = getattr(method, "task", "rate")
    return task


def shows_first(method: Method) -> bool:
    """Return whether a method shows everything before it asks, so that it can be shown on another device.

    It says so by its class variable `shows_first`; its view draws with `stage.play`, `ask`, `compare` or `survey`.
    """
    return bool(getattr(method, "shows_first", False))


def trial_in_language(method: Method, trial: Trial, study: Study) -> Trial:
    """Return a trial of the plan with what a method drew of its texts in the language of a study.

    A method that draws texts, beside those of questions, has a function `in_language(trial, study)`.
    """
    change: Callable[[Trial, Study], Trial] | None = getattr(method, "in_language", None)
    return trial if change is None else change(trial, study)


Percept = Mapping[str, float]
"""From "q1.s2" to a perceived strength between 0 and 1."""


@runtime_checkable
class Method(Protocol):
    """The rules of one kind of test. Built-ins and strangers register in the entry point group `beholder.methods`."""

    name: ClassVar[str]
    media: ClassVar[frozenset[Medium]]
    scales: ClassVar[tuple[str, ...]]
    """What a question may use, the default first. A scale written out is checked by `problems`."""
    Options: ClassVar[type[BaseModel]]
    """Options that belong to this method; `study.options` holds them validated, defaults filled."""
    analyses: ClassVar[tuple[str, ...]]
    """The headline first.

    Those that are not for every method, `dmos`, `medians` and `plackett_luce`, are made where it names them.
    """
    defaults: ClassVar[Mapping[str, Json]]
    """Study keys that this method fills in where the researcher wrote nothing, as they would stand in study.yaml."""

    def questions(self, study: Study) -> tuple[Question, ...]: ...
    def problems(self, study: Study, catalogue: Catalogue) -> Iterable[Problem]: ...
    def units(self, study: Study, catalogue: Catalogue) -> Units: ...
    def compose(self, study: Study, unit: Unit, catalogue: Catalogue, rng: Generator) -> Trial: ...
    def extra(self, trial: Trial) -> Mapping[str, Json]: ...
    def read(self, trial: Trial, answer: Json) -> Json: ...
    def judgements(self, trial: Trial, answer: Json) -> tuple[Judgement, ...]: ...
    def respond(self, trial: Trial, percept: Percept, rng: Generator) -> Json: ...
    def seconds(self, trial: Trial, catalogue: Catalogue) -> float: ...


# Slots in large numbers

_new_slot = partial(tuple.__new__, Slot)


@lru_cache(maxsize=64)
def slot_ids(count: int) -> tuple[str, ...]:
    """Return the ids of this many slots: s1, s2, ..."""
    return tuple(f"s{place}" for place in range(1, count + 1))


def slots_from_columns(
    ids: Iterable[str],
    stimuli: Iterable[str],
    roles: Iterable[Role],
    labels: Iterable[str | None],
    rated: Iterable[bool],
    colours: Iterable[str | None],
) -> tuple[Slot, ...]:
    """Return slots from columns: four times as fast as one by one."""
    return tuple(map(_new_slot, zip(ids, stimuli, roles, labels, rated, colours, strict=True)))


# Questions of all groups


def all_questions(study: Study, method: Method) -> tuple[Question, ...]:
    """Return the questions of the study, then those that only some groups are asked."""
    questions = {question.id: question for question in method.questions(study)}
    for factor, levels in study.design.between.items():
        for name, level in levels.items():
            for question in method.questions(group_study(study, {factor: name})) if level.options else ():
                questions.setdefault(question.id, question)
    return tuple(questions.values())
