"""The study: its stimuli, conditions, questions, playback, questionnaires, and the model of the whole file."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, PrivateAttr, StringConstraints, model_validator

from beholder.errors import Problem
from beholder.study.backup import PLACE_WORDS, Backup
from beholder.study.bibliography import Publication
from beholder.study.checks import CheckKind, Checks, MadePart, RuleKind, installed_checks, make_part, switches_model
from beholder.study.cleaning import Analyse, Clean, clean_model
from beholder.study.deployment import Deploy
from beholder.study.design import Design, Training
from beholder.study.markdown import plain_text
from beholder.study.media import MEDIA_PLACE_WORDS, MediaHosting
from beholder.study.parts import Fault, ShownText, Slug, StudyPart, Text, raise_faults
from beholder.study.patterns import Pattern, PatternError
from beholder.study.presets import Preset
from beholder.study.qualification import Qualification
from beholder.study.questionnaire import Ask, RecurringAsk
from beholder.study.questions import SCALES, Scale, Texts
from beholder.study.recruitment import Money, Recruit, Retention
from beholder.study.value_kinds import Allowed, Shown
from beholder.study.yaml import Lines

Difference = Literal[
    "loudness", "silence", "channels", "sample_rate", "depth", "frame_rate", "resolution", "duration", "format",
    "layout", "encoders", "file_size", "identical", "missing",
]  # fmt: skip
"""What `check` compares among the stimuli of a content, by the name under which a study accepts it."""


class Stimuli(StudyPart):
    """Where the stimuli are: a folder, a folder with a file-name pattern, or a manifest."""

    folder: Text | None = Field(
        default=None, description="Folder `<condition>/<content>.<ext>`, or flat with `pattern`."
    )
    pattern: Text | None = Field(
        default=None, description="Regular expression with the groups `content` and `condition`, for a flat folder."
    )
    manifest: Text | None = Field(
        default=None,
        description="CSV: file (or https address), content, condition, optional role; any other column is a factor.",
    )
    accept: tuple[Difference, ...] = Field(
        default=(),
        description="Differences among conditions that are meant, as `[frame_rate]`: `check` is silent on them.",
    )

    @model_validator(mode="after")
    def _one_source(self) -> Stimuli:
        faults = []
        if self.folder is None and self.manifest is None:
            faults.append(Fault("names neither folder nor manifest", "one of the two"))
        if self.folder is not None and self.manifest is not None:
            faults.append(Fault("names both folder and manifest", "one of the two"))
        if self.pattern is not None and self.manifest is not None:
            faults.append(Fault("goes with folder, not with manifest", "", "Take it out.", ("pattern",)))
        if self.pattern is not None:
            faults += _pattern_faults(self.pattern)
        raise_faults(faults)
        return self


def _pattern_faults(pattern: str) -> list[Fault]:
    example = r"Write for example (?P<content>[^_]+)_(?P<condition>.+)\.mp4"
    try:
        groups = Pattern(pattern).groups
    except PatternError as error:
        return [Fault(f"is not a regular expression: {error}", "a regular expression", example, ("pattern",))]
    missing = [group for group in ("content", "condition") if group not in groups]
    allowed = "the groups content and condition"
    return [Fault(f"has no group {group}", allowed, example, ("pattern",)) for group in missing]


class Condition(StudyPart):
    """One system or treatment. Its place in the list orders tables and signs."""

    name: Text = Field(description="As in the stimuli.")
    label: Text | None = Field(default=None, description="How reports call it; the name when left out.")
    role: Literal["test", "reference", "anchor"] = Field(default="test", description="What it is to the method.")


class Question(StudyPart):
    """One question that is asked about each stimulus."""

    id: Slug = Field(description="Names the answer in every table.")
    text: ShownText = Field(description="What participants read: **bold**, *italic*, `code`.")
    scale: Annotated[Scale, Allowed(f"{', '.join(SCALES)}, or {{min, max, step, labels, look}}")] = Field(
        default=SCALES["cont100"], description=f"A name ({', '.join(SCALES)}) or `{{min, max, step, labels, look}}`."
    )

    keyed: Literal["+", "-"] | None = Field(
        default=None,
        description="`-`: a high answer means less of what the others measure, as with creepiness. "
        "Left out: `+`, or as the item set has it.",
    )
    ticks: Annotated[tuple[ShownText, ...], Shown()] = Field(
        default=(), description="What can be ticked, in place of a scale (`likert`)."
    )
    label: Text | None = Field(
        default=None,
        description="What figures and tables call it, in a word or two; its text, or its id, when left out. "
        "Participants never see it.",
    )
    turned: Text | None = Field(
        default=None,
        description="What figures and tables call a question that is keyed `-`, whose scores they show turned round, "
        "such as `Not creepy`; its label with `(turned)` when left out.",
    )

    def name_of_scores(self, *, is_turned: bool) -> str:
        """Return what its scores are called, in plain text; empty where the study has no name for them."""
        if is_turned and self.turned is not None:
            return self.turned
        return f"{self.label} (turned)" if is_turned and self.label is not None else self.label or ""

    @model_validator(mode="after")
    def _turned_is_reversed(self) -> Question:
        if self.turned is not None and self.keyed == "+":
            what = f"is {self.turned!r}, and keyed is +: its scores are shown as they are"
            raise_faults([Fault(what, 'keyed: "-" beside it', "Write it as label.", ("turned",))])
        return self

    @property
    def plain(self) -> Question:
        """The same without marks in its words, for tables and figures; to be taken once, as it resolves escapes."""
        words = {"text": plain_text(self.text), "ticks": tuple(map(plain_text, self.ticks)), "scale": self.scale.plain}
        return self.model_copy(update=words)

    @model_validator(mode="before")
    @classmethod
    def _named_scale(cls, data: Any) -> Any:
        if isinstance(data, dict) and isinstance(data.get("scale"), str) and data["scale"] in SCALES:
            return {**data, "scale": SCALES[data["scale"]]}
        return data


class Playback(StudyPart):
    """How stimuli play and what has to be watched."""

    watch: Literal["whole", "start", "none"] = Field(
        default="whole", description="What must have been watched: `whole` (97 % and the end), `start`, or `none`."
    )
    switching: Literal["restart", "keep"] = Field(
        default="restart", description="Changing to another stimulus starts it again, or keeps the position."
    )
    size: Annotated[
        str,
        StringConstraints(pattern=r"^(fit|native|[1-9][0-9]{0,2}%)$"),
        Allowed("fit, native or a percentage such as 50%"),
    ] = Field(
        default="fit", description="`fit`, `native` (one media pixel = one device pixel), or a percentage of native."
    )
    fullscreen: bool = Field(default=False, description="Play in full screen.")
    max_plays: int | None = Field(
        default=None, ge=1, description="How often one stimulus may be played; no limit when left out."
    )
    loop: Literal["off", "after-first", "region"] = Field(
        default="off",
        description="Play on and on: never, after the first whole play, or a region that the participant chooses.",
    )
    waveform: bool | None = Field(
        default=None,
        description="Draw sounds over the line of time: of the reference, where pages show one under its name, or, "
        "where they show none, of all versions together. Left out: of the reference alone.",
    )
    sound: Literal["on", "off"] = Field(default="on", description="`off` plays without sound, and says so.")
    volume: bool | None = Field(
        default=None, description="Set the volume with a test sound before the trials; for audio when left out."
    )
    look_seconds: float = Field(default=2.0, ge=0, le=600, description="An image has been seen after so long in view.")
    words_per_second: float = Field(
        default=10.0, gt=0, le=1000, description="A text has been read after so long in view, one second at least."
    )
    skip: bool = Field(default=True, description="A trial whose media will not play can be left without a rating.")


class LastPage(StudyPart):
    """What the last page shows beside the thanks, to who has answered everything."""

    agreement: bool = Field(
        default=False, description="In how many of 100 comparisons of two stimuli the person and the others agreed."
    )
    crowd: bool = Field(
        default=False, description="Each rating of the person beside the mean of the others so far, without names."
    )

    @property
    def is_compared(self) -> bool:
        """Whether it holds the person's ratings against those of others."""
        return self.agreement or self.crowd


class Study(MadePart):
    """What the researcher wrote, defaults filled, frozen."""

    beholder: Literal[1] = Field(description="Version of this format.")
    name: Slug = Field(description="Part of the address and of every table.")
    title: ShownText = Field(description="What participants see at the top.")
    language: Text = Field(default="en", description="Of our own words on the pages.")
    languages: tuple[Text, ...] = Field(
        default=(),
        description="Languages in which people can take part, such as `[en, de]`, the one of the tables first; texts "
        "are then written in each: `{en: ..., de: ...}`, or in `texts/de/`.",
    )
    method: Text = Field(description="The rating method: one plain word.")
    options: dict[str, Any] = Field(default_factory=dict, description="Options of the method.")
    preset: Preset = Field(default="none", description="Fills what is not written.")
    stimuli: Annotated[Stimuli, Allowed("a folder, {folder, pattern} or {manifest}")] = Field(
        description="A folder, or `{folder, pattern}`, or `{manifest}`."
    )
    media: Annotated[MediaHosting, Allowed(f"{MEDIA_PLACE_WORDS}, or {{to, copies, delivery}}")] | None = Field(
        default=None,
        description="Where participants get the stimuli from, in place of this server: a bucket such as "
        "`s3://bucket/folder`, or `{to, copies, delivery}`. It may always change.",
    )
    conditions: tuple[Annotated[Condition, Allowed("a name, or {name, label, role}")], ...] = Field(
        default=(), description="Names or `{name, label, role}`, in the order of tables; by code point when left out."
    )
    questions: tuple[Question, ...] = Field(default=(), description="What is asked about each stimulus.")
    playback: Playback = Playback()
    stage: Literal["same", "separate"] = Field(
        default="same",
        description="Where stimuli are shown: on the page that asks (`same`), or on another device that each "
        "participant couples with it (`separate`), such as a television or a headset.",
    )
    design: Design = Design()
    texts: Texts = Texts()
    before: tuple[Ask, ...] = Field(default=(), description="Questionnaire before the trials.")
    during: tuple[RecurringAsk, ...] = Field(default=(), description="Questionnaires between trials.")
    after: tuple[Ask, ...] = Field(default=(), description="Questionnaire after the trials.")
    ending: LastPage = LastPage()
    qualification: Qualification = Field(
        default=Qualification(), description="What person, device and surroundings have to fit before the first rating."
    )
    training: Training | bool = Field(
        default=True, description="Practice on the stimuli with role `training`, where there are any."
    )
    checks: Checks = Field(default=Checks(), description="Whom to trust: rules over what people do while they rate.")
    clean: Clean = Field(
        default=Clean(), description="How sessions are judged afterwards, and who gets a bonus. It may always change."
    )
    analyse: Analyse = Field(
        default=Analyse(),
        description="Which differences are asked for, and how tests are corrected. It may always change.",
    )
    recruit: Recruit = Recruit()
    deploy: Deploy | None = Field(
        default=None, description="Where `beholder deploy` puts the study online. It may always change."
    )
    backup: Annotated[Backup, Allowed(f"{PLACE_WORDS}, or {{to, every, keep, key}}")] | None = Field(
        default=None,
        description="Where copies of all answers go while the study is served: a place, or `{to, every, keep, key}`. "
        "It may always change.",
    )
    budget: Money | None = Field(
        default=None, description="The most that the study may cost with fees, such as `150 GBP`. A hard cap."
    )
    family: Slug | None = Field(
        default=None,
        description="Studies of one family never share a participant: on Prolific by a group of that name.",
    )
    retention: Annotated[Retention, Allowed("a day such as 2027-01-31, or {identity, answers}")] = Field(
        default=Retention(), description="How long what is known of people is kept: a day, or `{identity, answers}`."
    )
    run: int = Field(
        default=1,
        ge=1,
        le=1000,
        description="Which run of the study this is. A later one repeats it with a new plan and other participants.",
    )
    contact: (
        Annotated[
            str,
            StringConstraints(pattern=r"""^([^@\s<>"]+@[^@\s<>"]+\.[^@\s<>"]+|https://[^\s<>"]+)$"""),
            Allowed("an e-mail address, or a web address that begins with https://"),
        ]
        | None
    ) = Field(default=None, description="An e-mail or web address, shown on every page.")
    alarms: (
        Annotated[
            str,
            StringConstraints(pattern=r"""^([^@\s<>"]+@[^@\s<>"]+\.[^@\s<>"]+|https://[^\s<>"]+)$"""),
            Allowed("an e-mail address, or a web address that begins with https://"),
        ]
        | None
    ) = Field(
        default=None,
        description="Where the desk sends alarms while people take part: an e-mail address, or a web address that "
        "takes JSON with a `text` (a webhook). Never shown to participants. It may always change.",
    )
    publication: Publication = Field(
        default=Publication(),
        description="What only you know and standards of reporting ask for: authors, licence, ethics, funding. "
        "It may always change.",
    )
    source: Any = Field(default=None, description="Kept verbatim, for importers.")

    _folder: Path = PrivateAttr(default=Path())
    _lines: Lines = PrivateAttr(default=Lines())
    _extension: int = PrivateAttr(default=0)
    _in_languages: dict[str, Study] = PrivateAttr(default_factory=dict)
    _is_rehearsed: bool = PrivateAttr(default=False)

    @model_validator(mode="before")
    @classmethod
    def _short_forms(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        data = dict(data)
        if isinstance(data.get("stimuli"), str):
            data["stimuli"] = {"folder": data["stimuli"]}
        if isinstance(data.get("conditions"), list | tuple):
            data["conditions"] = tuple({"name": c} if isinstance(c, str) else c for c in data["conditions"])
        for name in ("backup", "media"):
            if isinstance(data.get(name), str):
                data[name] = {"to": data[name]}
        if isinstance(data.get("retention"), str):
            data["retention"] = {"identity": data["retention"]}
        checks, model = data.get("checks", {}), cls.model_fields["checks"].annotation
        if isinstance(checks, dict) and isinstance(model, type) and issubclass(model, Checks):
            unwritten = ((kind.name, kind.implied(data)) for kind in model.kinds if kind.name not in checks)
            implied = {name: options for name, options in unwritten if options is not None}
            data |= {"checks": {**checks, **implied}} if implied else {}
        return data

    @property
    def asks(self) -> tuple[Ask, ...]:
        """The items of all questionnaires, in the order in which they are first asked."""
        return (*self.before, *self.during, *self.after)

    @property
    def folder(self) -> Path:
        """The folder of study.yaml, which holds all other files."""
        return self._folder

    @property
    def outputs(self) -> Path:
        """The folder of clean/, analyse/ and report/."""
        return self._folder / "rehearsal" if self._is_rehearsed else self._folder

    def in_rehearsal(self) -> Study:
        """Return the same study with its outputs in rehearsal/, so that robots overwrite nothing that is of people."""
        study = self.model_copy()
        study._is_rehearsed = True
        return study

    @property
    def seed(self) -> int:
        """The seed of the plan of this run: as written in the first run, derived from it in later ones."""
        if self.run == 1:
            return self.design.seed
        return int.from_bytes(hashlib.sha256(f"{self.design.seed} run {self.run}".encode()).digest()[:8])

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds of all random choices of the plan: the seed, and for added lists their number."""
        return (self.seed, self._extension) if self._extension else (self.seed,)

    @property
    def all_languages(self) -> tuple[str, ...]:
        """The languages in which people can take part, that of the tables first."""
        return self.languages or (self.language,)

    def in_language(self, language: str) -> Study:
        """Return the study as people read it in one of its languages; this one for any other."""
        return self._in_languages.get(language, self)

    def reseeded(self, number: int) -> Study:
        """Return the same study with other seeds, for lists that are added to its plan."""
        study = self.model_copy()
        study._extension = number
        return study

    def where(self, key: str) -> str:
        """Return `study.yaml:LINE` of a key such as `design.trials`, or of the nearest written key around it."""
        return self._lines.where(key)

    def is_written(self, key: str) -> bool:
        """Return whether a key such as `checks.trap` was written, not filled in by a preset or a default."""
        return self._lines.has(key)

    def problem(self, key: str, what: str, allowed: str = "", fix: str = "") -> Problem:
        """Return a problem at a key, in the form of the loader: line, key, what is wrong."""
        return Problem(self.where(key), f"{self._lines.written_key(key)} {what}", allowed, fix)


@lru_cache(maxsize=32)
def study_model(rules: tuple[type[RuleKind], ...], page_checks: tuple[type[CheckKind], ...] = ()) -> type[Study]:
    """Return the model of a study in which these checks can be switched on."""
    checks, clean = switches_model(Checks, rules), clean_model(rules)
    qualification = switches_model(Qualification, tuple(kind for kind in page_checks if not kind.switch))
    parts: dict[str, type[StudyPart]] = {"qualification": qualification, "checks": checks, "clean": clean}
    fields = {
        name: (part, Field(default=part(), description=Study.model_fields[name].description))
        for name, part in parts.items()
    }
    model: type[Study] = make_part(Study, study_model, (rules, page_checks), **fields)
    return model


def installed_study_model() -> type[Study]:
    """Return the model of a study with the checks that are installed."""
    kinds = installed_checks()
    return study_model(kinds.rules, kinds.page_checks)
