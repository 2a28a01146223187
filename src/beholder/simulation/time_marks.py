"""Planted defects, and how simulated people mark them: detection, reaction, jitter, false alarms; all assumed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from beholder.methods.contract import Trial
from beholder.methods.time_marks import mark_labels, markable_slots, marking
from beholder.simulation.truth import Truth, keyed_rng
from beholder.stimuli.catalogue import Catalogue, Stimulus
from beholder.types import Json

_EVERY_S = 1.5
"""A content has about one place in so many seconds where a bad condition has a defect."""
_EDGE = 0.08
"""No defect is nearer to either end of the clip, as a share of it."""


class Defect(NamedTuple):
    """A planted defect: where it begins, and which of the labels it is."""

    ms: int
    label: int


class MarkingTraits(NamedTuple):
    """How somebody marks."""

    detects: float = 0.75
    """The probability to mark a defect."""
    lag_ms: float = 400.0
    """Mean time from a defect to the mark: simple reaction with a decision."""
    jitter_ms: float = 120.0
    """Standard deviation of that time."""
    names: float = 0.9
    """The probability to give it its own label; else another one."""
    false_alarms: float = 0.4
    """Marks per minute where there is nothing."""


_ATTENTIVE = MarkingTraits()
_TRAITS: Mapping[str, MarkingTraits] = {
    "sharp": MarkingTraits(detects=0.92, lag_ms=350, jitter_ms=80, names=0.97, false_alarms=0.1),
    "sloppy": MarkingTraits(detects=0.5, lag_ms=550, jitter_ms=220, names=0.75, false_alarms=1.0),
    "noisy": MarkingTraits(detects=0.4, lag_ms=550, jitter_ms=250, names=0.6, false_alarms=2.0),
    "careless": MarkingTraits(detects=0.0, false_alarms=12.0),
    "straight": MarkingTraits(detects=0.0, false_alarms=0.0),
    "middle": MarkingTraits(detects=0.0, false_alarms=0.0),
    "forges": MarkingTraits(detects=0.0, false_alarms=2.0),
}
"""Of the kinds that differ from `honest`."""


def marking_traits(kind: str) -> MarkingTraits:
    """Return how a kind of rater marks."""
    return _TRAITS.get(kind, _ATTENTIVE)


def planted_defects(stimulus: Stimulus, quality: float, labels: int, seed: int) -> tuple[Defect, ...]:
    """Return the defects of a stimulus, in order of time.

    The places are those of its content, so that conditions share them; the worse a condition, the more of them it has:
    none at the best quality, all at the worst.
    """
    length = stimulus.probe.duration_ms
    count = max(1, round(length / 1000 / _EVERY_S))
    rng = keyed_rng(seed, "defects", stimulus.content)
    # One place in each part of the clip: two defects at once could not be told apart.
    inner = (np.arange(count) + rng.uniform(0.2, 0.8, count)) / count
    order = rng.permutation(count)
    limits = (order + 1) / (count + 1)
    places = _EDGE + (1 - 3 * _EDGE) * inner
    return tuple(
        Defect(round(float(place) * length), index % labels)
        for index, (place, limit) in enumerate(zip(places, limits, strict=True))
        if quality < limit
    )


def simulated_marks(
    trial: Trial, catalogue: Catalogue, truth: Truth, kind: str, seed: int, rng: Generator
) -> list[Json]:
    """Return the marks of a simulated person in a trial, as the page would send them."""
    drawn, labels, who = marking(trial) or {}, mark_labels(trial), marking_traits(kind)
    marks: list[dict[str, Any]] = []
    for name in markable_slots(trial):
        stimulus = catalogue.by_id[trial.slot_by_id[name].stimulus]
        length = stimulus.probe.duration_ms
        quality = float(truth.quality[truth.stimuli[stimulus.id]].mean())
        for defect in planted_defects(stimulus, quality, len(labels), seed):
            is_seen, is_named = rng.random() < who.detects, rng.random() < who.names
            at = defect.ms + rng.normal(who.lag_ms, who.jitter_ms)
            other = int(rng.integers(len(labels)))
            if is_seen:
                label = labels[defect.label if is_named else other]
                marks.append({"slot": name, "ms": _within(at, length), "label": label})
        for at in rng.uniform(0, length, rng.poisson(who.false_alarms * length / 60_000)):
            label = labels[int(rng.integers(len(labels)))]
            marks.append({"slot": name, "ms": _within(float(at), length), "label": label})
    # Who has to mark more than there is marks something.
    while len(marks) < int(drawn.get("at_least") or 0):  # type: ignore[arg-type]  # read by the model of the option
        name = str(rng.choice(markable_slots(trial)))
        length = catalogue.by_id[trial.slot_by_id[name].stimulus].probe.duration_ms
        marks.append({"slot": name, "ms": _within(float(rng.uniform(0, length)), length), "label": labels[0]})
    return [*marks[: int(drawn.get("most") or 0)]]  # type: ignore[arg-type]  # as above


def _within(ms: float, length: int) -> int:
    return int(min(max(0, round(ms)), length))
