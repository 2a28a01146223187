"""The script of a session: every step in order, made from the study and the claimed list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cached_property
from typing import Literal

from beholder.checks.page_contract import Needs, Sample
from beholder.checks.page_registry import AnyPageCheck, page_checks
from beholder.checks.registry import immediate_rules
from beholder.methods.contract import Break, Method, Slot, Trial
from beholder.planning.model import PlannedList
from beholder.stimuli.catalogue import Catalogue, Stimulus, mime_type
from beholder.study.checks import TrialRuleOptions
from beholder.study.design import Training
from beholder.study.groups import Levels, group_study, groups_in
from beholder.study.model import Ask, Playback, Study
from beholder.study.parts import duration
from beholder.study.questions import Example, Page

StepKind = Literal["consent", "check", "questions", "text", "volume", "trial", "break", "end"]
_TRIED = ("check:", "training:", "trial:")
"""Steps that can be met more than once; their keys end in the number of the attempt, a trial's from its second on."""


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
    check: AnyPageCheck | None = None
    attempt: int = 0
    """Which attempt this is, from 1; 0 where there is only one, and in a script."""

    @property
    def is_training(self) -> bool:
        return self.key.startswith("training:")

    @property
    def is_rated(self) -> bool:
        """Whether this is a trial, and no training."""
        return self.key.startswith("trial:")

    @property
    def place_key(self) -> str:
        """The key without the attempt: what media addresses and the place in the script go by."""
        return base_key(self.key) if self.attempt else self.key

    def tried(self, attempt: int) -> PlannedStep:
        """Return this step as an attempt."""
        return replace(self, key=f"{self.key}:{attempt}", attempt=attempt)


@dataclass(frozen=True)
class Script:
    """The steps of one session, in order, without the end."""

    steps: tuple[PlannedStep, ...]
    training: Training | None = None
    rules: Mapping[str, TrialRuleOptions] = field(default_factory=dict)
    """What is judged with every answer to a trial because it acts at once, by the name of the rule."""
    playback: Playback = field(default_factory=Playback)
    """How stimuli play, and what has to be watched."""

    @property
    def training_lasts(self) -> timedelta | None:
        return duration(self.training.valid) if self.training else None

    @property
    def lesson_attempts(self) -> int:
        """How often a training example may be answered."""
        return 1 + (self.training.corrections if self.training else 0)

    @property
    def is_corrected(self) -> bool:
        """Whether people are told that an answer was not expected."""
        return self.training is not None and self.training.feedback

    def place(self, key: str) -> int:
        """Return where a step stands, from 0, or -1. Attempts of one step stand at one place."""
        key = base_key(key)
        return next((n for n, step in enumerate(self.steps) if step.key == key), -1)

    def page(self, place: int) -> tuple[int, int]:
        """Return which page a step is on, from 1, and how many there are: the look at the device is one."""
        looks = [step.check is not None and step.check.stage == "device" for step in self.steps]
        turned = [not (n and looks[n] and looks[n - 1]) for n in range(len(looks))]
        return sum(turned[: place + 1]), sum(turned)

    def find(self, key: str) -> PlannedStep | None:
        """Return the step with this key, as the attempt that the key names."""
        place = self.place(key)
        if place < 0:
            return None
        step = self.steps[place]
        return step if step.key == key else step.tried(int(key.rpartition(":")[2]))


FIRST_TRIAL = "trial:1"
CONSENT = PlannedStep("consent", "consent", text="consent")


def base_key(key: str) -> str:
    """Return the key of a step without the number of an attempt."""
    if key.startswith(_TRIED) and key.count(":") == 2:
        name, _, attempt = key.rpartition(":")
        return name if attempt.isdecimal() and attempt.isascii() else key
    return key


def sets_volume(study: Study, catalogue: Catalogue) -> bool:
    """Return whether participants set their volume before the trials: as the study says, else where there is sound."""
    if study.playback.sound == "off":
        return False
    wanted = study.playback.volume
    return any(stimulus.medium == "audio" for stimulus in catalogue.stimuli) if wanted is None else wanted


def make_script(
    study: Study,
    entries: Sequence[Trial | Break],
    *,
    has_volume: bool = False,
    examples: Sequence[Stimulus] = (),
    is_again: bool = False,
) -> Script:
    """Return every step: consent, device, questions, eyes, instructions, room, training, trials, questions.

    Who has finished another session (`is_again`) is not asked again, and finds the instructions under Help.
    """
    checks = page_checks(study)
    steps = [CONSENT, *_checks(checks, "device")]
    if study.before and not is_again:
        steps.append(PlannedStep("questions:before", "questions", items=study.before))
    steps += _checks(checks, "qualify")
    volume = [PlannedStep("volume", "volume")] if has_volume else []
    pages = [] if is_again else _instructions(study, examples)
    # Examples that are heard need the volume first.
    is_heard = any(step.trial is not None for step in pages)
    steps += [*volume, *pages] if is_heard else [*pages, *volume]
    steps += _checks(checks, "setup")
    lessons = [entry for entry in entries if isinstance(entry, Trial) and entry.purpose == "train"]
    steps += [PlannedStep(f"training:{number}", "trial", trial=trial) for number, trial in enumerate(lessons, 1)]
    trials = breaks = 0
    for entry in entries:
        if isinstance(entry, Break):
            breaks += 1
            steps.append(PlannedStep(f"break:{breaks}", "break", text="pause"))
        elif entry.purpose == "rate":
            trials += 1
            steps.append(PlannedStep(f"trial:{trials}", "trial", trial=entry))
    if study.after and not is_again:
        steps.append(PlannedStep("questions:after", "questions", items=study.after))
    training = Training() if study.training is True else study.training or None
    return Script(tuple(steps), training, {check.name: check.rule for check in immediate_rules(study)}, study.playback)


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


def _checks(checks: Sequence[AnyPageCheck], stage: str) -> list[PlannedStep]:
    return [PlannedStep(f"check:{check.name}", "check", check=check) for check in checks if check.stage == stage]


# --- A study as it is served ---


@dataclass(frozen=True)
class ServedStudy:
    """What was written, what there is to see, who sees what, and where."""

    study: Study
    digest: str
    catalogue: Catalogue
    method: Method
    lists: list[Sequence[Trial | Break]]
    public_url: str
    groups: list[Levels] = field(default_factory=list)
    """The levels of the participants that each list is for; empty where all get the same."""
    _studies: dict[tuple[tuple[str, str], ...], Study] = field(default_factory=dict, repr=False, compare=False)
    _scripts: dict[int, Script] = field(default_factory=dict, repr=False, compare=False)

    def grow(self, fresh: Sequence[PlannedList]) -> None:
        """Take in lists that were added to the plan."""
        self.lists.extend(planned.entries for planned in fresh)
        if self.groups:
            self.groups.extend(planned.group for planned in fresh)

    @cached_property
    def needs(self) -> Needs:
        """What the study asks of a device."""
        return needs_of(self.study, self.catalogue, self.lists)

    def study_of(self, number: int) -> Study:
        """Return the study as whoever takes a list meets it."""
        if not self.groups:
            return self.study
        levels = self.groups[number - 1]
        key = tuple(sorted(levels.items()))
        if key not in self._studies:
            self._studies[key] = group_study(self.study, levels)
        return self._studies[key]

    @cached_property
    def has_own_instructions(self) -> bool:
        """Whether not everybody reads the same instructions, so that nobody can know them before a list is theirs."""
        factors = self.study.design.between.values()
        return any(level.instructions is not None for levels in factors for level in levels.values())

    def script(self, number: int, *, is_again: bool = False) -> Script:
        """Return the steps of a list, numbered from 1; `is_again`: for somebody who has finished another."""
        key = -number if is_again else number
        if key not in self._scripts:
            study = self.study_of(number)
            has_volume = sets_volume(study, self.catalogue)
            self._scripts[key] = make_script(
                study,
                self.lists[number - 1],
                has_volume=has_volume,
                examples=self.catalogue.examples,
                is_again=is_again,
            )
        return self._scripts[key]


# --- What a study asks of a device, from its stimuli and its playback ---


_LARGEST = (1920, 1080)
_FASTEST = 60.0
"""What a sample is at most: who plays this plays more."""


def needs_of(study: Study, catalogue: Catalogue, lists: Sequence[Sequence[Trial | Break]]) -> Needs:
    """Return what a device has to be able to do: the same for all, whatever groups there are.

    Otherwise one group would lose people that another one keeps.
    """
    stimuli = catalogue.stimuli
    ways = [group_study(study, levels).playback for levels in groups_in(study.design.between)]
    first = next((entry for entry in lists[0] if isinstance(entry, Trial)), None) if lists else None
    is_seen = any(stimulus.medium != "audio" for stimulus in stimuli)
    is_heard = any(stimulus.medium == "audio" or stimulus.probe.audio_codec for stimulus in stimuli)
    has_media = study.qualification.rule("media") is not None
    return Needs(
        codecs=_codecs(stimuli) if has_media else (),
        medium=stimuli[0].medium if stimuli else "video",
        fps=max((stimulus.probe.fps for stimulus in stimuli), default=0),
        size=_largest(stimuli) if any(way.size == "native" for way in ways) else None,
        fullscreen=any(way.fullscreen for way in ways) and is_seen,
        sound=any(way.sound == "on" for way in ways) and is_heard,
        first_bytes=sum(catalogue.class_sizes[slot.stimulus] for slot in first.slots) if first else 0,
        sample=_sample(stimuli) if has_media else None,
    )


def _codecs(stimuli: Sequence[Stimulus]) -> tuple[str, ...]:
    """Return the MIME types of all that is shown, each once."""
    types = (mime_type(stimulus.served, stimulus.probe, stimulus.medium) for stimulus in stimuli)
    return tuple(sorted({one for one in types if one}))


def _largest(stimuli: Sequence[Stimulus]) -> tuple[int, int] | None:
    sizes = [(stimulus.probe.width, stimulus.probe.height) for stimulus in stimuli if stimulus.probe.width]
    return (max(width for width, _ in sizes), max(height for _, height in sizes)) if sizes else None


def _sample(stimuli: Sequence[Stimulus]) -> Sample | None:
    """Return how a sample is made that is as hard to decode as the hardest clip."""
    clips = [stimulus for stimulus in stimuli if stimulus.medium == "video"]
    if not clips:
        return None
    hardest = max(clips, key=lambda stimulus: stimulus.probe.width * stimulus.probe.height * stimulus.probe.fps)
    probe = hardest.probe
    share = min(1.0, _LARGEST[0] / max(probe.width, probe.height), _LARGEST[1] / min(probe.width, probe.height))
    # Even numbers: half of them is what the colours have.
    width, height = (max(16, 2 * round(side * share / 2)) for side in (probe.width, probe.height))
    fps = min(_FASTEST, probe.fps) or 30.0
    return Sample(probe.codec, hardest.served.suffix.removeprefix("."), width, height, fps)
