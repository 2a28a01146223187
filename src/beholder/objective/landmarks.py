"""Landmarks: points of faces, hands or bodies that a file gives by frame, and how far they are from the reference's.

Beholder finds no points itself: a detector of yours writes them once, and every metric that looks at landmarks reads
them from there.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from beholder.errors import Problem, UserError
from beholder.objective.contract import ComparedPair, LandmarkPair, ObjectiveMetric, PairMetric
from beholder.objective.regions import read_table
from beholder.stimuli.catalogue import Catalogue, Stimulus

_NUMBERS = ("frame", "x", "y")
_NEED = "stimulus, or content and condition; frame from 0, point, x and y"
_MOST_PROBLEMS = 20
Points: TypeAlias = Mapping[tuple[int, str], tuple[float, float]]
"""From frame and name to x and y as shares of the picture."""


class Landmarks:
    """The points of stimuli and references, by their ids."""

    def __init__(self, points: Mapping[str, Points], sha256: str) -> None:
        self._points, self.sha256 = points, sha256

    def of(self, stimulus: Stimulus, reference: Stimulus) -> LandmarkPair | None:
        """Return the points that a stimulus and its reference share, in pixels of the reference; None without any."""
        own, other = self._points.get(stimulus.id), self._points.get(reference.id)
        if own is None or other is None:
            return None
        frames = 1 + min(max(frame for frame, _ in one) for one in (own, other))
        names = tuple(dict.fromkeys(name for _, name in other if any(name == known for _, known in own)))
        width, height = reference.probe.width, reference.probe.height
        both = [_array(one, frames, names) * (width, height) for one in (own, other)]
        return LandmarkPair(both[0], both[1], names, width, height)

    def lost(self, stimuli: Sequence[Stimulus], metrics: Sequence[ObjectiveMetric]) -> Iterator[Problem]:
        """Yield the metrics that look at points where there is no file of them, and the stimuli without points."""
        looking = [one.name for one in metrics if one.looks_at == "landmarks"]
        if looking and not self._points:
            fix = "Name a CSV of points with --landmarks."
            yield Problem("--metric", f"is {looking[0]}, which looks at landmarks, and there are none", "", fix)
        elif looking:
            without = dict.fromkeys(one.id for one in stimuli if one.id not in self._points)
            for name in list(without)[:_MOST_PROBLEMS]:
                yield Problem(f"stimulus {name}", f"has no landmarks, and {looking[0]} looks at them")


def _array(points: Points, frames: int, names: Sequence[str]) -> NDArray[np.float64]:
    found = np.full((frames, len(names), 2), np.nan)
    places = {name: place for place, name in enumerate(names)}
    for (frame, name), point in points.items():
        if frame < frames and name in places:
            found[frame, places[name]] = point
    return found


def read_landmarks(path: Path, catalogue: Catalogue) -> Landmarks:
    """Return the points of a CSV: in pixels of the stimulus, or in shares of it; raise UserError with every problem."""
    table = read_table(path)
    if not {"point", *_NUMBERS} <= set(table.columns) or not (
        "stimulus" in table or {"content", "condition"} <= set(table)
    ):
        raise UserError(Problem(str(path), "has not the columns of landmarks", _NEED))
    known = {stimulus.id: stimulus for stimulus in catalogue.by_cell.values()}
    cells = {(one.content, one.condition): name for name, one in known.items()}
    names = _names(table, cells)
    numbers = table[list(_NUMBERS)].apply(pd.to_numeric, errors="coerce")
    problems = []
    for at in np.flatnonzero(~names.isin(list(known)).to_numpy()):
        problems.append(
            Problem(
                f"{path}:{at + 2}", f"stimulus is {names.iloc[at]!r}, which is none", f"such as {next(iter(known))}"
            )
        )
    is_wrong = (
        numbers.isna().any(axis=1) | (numbers["frame"] < 0) | (numbers["frame"] % 1 != 0) | (table["point"] == "")
    )
    for at in np.flatnonzero(is_wrong.to_numpy()):
        given = ", ".join(f"{column} {table[column].iloc[at]!r}" for column in ("frame", "point", "x", "y"))
        problems.append(
            Problem(f"{path}:{at + 2}", f"has {given}", "a whole frame from 0, a name, and numbers for x and y")
        )
    if problems:
        raise UserError(problems[:_MOST_PROBLEMS])
    points: dict[str, dict[tuple[int, str], tuple[float, float]]] = {}
    # A file is in shares where nothing in it lies beyond 1, as boxes of regions are.
    is_shares = bool((numbers[["x", "y"]].abs() <= 1).all().all())
    for name, frame, point, x, y in zip(
        names, numbers["frame"], table["point"], numbers["x"], numbers["y"], strict=True
    ):
        probe = known[name].probe
        place = (x, y) if is_shares else (x / probe.width, y / probe.height)
        points.setdefault(name, {})[int(frame), point] = place
    with path.open("rb") as file:
        return Landmarks(points, hashlib.file_digest(file, "sha256").hexdigest())


def _names(table: pd.DataFrame, cells: Mapping[tuple[str, str], str]) -> pd.Series[str]:
    if "stimulus" in table:
        return table["stimulus"]
    both = zip(table["content"], table["condition"], strict=True)
    return pd.Series([cells.get((content, condition), f"{condition}/{content}") for content, condition in both])


# The distance of landmarks


class LandmarkDistance(PairMetric):
    """The mean distance of the points from those of the reference, in per cent of the diagonal of its picture."""

    name, title, looks_at = "lmd", "LMD", "landmarks"
    lower_is_better, order = True, 21
    citation = "Chen, Li, Maddox, Duan and Xu (2018), ECCV"

    def version(self) -> str:
        return "beholder 1"

    def measure(self, pair: ComparedPair) -> float:
        points = pair.landmarks
        if points is None or not points.names:
            return math.nan
        apart = np.linalg.norm(points.own - points.reference, axis=2)
        known = ~np.isnan(apart)
        if not known.any():
            return math.nan
        if not known.all():
            pair.note(f"{int(known.sum())} of {known.size} points are in both")
        return float(100 * apart[known].mean() / math.hypot(points.width, points.height))


LMD = LandmarkDistance()
