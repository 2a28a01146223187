"""Stimuli and the catalogue that holds them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from beholder.errors import Problem
from beholder.stimuli.blinding import class_size
from beholder.stimuli.lesson import Lesson
from beholder.types import Medium, Role


@dataclass(frozen=True)
class Probe:
    """What a file holds, as measured."""

    bytes: int
    container: str
    duration_ms: int
    """How long it plays; in a catalogue, how long an image or a text has to be in view."""
    width: int
    height: int
    fps: float
    codec: str
    audio_codec: str
    channels: int
    sample_rate: int = 0
    words: int = 0


@dataclass(frozen=True)
class Stimulus:
    """One thing to see or hear: a content under a condition."""

    id: str
    content: str
    condition: str
    role: Role
    medium: Medium
    file: str
    """As the researcher wrote it; never shown to a participant."""
    sha256: str
    """Of that file; of the recipe where we made it."""
    probe: Probe
    served: Path
    """The stripped copy in media/ that participants get."""
    factors: Mapping[str, str] = field(default_factory=dict)
    served_bytes: int = 0
    """How large that copy is, before any filler."""
    encoders: tuple[str, ...] = ()
    """Names of encoders that still stand in that copy, inside streams that are copied as they are."""
    caption: str = ""
    """What participants read below an example."""
    lesson: Lesson | None = None
    """The answer that is expected of a training, gold, trap or attention stimulus."""
    made_of: str = ""
    """The id of the stimulus that we made this one of, so that it asks for an answer."""


@dataclass(frozen=True)
class Catalogue:
    """Every stimulus of a study, its conditions in the order of the study, its contents by code point."""

    stimuli: tuple[Stimulus, ...]
    conditions: tuple[str, ...]
    contents: tuple[str, ...]
    warnings: tuple[Problem, ...] = ()
    examples: tuple[Stimulus, ...] = ()
    """What the instructions show: never planned, never rated. Those of the manifest have captions of their own."""

    @cached_property
    def by_id(self) -> Mapping[str, Stimulus]:
        """Everything that is served."""
        return {stimulus.id: stimulus for stimulus in (*self.stimuli, *self.examples)}

    @cached_property
    def by_cell(self) -> Mapping[tuple[str, str], Stimulus]:
        """Stimuli that may be rated, by (content, condition)."""
        return {(s.content, s.condition): s for s in self.stimuli if s.role in ("test", "reference", "anchor")}

    @cached_property
    def references(self) -> Mapping[str, Stimulus]:
        """The reference of each content that has one."""
        return {s.content: s for s in self.stimuli if s.role == "reference"}

    def of_role(self, role: Role) -> tuple[Stimulus, ...]:
        """Return the stimuli of a role, in the order of the catalogue."""
        return tuple(stimulus for stimulus in self.stimuli if stimulus.role == role)

    @cached_property
    def training(self) -> tuple[Stimulus, ...]:
        """What people practise on, in the order of the manifest."""
        taught = [(s.lesson.number, s) for s in self.stimuli if s.role == "training" and s.lesson is not None]
        return tuple(stimulus for _, stimulus in sorted(taught, key=lambda one: one[0]))

    @cached_property
    def class_sizes(self) -> Mapping[str, int]:
        """The size up to which each stimulus is filled, by id: that of the largest of its content, if it can be."""
        largest: dict[str, int] = {}
        for stimulus in self.stimuli:
            largest[stimulus.content] = max(stimulus.served_bytes, largest.get(stimulus.content, 0))
        sizes = {s.id: class_size(s.served_bytes, largest[s.content]) for s in self.stimuli}
        # Examples carry their captions: there is nothing to hide.
        return sizes | {s.id: s.served_bytes for s in self.examples}

    def missing(self) -> tuple[tuple[str, str], ...]:
        """Return every (content, condition) that has no file."""
        return tuple((t, c) for t in self.contents for c in self.conditions if (t, c) not in self.by_cell)
