"""The contract of a rating method, and the trial that it shares with the planner, the server and the robots.

A method folder imports from here and from nowhere else in Beholder.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal, NamedTuple, Protocol, runtime_checkable

from numpy.random import Generator
from pydantic import BaseModel

from beholder.errors import Problem, Refused
from beholder.stimuli.catalogue import Catalogue, Stimulus
from beholder.study.model import Part, Question, Study
from beholder.study.scale import Scale
from beholder.types import Json, Medium, Role

__all__ = [
    "Asked", "BaseModel", "Break", "Catalogue", "Generator", "Json", "Judgement", "Medium", "Method", "Part",
    "Percept", "Problem", "Question", "Refused", "Role", "Scale", "Slot", "Stimulus", "Study", "Target", "Trial",
    "Unit", "Units",
]  # fmt: skip


class Slot(NamedTuple):
    """A place in a trial. Private but for id, label, rated and colour."""

    id: str
    stimulus: str
    role: Role
    label: str | None
    rated: bool
    colour: str | None


class Asked(NamedTuple):
    """A question as it stands in one trial; `question` and `purpose` are private."""

    id: str
    question: str
    purpose: Literal["ask", "trap", "repeat"]
    text: str
    scale: Scale


class Target(NamedTuple):
    """The answer that a check or a training example expects."""

    value: float
    tolerance: float
    message: str


@dataclass(frozen=True)
class Trial:
    """One page of rating, every outcome of chance decided."""

    id: str
    content: str
    purpose: Literal["rate", "train"]
    slots: tuple[Slot, ...]
    asked: tuple[Asked, ...]
    draws: Mapping[str, Json] = field(default_factory=dict)
    targets: Mapping[str, Target] = field(default_factory=dict)


@dataclass(frozen=True)
class Break:
    """A pause between two trials."""

    id: str


class Unit(NamedTuple):
    """What the planner deals out: a content, a stimulus, a pair. `stimuli` are in canonical order."""

    content: str
    stimuli: tuple[str, ...]


@dataclass(frozen=True)
class Units:
    """All units of a study, and how the planner may arrange them.

    kind content: a trial is one content with `per_trial` of its stimuli, chosen by the planner;
    kind stimulus: a trial is one stimulus. `shuffle` slots: the planner permutes the slots of a trial.
    """

    kind: Literal["content", "stimulus", "pair", "tuple"]
    items: tuple[Unit, ...]
    per_trial: int
    shuffle: Literal["slots", "order", "none"]
    companions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    apart: int = 0


@dataclass(frozen=True)
class Judgement:
    """A rating without who, when and where."""

    question: str
    kind: Literal["score", "diff", "choice", "correct", "pick"]
    slot: str
    value: float | None
    raw_value: float | None
    scale_min: float
    scale_max: float
    other_slot: str | None = None
    keyed: str = "+"
    unit: str | None = None
    missing: str | None = None


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
