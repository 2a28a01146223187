"""Intraclass correlations: which share of the variance of ratings is that of what was rated."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy import stats

from beholder.stats.rater_models.votes import Floats, Votes

LEVEL = 0.95


class Icc(NamedTuple):
    """An intraclass correlation with its 95 % interval; NaN where there is none."""

    value: float
    low: float = math.nan
    high: float = math.nan


class Squares(NamedTuple):
    """Mean squares of a complete table of n things by k raters."""

    n: int
    k: int
    things: float
    raters: float
    error: float
    within: float


def icc_complete(table: Floats) -> dict[str, Icc]:
    """Return the six of McGraw and Wong for a table of things by raters without gaps; empty where nothing varies.

    Intervals are the exact ones of F, and of ICC(A,·) Satterthwaite's approximation.
    """
    squares = _squares(table)
    if squares is None:
        return {}
    one = _by_f(squares, squares.within, squares.n * (squares.k - 1))
    consistent = _by_f(squares, squares.error, (squares.n - 1) * (squares.k - 1))
    absolute = _absolute(squares)
    found = {"1": one, "A": absolute, "C": consistent}
    singles = {f"ICC({name},1)": icc for name, icc in found.items()}
    return singles | {f"ICC({name},k)": _stepped(icc, squares.k) for name, icc in found.items()}


def icc_sparse(votes: Votes, components: tuple[float, float, float]) -> dict[str, Icc]:
    """Return the six for votes with gaps, from the variance of things, of raters and of the rest, without intervals.

    k is the harmonic mean of the votes on a thing. ICC(1,·) is that of a one-way analysis of variance.
    """
    things, raters, rest = components
    counts = np.bincount(votes.stimulus, minlength=votes.stimuli)
    k = float(stats.hmean(counts[counts > 0]))
    found = {"1": _one_way(votes)}
    if math.isfinite(sum(components)) and things + rest > 0:
        found |= {"A": things / (things + raters + rest), "C": things / (things + rest)}
    known = {name: Icc(value) for name, value in found.items() if value is not None}
    singles = {f"ICC({name},1)": icc for name, icc in known.items()}
    return singles | {f"ICC({name},k)": _stepped(icc, k) for name, icc in known.items()}


def _squares(table: Floats) -> Squares | None:
    n, k = table.shape
    if n < 2 or k < 2 or np.ptp(table) == 0:
        return None
    whole = table.mean()
    things, raters = table.mean(axis=1), table.mean(axis=0)
    of_things, of_raters = k * float(((things - whole) ** 2).sum()), n * float(((raters - whole) ** 2).sum())
    within = float(((table - things[:, None]) ** 2).sum())
    error = float(((table - things[:, None] - raters + whole) ** 2).sum())
    # Sums of fractions: what is nothing on paper may be something in the last bits.
    least = 1e-14 * float(((table - whole) ** 2).sum())
    of_things, of_raters, within, error = (one if one > least else 0.0 for one in (of_things, of_raters, within, error))
    return Squares(n, k, of_things / (n - 1), of_raters / (k - 1), error / ((n - 1) * (k - 1)), within / (n * (k - 1)))


def _by_f(squares: Squares, noise: float, df: int) -> Icc:
    """Return the correlation of one rater from the ratio of two mean squares."""
    k, df_things = squares.k, squares.n - 1
    value = (squares.things - noise) / (squares.things + (k - 1) * noise) if squares.things + noise > 0 else math.nan
    if not noise or not squares.things:
        return Icc(value)
    f = squares.things / noise
    low = f / float(stats.f.ppf((1 + LEVEL) / 2, df_things, df))
    high = f * float(stats.f.ppf((1 + LEVEL) / 2, df, df_things))
    return Icc(value, (low - 1) / (low + k - 1), (high - 1) / (high + k - 1))


def _absolute(squares: Squares) -> Icc:
    """Return ICC(A,1), where differences between raters count as error too."""
    n, k, things, raters, error, _ = squares
    whole = things + (k - 1) * error + k * (raters - error) / n
    value = (things - error) / whole if whole > 0 else math.nan
    if not error or not things or not -1 < value < 1:
        return Icc(value)
    a = k * value / (n * (1 - value))
    b = 1 + k * value * (n - 1) / (n * (1 - value))
    spread = (a * raters) ** 2 / (k - 1) + (b * error) ** 2 / ((n - 1) * (k - 1))
    df = (a * raters + b * error) ** 2 / spread
    below = float(stats.f.ppf((1 + LEVEL) / 2, n - 1, df))
    above = float(stats.f.ppf((1 + LEVEL) / 2, df, n - 1))
    noise = k * raters + (k * n - k - n) * error
    low = n * (things - below * error) / (below * noise + n * things)
    high = n * (above * things - error) / (noise + n * above * things)
    return Icc(value, low, high)


def _stepped(one: Icc, k: float) -> Icc:
    """Return the correlation of the mean of k raters (Spearman and Brown)."""

    def up(value: float) -> float:
        whole = 1 + (k - 1) * value
        return k * value / whole if whole > 1e-12 else math.nan

    return Icc(*(up(value) for value in one))


def _one_way(votes: Votes) -> float | None:
    """Return ICC(1,1) of things with unequal numbers of votes; None where it cannot be known."""
    counts = np.bincount(votes.stimulus, minlength=votes.stimuli).astype(float)
    counts = counts[counts > 0]
    n, whole = len(counts), float(counts.sum())
    if n < 2 or whole <= n:
        return None
    sums = np.bincount(votes.stimulus, votes.value)[np.bincount(votes.stimulus) > 0]
    middle = votes.value.mean()
    between = float((counts * (sums / counts - middle) ** 2).sum())
    within = max(0.0, float(((votes.value - middle) ** 2).sum()) - between) / (whole - n)
    between /= n - 1
    usual = (whole - float((counts**2).sum()) / whole) / (n - 1)
    noise = between + (usual - 1) * within
    return (between - within) / noise if noise > 0 else None
