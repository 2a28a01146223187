"""The script of a session: every step in order, made from the study and the claimed list."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cached_property
from itertools import accumulate
from typing import Literal

from beholder.checks.contract import TrialRule
from beholder.checks.page_contract import Needs, PageCheck, Sample
from beholder.checks.page_registry import page_checks
from beholder.checks.registry import immediate_rules
from beholder.methods.contract import Break, Method, Slot, Trial, trial_in_language
from beholder.planning.model import DealtBatch, PlannedList
from beholder.planning.own_stimuli import BoundPerson
from beholder.recent_entries import RecentEntries
from beholder.stimuli.catalogue import Catalogue, Stimulus, mime_type
from beholder.study.design import Training
from beholder.study.groups import Levels, group_study, groups_in
from beholder.study.model import Playback, Study
from beholder.study.parts import EACH_TIME, duration
from beholder.study.questionnaire import Ask, RecurringAsk
from beholder.study.questions import Example, Page, Scale

StepKind = Literal["consent", "check", "questions", "text", "volume", "trial", "break", "end"]
_TRIED = ("check:", "training:", "trial:")
"""Steps with several attempts; their keys end in the number of the attempt, those of trials from the second on."""


@dataclass(frozen=True)
class PlannedStep:
    """One step before the end: its key, its kind, and what it shows."""

    key: str
    kind: StepKind
    trial: Trial | None = None
    items: tuple[Ask, ...] = ()
    text: str = ""
    """Which of the study's texts."""
    page: Page | None = None
    """The page of the instructions whose examples are the slots of `trial`."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Which slot of `trial` shows the file of an item of a questionnaire, by the id of the item."""
    check: PageCheck | None = None
    attempt: int = 0
    """Which attempt this is, from 1; 0 where there is only one, and in a script."""

    @cached_property
    def is_training(self) -> bool:
        return self.key.startswith("training:")

    @cached_property
    def is_rated(self) -> bool:
        """Whether this is a trial, and no training."""
        return self.key.startswith("trial:")

    @property
    def base_key(self) -> str:
        """The key without the attempt, which media addresses and the place in the script use."""
        return base_key(self.key) if self.attempt else self.key

    def with_items(self, items: Sequence[Ask]) -> PlannedStep:
        """Return this questionnaire with some of its items, and with their files alone."""
        slots = {self.files[item.id] for item in items if item.id in self.files}
        shown = [slot for slot in self.trial.slots if slot.id in slots] if self.trial else []
        trial = replace(self.trial, slots=tuple(shown)) if self.trial and shown else None
        return replace(self, items=tuple(items), trial=trial)

    def as_attempt(self, attempt: int) -> PlannedStep:
        """Return this step as an attempt."""
        return replace(self, key=f"{self.key}:{attempt}", attempt=attempt)


@dataclass(frozen=True)
class Script:
    """The steps of one session, in order, without the end."""

    steps: tuple[PlannedStep, ...]
    training: Training | None = None
    rules: Mapping[str, TrialRule.Options] = field(default_factory=dict)
    """The rules that act at once, judged with every answer to a trial, by name."""
    playback: Playback = field(default_factory=Playback)
    """How stimuli play, and how much of them has to be watched."""

    @property
    def training_validity(self) -> timedelta | None:
        """How long a training counts; None without one, and where it counts in its session only."""
        return duration(self.training.valid) if self.training and not self.is_trained_each_time else None

    @property
    def is_trained_each_time(self) -> bool:
        """Whether the training of another session does not count."""
        return self.training is not None and self.training.valid == EACH_TIME

    @property
    def training_attempts(self) -> int:
        """How often a training example may be answered."""
        return 1 + (self.training.corrections if self.training else 0)

    @property
    def has_feedback(self) -> bool:
        """Whether participants get feedback on an unexpected answer."""
        return self.training is not None and self.training.feedback

    @cached_property
    def has_attempts(self) -> bool:
        """Whether it has steps that may be tried again and hold for a while: checks with a page, or a training."""
        return any(step.check is not None or step.is_training for step in self.steps)

    def place(self, key: str) -> int:
        """Return the place of a step, from 0, or -1. All attempts at a step have the same place."""
        return self._places.get(base_key(key), -1)

    @cached_property
    def _places(self) -> Mapping[str, int]:
        return {step.key: place for place, step in reversed([*enumerate(self.steps)])}

    def page(self, place: int) -> tuple[int, int]:
        """Return the page of a step, from 1, and the number of pages: the device checks share one page."""
        return self._pages[place], self._pages[-1]

    @cached_property
    def _pages(self) -> Sequence[int]:
        is_device = [step.check is not None and step.check.stage == "device" for step in self.steps]
        return list(accumulate(int(not (n and is_device[n] and is_device[n - 1])) for n in range(len(is_device))))

    def find(self, key: str) -> PlannedStep | None:
        """Return the step with this key, as the attempt that the key names."""
        place = self.place(key)
        if place < 0:
            return None
        step = self.steps[place]
        return step if step.key == key else step.as_attempt(int(key.rpartition(":")[2]))


FIRST_TRIAL = "trial:1"
LATER_SESSION = "again"
"""The key of the stored fact that a session is a later one, in which questionnaires are not asked again."""
CONSENT = PlannedStep("consent", "consent", text="consent")


def base_key(key: str) -> str:
    """Return the key of a step without the number of an attempt."""
    if key.startswith(_TRIED) and key.count(":") == 2:
        name, _, attempt = key.rpartition(":")
        return name if attempt.isdecimal() and attempt.isascii() else key
    return key


def is_later_session(verdicts: Collection[str]) -> bool:
    """Return whether a session with these verdicts, by their keys, is a later one of its participant."""
    return LATER_SESSION in verdicts


def sets_volume(study: Study, catalogue: Catalogue) -> bool:
    """Return whether participants set their volume before the trials: as the study says, else where there is sound.

    On a separate stage the sound comes from another device than the page.
    """
    if study.playback.sound == "off" or study.stage == "separate":
        return False
    volume = study.playback.volume
    return any(stimulus.medium == "audio" for stimulus in catalogue.stimuli) if volume is None else volume


def make_script(
    study: Study,
    entries: Sequence[Trial | Break],
    *,
    has_volume: bool = False,
    examples: Sequence[Stimulus] = (),
    is_later: bool = False,
) -> Script:
    """Return every step: consent, device, questions, eyes, instructions, room, training, trials, questions.

    A page of questions between trials is named by the trial that it follows: `questions:during:3`.

    In a later session (`is_later`) questionnaires are not asked again, and the instructions are under Help.
    """
    checks = page_checks(study)
    steps = [CONSENT, *_checks(checks, "device")]
    if study.before and not is_later:
        steps.append(_questions("before", study.before, examples))
    steps += _checks(checks, "qualify")
    volume = [PlannedStep("volume", "volume")] if has_volume else []
    pages = [] if is_later else _instructions(study, examples)
    # The volume is set before examples with sound.
    is_heard = any(step.trial is not None for step in pages)
    steps += [*volume, *pages] if is_heard else [*pages, *volume]
    steps += _checks(checks, "setup")
    lessons = [entry for entry in entries if isinstance(entry, Trial) and entry.purpose == "train"]
    steps += [PlannedStep(f"training:{number}", "trial", trial=trial) for number, trial in enumerate(lessons, 1)]
    steps += _trials_and_questions(study.during, entries, examples)
    if study.after and not is_later:
        steps.append(_questions("after", study.after, examples))
    training = Training() if study.training is True else study.training or None
    return Script(
        tuple(steps), training, {check.name: check.options for check in immediate_rules(study)}, study.playback
    )


def _trials_and_questions(
    during: Sequence[RecurringAsk], entries: Sequence[Trial | Break], examples: Sequence[Stimulus]
) -> list[PlannedStep]:
    """Return the trials and breaks of a list, with the questions between them, which come before a break."""
    rated = [entry for entry in entries if isinstance(entry, Break) or entry.purpose == "rate"]
    last = {entry.content: place for place, entry in enumerate(rated) if isinstance(entry, Trial)}
    steps, trials, breaks = [], 0, 0
    for place, entry in enumerate(rated):
        if isinstance(entry, Break):
            breaks += 1
            steps.append(PlannedStep(f"break:{breaks}", "break", text="pause"))
            continue
        trials += 1
        steps.append(PlannedStep(f"trial:{trials}", "trial", trial=entry))
        is_before_break = place + 1 < len(rated) and isinstance(rated[place + 1], Break)
        # After trials that are checks as after any other: nobody can tell them apart by that.
        due = {"trial": True, "content": last[entry.content] == place, "break": is_before_break}
        items = [ask for ask in during if (trials % ask.every == 0 if isinstance(ask.every, int) else due[ask.every])]
        steps += [_questions(f"during:{trials}", items, examples)] if items else []
    return steps


def _questions(place: str, items: Sequence[Ask], examples: Sequence[Stimulus]) -> PlannedStep:
    """Return the step of a questionnaire, with the files that its items show."""
    of_file = {stimulus.file: stimulus.id for stimulus in examples if not stimulus.caption}
    stimuli = {item.id: of_file[item.file] for item in items if item.file in of_file}
    files = {item: f"s{number}" for number, item in enumerate(stimuli, 1)}
    slots = tuple(Slot(files[item], stimulus, "example", None, False, None) for item, stimulus in stimuli.items())
    key = f"questions:{place}"
    trial = Trial(key, "", "show", slots, ()) if slots else None
    return PlannedStep(key, "questions", trial=trial, items=tuple(items), files=files)


def _instructions(study: Study, examples: Sequence[Stimulus]) -> list[PlannedStep]:
    """Return a step for each page of the instructions; examples of the manifest are on one more page."""
    pages: list[Page | None] = list(study.texts.pages) or [None]
    of_file = {stimulus.file: stimulus.id for stimulus in examples if not stimulus.caption}
    shown = [[of_file[one.file] for one in page.examples if one.file in of_file] if page else [] for page in pages]
    listed = [stimulus for stimulus in examples if stimulus.caption]
    if listed:
        pages.append(Page(text="-", examples=tuple(Example(file=one.file, caption=one.caption) for one in listed)))
        shown.append([stimulus.id for stimulus in listed])
    steps = []
    for number, (page, stimuli) in enumerate(zip(pages, shown, strict=True), 1):
        text = "instructions" if number == 1 else f"instructions:{number}"
        slots = tuple(Slot(f"s{n}", name, "example", None, False, None) for n, name in enumerate(stimuli, 1))
        trial = Trial(f"text:{text}", "", "show", slots, ()) if slots else None
        steps.append(PlannedStep(f"text:{text}", "text", trial=trial, text=text, page=page if slots else None))
    return steps


def _checks(checks: Sequence[PageCheck], stage: str) -> list[PlannedStep]:
    return [PlannedStep(f"check:{check.name}", "check", check=check) for check in checks if check.stage == stage]


# The served study

_MOST_SCRIPTS = 5000
"""Lists whose scripts are kept: of a plan for 100,000 people all would take a gigabyte."""


@dataclass(frozen=True)
class Rewording:
    """How another text of a study, or the same one in another language, asks what the lists ask."""

    questions: Mapping[tuple[str, str], tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    """By question and text: the other text, and the words of what can be ticked."""
    scales: Mapping[str, tuple[Scale, Scale]] = field(default_factory=dict)
    """By question: its scale, and the same with other words on it."""
    sentences: Mapping[str, str] = field(default_factory=dict)
    """What is told about training trials, by the words that stand in the lists."""
    stimuli: Mapping[str, str] = field(default_factory=dict)
    """Stimuli with a message, by those with the same one in the language of the lists."""
    is_in_language: bool = False
    """Whether what the method has drawn of its own texts is in another language."""


def reworded(entry: Trial | Break, rewording: Rewording, method: Method, study: Study) -> Trial | Break:
    """Return an entry of a list with other texts."""
    if isinstance(entry, Break) or rewording == Rewording():
        return entry
    asked = []
    for one in entry.asked:
        text, ticks = rewording.questions.get((one.question, one.text), (one.text, one.ticks))
        scale, other = rewording.scales.get(one.question, (one.scale, one.scale))
        asked.append(one._replace(text=text, ticks=ticks, scale=other if one.scale == scale else one.scale))
    says = rewording.sentences
    anchor = "\n".join(says.get(line, line) for line in entry.anchor.split("\n"))
    targets = {
        where: target._replace(message=says[target.message]) if target.message in says else target
        for where, target in entry.targets.items()
    }
    other_files = rewording.stimuli
    slots = tuple(
        slot._replace(stimulus=other_files[slot.stimulus]) if slot.stimulus in other_files else slot
        for slot in entry.slots
    )
    trial = replace(entry, asked=tuple(asked), anchor=anchor, targets=targets, slots=slots)
    return trial_in_language(method, trial, study) if rewording.is_in_language else trial


@dataclass(frozen=True)
class ServedStudy:
    """A study with its stimuli, its method, the lists of its plan and its address."""

    study: Study
    digest: str
    catalogue: Catalogue
    method: Method
    lists: list[Sequence[Trial | Break]]
    public_url: str
    groups: list[Levels] = field(default_factory=list)
    """The between-subjects levels of each list; empty without groups."""
    plan_digest: str = ""
    """The digest of the plan in the store."""
    batches: list[DealtBatch | None] = field(default_factory=list)
    """With which batch each list was dealt; empty where the plan is fixed."""
    bound: Mapping[int, BoundPerson] = field(default_factory=dict, repr=False)
    """For whom the lists are that are for one person alone, by their numbers."""
    rewording: Rewording = field(default_factory=Rewording)
    """How another text of the study asks what the lists ask, for who began with that one."""
    _studies: dict[tuple[tuple[str, str], ...], Study] = field(default_factory=dict, repr=False, compare=False)
    _scripts: RecentEntries[int, Script] = field(
        default_factory=lambda: RecentEntries(_MOST_SCRIPTS), repr=False, compare=False
    )

    def add_lists(self, fresh: Sequence[PlannedList]) -> None:
        """Add lists of an extended plan."""
        self.lists.extend(planned.entries for planned in fresh)
        if self.batches:
            self.batches.extend(planned.batch for planned in fresh)
        if self.groups:
            self.groups.extend(planned.group for planned in fresh)

    def with_text(self, study: Study, digest: str, rewording: Rewording) -> ServedStudy:
        """Return the same lists and stimuli with another text of the study; nothing derived from this one is kept."""
        scripts: RecentEntries[int, Script] = RecentEntries(_MOST_SCRIPTS)
        return replace(self, study=study, digest=digest, rewording=rewording, _studies={}, _scripts=scripts)

    @cached_property
    def needs(self) -> Needs:
        """What the study requires of a device."""
        return needs_of(self.study, self.catalogue, self.lists)

    def study_for_list(self, number: int) -> Study:
        """Return the study as the group of a list gets it."""
        if not self.groups:
            return self.study
        levels = self.groups[number - 1]
        key = tuple(sorted(levels.items()))
        if key not in self._studies:
            self._studies[key] = group_study(self.study, levels)
        return self._studies[key]

    @cached_property
    def has_group_instructions(self) -> bool:
        """Whether groups have their own instructions, so that they are unknown before a list is claimed."""
        factors = self.study.design.between.values()
        return any(level.instructions is not None for levels in factors for level in levels.values())

    def script(self, number: int, *, is_later: bool = False) -> Script:
        """Return the steps of a list, numbered from 1; `is_later`: in a further session of a participant."""
        key = -number if is_later else number
        if key not in self._scripts:
            study = self.study_for_list(number)
            has_volume = sets_volume(study, self.catalogue)
            self._scripts[key] = make_script(
                study,
                [reworded(entry, self.rewording, self.method, study) for entry in self.lists[number - 1]],
                has_volume=has_volume,
                examples=self.catalogue.examples,
                is_later=is_later,
            )
        return self._scripts[key]


# Requirements of a device

_LARGEST = (1920, 1080)
_FASTEST = 60.0
"""The largest sample clip: a device that plays this is good enough."""


def needs_of(study: Study, catalogue: Catalogue, lists: Sequence[Sequence[Trial | Break]]) -> Needs:
    """Return what a device has to be able to do, the same for all groups.

    Otherwise one group would lose participants that another one keeps.
    """
    stimuli = catalogue.stimuli
    playbacks = [group_study(study, levels).playback for levels in groups_in(study.design.between)]
    first = next((entry for entry in lists[0] if isinstance(entry, Trial)), None) if lists else None
    is_seen = any(stimulus.medium != "audio" for stimulus in stimuli)
    is_heard = any(stimulus.medium == "audio" or stimulus.probe.audio_codec for stimulus in stimuli)
    is_decoded = any(check.decodes for check in page_checks(study))
    return Needs(
        codecs=_codecs(stimuli) if is_decoded else (),
        medium=stimuli[0].medium if stimuli else "video",
        fps=max((stimulus.probe.fps for stimulus in stimuli), default=0),
        size=_largest(stimuli) if any(playback.size == "native" for playback in playbacks) else None,
        fullscreen=any(playback.fullscreen for playback in playbacks) and is_seen,
        sound=any(playback.sound == "on" for playback in playbacks) and is_heard,
        first_bytes=sum(catalogue.class_sizes[slot.stimulus] for slot in first.slots) if first else 0,
        sample=_sample(stimuli) if is_decoded else None,
    )


def _codecs(stimuli: Sequence[Stimulus]) -> tuple[str, ...]:
    """Return the MIME types of all stimuli, each once."""
    types = (mime_type(stimulus.served, stimulus.probe, stimulus.medium) for stimulus in stimuli)
    return tuple(sorted({one for one in types if one}))


def _largest(stimuli: Sequence[Stimulus]) -> tuple[int, int] | None:
    sizes = [(stimulus.probe.width, stimulus.probe.height) for stimulus in stimuli if stimulus.probe.width]
    return (max(width for width, _ in sizes), max(height for _, height in sizes)) if sizes else None


def _sample(stimuli: Sequence[Stimulus]) -> Sample | None:
    """Return a sample that is as hard to decode as the hardest clip."""
    clips = [stimulus for stimulus in stimuli if stimulus.medium == "video"]
    if not clips:
        return None
    hardest = max(clips, key=lambda stimulus: stimulus.probe.width * stimulus.probe.height * stimulus.probe.fps)
    probe = hardest.probe
    share = min(1.0, _LARGEST[0] / max(probe.width, probe.height), _LARGEST[1] / min(probe.width, probe.height))
    # Even numbers, because chroma is subsampled by two.
    width, height = (max(16, 2 * round(side * share / 2)) for side in (probe.width, probe.height))
    fps = min(_FASTEST, probe.fps) or 30.0
    return Sample(probe.codec, hardest.served.suffix.removeprefix("."), width, height, fps)
