"""Values measured: every pair on every region, in parallel, each once."""

from __future__ import annotations

import hashlib
import json
import math
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from beholder.errors import Problem, UserError
from beholder.objective.frames import BY_PIXEL, filtered, look_at, mask_box, masked
from beholder.objective.regions import VALUES, Region, Regions, even_box
from beholder.objective.registry import METRICS, Chosen, heard, tool_version
from beholder.stimuli.catalogue import Stimulus

IDENTICAL = "identical to the reference"
NOTHING = "nothing to measure"


class _Job(NamedTuple):
    """One pair on one region, with the metrics of it that are not known yet."""

    stimulus: Stimulus
    reference: Stimulus
    region: Region | None
    metrics: tuple[str, ...]


def measure_all(
    chosen: Chosen,
    regions: Regions,
    cache: MeasurementCache,
    jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> pd.DataFrame:
    """Return a row for each stimulus, metric and region; raise UserError with the problems of all files at once."""
    wanted = [
        _Job(stimulus, reference, region, _on(region, chosen.of(stimulus)))
        for stimulus, reference in chosen.pairs
        for region in (None, *regions.of(stimulus))
    ]
    problems = [*regions.lost([one for pair in chosen.pairs for one in pair]), *_outside(wanted)]
    if problems:
        raise UserError(problems)
    waiting = [job._replace(metrics=left) for job in wanted if (left := _unknown(job, cache))]
    _do(waiting, cache, jobs or os.cpu_count() or 1, progress)
    return pd.DataFrame([_row(job, metric, cache) for job in wanted for metric in job.metrics], columns=VALUES)


def _on(region: Region | None, metrics: Sequence[str]) -> tuple[str, ...]:
    """Return the metrics that look at a region: sound has none."""
    return tuple(name for name in metrics if region is None or not METRICS[name].is_of_sound)


def _outside(wanted: Sequence[_Job]) -> list[Problem]:
    problems = []
    for job in wanted:
        if job.region is not None:
            probe = job.reference.probe
            if what := job.region.outside(probe.width, probe.height):
                problems.append(Problem(job.region.where, f"{job.region.name} {what} of {job.stimulus.id}"))
    return problems


def _key(job: _Job, metric: str) -> str:
    region = ""
    if job.region is not None:
        region = job.region.mask.sha256 if job.region.mask else repr(job.region.box)
    return key(job.stimulus.sha256, job.reference.sha256, metric, region)


def _unknown(job: _Job, cache: MeasurementCache) -> tuple[str, ...]:
    return tuple(metric for metric in job.metrics if cache.get(_key(job, metric)) is None)


def _do(
    waiting: Sequence[_Job], cache: MeasurementCache, workers: int, progress: Callable[[int, int], None] | None
) -> None:
    threads = max(1, (os.cpu_count() or 1) // max(1, min(workers, len(waiting))))
    problems: list[Problem] = []
    with ThreadPoolExecutor(max_workers=workers) as pool:
        work: dict[Future[dict[str, Value]], _Job] = {pool.submit(_measured, job, threads): job for job in waiting}
        try:
            for done, future in enumerate(as_completed(work), 1):
                try:
                    values = future.result()
                except UserError as error:
                    problems += error.problems
                else:
                    cache.add({_key(work[future], metric): value for metric, value in values.items()})
                if progress is not None:
                    progress(done, len(waiting))
        finally:
            pool.shutdown(cancel_futures=True)
    if problems:
        raise UserError(sorted(dict.fromkeys(problems), key=lambda one: (one.where, one.what)))


def _measured(job: _Job, threads: int) -> dict[str, Value]:
    sounds = [metric for metric in job.metrics if METRICS[metric].is_of_sound]
    measured: dict[str, Value] = {}
    if sounds:
        values, notes = heard(job.stimulus, job.reference, sounds)
        measured |= {metric: _noted_value(value, notes) for metric, value in values.items()}
    seen = [metric for metric in job.metrics if metric not in sounds]
    return measured | _seen(job, seen, threads) if seen else measured


def _seen(job: _Job, metrics: Sequence[str], threads: int) -> dict[str, Value]:
    pair = look_at(job.stimulus, job.reference)
    box, notes, measured = None, pair.notes, {}
    if job.region is not None and job.region.mask is not None:
        mask = job.region.mask
        by_pixel = [metric for metric in metrics if metric in BY_PIXEL]
        measured = {metric: _noted_value(value, notes) for metric, value in masked(pair, by_pixel, mask).items()}
        metrics = [metric for metric in metrics if metric not in by_pixel]
        around = mask_box(mask, pair.width, pair.height) if metrics else None
        if metrics and around is None:
            return measured | {metric: Value(math.nan, NOTHING) for metric in metrics}
        if around is not None:
            box = even_box(*around, pair.width, pair.height)
            notes = (*notes, "on the box round the mask")
    elif job.region is not None:
        box = job.region.pixels(pair.width, pair.height)
    smallest = min(box[2:] if box else (pair.width, pair.height))
    large = [metric for metric in metrics if METRICS[metric].smallest <= smallest]
    for metric in metrics:
        if metric not in large:
            measured[metric] = Value(math.nan, f"needs {METRICS[metric].smallest} pixels a side, here {smallest}")
    values = filtered(pair, large, box, threads) if large else {}
    return measured | {metric: _noted_value(value, notes) for metric, value in values.items()}


def _noted_value(value: float, notes: Sequence[str]) -> Value:
    if math.isfinite(value):
        return Value(value, "; ".join(notes))
    return Value(math.nan, "; ".join([IDENTICAL if value == math.inf else NOTHING, *notes]))


def _row(job: _Job, metric: str, cache: MeasurementCache) -> dict[str, Any]:
    value = cache.get(_key(job, metric))
    assert value is not None
    one = job.stimulus
    return {
        "stimulus": one.id, "content": one.content, "condition": one.condition, "metric": metric,
        "region": job.region.name if job.region else "", "value": value.value, "note": value.note,
    }  # fmt: skip


# Cache of measured values: one line each, appended as it is known


RECIPE = "1"
"""Raised where the same tool would be used in another way."""


class Value(NamedTuple):
    """What a metric says of a stimulus; NaN where it says nothing, and then the note tells why."""

    value: float
    note: str = ""


def key(own_sha256: str, reference_sha256: str, metric: str, region: str) -> str:
    """Return the name of a value: both files, the metric, the region and what measures it."""
    words = "\n".join((RECIPE, own_sha256, reference_sha256, metric, region, tool_version(metric)))
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
