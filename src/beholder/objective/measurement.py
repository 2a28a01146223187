"""Values measured: every pair or condition on every region, in parallel, each once."""

from __future__ import annotations

import hashlib
import json
import math
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from beholder.errors import Problem, UserError
from beholder.objective.contract import ComparedPair, ConditionMetric, ObjectiveMetric, PairMetric
from beholder.objective.landmarks import Landmarks
from beholder.objective.regions import VALUES, Region, Regions
from beholder.objective.registry import Chosen
from beholder.stimuli.catalogue import Stimulus

IDENTICAL = "identical to the reference"
NOTHING = "nothing to measure"


class _Job(NamedTuple):
    """Pairs on one region, with the metrics of them that are not known yet: one pair, or all of a condition."""

    pairs: tuple[tuple[Stimulus, Stimulus, Region | None], ...]
    metrics: tuple[ObjectiveMetric, ...]
    condition: str = ""
    """Whose pairs they are, where the metrics are of a whole condition."""

    @property
    def region(self) -> str:
        """The name of the region; empty for all of the picture."""
        region = self.pairs[0][2]
        return region.name if region is not None else ""


def measure_all(
    chosen: Chosen,
    regions: Regions,
    cache: MeasurementCache,
    jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    landmarks: Landmarks | None = None,
) -> pd.DataFrame:
    """Return a row for each metric and region of a stimulus or condition; raise UserError with all problems at once."""
    known = landmarks or Landmarks({}, "")
    wanted = [*_of_stimuli(chosen, regions), *_of_conditions(chosen, regions)]
    stimuli = [one for pair in chosen.pairs for one in pair]
    problems = [*regions.lost(stimuli), *known.lost(stimuli, chosen.metrics), *_outside(wanted)]
    if problems:
        raise UserError(problems)
    waiting = [job._replace(metrics=left) for job in wanted if (left := _unknown(job, cache, known))]
    _do(waiting, cache, known, jobs or os.cpu_count() or 1, progress)
    return pd.DataFrame([_row(job, one, cache, known) for job in wanted for one in job.metrics], columns=VALUES)


def _of_stimuli(chosen: Chosen, regions: Regions) -> Iterator[_Job]:
    for stimulus, reference in chosen.pairs:
        own = [one for one in chosen.of(stimulus) if one.per == "stimulus"]
        for region in (None, *regions.of(stimulus)):
            if metrics := _on(region, own):
                yield _Job(((stimulus, reference, region),), metrics)


def _of_conditions(chosen: Chosen, regions: Regions) -> Iterator[_Job]:
    """Yield all pairs of each condition on the whole picture, then on every region that all its stimuli have."""
    by_condition: dict[str, list[tuple[Stimulus, Stimulus]]] = {}
    for stimulus, reference in chosen.pairs:
        by_condition.setdefault(stimulus.condition, []).append((stimulus, reference))
    for condition, pairs in by_condition.items():
        metrics = tuple(one for one in chosen.of(pairs[0][0]) if one.per == "condition")
        named = [{region.name: region for region in regions.of(stimulus)} for stimulus, _ in pairs]
        shared = [name for name in named[0] if all(name in own for own in named)]
        for name in (None, *shared) if metrics else ():
            places = [None if name is None else own[name] for own in named]
            yield _Job(
                tuple((*pair, region) for pair, region in zip(pairs, places, strict=True)), metrics, condition=condition
            )


def _on(region: Region | None, metrics: Sequence[ObjectiveMetric]) -> tuple[ObjectiveMetric, ...]:
    """Return the metrics that look at a region: sound has none, and points are where they are."""
    return tuple(one for one in metrics if region is None or one.looks_at == "pictures")


def _outside(wanted: Sequence[_Job]) -> list[Problem]:
    problems = []
    for stimulus, reference, region in (pair for job in wanted if not job.condition for pair in job.pairs):
        if region is not None and (what := region.outside(reference.probe.width, reference.probe.height)):
            problems.append(Problem(region.where, f"{region.name} {what} of {stimulus.id}"))
    return problems


def _key(job: _Job, metric: ObjectiveMetric, landmarks: Landmarks) -> str:
    files = [(own.sha256, other.sha256, region.key if region else "") for own, other, region in job.pairs]
    points = landmarks.sha256 if metric.looks_at == "landmarks" else ""
    return key(files, metric.name, points, metric.version())


def _unknown(job: _Job, cache: MeasurementCache, landmarks: Landmarks) -> tuple[ObjectiveMetric, ...]:
    return tuple(one for one in job.metrics if cache.get(_key(job, one, landmarks)) is None)


def _do(
    waiting: Sequence[_Job],
    cache: MeasurementCache,
    landmarks: Landmarks,
    workers: int,
    progress: Callable[[int, int], None] | None,
) -> None:
    threads = max(1, (os.cpu_count() or 1) // max(1, min(workers, len(waiting))))
    problems: list[Problem] = []
    with ThreadPoolExecutor(max_workers=workers) as pool:
        work: dict[Future[dict[str, Value]], _Job] = {
            pool.submit(_measured, job, landmarks, threads): job for job in waiting
        }
        try:
            for done, future in enumerate(as_completed(work), 1):
                try:
                    values = future.result()
                except UserError as error:
                    problems += error.problems
                else:
                    job = work[future]
                    cache.add({_key(job, one, landmarks): values[one.name] for one in job.metrics})
                if progress is not None:
                    progress(done, len(waiting))
        finally:
            pool.shutdown(cancel_futures=True)
    if problems:
        raise UserError(sorted(dict.fromkeys(problems), key=lambda one: (one.where, one.what)))


def _measured(job: _Job, landmarks: Landmarks, threads: int) -> dict[str, Value]:
    """Return the value of each metric of a job; those of one class are measured together."""
    by_class: dict[type[ObjectiveMetric], list[ObjectiveMetric]] = {}
    for one in job.metrics:
        by_class.setdefault(type(one), []).append(one)
    measured: dict[str, Value] = {}
    for kind, metrics in by_class.items():
        pairs = [
            ComparedPair(own, other, region, landmarks=landmarks.of(own, other), threads=threads)
            for own, other, region in job.pairs
        ]
        small = {one.name: why for one in metrics if (why := _too_small(one, pairs))}
        large = [one for one in metrics if one.name not in small]
        values = _called(kind, large, pairs, job) if large else {}
        measured |= {name: Value(math.nan, why) for name, why in small.items()}
        for one in large:
            notes = dict.fromkeys(note for pair in pairs for note in (*_aligned(one, pair), *pair.notes_of(one.name)))
            measured[one.name] = _noted_value(values[one.name], list(notes))
    return measured


def _called(
    kind: type[ObjectiveMetric], metrics: Sequence[ObjectiveMetric], pairs: Sequence[ComparedPair], job: _Job
) -> dict[str, float]:
    """Return what metrics say, or raise UserError that names the one whose package failed."""
    try:
        if issubclass(kind, PairMetric):
            return kind.measure_together([one for one in metrics if isinstance(one, PairMetric)], pairs[0])
        return {one.name: float(one.measure(pairs)) for one in metrics if isinstance(one, ConditionMetric)}
    except UserError:
        raise
    # A metric of somebody else may fail in any way.
    except Exception as error:
        names = " and ".join(one.name for one in metrics)
        where = job.condition or job.pairs[0][0].file
        what = f"cannot be measured by {names}: {type(error).__name__}: {error}"
        fix = "Update that package, or leave the metric out."
        raise UserError(Problem(where, what, "", fix)) from error


def _too_small(metric: ObjectiveMetric, pairs: Sequence[ComparedPair]) -> str:
    """Return why the picture or the region is too small for a metric, or nothing."""
    if metric.looks_at != "pictures":
        return ""
    # A mask is measured by its pixels or by the box round it, which only its metric knows.
    boxes = [pair.box for pair in pairs if pair.region is None or pair.region.is_box]
    sides = [side for box in boxes if box is not None for side in box[2:]]
    smallest = min(sides, default=metric.smallest)
    return f"needs {metric.smallest} pixels a side, here {smallest}" if smallest < metric.smallest else ""


def _aligned(metric: ObjectiveMetric, pair: ComparedPair) -> tuple[str, ...]:
    return pair.media.notes if metric.looks_at == "pictures" else ()


def _noted_value(value: float, notes: Sequence[str]) -> Value:
    if math.isfinite(value):
        return Value(value, "; ".join(notes))
    return Value(math.nan, "; ".join([IDENTICAL if value == math.inf else NOTHING, *notes]))


def _row(job: _Job, metric: ObjectiveMetric, cache: MeasurementCache, landmarks: Landmarks) -> dict[str, Any]:
    value = cache.get(_key(job, metric, landmarks))
    assert value is not None
    one = job.pairs[0][0]
    whose = (
        {"stimulus": "", "content": "", "condition": job.condition}
        if job.condition
        else {"stimulus": one.id, "content": one.content, "condition": one.condition}
    )
    return {**whose, "metric": metric.name, "region": job.region, "value": value.value, "note": value.note}


# Cache of measured values: one line each, appended as it is known


RECIPE = "2"
"""Raised where the same tool would be used in another way."""


class Value(NamedTuple):
    """What a metric says of a stimulus; NaN where it says nothing, and then the note tells why."""

    value: float
    note: str = ""


def key(files: Sequence[tuple[str, str, str]], metric: str, landmarks: str, version: str) -> str:
    """Return the name of a value: both files and the region of each pair, the metric, and what measures it."""
    words = "\n".join((RECIPE, *("\n".join(three) for three in files), metric, landmarks, version))
    return hashlib.sha256(words.encode()).hexdigest()


class MeasurementCache:
    """The file of a folder that remembers values; a line that was cut off is forgotten."""

    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, threading.Lock()
        self._known: dict[str, Value] = {}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # Opened before anything is measured: what could not be kept would be lost.
            with path.open("a+", encoding="utf-8", errors="replace") as file:
                file.seek(0)
                text = file.read()
                # A line that a killed run left half must not spoil the first of ours.
                if text and not text.endswith("\n"):
                    file.write("\n")
        except OSError as error:
            what = f"cannot be written: {error.strerror}"
            raise UserError(Problem(str(path), what, "a folder in which you may write")) from None
        for line in text.splitlines():
            self._remember(line)

    def _remember(self, line: str) -> None:
        try:
            name, value, note = json.loads(line)
            self._known[str(name)] = Value(math.nan if value is None else float(value), str(note))
        except (ValueError, TypeError):
            return

    def get(self, name: str) -> Value | None:
        """Return a value that was measured before."""
        return self._known.get(name)

    def add(self, values: dict[str, Value]) -> None:
        """Remember values, on disk before this returns."""
        lines = [
            json.dumps([name, None if math.isnan(one.value) else one.value, one.note]) for name, one in values.items()
        ]
        with self._lock:
            self._known |= values
            with self._path.open("a", encoding="utf-8") as file:
                file.write("".join(f"{line}\n" for line in lines))
