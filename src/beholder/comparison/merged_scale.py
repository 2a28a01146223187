"""One scale for conditions of several studies, where some conditions or anchors are in more than one of them.

Every study has a line of its own: what it gives a condition is offset + slope x quality, where the first study has
offset 0 and slope 1. Qualities and lines are fitted together by weighted least squares, each mean with its own standard
error on either side, so that noise in the common conditions does not flatten a slope. Intervals come from the same fit
to 1,000 redrawn sets of means.

People spread what they are shown over the scale they have (range equalising): the same condition gets another score
among better ones than among worse ones. A line undoes that as far as the common conditions reach, and no further.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from beholder.analysis.result import Result, records
from beholder.analysis.score_tables import is_differential
from beholder.analysis.sides import Side
from beholder.formats import interval, join_names, number, p_value, plain_count

Floats = NDArray[np.float64]
MERGED = ("question", "condition", "mean", "ci_low", "ci_high", "sides", "is_common", "is_beyond")
MAPPINGS = (
    "question", "side", "conditions", "common", "slope", "slope_low", "slope_high", "offset", "offset_low",
    "offset_high", "lowest", "highest", "misfit_p",
)  # fmt: skip
CITATION = (
    "Pitrey, Engelke, Barkowsky, Pépion and Le Callet (2011), Aligning subjective tests using a low cost common set"
)
_DRAWS, _SEED, _MOST_STEPS, _DONE = 1000, 1, 300, 1e-8
_LEVELS = (2.5, 97.5)
_FLAT = 1e-3
_FEWEST_FOR_SLOPE = 2


@dataclass(frozen=True)
class MergedScale:
    """The merged scale of one question."""

    question: str
    names: tuple[str, ...]
    """The sides, the one whose scale it is on first."""
    conditions: tuple[str, ...]
    quality: Floats
    low: Floats
    high: Floats
    counts: Floats
    """By how many sides each condition was rated."""
    is_beyond: NDArray[np.bool_]
    """Whether a condition lies outside the common ones, so that its place rests on a line that goes on."""
    lines: Floats
    """Slope and offset of each side, each with the ends of its interval: (side, 2, 3)."""
    spans: Floats
    """Lowest and highest quality that each side has shown: (side, 2)."""
    common: tuple[int, ...]
    """Conditions that each side shares with another."""
    shown: tuple[int, ...]
    misfit_p: float
    """Whether sides differ in common conditions by more than errors and lines explain; NaN if untested."""


class _Means(NamedTuple):
    mean: Floats
    """(side, condition), NaN where it was not rated."""
    se: Floats


def merged_scales(sides: Sequence[Side], questions: Sequence[str]) -> list[MergedScale]:
    """Return the merged scale of each question in which sides share conditions, and have others beside them."""
    found = (_merged(sides, question) for question in questions if not is_differential(question))
    return [one for one in found if one is not None]


def _merged(sides: Sequence[Side], question: str) -> MergedScale | None:
    tables = {side.name: _known_means(side, question) for side in sides}
    tables = {name: table for name, table in tables.items() if len(table)}
    if len(tables) < 2 or len({frozenset(table.index) for table in tables.values()}) == 1:
        return None
    names = _connected({name: set(table.index) for name, table in tables.items()})
    if len(names) < 2:
        return None
    conditions = list(dict.fromkeys(condition for name in names for condition in tables[name].index))
    rated = [tables[name].reindex(conditions) for name in names]
    means = _Means(*(np.array([table[column].to_numpy(float) for table in rated]) for column in ("mean", "se")))
    has_slope = _slopes(means)
    quality, lines = (one[0] for one in _fit(means.mean[None], means.se, has_slope))
    fitted = lines[:, :1] * quality + lines[:, 1:]
    rng = np.random.default_rng(_SEED)
    drawn = fitted + rng.normal(size=(_DRAWS, *fitted.shape)) * means.se
    low, high, ends = _ends(*_fit(drawn, means.se, has_slope))
    is_rated = np.isfinite(means.mean)
    counts = is_rated.sum(axis=0)
    shared = quality[counts > 1]
    own = np.where(is_rated, quality, np.nan)
    return MergedScale(
        question, tuple(names), tuple(conditions), quality, low, high, counts.astype(float),
        # On the scale of the first side nothing of it has to be carried on.
        ~is_rated[0] & ((quality < shared.min()) | (quality > shared.max())),
        np.stack([lines, ends[0], ends[1]], axis=2),
        np.stack([np.nanmin(own, axis=1), np.nanmax(own, axis=1)], axis=1),
        tuple(int((row & (counts > 1)).sum()) for row in is_rated), tuple(int(row.sum()) for row in is_rated),
        _misfit(means, fitted, has_slope),
    )  # fmt: skip


def _known_means(side: Side, question: str) -> pd.DataFrame:
    """Return mean and standard error of each condition of a side that has both."""
    rows = side.conditions[side.conditions["question"] == question]
    rows = rows[rows["mean"].notna() & (rows["se"] > 0)]
    return rows.drop_duplicates("condition").set_index("condition")[["mean", "se"]]


def _connected(conditions: Mapping[str, set[str]]) -> list[str]:
    """Return the sides that share a condition with the first, or with one that does, in their order."""
    first, *others = conditions
    joined, known = [first], set(conditions[first])
    while True:
        new = [name for name in others if name not in joined and conditions[name] & known]
        if not new:
            return [name for name in conditions if name in joined]
        joined += new
        known |= set().union(*(conditions[name] for name in new))


def _slopes(means: _Means) -> NDArray[np.bool_]:
    """Return which sides have a slope of their own: with one common condition, a line can only be moved."""
    is_rated = np.isfinite(means.mean)
    shared = (is_rated & (is_rated.sum(axis=0) > 1)).sum(axis=1)
    has_slope: NDArray[np.bool_] = shared >= _FEWEST_FOR_SLOPE
    has_slope[0] = False
    return has_slope


def _fit(values: Floats, se: Floats, has_slope: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Return the quality of each condition, and slope and offset of each side, of each set of means at once.

    `values` is (set, side, condition), and `se` NaN where a side has not rated a condition.
    """
    is_rated = np.isfinite(se)
    weights = np.where(is_rated, 1 / np.square(np.where(is_rated, se, 1.0)), 0.0)
    shared = np.where(is_rated.sum(axis=0) > 1, weights, 0.0)
    values = np.where(is_rated, values, 0.0)
    quality = (weights * values).sum(axis=1) / weights.sum(axis=0)
    for _ in range(_MOST_STEPS):
        slope, offset = _lines(quality, values, shared, has_slope)
        steep = weights * slope[:, :, None]
        after = (steep * (values - offset[:, :, None])).sum(axis=1) / (steep * slope[:, :, None]).sum(axis=1)
        step = float(np.abs(after - quality).max())
        quality = after
        if step < _DONE * (1 + float(np.abs(quality).max())):
            break
    return quality, np.stack([slope, offset], axis=2)


def _lines(quality: Floats, values: Floats, weights: Floats, has_slope: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Return slope and offset of each side in each set, over the conditions that it shares; the first side is fixed."""
    total = weights.sum(axis=1)
    center = quality @ weights.T / total
    level = (weights * values).sum(axis=2) / total
    apart = quality[:, None, :] - center[:, :, None]
    spread = (weights * apart**2).sum(axis=2)
    slope = (weights * apart * (values - level[:, :, None])).sum(axis=2) / np.where(spread > 0, spread, 1.0)
    # A line that falls, or is flat, would turn the scale of a side round: then it can only be moved.
    slope = np.where(has_slope & (slope > _FLAT), slope, 1.0)
    offset = level - slope * center
    slope[:, 0], offset[:, 0] = 1.0, 0.0
    return slope, offset


def _ends(quality: Floats, lines: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the ends of the intervals of qualities, and of lines."""
    low, high = np.percentile(quality, _LEVELS, axis=0)
    return low, high, np.percentile(lines, _LEVELS, axis=0)


def _misfit(means: _Means, fitted: Floats, has_slope: NDArray[np.bool_]) -> float:
    """Return the p-value of the chi-square of what is left in the common conditions; NaN where nothing is left over."""
    from scipy.special import gammaincc

    is_rated = np.isfinite(means.mean)
    left = np.square((means.mean - fitted) / means.se)[is_rated].sum()
    unknown = is_rated.shape[1] + (len(means.mean) - 1) + int(has_slope.sum())
    df = int(is_rated.sum()) - unknown
    return float(gammaincc(df / 2, left / 2)) if df > 0 else math.nan


# Tables and words


def merged_table(scales: Sequence[MergedScale]) -> Result | None:
    """Return every condition on the merged scale; None where nothing can be merged."""
    rows = [row for one in scales for row in _merged_rows(one)]
    if not rows:
        return None
    note = (
        "mean: the quality of a condition on the scale of the first side that has it in common with others, by lines "
        "that are fitted together with it (mappings.csv); intervals of 95 % from 1,000 redrawn sets of means, so they "
        "hold the error of the lines. sides: how many rated it. is_common: more than one. is_beyond: it lies outside "
        "the common conditions and was not rated by the first side, so its place rests on a line that goes on beyond "
        "them. "
        "The errors of sides are taken as independent: of studies that share contents they are so only in part."
    )
    return Result(pd.DataFrame(rows, columns=MERGED), note, CITATION)


def _merged_rows(one: MergedScale) -> Iterator[tuple[Any, ...]]:
    order = np.argsort(-one.quality, kind="stable")
    for place in order:
        yield (
            one.question, one.conditions[place], float(one.quality[place]), float(one.low[place]),
            float(one.high[place]), int(one.counts[place]), float(one.counts[place] > 1), float(one.is_beyond[place]),
        )  # fmt: skip


def mapping_table(scales: Sequence[MergedScale]) -> Result | None:
    """Return the line of every side; None where nothing can be merged."""
    rows = [
        (one.question, name, one.shown[place], one.common[place], *one.lines[place, 0], *one.lines[place, 1],
         *one.spans[place], one.misfit_p)
        for one in scales
        for place, name in enumerate(one.names)
    ]  # fmt: skip
    if not rows:
        return None
    note = (
        "What a side gives is offset + slope x merged quality; the first side is the scale itself. slope below 1: it "
        "tells the same conditions apart by fewer points, above 1 by more. lowest, highest: the merged qualities that "
        "it showed. common: its conditions that another side has; with one of them, slope stays 1. misfit_p: whether "
        "the sides differ in common conditions by more than errors and lines explain; below 0.05, do not merge them."
    )
    return Result(pd.DataFrame(rows, columns=MAPPINGS), note, CITATION)


def merged_words(mappings: Result | None) -> tuple[str, ...]:
    """Return a sentence or two for each question that was merged."""
    if mappings is None:
        return ()
    return tuple(_words(str(question), part) for question, part in mappings.table.groupby("question", sort=False))


def _words(question: str, part: pd.DataFrame) -> str:
    first, *others = records(part)
    shared = min(int(row["common"]) for row in others)
    lines = [
        f"{row['side']} x {number(row['slope'], 2)} ({interval(row['slope_low'], row['slope_high'], 2)})"
        for row in others
    ]
    text = (
        f"{question}, merged: {plain_count(len(part), 'side')} on the scale of {first['side']}, over at least "
        f"{plain_count(shared, 'common condition')}; slope: {join_names(lines)}."
    )
    if any(not row["slope_low"] <= 1 <= row["slope_high"] for row in others):
        text += (
            " People spread what they are shown over the scale: that is undone as far as the common conditions reach."
        )
    if first["misfit_p"] < 0.05:
        p = p_value(first["misfit_p"])
        text += f" The sides do not agree on the common conditions (p = {p}): do not read it as one scale."
    return text
