"""Means and differences whose error knows that one person, and one content, is in many ratings.

Two-way clustered variance (Cameron, Gelbach and Miller 2011, Journal of Business & Economic Statistics 29, 238-249):
that over participants plus that over contents minus that over single cells, each with its small-sample factor
G / (G - 1), and Student's t with the smaller number of clusters minus one degrees of freedom.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import special

from beholder.stats.interval import LEVEL

CITATION = "Cameron, Gelbach and Miller (2011), Journal of Business & Economic Statistics 29"
Over: TypeAlias = Literal["both", "participants", "contents", "ratings"]
"""Over what an interval generalises: participants and contents, one of the two, or (too narrow) single ratings."""
Codes: TypeAlias = NDArray[np.intp]
Floats: TypeAlias = NDArray[np.float64]
# Means are sums of fractions: what is equal on paper may differ in the last bits.
_NO_ERROR = 1e-9


class Cells(NamedTuple):
    """Values with the participant and the content of each, numbered from 0 over the whole question."""

    value: Floats
    participant: Codes
    content: Codes


class Estimate(NamedTuple):
    """A mean, or a difference of two, with its error; what cannot be known is NaN."""

    mean: float
    se: float
    df: float
    low: float
    high: float
    statistic: float
    p: float
    """Two-sided, against zero."""
    n: int
    participants: int
    contents: int
    over: Over
    """What the error covers: with one content, participants only."""


class _Side(NamedTuple):
    """How far each value pulls an estimate, and whose it is."""

    pull: Floats
    participant: Codes
    content: Codes


def mean_of(cells: Cells, over: Over = "both", *, equal: Codes | None = None, level: float = LEVEL) -> Estimate:
    """Return the mean and its error; every content weighs the same, or every group of values that `equal` numbers."""
    mean, side = _side(cells, cells.content if equal is None else equal)
    return _estimate(mean, [side], over, level)


def difference_of(one: Cells, other: Cells, over: Over = "both", *, level: float = LEVEL) -> Estimate:
    """Return how far the mean of one is above that of another, contents weighing the same within each.

    Where the same participants and contents are on both sides this is the paired difference, and where nobody is it is
    Welch's, with the degrees of freedom of the smaller side.
    """
    mean, side = _side(one, one.content)
    other_mean, other_side = _side(other, other.content)
    return _estimate(mean - other_mean, [side, other_side._replace(pull=-other_side.pull)], over, level)


def _side(cells: Cells, equal: Codes) -> tuple[float, _Side]:
    """Return the mean, in which every group adds the same, and how far each value pulls it."""
    if not len(cells.value):
        return math.nan, _Side(*cells)
    sizes = np.bincount(equal)
    is_there = sizes > 0
    # Means of means, and not one weighted sum: what all say alike comes out as they say it.
    mean = float((np.bincount(equal, weights=cells.value)[is_there] / sizes[is_there]).mean())
    shares = 1 / (np.maximum(sizes, 1) * np.count_nonzero(is_there))
    return mean, _Side(shares[equal] * (cells.value - mean), cells.participant, cells.content)


def _estimate(mean: float, sides: Sequence[_Side], over: Over, level: float) -> Estimate:
    """Return the estimate whose error follows from how far each value pulls it."""
    n = sum(len(side.pull) for side in sides)
    people = _clusters(*(side.participant for side in sides))
    contents = _clusters(*(side.content for side in sides))
    if over == "both":
        over = _knowable(sides)
    variance, df = _variance(sides, over)
    if not variance >= 0 or df < 1:
        return Estimate(mean, *(math.nan,) * 6, n, people, contents, over)
    se = math.sqrt(variance)
    if se <= _NO_ERROR * max(1.0, abs(mean)):
        # Where nothing varies t says nothing; all clusters point the same way, and a sign test counts them.
        p = 1.0 if abs(mean) <= _NO_ERROR else 2.0**-df
        return Estimate(mean, 0.0, df, mean, mean, math.nan, p, n, people, contents, over)
    half = float(special.stdtrit(df, (1 + level) / 2)) * se
    p = float(2 * special.stdtr(df, -abs(mean / se)))
    return Estimate(mean, se, df, mean - half, mean + half, mean / se, p, n, people, contents, over)


def _knowable(sides: Sequence[_Side]) -> Over:
    """Return what an error can cover: it takes two of a kind on every side."""
    if min(_clusters(side.content) for side in sides) < 2:
        return "participants"
    return "contents" if min(_clusters(side.participant) for side in sides) < 2 else "both"


def _clusters(*codes: Codes) -> int:
    """Return how many different numbers there are."""
    return int(np.count_nonzero(np.bincount(np.concatenate(codes))))


def _variance(sides: Sequence[_Side], over: Over) -> tuple[float, float]:
    """Return the variance of a mean, or of a difference, and its degrees of freedom."""
    if over == "ratings":
        sizes = np.cumsum([0, *(len(side.pull) for side in sides)])
        return _within(sides, [np.arange(*sizes[place : place + 2]) for place in range(len(sides))])
    by_people, df = _within(sides, [side.participant for side in sides])
    if over == "participants":
        return by_people, df
    by_content, df_content = _within(sides, [side.content for side in sides])
    if over == "contents":
        return by_content, df_content
    by_cell, _ = _within(sides, _cells(sides))
    both = by_people + by_content - by_cell
    # The difference can fall below zero by chance where neither cluster matters.
    return (both if both > 0 else max(by_people, by_content)), min(df, df_content)


def _cells(sides: Sequence[_Side]) -> list[Codes]:
    """Return one number for each participant and content."""
    contents = 1 + max(int(side.content.max(initial=0)) for side in sides)
    joint = np.concatenate([side.participant * contents + side.content for side in sides])
    if joint.max(initial=0) > 4 * len(joint):
        joint = np.unique(joint, return_inverse=True)[1]
    return np.split(joint, np.cumsum([len(side.pull) for side in sides])[:-1])


def _within(sides: Sequence[_Side], clusters: Sequence[Codes]) -> tuple[float, float]:
    """Return the variance when clusters are independent, and how many the smaller side has minus one."""
    most = 1 + max(int(codes.max(initial=0)) for codes in clusters)
    counts = [_clusters(codes) for codes in clusters]
    if min(counts) < 2:
        return math.nan, 0
    sums = np.zeros(most)
    for side, codes, count in zip(sides, clusters, counts, strict=True):
        sums += math.sqrt(count / (count - 1)) * np.bincount(codes, weights=side.pull, minlength=most)
    # Not sums @ sums: on a busy machine its threads wait for each other a thousand times longer than this takes.
    return float(np.square(sums).sum()), min(counts) - 1
