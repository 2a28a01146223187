"""Reliability: agreement of raters on the same stimuli (reference: statistics 2.7, 6)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy
from scipy import sparse

from beholder.stats.intervals import LEVEL
from beholder.stats.rater_models import Codes, Floats, RaterVotes, least_squares, stimulus_components

# Krippendorff's alpha with missing votes: one minus observed over expected disagreement
#
# In place of the matrix of coincidences: within a thing the squared differences of all pairs are twice the number of
# votes times their sum of squares, and the ordinal distance of two values is the difference of their middle ranks.


class ValueCounts:
    """How often each thing got each value; only things with two votes or more."""

    def __init__(self, votes: RaterVotes) -> None:
        counts = np.bincount(votes.stimulus, minlength=votes.stimuli)
        is_paired = (counts > 1)[votes.stimulus]
        self.values, value = np.unique(votes.value[is_paired], return_inverse=True)
        _, thing = np.unique(votes.stimulus[is_paired], return_inverse=True)
        shape = (int(thing.max(initial=-1)) + 1, len(self.values))
        self.counts = sparse.coo_array((np.ones(len(thing)), (thing, value)), shape=shape).tocsr()
        self.votes = np.asarray(self.counts.sum(axis=1), float)

    @property
    def things(self) -> int:
        """How many things have two votes or more."""
        return len(self.votes)


def krippendorff_alpha(table: ValueCounts, drawn: Floats | None = None, *, is_ordinal: bool) -> Floats:
    """Return alpha for each row of `drawn`, which says how often each thing counts; NaN where no vote differs.

    Without `drawn` each counts once.
    """
    times = np.ones((1, table.things)) if drawn is None else drawn
    value_counts = times @ table.counts
    places = (
        _middle_ranks(value_counts)
        if is_ordinal
        else np.broadcast_to(table.values - _middle(table), value_counts.shape)
    )
    share = table.votes / (table.votes - 1)
    squares = (((times * share) @ table.counts) * places**2).sum(axis=1)
    sums = table.counts @ places.T
    whole = np.maximum(value_counts.sum(axis=1), 2)
    observed = 2 * (squares - ((sums**2).T * (times / (table.votes - 1))).sum(axis=1)) / whole
    spread = (value_counts * places**2).sum(axis=1) - (value_counts * places).sum(axis=1) ** 2 / whole
    varies = (np.count_nonzero(value_counts, axis=1) > 1) & (spread > 0)
    expected = np.where(varies, 2 * spread / (whole - 1), 1.0)
    return np.where(varies, 1 - observed / expected, np.nan)


def _middle(table: ValueCounts) -> float:
    """Return the mean of all votes: squares of numbers near zero lose no digits."""
    whole = table.votes.sum()
    return float((table.counts @ table.values).sum() / whole) if whole else 0.0


def _middle_ranks(value_counts: Floats) -> Floats:
    """Return the middle rank of each value, less half of all, so that they are near zero."""
    upto = np.cumsum(value_counts, axis=1)
    return np.asarray(upto - value_counts / 2 - upto[:, -1:] / 2)


# Intraclass correlations: the share of the variance of ratings that is due to the stimuli


class Icc(NamedTuple):
    """An intraclass correlation with its 95 % interval; NaN where it is undefined."""

    value: float
    low: float = math.nan
    high: float = math.nan


class _MeanSquares(NamedTuple):
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
    models = {"1": one, "A": absolute, "C": consistent}
    singles = {f"ICC({name},1)": icc for name, icc in models.items()}
    return singles | {f"ICC({name},k)": _stepped(icc, squares.k) for name, icc in models.items()}


def icc_sparse(votes: RaterVotes, components: tuple[float, float, float]) -> dict[str, Icc]:
    """Return the six for votes with gaps, from the variance of things, of raters and of the rest, without intervals.

    k is the harmonic mean of the votes on a thing. ICC(1,·) is that of a one-way analysis of variance.
    """
    things, raters, rest = components
    counts = np.bincount(votes.stimulus, minlength=votes.stimuli)
    k = float(scipy.stats.hmean(counts[counts > 0]))
    values = {"1": _one_way(votes)}
    if math.isfinite(sum(components)) and things + rest > 0:
        values |= {"A": things / (things + raters + rest), "C": things / (things + rest)}
    models = {name: Icc(value) for name, value in values.items() if value is not None}
    singles = {f"ICC({name},1)": icc for name, icc in models.items()}
    return singles | {f"ICC({name},k)": _stepped(icc, k) for name, icc in models.items()}


def _squares(table: Floats) -> _MeanSquares | None:
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
    return _MeanSquares(
        n, k, of_things / (n - 1), of_raters / (k - 1), error / ((n - 1) * (k - 1)), within / (n * (k - 1))
    )


def _by_f(squares: _MeanSquares, noise: float, df: int) -> Icc:
    """Return the correlation of one rater from the ratio of two mean squares."""
    k, df_things = squares.k, squares.n - 1
    value = (squares.things - noise) / (squares.things + (k - 1) * noise) if squares.things + noise > 0 else math.nan
    if not noise or not squares.things:
        return Icc(value)
    f = squares.things / noise
    low = f / float(scipy.stats.f.ppf((1 + LEVEL) / 2, df_things, df))
    high = f * float(scipy.stats.f.ppf((1 + LEVEL) / 2, df, df_things))
    return Icc(value, (low - 1) / (low + k - 1), (high - 1) / (high + k - 1))


def _absolute(squares: _MeanSquares) -> Icc:
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
    below = float(scipy.stats.f.ppf((1 + LEVEL) / 2, n - 1, df))
    above = float(scipy.stats.f.ppf((1 + LEVEL) / 2, df, n - 1))
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


def _one_way(votes: RaterVotes) -> float | None:
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


# Kendall's W


class Concordance(NamedTuple):
    """Kendall's W, corrected for ties, and Friedman's test of it against no common order."""

    w: float
    chi2: float
    df: int
    p: float


def kendall_w(table: Floats) -> Concordance | None:
    """Return W of a table of things by raters without gaps; None with fewer than two of either, or only ties."""
    n, k = table.shape
    if n < 2 or k < 2:
        return None
    ranks = scipy.stats.rankdata(table, axis=0)
    spread = float(((ranks.sum(axis=1) - k * (n + 1) / 2) ** 2).sum())
    # The largest spread that there can be: that of ranks with these ties in one and the same order.
    most = k * float(((ranks - (n + 1) / 2) ** 2).sum())
    if most == 0:
        return None
    w = spread / most
    chi2 = k * (n - 1) * w
    return Concordance(w, chi2, n - 1, float(scipy.stats.chi2.sf(chi2, n - 1)))


# Leave-one-out agreement


def leave_one_out(votes: RaterVotes, min_shared: int) -> Floats:
    """Return each rater's Spearman correlation with the mean of the others.

    NaN where a rater shares fewer things than that with anybody, or one side does not vary.
    """
    counts = np.bincount(votes.stimulus, minlength=votes.stimuli)[votes.stimulus]
    is_shared = counts > 1
    rater, value = votes.rater[is_shared], votes.value[is_shared]
    sums = np.bincount(votes.stimulus, votes.value, minlength=votes.stimuli)[votes.stimulus]
    others = (sums[is_shared] - value) / (counts[is_shared] - 1)
    shared = np.bincount(rater, minlength=votes.raters)
    one, other = (_centred_ranks(rater, side, shared) for side in (value, others))
    products, own_squares, other_squares = (
        np.bincount(rater, product, minlength=votes.raters) for product in (one * other, one**2, other**2)
    )
    is_known = (shared >= min_shared) & (own_squares > 0) & (other_squares > 0)
    return np.where(is_known, products / np.sqrt(np.where(is_known, own_squares * other_squares, 1.0)), np.nan)


def _centred_ranks(rater: Codes, value: Floats, shared: Codes) -> Floats:
    """Return the rank of each value among its rater's, ties in the middle, less the mean rank.

    Ranks are halves of whole numbers, and so is their mean: who does not vary has exactly zero.
    """
    order = np.lexsort((value, rater))
    rater, value = rater[order], value[order]
    is_new = np.ones(len(rater), bool)
    is_new[1:] = (rater[1:] != rater[:-1]) | (value[1:] != value[:-1])
    run = np.cumsum(is_new) - 1
    first = np.flatnonzero(is_new)
    last = np.append(first[1:], len(rater)) - 1
    start = np.cumsum(shared) - shared
    middle = (first + last)[run] / 2 - start[rater] - (shared[rater] - 1) / 2
    ranks = np.empty(len(rater))
    ranks[order] = middle
    return ranks


# Variance components by moments, for data too large for maximum likelihood


def moment_components(votes: RaterVotes) -> tuple[float, float, float]:
    """Return the variances of things, of raters and of the residual; NaN where the votes do not identify them.

    The rest is what a fit of both leaves (Henderson's third method, 1953), raters are what the votes on one thing
    differ by beyond it, and things what their means do, each counting alike (Yates 1934): weighed by their votes, as
    in Henderson's first method, a few with many votes would dominate. A rater has at most one vote on a thing, and
    each thing has a vote. Negative estimates are set to zero.
    """
    n, things, raters = len(votes.value), votes.stimuli, votes.raters
    parts = int(stimulus_components(votes).max()) + 1
    left = n - things - raters + parts
    if left <= 0 or min(things, raters) <= parts:
        return math.nan, math.nan, math.nan
    value = votes.value - votes.value.mean()
    each, own = votes.sum_by_stimulus(), votes.sum_by_rater()
    residual = value - least_squares(votes._replace(value=value))[0][votes.stimulus]
    residual -= (votes.sum_by_rater(residual) / own)[votes.rater]
    rest = float(residual @ residual) / left
    means = votes.sum_by_stimulus(value) / each
    within = value - means[votes.stimulus]
    of_raters = max(0.0, float(within @ within) / (n - things) - rest)
    # Means share the raters that two things have in common.
    alone = float((1 / each).sum())
    common = float((votes.sum_by_rater((1 / each)[votes.stimulus]) ** 2).sum()) / things
    noise = of_raters * (alone - common) + rest * alone * (1 - 1 / things)
    of_things = max(0.0, float(np.var(means, ddof=1)) - noise / (things - 1))
    return of_things, of_raters, rest


# The SOS hypothesis: the variance of the votes on a thing follows from its mean and one parameter, a (Hossfeld 2011)


class SosTerms(NamedTuple):
    """What each thing with two votes or more adds to the fit SD² = a (mean - lowest) (highest - mean)."""

    above: Floats
    below: Floats


def sos_terms(votes: RaterVotes, low: float, high: float) -> SosTerms:
    """Return the terms of the fit through the origin, variances over n - 1."""
    counts = np.bincount(votes.stimulus, minlength=votes.stimuli)
    paired = counts > 1
    means = np.bincount(votes.stimulus, votes.value, minlength=votes.stimuli) / np.maximum(counts, 1)
    squares = np.bincount(votes.stimulus, (votes.value - means[votes.stimulus]) ** 2, minlength=votes.stimuli)
    headroom = ((means - low) * (high - means))[paired]
    variance = squares[paired] / (counts[paired] - 1)
    return SosTerms(headroom * variance, headroom**2)


def sos(terms: SosTerms, drawn: Floats | None = None) -> Floats:
    """Return a for each row of `drawn`, which says how often each thing counts; NaN where all are at the ends."""
    times = np.ones((1, len(terms.above))) if drawn is None else drawn
    below = times @ terms.below
    return np.where(below > 0, (times @ terms.above) / np.where(below > 0, below, 1.0), np.nan)
