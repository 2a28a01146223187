"""Differences of every two strengths: errors over people and contents, and intervals that hold at every look.

People are the units: what one of them says again is worth less. Contents are a random choice unless a study claims no
more than these. Both are followed by a confidence sequence (stats.sequential), whose clock is the information that is
there, so that what contents add, which more people do not reduce, stops it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special

from beholder.analysis.comparisons import BRADLEY_TERRY
from beholder.analysis.tests import Claim
from beholder.leaderboard.fit import Fit
from beholder.stats.clustered import Codes, Floats
from beholder.stats.contrast_errors import moderated
from beholder.stats.sequential import ALPHA, accumulated, sequence_log_e, sequence_quantile
from beholder.stats.simultaneous import RankSets, discoveries, pair_shares, rank_sets

MINIMUM_PEOPLE = 20
"""Below so many people who compared it a condition has neither interval nor rank."""
_LEAST_SPREAD = 1.5
"""Over how many people, or contents, a difference must be spread to speak for others."""
_MAX_NUMBERS = 4_000_000
"""In tables by vote and pair; more are made one after the other."""
_TINY = 1e-300


class Errors(NamedTuple):
    """Errors of the difference of every two numbers; the last one is the zero of strengths, so its row is theirs."""

    se: Floats
    """Over people and, where contents are random, contents."""
    df: Floats
    is_known: NDArray[np.bool_]
    """Whether it is spread over more than one person and content, within what was compared with each other."""
    unit: Floats
    """The variance, were all votes independent."""


class Differences(NamedTuple):
    """What is known of every two conditions, a row and a column for each: row minus column."""

    difference: Floats
    se: Floats
    low: Floats
    high: Floats
    """The ends of a 95 % confidence sequence of this difference."""
    sure_low: Floats
    sure_high: Floats
    """The same, so that all differences hold at once."""
    log_e: Floats
    """The logarithm of the e-value against no difference."""
    is_found: NDArray[np.bool_]
    """Whether e-BH over all pairs says that the row is better than the column."""


class Standings(NamedTuple):
    """Where every condition stands: strengths with intervals, ranks, and all differences."""

    fit: Fit
    low: Floats
    high: Floats
    people: Codes
    is_ranked: NDArray[np.bool_]
    """Whether enough people compared it, it is in the arena still, and it can be compared with the leader's group."""
    ranks: RankSets
    differences: Differences
    effective_votes: Floats
    """How many independent votes would tell as much of each strength as its votes do, of people who vote repeatedly."""

    @property
    def order(self) -> list[int]:
        """The conditions, best first: those with a rank, then the others by strength, those without votes last."""
        strength = np.nan_to_num(self.fit.strength, nan=-np.inf)
        return sorted(range(len(strength)), key=lambda at: (not self.is_ranked[at], -strength[at], at))


def standings(fit: Fit, *, claim: Claim, founders: int, minimum: int = MINIMUM_PEOPLE) -> Standings:
    """Return where every condition stands, at this look as at every other."""
    votes, size = fit.votes, len(fit.votes.conditions)
    people = votes.people_of()
    has_enough = people >= minimum
    errors = difference_errors(fit, claim)
    strength = np.append(fit.strength, 0.0)
    difference = strength[:, None] - strength[None, :]
    enough = np.append(has_enough, True)
    is_known = errors.is_known & enough[:, None] & enough[None, :]
    difference = np.where(is_known, difference, np.nan)
    line = _large_differences(fit, difference, errors.se)
    statistic = line.statistic(difference / errors.se)
    progress = accumulated(line.clock(errors.se))
    low, high = line.bounds(
        difference, errors.se, sequence_quantiles(errors.df, progress, np.full_like(progress, ALPHA))
    )
    shares = np.ones_like(progress)
    shares[:size, :size] = pair_shares(np.arange(size), founders)
    np.fill_diagonal(shares, 1.0)
    sure = line.bounds(difference, errors.se, sequence_quantiles(errors.df, progress, ALPHA * shares))
    sure_low, sure_high = (ends[:size, :size] for ends in sure)
    inner = strength[:size, None] - strength[None, :size]
    z = normal_z(statistic, errors.df)
    log_e = np.where(np.isnan(z), 0.0, sequence_log_e(np.nan_to_num(z), progress))[:size, :size]
    is_found = np.zeros((size, size), bool)
    upper = np.triu_indices(size, 1)
    is_pair = is_known[:size, :size][upper]
    is_found[upper[0][is_pair], upper[1][is_pair]] = discoveries(log_e[upper][is_pair], ALPHA)
    is_found = (is_found | is_found.T) & (inner > 0)
    is_ranked = has_enough & ~np.isin(votes.conditions, list(votes.retired)) & _in_main_group(fit, has_enough)
    with np.errstate(invalid="ignore"):
        ranks = rank_sets(sure_low > 0, is_ranked)
    return Standings(
        fit, low[:size, size], high[:size, size], people, is_ranked, ranks,
        Differences(inner, np.where(is_known, errors.se, np.nan)[:size, :size], low[:size, :size], high[:size, :size],
                    sure_low, sure_high, log_e, is_found),
        votes.votes_of() * np.nan_to_num(np.minimum(1.0, errors.unit / errors.se**2)[:size, size]),
    )  # fmt: skip


def _in_main_group(fit: Fit, has_enough: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which are in the largest group that was compared with each other: ranks are within one group only."""
    component = fit.graph.component
    counts = np.bincount(component[has_enough], minlength=fit.graph.components)
    return np.asarray(component == counts.argmax(), np.bool_)


def normal_z(statistic: Floats, df: Floats) -> Floats:
    """Return a difference over its error as a normal deviate that is as rare as Student's t with so many degrees."""
    return np.asarray(-special.ndtri(np.maximum(special.stdtr(df, -np.abs(statistic)), _TINY)), np.float64)


def sequence_quantiles(df: Floats, progress: Floats, alpha: Floats) -> Floats:
    """Return how many errors confidence sequences reach at these error rates; Student's t stands for the normal."""
    return np.asarray(-special.stdtrit(df, special.ndtr(-sequence_quantile(progress, alpha))), np.float64)


# Large differences


_LARGE = 2.0
"""Logits. From about here on a difference over its error falls as it grows (Hauck and Donner 1977)."""
_STEPS = np.linspace(0.0, 1.0, 9)
_MOST_TERMS = 1_000_000
"""Of a likelihood along many lines; more are made one after the other."""


class _LargeDifferences(NamedTuple):
    """The root of the likelihood ratio on the way from each large difference to none, over its design effect.

    As `difference_claims` (analysis.bradley_terry) has it: Rao and Scott's correction along the line on which the other
    strengths follow. Unlike a difference over its error it keeps growing where one nearly always won.
    """

    one: Codes
    other: Codes
    root: Floats
    """A row for each of them, at `_STEPS` of the way."""
    se_at_none: Floats
    """What the error of each would be were there no difference: a further vote for the winner never makes it larger."""

    def statistic(self, plain: Floats) -> Floats:
        """Return the differences over their errors, the large ones by their likelihood."""
        found = plain.copy()
        sign = np.sign(plain[self.one, self.other])
        found[self.one, self.other] = sign * self.root[:, -1]
        found[self.other, self.one] = -sign * self.root[:, -1]
        return found

    def clock(self, se: Floats) -> Floats:
        """Return the errors by which sequences are timed."""
        timed = se.copy()
        timed[self.one, self.other] = timed[self.other, self.one] = self.se_at_none
        return timed

    def bounds(self, difference: Floats, se: Floats, quantile: Floats) -> tuple[Floats, Floats]:
        """Return the ends of intervals that reach so many errors, towards zero by the likelihood where it is far."""
        low, high = difference - quantile * se, difference + quantile * se
        for one, other, root in zip(self.one, self.other, self.root, strict=True):
            far, goal = difference[one, other], quantile[one, other]
            way = np.interp(goal, root, _STEPS) if goal <= root[-1] else goal / root[-1]
            near = far * (1 - way)
            ends = (low, high) if far > 0 else (high, low)
            ends[0][one, other], ends[1][other, one] = near, -near
        return low, high


def _large_differences(fit: Fit, difference: Floats, se: Floats) -> _LargeDifferences:
    """Return the likelihood on the way from large differences to none; the last row and column is the zero."""
    one, other = np.nonzero(np.triu(np.nan_to_num(np.abs(difference)) > _LARGE, 1))
    votes, size, width = fit.votes, len(fit.votes.conditions), fit.design.shape[1]
    contrast = np.zeros((len(one), len(fit.place)))
    contrast[np.arange(len(one)), one] = 1.0
    is_pair = other < size
    contrast[np.flatnonzero(is_pair), other[is_pair]] = -1.0
    contrast[np.flatnonzero(~is_pair), :size] -= fit.zero[fit.graph.component[one[~is_pair]]]
    follow = contrast @ fit.inverse
    unit = np.einsum("lp,lp->l", contrast, follow)
    follow = follow / unit[:, None]
    effect = np.maximum(1.0, se[one, other] ** 2 / unit)
    goal = (1 - votes.sign).astype(np.intp)
    rows = sparse.hstack([fit.design, sparse.csr_array(goal[:, None].astype(float))]).toarray()
    rows, row = np.unique(rows, axis=0, return_inverse=True)
    count = np.bincount(row, fit.weight)
    ties = float(fit.place[-1]) if fit.has_ties else None
    apart, outcome = rows[:, :width] @ fit.place[:width], rows[:, width].astype(np.intp)
    root, at_none = np.zeros((len(one), len(_STEPS))), np.zeros(len(one))
    step = max(1, _MOST_TERMS // max(1, len(rows)))
    for start in range(0, len(one), step):
        mine = slice(start, start + step)
        lean = follow[mine, :width] @ rows[:, :width].T * difference[one[mine], other[mine]][:, None]
        for place, way in enumerate(_STEPS):
            there = BRADLEY_TERRY.outcomes((apart - way * lean).ravel(), ties)
            log_p = there.log_p.reshape(3, *lean.shape)
            root[mine, place] = log_p[outcome, :, np.arange(len(rows))].T @ count
        own = (there.p * there.slope**2).sum(axis=0).reshape(lean.shape)
        at_none[mine] = (own * (lean / difference[one[mine], other[mine]][:, None]) ** 2) @ count
    ratio = np.maximum(0.0, 2 * (root[:, :1] - root)) / effect[:, None]
    root = np.maximum.accumulate(np.sqrt(ratio), axis=1)
    return _LargeDifferences(one, other, root, np.sqrt(effect / at_none))


# Errors


def difference_errors(fit: Fit, claim: Claim) -> Errors:
    """Return the errors of all differences: what people add, and what contents do, no less than single pages."""
    votes = fit.votes
    lever, information = fit.leverage()
    levers = _with_zero(fit, lever)
    unit = _between((levers * (fit.weight * information)[:, None]).T @ levers)
    contents = len(np.unique(votes.content))
    page = np.unique(votes.person * len(votes.contents) + votes.content, return_inverse=True)[1]
    pages = np.maximum(_products(fit, page), unit)
    people = _clustered(fit, votes.person, levers, information)
    component = np.append(fit.graph.component, -1)
    is_one = (component[:, None] == component[None, :]) | (component[:, None] < 0) | (component[None, :] < 0)
    is_known = is_one & (people.spread >= _LEAST_SPREAD)
    people_df = np.maximum(people.spread - 1, 1.0)
    people_variance = np.maximum(people.variance, pages if claim == "beyond" and contents > 1 else unit)
    if claim == "these" or contents < 2:
        return _errors(people_variance, people_df, is_known, unit)
    own = _clustered(fit, votes.content, levers, information)
    content_df = np.maximum(own.spread - 1, 1.0)
    content_variance, content_df = _drawn_together(own.variance, content_df, unit, len(votes.conditions))
    content_variance = np.maximum(content_variance, pages)
    both = people_variance + content_variance - pages
    with np.errstate(divide="ignore", invalid="ignore"):
        df = both**2 / (people_variance**2 / people_df + content_variance**2 / content_df)
    df = np.maximum(df, np.minimum(people_df, content_df))
    is_known &= own.spread >= _LEAST_SPREAD
    return _errors(both, df, is_known, unit)


def _errors(variance: Floats, df: Floats, is_known: NDArray[np.bool_], unit: Floats) -> Errors:
    is_known = is_known & (variance > 0)
    return Errors(np.sqrt(np.where(is_known, variance, np.nan)), df, is_known, unit)


class _Clustered(NamedTuple):
    """The variances that clusters make, and over how many of them each is spread."""

    variance: Floats
    spread: Floats


def _with_zero(fit: Fit, pulls: Floats) -> Floats:
    """Return the columns of the strengths, and one of nothing for their zero."""
    size = len(fit.votes.conditions)
    return np.column_stack([pulls[:, :size], np.zeros(len(pulls))])


def _between(products: Floats) -> Floats:
    """Return the variance of the difference of every two from a matrix of products."""
    own = np.diag(products)
    return np.maximum(own[:, None] + own[None, :] - 2 * products, 0.0)


def _products(fit: Fit, cluster: Codes) -> Floats:
    pulls = _with_zero(fit, fit.pulls(cluster, int(cluster.max()) + 1))
    return _between(pulls.T @ pulls)


def _clustered(fit: Fit, cluster: Codes, levers: Floats, information: Floats) -> _Clustered:
    """Return the variances over clusters, enlarged by what fitting took from them."""
    order = np.argsort(cluster, kind="stable")
    starts = np.flatnonzero(np.diff(cluster[order], prepend=-1))
    size = levers.shape[1]
    sums, squares = np.zeros((size, size)), np.zeros((size, size))
    step = max(1, _MAX_NUMBERS // size**2)
    ends = np.append(starts[1:], len(cluster))
    at = 0
    while at < len(starts):
        # As many whole clusters as fit; at least one.
        last = max(at + 1, int(np.searchsorted(ends, starts[at] + step, side="right")))
        rows = order[starts[at] : ends[last - 1]]
        mine, weight = levers[rows], information[rows]
        if last == at + 1:
            own = _between((mine * weight[:, None]).T @ mine)[None]
        else:
            scaled = mine * np.sqrt(weight)[:, None]
            outer = np.add.reduceat(scaled[:, :, None] * scaled[:, None, :], starts[at:last] - starts[at], axis=0)
            diagonal = np.diagonal(outer, axis1=1, axis2=2)
            own = diagonal[:, :, None] + diagonal[:, None, :] - 2 * outer
        sums += own.sum(axis=0)
        squares += (own**2).sum(axis=0)
        at = last
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = np.where(squares > 0, sums**2 / squares, 0.0)
        variance = _products(fit, cluster) * np.where(spread > 1, spread / (spread - 1), np.nan)
    return _Clustered(np.nan_to_num(variance), spread)


def _drawn_together(variance: Floats, df: Floats, unit: Floats, size: int) -> tuple[Floats, Floats]:
    """Return variances over contents, drawn together over all pairs: there are few contents, and many pairs.

    A strength is one contrast among them, and takes what the pairs of its condition have in the middle.
    """
    upper = np.triu_indices(size, 1)
    is_there = unit[upper] > 0
    one, other = upper[0][is_there], upper[1][is_there]
    if len(one) < 2:
        return variance, df
    pairs = list(zip(one.tolist(), other.tolist(), strict=True))
    ratio = variance[one, other] / unit[one, other]
    result = moderated(ratio[None], df[one, other], pairs)
    variance, df = variance.copy(), df.copy()
    for rows, columns in ((one, other), (other, one)):
        variance[rows, columns], df[rows, columns] = result.variance[0] * unit[one, other], result.df[0]
    is_pair = unit[:size, :size] > 0
    ratios = np.where(is_pair, variance[:size, :size] / np.where(is_pair, unit[:size, :size], 1.0), np.nan)
    middle, middle_df = (
        np.array([np.median(row[mine]) if mine.any() else 0.0 for row, mine in zip(each, is_pair, strict=True)])
        for each in (ratios, df[:size, :size])
    )
    variance[:size, size] = variance[size, :size] = np.maximum(variance[:size, size], middle * unit[:size, size])
    df[:size, size] = df[size, :size] = np.maximum(middle_df, 1.0)
    return variance, df
