"""The script of a session: every step in order, made from the study and the claimed list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from beholder.methods.contract import Break, Trial
from beholder.stimuli.catalogue import Catalogue
from beholder.study.model import Ask, Study

Kind = Literal["consent", "questions", "text", "volume", "trial", "break", "end"]


@dataclass(frozen=True)
class Planned:
    """One step before the end: its key, its kind, and what it shows."""

    key: str
    kind: Kind
    trial: Trial | None = None
    items: tuple[Ask, ...] = ()
    text: str = ""
    """Which of the study's texts."""


@dataclass(frozen=True)
class Script:
    """The steps of one session, in order, without the end."""

    steps: tuple[Planned, ...]

    def place(self, key: str) -> int:
        """Return where a step stands, from 0, or -1."""
        return next((n for n, step in enumerate(self.steps) if step.key == key), -1)


CONSENT = Planned("consent", "consent", text="consent")


def sets_volume(study: Study, catalogue: Catalogue) -> bool:
    """Return whether participants set their volume before the trials: as the study says, else where there is sound."""
    if study.playback.sound == "off":
        return False
    wanted = study.playback.volume
    return any(stimulus.medium == "audio" for stimulus in catalogue.stimuli) if wanted is None else wanted


def make_script(study: Study, entries: Sequence[Trial | Break], *, has_volume: bool = False) -> Script:
    """Return consent, questions before, instructions, volume, trials and breaks, questions after."""
    steps = [CONSENT]
    if study.before:
        steps.append(Planned("questions:before", "questions", items=study.before))
    steps.append(Planned("text:instructions", "text", text="instructions"))
    if has_volume:
        steps.append(Planned("volume", "volume"))
    trials = breaks = 0
    for entry in entries:
        if isinstance(entry, Trial):
            trials += 1
            steps.append(Planned(f"trial:{trials}", "trial", trial=entry))
        else:
            breaks += 1
            steps.append(Planned(f"break:{breaks}", "break", text="pause"))
    if study.after:
        steps.append(Planned("questions:after", "questions", items=study.after))
    return Script(tuple(steps))
