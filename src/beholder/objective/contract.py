"""The contract of an objective metric: what it declares, and the pair of pictures or sounds that it gets.

A metric is an object that is registered in the entry point group `beholder.metrics`, ours as well as those of others.
It imports from here and from nowhere else in Beholder.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from beholder.objective.decoding import Box, MediaPair, Samples, Truths, colour_frames, look_at, samples
from beholder.objective.regions import Region
from beholder.stimuli.catalogue import Stimulus
from beholder.types import Medium

__all__ = [
    "ComparedPair",
    "ConditionMetric",
    "FramePair",
    "LandmarkPair",
    "Medium",
    "Need",
    "ObjectiveMetric",
    "PairMetric",
    "Picture",
    "SoundPair",
]

Picture: TypeAlias = NDArray[np.uint8]
"""Lines, columns, and red, green and blue from 0 to 255."""
_GREY = 128


class Need(NamedTuple):
    """What a metric lacks here: the end of a sentence after its name, and how to get it."""

    what: str
    fix: str


class FramePair(NamedTuple):
    """A frame and that of the reference, both cut to the region; `picked` are the pixels that count, None for all."""

    own: Picture
    reference: Picture
    picked: Truths | None

    def filled(self) -> tuple[Picture, Picture]:
        """Return both with the same grey where pixels do not count, for metrics that know no masks."""
        if self.picked is None:
            return self.own, self.reference
        own, reference = self.own.copy(), self.reference.copy()
        own[~self.picked] = reference[~self.picked] = _GREY
        return own, reference


class SoundPair(NamedTuple):
    """Both sounds as one channel of floats, of the same length."""

    own: Samples
    reference: Samples
    rate: int


class LandmarkPair(NamedTuple):
    """Points by frame and name, in pixels of the reference: an array of frames, points, and x and y; NaN for none."""

    own: NDArray[np.float64]
    reference: NDArray[np.float64]
    names: tuple[str, ...]
    width: int
    height: int


class ComparedPair:
    """A stimulus beside its reference, on the whole picture or on a region of it, decoded when it is asked for."""

    def __init__(
        self,
        stimulus: Stimulus,
        reference: Stimulus,
        region: Region | None = None,
        *,
        landmarks: LandmarkPair | None = None,
        threads: int = 1,
    ) -> None:
        self.stimulus, self.reference, self.region = stimulus, reference, region
        self.landmarks = landmarks
        """The points of both, where a file gives them."""
        self.threads = threads
        """How many a metric may use, as several pairs are measured at a time."""
        self._notes: list[tuple[str, tuple[str, ...]]] = []

    @cached_property
    def media(self) -> MediaPair:
        """How both are read by ffmpeg, and brought to the frames and the size of the reference."""
        return look_at(self.stimulus, self.reference)

    @cached_property
    def box(self) -> Box | None:
        """The part of the reference to which frames are cut; None where the region is empty."""
        media = self.media
        whole = Box(0, 0, media.width, media.height)
        return whole if self.region is None else self.region.box_in(media.width, media.height)

    def frames(self) -> Iterator[FramePair]:
        """Yield the frames of both beside each other, as long as both have some; none where the region is empty."""
        media, box = self.media, self.box
        if box is None:
            return
        own, other = self.pictures(is_reference=False), self.pictures(is_reference=True)
        is_cut = self.region is None or self.region.is_box
        picks = None if self.region is None or is_cut else self.region.picks(media.width, media.height)
        lines, columns = slice(box.y, box.y + box.height), slice(box.x, box.x + box.width)
        for one, reference in zip(own, other, strict=False):
            picked = None if picks is None else next(picks)[lines, columns]
            if picked is None or picked.any():
                yield FramePair(one[lines, columns], reference[lines, columns], picked)

    def pictures(self, *, is_reference: bool) -> Iterator[Picture]:
        """Yield all frames of one of both, whole."""
        return colour_frames(self.media, is_reference=is_reference)

    def sounds(self, rate: int = 16_000) -> SoundPair:
        """Return both sounds at a rate, cut to the shorter, which the note says."""
        own, other = samples(self.stimulus, rate), samples(self.reference, rate)
        n = min(len(own), len(other))
        if abs(len(own) - len(other)) > rate // 100:
            self.note(f"{len(own) / rate:.2f} s beside {len(other) / rate:.2f} s of the reference: the shorter counts")
        return SoundPair(own[:n], other[:n], rate)

    def note(self, words: str, *metrics: str) -> None:
        """Add to the note of a value how it was measured: of the metrics that are named, or of all."""
        self._notes.append((words, metrics))

    def notes_of(self, metric: str) -> tuple[str, ...]:
        """Return what was noted of a metric, each once."""
        return tuple(dict.fromkeys(words for words, metrics in self._notes if not metrics or metric in metrics))


class ObjectiveMetric(ABC):
    """What every metric declares. Take `PairMetric` or `ConditionMetric` as the base of yours."""

    name: str
    """Of the entry point, of `--metric` and in the tables: small letters, digits and hyphens."""
    title: str
    """As papers write it."""
    looks_at: Literal["pictures", "sound", "landmarks"] = "pictures"
    smallest: int = 1
    """Pixels that a side of the picture, or of the region, must have."""
    lower_is_better: bool = False
    citation: str = ""
    usual_for: frozenset[Medium] = frozenset()
    """Media whose stimuli are measured by it where nobody names metrics."""
    order: int = 1000
    """Its place among the others; those with the same come by name."""
    per: ClassVar[Literal["stimulus", "condition"]]

    def need(self) -> Need | None:
        """Return what is not installed here, without importing it; None where it can be measured."""
        return None

    @abstractmethod
    def version(self) -> str:
        """Return what measures it and in which version: values of another version are not taken for these."""


class PairMetric(ObjectiveMetric):
    """A metric with a value for each stimulus beside its reference."""

    per: ClassVar[Literal["stimulus", "condition"]] = "stimulus"

    @abstractmethod
    def measure(self, pair: ComparedPair) -> float:
        """Return the value: infinite of what is identical, where that has no number, and NaN where there is none."""

    @classmethod
    def measure_together(cls, metrics: Sequence[PairMetric], pair: ComparedPair) -> dict[str, float]:
        """Return the values of several metrics of this class by their names; one decoding may serve all of them."""
        return {one.name: one.measure(pair) for one in metrics}


class ConditionMetric(ObjectiveMetric):
    """A metric of all stimuli of a condition beside all their references, such as a distance of distributions."""

    per: ClassVar[Literal["stimulus", "condition"]] = "condition"

    @abstractmethod
    def measure(self, pairs: Sequence[ComparedPair]) -> float:
        """Return the value of a condition; NaN where there is none."""


def mean_over_frames(values: Sequence[float]) -> float:
    """Return the mean of the numbers that there are; NaN without any."""
    known = [value for value in values if not math.isnan(value)]
    return float(np.mean(known)) if known else math.nan
