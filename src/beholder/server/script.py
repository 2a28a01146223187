"""The script of a session: every step in order, made from the study and the claimed list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Literal

from beholder.checks.rules import at_once
from beholder.checks.steps import AnyStep, check_steps
from beholder.methods.contract import Break, Slot, Trial
from beholder.stimuli.catalogue import Catalogue, Stimulus
from beholder.study.checks import TrialRule
from beholder.study.model import Ask, Playback, Study
from beholder.study.pages import Example, Page
from beholder.study.part import span
from beholder.study.training import Training

Kind = Literal["consent", "check", "questions", "text", "volume", "trial", "break", "end"]
_TRIED = ("check:", "training:", "trial:")
"""Steps that can be met more than once; their keys end in the number of the attempt, a trial's from its second on."""


@dataclass(frozen=True)
class Planned:
    """One step before the end: its key, its kind, and what it shows."""

    key: str
    kind: Kind
    trial: Trial | None = None
    items: tuple[Ask, ...] = ()
    text: str = ""
    """Which of the study's texts."""
    page: Page | None = None
    """The page of the instructions whose examples are the slots of `trial`."""
    check: AnyStep | None = None
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
        return place_key(self.key) if self.attempt else self.key

    def tried(self, attempt: int) -> Planned:
        """Return this step as an attempt."""
        return replace(self, key=f"{self.key}:{attempt}", attempt=attempt)


@dataclass(frozen=True)
class Script:
    """The steps of one session, in order, without the end."""

    steps: tuple[Planned, ...]
    training: Training | None = None
    rules: Mapping[str, TrialRule] = field(default_factory=dict)
    """What is judged with every answer to a trial because it acts at once, by the name of the rule."""
    playback: Playback = field(default_factory=Playback)
    """How stimuli play, and what has to be watched."""

    @property
    def training_lasts(self) -> timedelta | None:
        return span(self.training.valid) if self.training else None

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
        key = place_key(key)
        return next((n for n, step in enumerate(self.steps) if step.key == key), -1)

    def page(self, place: int) -> tuple[int, int]:
        """Return which page a step is on, from 1, and how many there are: the look at the device is one."""
        looks = [step.check is not None and step.check.stage == "device" for step in self.steps]
        turned = [not (n and looks[n] and looks[n - 1]) for n in range(len(looks))]
        return sum(turned[: place + 1]), sum(turned)

    def find(self, key: str) -> Planned | None:
        """Return the step with this key, as the attempt that the key names."""
        place = self.place(key)
        if place < 0:
            return None
        step = self.steps[place]
        return step if step.key == key else step.tried(int(key.rpartition(":")[2]))


FIRST_TRIAL = "trial:1"
CONSENT = Planned("consent", "consent", text="consent")


def place_key(key: str) -> str:
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
    checks = check_steps(study)
    steps = [CONSENT, *_checks(checks, "device")]
    if study.before and not is_again:
        steps.append(Planned("questions:before", "questions", items=study.before))
    steps += _checks(checks, "qualify")
    volume = [Planned("volume", "volume")] if has_volume else []
    pages = [] if is_again else _instructions(study, examples)
    # Examples that are heard need the volume first.
    is_heard = any(step.trial is not None for step in pages)
    steps += [*volume, *pages] if is_heard else [*pages, *volume]
    steps += _checks(checks, "setup")
    lessons = [entry for entry in entries if isinstance(entry, Trial) and entry.purpose == "train"]
    steps += [Planned(f"training:{number}", "trial", trial=trial) for number, trial in enumerate(lessons, 1)]
    trials = breaks = 0
    for entry in entries:
        if isinstance(entry, Break):
            breaks += 1
            steps.append(Planned(f"break:{breaks}", "break", text="pause"))
        elif entry.purpose == "rate":
            trials += 1
            steps.append(Planned(f"trial:{trials}", "trial", trial=entry))
    if study.after and not is_again:
        steps.append(Planned("questions:after", "questions", items=study.after))
    training = Training() if study.training is True else study.training or None
    return Script(tuple(steps), training, {check.name: check.rule for check in at_once(study)}, study.playback)


def _instructions(study: Study, examples: Sequence[Stimulus]) -> list[Planned]:
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
        steps.append(Planned(f"text:{text}", "text", trial=trial, text=text, page=page if slots else None))
    return steps


def _checks(checks: Sequence[AnyStep], stage: str) -> list[Planned]:
    return [Planned(f"check:{check.name}", "check", check=check) for check in checks if check.stage == stage]
