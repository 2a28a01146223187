"""The design: how many participants see how much, in which order and groups, when it may stop; and training."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, field_validator, model_validator

from beholder.study.parts import (
    Fault,
    GroupName,
    ShownText,
    Slug,
    Span,
    StudyPart,
    Text,
    Validity,
    duration,
    raise_faults,
)
from beholder.study.recruitment import Money
from beholder.study.value_kinds import Allowed, Shown

MOST_SESSIONS = 50
"""Sessions of one person."""


class Star(StudyPart):
    """Pairs with one condition in the middle."""

    star: Text = Field(description="The condition that every other one is compared with.")


class Sparse(StudyPart):
    """Some of all pairs, such that every condition can be held against every other one through others."""

    sparse: int = Field(ge=2, le=100, description="How many others each condition is compared with.")


class Active(StudyPart):
    """How comparisons are chosen while answers come in."""

    batch: int | None = Field(
        default=None,
        ge=1,
        le=1000,
        description="Lists that are dealt at a time; as many as it takes to have every condition in a comparison when "
        "left out.",
    )
    uniform: float = Field(
        default=0.2,
        ge=0,
        le=1,
        description="Share of the comparisons that is drawn without regard to the answers, from 0 to 1.",
    )
    cap: int | None = Field(
        default=None, ge=1, description="How often two conditions are compared at most; as often as it helps without."
    )


class ActivePairs(StudyPart):
    """Pairs that are chosen while answers come in, with options."""

    active: Active = Field(description="How they are chosen.")


class Endless(StudyPart):
    """A study that does not end: conditions join and retire, and people come again."""

    per_day: int = Field(default=3, ge=1, le=50, description="Sessions that one person may take within 24 hours.")
    earlier: Annotated[
        str | None,
        StringConstraints(pattern=r"\.(csv|tsv|xlsx|parquet)$"),
        Allowed("a table in the study folder: CSV, TSV, XLSX or Parquet"),
    ] = Field(
        default=None,
        description="A table of votes that were collected before; on the board they come before all others.",
    )
    board: Span | None = Field(
        default=None, description="How often its server writes the board, where votes have come; never when left out."
    )

    @property
    def board_every(self) -> timedelta | None:
        """How often the board is written; None for never."""
        return duration(self.board) if self.board is not None else None


class Level(StudyPart):
    """What one group of participants gets in another way than the study says."""

    questions: tuple[Slug, ...] | None = Field(default=None, description="Ids of the questions that are asked.")
    conditions: tuple[Text, ...] | None = Field(default=None, description="Conditions that are shown.")
    options: dict[str, Any] = Field(default_factory=dict, description="Options of the method.")
    playback: dict[str, Any] = Field(default_factory=dict, description="Keys of `playback`.")
    instructions: ShownText | None = Field(default=None, description="In place of `texts.instructions`.")
    per_trial: int | None = Field(default=None, ge=1, description="In place of `design.per_trial`: stimuli on a page.")
    trials: int | None = Field(default=None, ge=1, le=10_000, description="In place of `design.trials`.")


class Stop(StudyPart):
    """When a study ends at one of its looks, before the last one: where any of these holds."""

    decided: Literal["all", "any", "none"] = Field(
        default="all",
        description="As soon as `all` contrasts that the study is about are clear, or `any` of them; `none`: it does "
        "not matter.",
    )
    precision: float | None = Field(
        default=None,
        gt=0,
        description="As soon as no interval of them reaches further than this to either side, in points of the scale.",
    )
    futility: float | None = Field(
        default=None,
        gt=0,
        lt=1,
        description="As soon as each that is not clear has a smaller chance than this of being so at the last look, if "
        "the difference is as large as it looks now.",
    )
    budget: Money | None = Field(
        default=None,
        description="As soon as the people up to the next look would take the cost, with fees, above this.",
    )


class OwnTrials(StudyPart):
    """Trials of stimuli that are for the person alone, beside those of their list (column `for` of the manifest)."""

    trials: int | None = Field(
        default=None,
        ge=1,
        le=1000,
        description="The most such trials that each of these people gets; all that their stimuli allow when left out.",
    )
    place: Literal["spread", "first", "last"] = Field(
        default="spread",
        description="Evenly `spread` among the other trials, before them (`first`), or after (`last`).",
    )


class Design(StudyPart):
    """How many people see how much."""

    participants: int = Field(default=20, ge=1, le=100_000, description="How many participants the plan is for.")
    votes: int | None = Field(
        default=None,
        ge=1,
        le=100_000,
        description="Usable ratings of each stimulus, or of each pair, in place of `participants`.",
    )
    looks: Annotated[
        tuple[Annotated[int, Field(ge=2, le=100_000)], ...],
        Allowed("numbers of participants from 2 on, each larger than the one before, such as [20, 40, 60]"),
    ] = Field(
        default=(),
        description="After how many participants the results are looked at, the last one being `participants`: "
        "intervals and p-values hold for all looks together, and `run` may stop at each.",
    )
    stop: Stop = Field(default=Stop(), description="When the study ends at one of its looks, before the last one.")
    sessions_per_participant: int = Field(
        default=1,
        ge=1,
        le=MOST_SESSIONS,
        description="Sessions that one person may take, never with the same stimulus again.",
    )
    trials: int | None = Field(
        default=None,
        ge=1,
        le=10_000,
        description="Trials per session; as many as possible up to 12 and a quarter of an hour when left out.",
    )
    per_trial: int | None = Field(default=None, ge=1, description="Stimuli per trial; all conditions when left out.")
    always: tuple[Text, ...] = Field(default=(), description="Conditions that are in every trial.")
    contents: Literal["once", "apart", "free"] = Field(
        default="apart",
        description="A content in one trial of a session (`once`), never in neighbouring trials (`apart`), or `free`.",
    )
    order: Literal["balanced", "latin", "williams"] = Field(
        default="balanced",
        description="Order of trials: even over positions; a Latin square; or Williams' square, in which everything "
        "also follows everything else equally often.",
    )
    blocks: Text | None = Field(
        default=None, description="A column of the manifest: trials with the same value come together."
    )
    pairs: Annotated[
        Literal["all", "sparse", "active"]
        | Star
        | Sparse
        | ActivePairs
        | Annotated[str, StringConstraints(pattern=r"\.csv$")],
        Allowed("all, sparse, active, {star: condition}, {sparse: 2 to 100}, {active: {...}}, or a CSV file"),
    ] = Field(
        default="all",
        description="Where two are compared: `all` pairs of conditions; `{star: condition}`, those with that one; "
        "`sparse` or `{sparse: number}`, some that hold together; `active` or `{active: {...}}`, those that tell most "
        "after the answers so far; or a CSV file with columns condition and other.",
    )
    arena: Endless | None = Field(
        default=None, description="A study that does not end, as `{}` or with options; its pairs are active."
    )
    both_orders: bool = Field(
        default=True, description="Each pair equally often in both orders; `false`: the earlier condition comes first."
    )
    between: dict[GroupName, dict[GroupName, Level]] = Field(
        default_factory=dict,
        description="Factors between participants: by name, its levels, and what is different in each.",
    )
    plan: Annotated[Annotated[str, StringConstraints(pattern=r"\.csv$")], Allowed("a CSV file")] | None = Field(
        default=None, description="A CSV file with columns list, position, slot and stimulus that is the plan."
    )
    own: OwnTrials = Field(
        default=OwnTrials(), description="Trials of the stimuli that a manifest binds to people, by its column `for`."
    )
    breaks: int | None = Field(
        default=None, ge=1, description="Offer a break after every so many trials, unless only one is left."
    )
    seed: int = Field(default=1, ge=0, description="The same seed gives the same plan.")

    @field_validator("between", mode="before")
    @classmethod
    def _empty_levels(cls, between: Any) -> Any:
        """Return the factors, each empty level as one that changes nothing."""
        if not isinstance(between, dict):
            return between
        return {
            factor: {name: {} if level is None else level for name, level in levels.items()}
            if isinstance(levels, dict)
            else levels
            for factor, levels in between.items()
        }

    @model_validator(mode="before")
    @classmethod
    def _as_many_as_at_the_last_look(cls, data: Any) -> Any:
        """Return the design with the number of participants that the last look says, where it is not written."""
        looks = data.get("looks") if isinstance(data, dict) else None
        if not looks or not isinstance(looks, list | tuple) or {"participants", "votes"} & data.keys():
            return data
        return {**data, "participants": looks[-1]}

    @model_validator(mode="before")
    @classmethod
    def _as_an_arena_is(cls, data: Any) -> Any:
        """Return the design with what an arena has where it is not written: active pairs, and people who come again."""
        if not isinstance(data, dict) or data.get("arena") is None:
            return data
        return {"pairs": "active", "sessions_per_participant": MOST_SESSIONS, **data}

    @model_validator(mode="after")
    def _looks_fit(self) -> Design:
        raise_faults([*_look_faults(self), *_active_faults(self)])
        return self

    @property
    def active(self) -> Active | None:
        """How comparisons are chosen while answers come in; None where the plan has all of them from the beginning."""
        if isinstance(self.pairs, ActivePairs):
            return self.pairs.active
        return Active() if self.pairs == "active" else None

    @property
    def dealt_lists(self) -> int | None:
        """How many lists there are in the end where they are dealt while answers come in.

        None for a fixed plan, and for an arena, which has no end.
        """
        if self.active is None or self.arena is not None:
            return None
        return self.participants * self.sessions_per_participant

    def lists_in_all(self, there: int) -> int:
        """Return how many lists there are in the end, of which so many are there."""
        return self.dealt_lists or there

    @property
    def star(self) -> str | None:
        """The condition that is in every pair; None without one."""
        return self.pairs.star if isinstance(self.pairs, Star) else None

    @property
    def degree(self) -> int | None:
        """The number of others that each condition is compared with, where it is written."""
        return self.pairs.sparse if isinstance(self.pairs, Sparse) else None

    @property
    def given_pairs(self) -> str | None:
        """The file that holds the pairs; None without one."""
        return self.pairs if isinstance(self.pairs, str) and self.pairs.endswith(".csv") else None


def _look_faults(design: Design) -> Iterator[Fault]:
    """Yield what does not fit in the looks at a study."""
    looks, last = design.looks, design.looks[-1] if design.looks else 0
    if not looks:
        if design.stop != Stop():
            fix = "Write design.looks, such as [20, 40, 60]."
            yield Fault("is written, and no look is planned at which the study could stop", "", fix, ("stop",))
        return
    for place, (before, number) in enumerate(pairwise(looks), 1):
        if number <= before:
            what = f"is {number}, not above the {before} before it"
            yield Fault(what, "numbers that rise", "Put them in order, each once.", ("looks", place))
    if design.votes is not None:
        what = f"counts participants, and design.votes is {design.votes}"
        yield Fault(what, "one of the two", "Write design.participants in place of votes.", ("looks",))
    elif design.participants != last:
        what = f"ends at {last}, and design.participants is {design.participants}"
        fix = f"Take participants out, or end looks with {design.participants}."
        yield Fault(what, "the number of participants at the end", fix, ("looks",))


def _active_faults(design: Design) -> Iterator[Fault]:
    """Yield what cannot be where comparisons are chosen while answers come in."""
    if design.arena is not None and design.active is None:
        what = "is written, and pairs that are all planned before anybody answers come to an end"
        yield Fault(what, "with pairs: active", "Take design.pairs out.", ("arena",))
    if design.arena is not None and design.looks:
        what = "plans when the study is looked at for the last time, and an arena does not end"
        yield Fault(what, "", "Take it out: intervals of an arena hold whenever one looks.", ("looks",))
    if design.active is None:
        return
    if design.votes is not None:
        what = f"is {design.votes}, and with active pairs the answers decide how often each is compared"
        yield Fault(what, "participants", "Write design.participants in place of votes.", ("votes",))
    if design.order != "balanced":
        what = f"is {design.order}, a square that is made before anybody answers"
        yield Fault(what, "balanced", "Take it out, or choose other pairs than active.", ("order",))
    for key, reason in (
        ("blocks", "which part comes together"),
        ("always", "what is in every trial"),
        ("between", "what each group gets"),
    ):
        if getattr(design, key):
            what = f"says {reason}, which active pairs do not keep to"
            yield Fault(what, "", "Take it out, or choose other pairs than active.", (key,))


# Training

Tolerance = Annotated[float, Field(ge=0)]
Number = Annotated[float | dict[Slug, float] | None, Allowed("a number, or a map from question to number")]
Near = Annotated[
    Tolerance | dict[Slug, Tolerance] | None, Allowed("a number, 0 or more, or a map from question to number")
]
Words = Annotated[Text | dict[Slug, Text] | None, Shown(), Allowed("a text, or a map from question to text")]


class TrainingItem(StudyPart):
    """One training example, where there is no manifest with a line for it."""

    file: Text = Field(description="A file in the study folder, or an https address.")
    content: Text | None = Field(default=None, description="What it shows; the name of the file when left out.")
    condition: Text | None = Field(default=None, description="Its condition; `training` when left out.")
    expected: Number = Field(
        default=None, description="The answer that is expected, of every question or by question; any when left out."
    )
    tolerance: Near = Field(
        default=None, description="How far from it an answer may be; a quarter of the scale when left out."
    )
    message: Words = Field(default=None, description="Read after another answer; our own words when left out.")
    anchor: ShownText | None = Field(
        default=None,
        description="What it stands for on the scale, as in `Excellent: no flaw can be seen`; read beside it.",
    )
    trap: bool = Field(default=False, description="It asks for a certain answer, and only that one is right.")


class Training(StudyPart):
    """Practice before the first rating: trials of the stimuli with role `training`, in the order of the manifest."""

    corrections: int = Field(
        default=3, ge=0, le=20, description="How often an answer outside its tolerance is asked for again."
    )
    feedback: bool = Field(
        default=True, description="Tell why an answer was not expected and ask again; `false`: only take note of it."
    )
    valid: Validity = Field(
        default="60 min", description="How long the training counts, from its end; `0`: it is shown in every session."
    )
    items: tuple[TrainingItem, ...] = Field(
        default=(), description="The examples, where the stimuli are no manifest; after its own where they are."
    )
