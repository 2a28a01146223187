"""Means and differences with standard errors clustered by participant and content.

Two-way clustered variance (Cameron, Gelbach and Miller 2011, Journal of Business & Economic Statistics 29, 238-249):
that of single cells, and what participants and contents add to it, each with its small-sample factor G / (G - 1) and
never below nothing; Student's t with the smaller number of clusters minus one degrees of freedom.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import LinearOperator, cg

from beholder.stats.intervals import LEVEL

CITATION = (
    "Cameron, Gelbach and Miller (2011), Journal of Business & Economic Statistics 29; MacKinnon, Nielsen and Webb "
    "(2021), Journal of Business & Economic Statistics 39"
)
Over: TypeAlias = Literal["both", "participants", "contents", "ratings"]
"""Over what an interval generalises: participants and contents, one of the two, or (too narrow) single ratings."""
Codes: TypeAlias = NDArray[np.intp]
Floats: TypeAlias = NDArray[np.float64]
# Means are sums of fractions: what is equal on paper may differ in the last bits.
_NO_ERROR = 1e-9


class Cells(NamedTuple):
    """Values with the participant and the content of each, numbered from 0 over the whole question."""

    value: Floats
    """One of each; or, for `means_of` and `differences_of`, a row of them for each data set of the same design."""
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


class Estimates(NamedTuple):
    """The same of many data sets with the same participants and contents, one number for each."""

    mean: Floats
    se: Floats
    df: float
    low: Floats
    high: Floats
    statistic: Floats
    p: Floats
    n: int
    participants: int
    contents: int
    over: Over

    @property
    def first(self) -> Estimate:
        """The estimate of the first data set."""
        low, high, statistic, p = (float(numbers[0]) for numbers in (self.low, self.high, self.statistic, self.p))
        return Estimate(float(self.mean[0]), float(self.se[0]), self.df, low, high, statistic, p, *self[7:])


class _Side(NamedTuple):
    """How far each value pulls an estimate, a row for each data set, and whose it is."""

    pull: Floats
    fixed_pull: Floats
    """The same where contents are as they are: away from the mean of its group, corrected for what that takes."""
    participant: Codes
    content: Codes

    def turned(self) -> _Side:
        return self._replace(pull=-self.pull, fixed_pull=-self.fixed_pull)


def mean_of(cells: Cells, over: Over = "both", *, equal: Codes | None = None, level: float = LEVEL) -> Estimate:
    """Return the mean and its error; every content weighs the same, or every group of values that `equal` numbers."""
    return means_of(_alone(cells), over, equal=equal, level=level).first


def means_of(cells: Cells, over: Over = "both", *, equal: Codes | None = None, level: float = LEVEL) -> Estimates:
    """Return what `mean_of` does, of every row of values."""
    mean, side = _side(cells, cells.content if equal is None else equal)
    return _estimate(mean, [side], over, level)


def difference_of(one: Cells, other: Cells, over: Over = "both", *, level: float = LEVEL) -> Estimate:
    """Return how far the mean of one is above that of another, contents weighing the same within each.

    Where the same participants and contents are on both sides this is the paired difference; without any overlap it is
    Welch's, with the degrees of freedom of the smaller side.
    """
    return differences_of(_alone(one), _alone(other), over, level=level).first


def differences_of(one: Cells, other: Cells, over: Over = "both", *, level: float = LEVEL) -> Estimates:
    """Return what `difference_of` does, of every row of values."""
    mean, side = _side(one, one.content)
    other_mean, other_side = _side(other, other.content)
    return _estimate(mean - other_mean, [side, other_side.turned()], over, level)


def _alone(cells: Cells) -> Cells:
    """Return the cells of one data set as those of many."""
    return cells._replace(value=np.asarray(cells.value, np.float64)[np.newaxis])


def sums_by(codes: Codes, values: Floats, size: int) -> Floats:
    """Return the sums of the values that share a number below `size`, for every row of values."""
    rows = len(values)
    if rows == 1:
        return np.asarray(np.bincount(codes, weights=values[0], minlength=size)[np.newaxis], np.float64)
    joint = (np.arange(rows)[:, np.newaxis] * size + codes).ravel()
    sums = np.bincount(joint, weights=values.ravel(), minlength=rows * size)
    return np.asarray(sums.reshape(rows, size), np.float64)


def column_sums(codes: Codes, values: Floats, size: int) -> Floats:
    """Return what `sums_by` does of every column of values, added in the same order: faster with many columns."""
    groups = sparse.csr_array((np.ones(len(codes)), codes, np.arange(len(codes) + 1)), shape=(len(codes), size))
    return np.ascontiguousarray((groups.T @ values).T)


def _side(cells: Cells, equal: Codes) -> tuple[Floats, _Side]:
    """Return the means, in which every group adds the same, and how far each value pulls them."""
    if not cells.value.shape[1]:
        return np.full(len(cells.value), math.nan), _Side(cells.value, *cells)
    sizes = np.bincount(equal)
    is_there = sizes > 0
    # Means of means, and not one weighted sum: what all say alike comes out as they say it.
    sums = np.compress(is_there, sums_by(equal, cells.value, len(sizes)), axis=1)
    means = sums / sizes[is_there]
    mean = means.mean(axis=1)
    shares = (1 / (np.maximum(sizes, 1) * np.count_nonzero(is_there)))[equal]
    away, own = cells.value - mean[:, np.newaxis], sizes[equal]
    place = np.cumsum(is_there) - 1
    apart = (cells.value - means[:, place[equal]]) * np.sqrt(own / np.maximum(own - 1, 1))
    # A group of one value says nothing about how values in it differ.
    fixed = shares * np.where(own > 1, apart, away)
    return mean, _Side(shares * away, fixed, cells.participant, cells.content)


def _estimate(mean: Floats, sides: Sequence[_Side], over: Over, level: float) -> Estimates:
    """Return the estimates whose errors follow from how far each value pulls them."""
    n = sum(side.pull.shape[1] for side in sides)
    people = _clusters(*(side.participant for side in sides))
    contents = _clusters(*(side.content for side in sides))
    if over == "both":
        over = _knowable(sides)
    variance, df = _variance(sides, over)
    if df < 1:
        nan = np.full(len(mean), math.nan)
        return Estimates(mean, nan, math.nan, *(nan,) * 4, n, people, contents, over)
    se = np.sqrt(variance)
    is_still = se <= _NO_ERROR * np.maximum(1.0, np.abs(mean))
    se = np.where(is_still, 0.0, se)
    statistic = np.where(is_still, math.nan, mean / np.where(is_still, 1.0, se))
    # Where nothing varies t says nothing; all clusters point the same way, and a sign test counts them.
    p_still = np.where(np.abs(mean) <= _NO_ERROR, 1.0, 2.0**-df)
    p = np.where(is_still, p_still, 2 * special.stdtr(df, -np.abs(statistic)))
    half = float(special.stdtrit(df, (1 + level) / 2)) * se
    return Estimates(mean, se, df, mean - half, mean + half, statistic, p, n, people, contents, over)


def _knowable(sides: Sequence[_Side]) -> Over:
    """Return what an error can cover: it takes two of a kind on every side."""
    if min(_clusters(side.content) for side in sides) < 2:
        return "participants"
    return "contents" if min(_clusters(side.participant) for side in sides) < 2 else "both"


def _clusters(*codes: Codes) -> int:
    """Return the number of different codes."""
    return int(np.count_nonzero(np.bincount(np.concatenate(codes))))


def _variance(sides: Sequence[_Side], over: Over) -> tuple[Floats, float]:
    """Return the variances of a mean, or of a difference, and their degrees of freedom."""
    if over == "ratings":
        sizes = np.cumsum([0, *(side.pull.shape[1] for side in sides)])
        return _within(sides, [np.arange(*sizes[place : place + 2]) for place in range(len(sides))])
    people = [side.participant for side in sides]
    if over == "participants":
        fixed = [side._replace(pull=side.fixed_pull) for side in sides]
        return _within(fixed, people, has_factor=False)
    by_people, df = _within(sides, people)
    by_content, df_content = _within(sides, [side.content for side in sides])
    if over == "contents":
        return by_content, df_content
    by_cell, _ = _within(sides, _cells(sides))
    # What a kind of cluster adds can fall below zero by chance where it does not matter.
    more = np.maximum(by_people - by_cell, 0) + np.maximum(by_content - by_cell, 0)
    return by_cell + more, min(df, df_content)


def _cells(sides: Sequence[_Side]) -> list[Codes]:
    """Return one number for each participant and content."""
    contents = 1 + max(int(side.content.max(initial=0)) for side in sides)
    joint = np.concatenate([side.participant * contents + side.content for side in sides])
    if joint.max(initial=0) > 4 * len(joint):
        joint = np.unique(joint, return_inverse=True)[1]
    return np.split(joint, np.cumsum([side.pull.shape[1] for side in sides])[:-1])


def _within(sides: Sequence[_Side], clusters: Sequence[Codes], *, has_factor: bool = True) -> tuple[Floats, float]:
    """Return the variances when clusters are independent, and how many the smaller side has minus one."""
    most = 1 + max(int(codes.max(initial=0)) for codes in clusters)
    counts = [_clusters(codes) for codes in clusters]
    rows = len(sides[0].pull)
    if min(counts) < 2:
        return np.full(rows, math.nan), 0
    sums = np.zeros((rows, most))
    for side, codes, count in zip(sides, clusters, counts, strict=True):
        factor = count / (count - 1) if has_factor else 1.0
        sums += math.sqrt(factor) * sums_by(codes, side.pull, most)
    # Not sums @ sums: on a busy machine its threads wait for each other a thousand times longer than this takes.
    return np.square(sums).sum(axis=1), min(counts) - 1


# Residuals of two crossed factors


_EXACT = 1e-12


class TwoWayResiduals(NamedTuple):
    """Residuals of the columns, and how many degrees of freedom the groups took, the mean's among them."""

    residual: Floats
    df_used: int


def two_way_residuals(value: Floats, one: Codes, other: Codes) -> TwoWayResiduals:
    """Return the least-squares residuals of each column after an effect of every group of both kinds, from 0.

    With all cells filled that is value minus both group means plus the mean; with holes the means alone would leave
    some of each in the other.
    """
    if not len(value):
        return TwoWayResiduals(value, 0)
    ones, others = int(one.max()) + 1, int(other.max()) + 1
    sizes, other_sizes = np.bincount(one, minlength=ones), np.bincount(other, minlength=others)
    met = sparse.csr_array((np.ones(len(one)), (one, other)), shape=(ones, others))
    weight, other_weight = np.maximum(sizes, 1), np.maximum(other_sizes, 1)

    def without(effect: Floats) -> Floats:
        return np.asarray(other_sizes * effect - met.T @ ((met @ effect) / weight), np.float64)

    left = LinearOperator((others, others), matvec=without, dtype=float)
    before = LinearOperator((others, others), matvec=lambda effect: effect / other_weight, dtype=float)
    residual = np.empty_like(value, dtype=float)
    for column in range(value.shape[1]):
        mine = value[:, column] - value[:, column].mean()
        mine = mine - (np.bincount(one, mine, ones) / weight)[one]
        sums = np.bincount(other, mine, others)
        # Sums of rounding errors alone leave nothing to solve for, and the solver would divide by zero.
        if np.abs(sums).max() > _EXACT * np.abs(value[:, column]).max():
            effect, _ = cg(left, sums, rtol=_EXACT, atol=0.0, M=before)
            mine = mine - effect[other]
        residual[:, column] = mine - (np.bincount(one, mine, ones) / weight)[one]
    both = sparse.block_array([[None, met], [met.T, None]], format="csr")
    is_met = np.concatenate([sizes, other_sizes]) > 0
    islands = connected_components(both, directed=False)[0] - int((~is_met).sum())
    return TwoWayResiduals(residual, int(is_met.sum()) - islands)
