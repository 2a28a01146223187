"""The contract of an importer: what it is given, what it returns, and what the shared code does with that.

An importer is one object in one module (or folder), registered under the entry points `beholder.importers`. It says
whether a source is its own (`recognise`), and reads it (`read`) into studies as they would stand in study.yaml, their
stimuli, and the sessions of people. All the rest is shared: files are opened by `SourceFolder`, with limits, and every
leaf of what is opened is accounted for; `study_folder` writes the study and its stimuli; `stored_sessions` turns
sessions into facts; `import_report` writes what became of everything. `beholder.testing.check_importer` proves it.

What an importer has to say of each leaf: `mapped(to)`, `assumed(default, why)`, `unsupported(why)` or
`broken(what, done)`. A leaf of which it says nothing is reported as unsupported.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Protocol, get_args, runtime_checkable

from beholder.checks.contract import VerdictValue
from beholder.methods.contract import Target
from beholder.types import Json, Outcome, Role

if TYPE_CHECKING:
    from beholder.importing.source_folder import SourceFolder

Unknown = Literal["order", "slots", "time", "date", "playback"]
"""What a source may not tell of a session: in which order trials were shown (then nobody knows slots either), in which
slots of a page its stimuli were, how long each page was looked at, when it was answered, and how stimuli played.
Unknown stays unknown: such cells are empty, and checks that need them say so."""
UNKNOWN: tuple[Unknown, ...] = get_args(Unknown)


@dataclass(frozen=True)
class ImportOptions:
    """What the researcher said about an import."""

    partial: bool = False
    """Import what is supported, although pages of the source are not."""
    keep_ids: bool = False
    """Write platform ids to the identity file of the store; nowhere else, ever."""
    drop_untouched: bool = False
    """Leave out values that may never have been touched, where the importer can tell."""


class ImportedStimulus(NamedTuple):
    """A stimulus of a study. `file` is None where it was not found; its ratings are imported all the same."""

    content: str
    condition: str
    file: Path | None
    named: str
    """As the source names it."""
    role: Role = "test"
    cells: Mapping[str, str] = {}
    """Further columns of the manifest: `expected`, `tolerance`, `message`, and factors."""
    duration_ms: int = 0
    """How long it plays, where the source says so: rules need it of a file that was not found."""
    text: str | None = None
    """Its words, where the source holds them itself; they become its file."""

    @property
    def id(self) -> str:
        """The id that it has in the catalogue, by which trials name it."""
        name = f"{self.condition}/{self.content}"
        return name if self.role in ("test", "reference", "anchor") else f"{self.role}:{name}"


class Origin(NamedTuple):
    """Where an answer stands in the source, as it was written there, and what is doubtful about it.

    The keys of `lines`, `raw` and `uncertain` are those of `ImportedTrial.values`: question and stimulus, or "" where
    something is true of the whole answer.
    """

    file: str
    lines: Mapping[tuple[str, str], int] = {}
    raw: Mapping[tuple[str, str], str] = {}
    uncertain: Mapping[tuple[str, str], str] = {}


WHOLE = ("", "")
"""The key of what is true of a whole answer."""


class ImportedTrial(NamedTuple):
    """One answered page.

    `values` is the answer in terms of the study: by the id of a question and that of a stimulus
        a number           of methods that ask for scores
        a list of places   of questions with ticks
        None               where the source holds no value: the rating is missing
    or, for methods that ask for a choice, in `choices` by the id of a question what the method takes on the wire, with
    ids of stimuli in place of slots: {"better": id, "grade": 2}, {"better": "tie"}, {"same_as": id}, {"best": id,
    "worst": id}, {"order": [id, ..]}, {"words": [0, 4], "none": false}; nothing, {}, where the source holds no choice.
    """

    content: str
    stimuli: tuple[str, ...]
    """Ids of what was rated or compared: in shown order where the session knows it, else in any."""
    origin: Origin
    values: Mapping[tuple[str, str], Json] = {}
    choices: Mapping[str, Mapping[str, Json]] = {}
    questions: tuple[str, ...] = ()
    """Ids of the questions that were asked; all of them when empty."""
    ms: float | None = None
    """Time on the page."""
    at: datetime | None = None
    playback: Mapping[str, Mapping[str, Any]] = {}
    """By the id of a stimulus, what is known of how it played, by the names of `playback.csv`."""
    roles: Mapping[str, Role] = {}
    """What a stimulus was there for on this page, where that is not its role in the study: repeat, attention."""
    targets: Mapping[tuple[str, str], Target] = {}
    """By question and stimulus, the answer that a check of the source expected."""
    draws: Mapping[str, Json] = {}
    """What chance decided on this page, as the method calls it, such as `same_as` of abx."""


class QuestionnaireAnswers(NamedTuple):
    """The answers to a questionnaire, by the ids of its items."""

    answers: Mapping[str, Json]
    origin: Origin


class ImportedAttempt(NamedTuple):
    """One try at a check with a page of its own: our check judges it, if the study has it."""

    key: str
    """Of the step, such as `check:brightness:1`."""
    private: Mapping[str, Json]
    """The right answer, as our check keeps it; empty where the source does not tell it: then nobody judges."""
    answer: Mapping[str, Json]
    """As our page would have sent it."""
    origin: Origin


class ForeignVerdict(NamedTuple):
    """What the source itself decided about a session. It is kept beside our verdicts, and never used as one."""

    check: str
    """`accept` and `use` where it decided whom to pay and whom to use, which is held against our decisions; else the
    check as the source calls it."""
    verdict: VerdictValue
    reason: str = ""
    evidence: Mapping[str, Json] = {}


@dataclass(frozen=True)
class ImportedSession:
    """One visit of one person, as the source tells it."""

    person: str
    """Whatever tells people apart in the source; a pseudonym takes its place before anything is written."""
    trials: Sequence[ImportedTrial]
    platform: str = ""
    """Where `person` is an id on a platform, its name, such as prolific: then `--keep-ids` keeps it."""
    outcome: Outcome | None = "completed"
    """None of somebody who left."""
    reason: str = ""
    at: datetime | None = None
    ended_at: datetime | None = None
    unknown: frozenset[Unknown] = frozenset(UNKNOWN)
    uncertain: str = ""
    """What is doubtful about the session as a whole, such as whether it is one."""
    before: QuestionnaireAnswers | None = None
    after: QuestionnaireAnswers | None = None
    attempts: Sequence[ImportedAttempt] = ()
    device: Mapping[str, Json] = field(default_factory=dict)
    """What is known of the device, by the names of our sessions: `screen`, `dpr`, `platform`, `browser`."""
    verdicts: Sequence[ForeignVerdict] = ()


@dataclass(frozen=True)
class ImportedStudy:
    """One study: a source whose pages need several methods becomes several, each in a folder of its own."""

    keys: Mapping[str, Any]
    """As in study.yaml. `beholder`, `stimuli` and `source` are written by the shared code."""
    stimuli: Sequence[ImportedStimulus]
    sessions: Iterable[ImportedSession] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    """Files of text beside study.yaml, by their names, such as texts/consent.md."""
    files: Mapping[str, Path] = field(default_factory=dict)
    """Other files beside study.yaml, such as examples of the instructions: linked or copied there."""


@runtime_checkable
class Importer(Protocol):
    """Reads what one other tool has written. Built-ins and strangers register under `beholder.importers`."""

    name: ClassVar[str]
    title: ClassVar[str]
    """What people call it, such as webMUSHRA."""

    def recognise(self, source: SourceFolder) -> str:
        """Return by what this source is recognised, in words; empty where it is not this importer's."""
        ...

    def read(self, source: SourceFolder, options: ImportOptions) -> Sequence[ImportedStudy]:
        """Return the studies in a source, having settled its leaves; raise ImportRefused where that cannot be."""
        ...
