"""Rater models: the quality of every stimulus, and the bias and inconsistency of every rater, from votes.

The models of ITU-R BT.500 (rejection), ITU-T P.913 (bias removal) and ITU-T P.910 Annex E (bias and inconsistency).
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import LinearOperator, cg
from scipy.special import stdtrit

# Votes and fits


Floats: TypeAlias = NDArray[np.float64]
Codes: TypeAlias = NDArray[np.intp]
NORMAL_QUANTILE = 1.959963984540054
"""Half the width of a 95 % interval in standard errors."""


class RaterVotes(NamedTuple):
    """Votes in long form: one of a rater on a stimulus at each place."""

    value: Floats
    rater: Codes
    """From 0 to raters - 1."""
    stimulus: Codes
    raters: int
    stimuli: int

    @property
    def per_stimulus(self) -> float:
        """Votes per stimulus, on average."""
        return len(self.value) / self.stimuli

    def sum_by_rater(self, weights: Floats | None = None) -> Floats:
        """Return the sum over each rater's votes: of these weights, or how many votes they are."""
        return np.bincount(self.rater, weights, self.raters).astype(float, copy=False)

    def sum_by_stimulus(self, weights: Floats | None = None) -> Floats:
        """Return the sum over each stimulus' votes: of these weights, or how many votes they are."""
        return np.bincount(self.stimulus, weights, self.stimuli).astype(float, copy=False)


class RaterModelFit(NamedTuple):
    """What a model makes of votes; NaN where it has no such number."""

    quality: Floats
    """Of each stimulus, as all that follows up to `high`."""
    se: Floats
    low: Floats
    high: Floats
    bias: Floats
    """Of each rater, as all that follows: how far above the others."""
    inconsistency: Floats
    """Standard deviation round bias and quality."""
    inconsistency_low: Floats
    inconsistency_high: Floats
    is_rejected: NDArray[np.bool_]
    component: Codes
    """Of each stimulus: parts of the design that share no rater have qualities that cannot be compared."""
    iterations: int = 0
    has_converged: bool = True
    """Whether the last of them changed nothing any more."""
    above: Floats | None = None
    """Of each rater, where a model counts them: votes far above the others' on the same stimulus."""
    below: Floats | None = None

    @property
    def outliers(self) -> Floats:
        """How many votes of each rater are far above or far below; none where the model does not count them."""
        nothing = np.zeros(len(self.bias))
        return nothing if self.above is None or self.below is None else self.above + self.below


def ratio(above: Floats | Codes, below: Floats | Codes) -> Floats:
    """Return the quotient, 0 where the divisor is zero."""
    return np.divide(above, below, out=np.zeros(above.shape), where=below > 0)


def nan_unless(values: Floats, is_known: NDArray[np.bool_]) -> Floats:
    """Return the values, NaN where nothing is known."""
    return np.where(is_known, values, np.nan)


# Means of stimuli


class StimulusMeans(NamedTuple):
    """Of each stimulus; NaN where it has no votes, and all but the mean where it has one."""

    quality: Floats
    se: Floats
    low: Floats
    high: Floats


def t_means(votes: RaterVotes, counted: Floats | None = None) -> StimulusMeans:
    """Return the mean of each stimulus with its 95 % interval, over votes that are counted (1) and not left out (0)."""
    weights = np.ones(len(votes.value)) if counted is None else counted
    counts = votes.sum_by_stimulus(weights)
    quality = ratio(votes.sum_by_stimulus(weights * votes.value), counts)
    squares = votes.sum_by_stimulus(weights * (votes.value - quality[votes.stimulus]) ** 2)
    freedom = np.maximum(counts - 1, 1)
    quality = nan_unless(quality, counts > 0)
    se = nan_unless(np.sqrt(ratio(squares, freedom * counts)), counts > 1)
    half = stdtrit(freedom, 0.975) * se
    return StimulusMeans(quality, se, quality - half, quality + half)


# BT.500 A1-2.3.1: rejection of raters with outliers on both sides (reference: statistics 3.2)


_MIN_VOTES = 4
MAX_OUTLIER_SHARE = 0.05
MAX_ONE_SIDED_SHARE = 0.3
_NO_SPREAD = 1e-12


def bt500(votes: RaterVotes) -> RaterModelFit:
    """Return the means over the raters who are not rejected, and each rater's outliers above and below."""
    cast, counts = votes.sum_by_stimulus(), votes.sum_by_rater()
    mean = ratio(votes.sum_by_stimulus(votes.value), cast)
    off = votes.value - mean[votes.stimulus]
    second, fourth = (ratio(votes.sum_by_stimulus(off**power), cast) for power in (2, 4))
    widest = float(np.ptp(votes.value)) if len(votes.value) else 0.0
    can_tell = (cast >= _MIN_VOTES) & (second > _NO_SPREAD * widest**2)
    kurtosis = ratio(fourth, np.where(can_tell, second**2, 0.0))
    factor = np.where((kurtosis >= 2) & (kurtosis <= 4), 2.0, np.sqrt(20))
    limit = factor * np.sqrt(ratio(second * cast, np.maximum(cast - 1, 0)))
    is_judged, limits = can_tell[votes.stimulus], limit[votes.stimulus]
    above = votes.sum_by_rater((is_judged & (off >= limits)).astype(float))
    below = votes.sum_by_rater((is_judged & (off <= -limits)).astype(float))
    is_far = ratio(above + below, counts) > MAX_OUTLIER_SHARE
    is_rejected = is_far & (ratio(np.abs(above - below), above + below) < MAX_ONE_SIDED_SHARE)
    nothing = np.full(votes.raters, np.nan)
    return RaterModelFit(
        *t_means(votes, (~is_rejected[votes.rater]).astype(float)),
        bias=nothing,
        inconsistency=nothing,
        inconsistency_low=nothing,
        inconsistency_high=nothing,
        is_rejected=is_rejected,
        component=stimulus_components(votes),
        above=above,
        below=below,
    )


# P.913 12.4: votes without the bias of their raters (reference: statistics 3.3)


def p913(votes: RaterVotes) -> RaterModelFit:
    """Return the means of votes from which each rater's bias, by least squares over all votes, is taken."""
    counts = votes.sum_by_rater()
    component = stimulus_components(votes)
    part = rater_components(votes, component)
    quality, iterations = least_squares(votes)
    bias = ratio(votes.sum_by_rater(votes.value - quality[votes.stimulus]), counts)
    bias -= component_means(bias, part, (counts > 0).astype(float))[part]
    unbiased = votes._replace(value=votes.value - bias[votes.rater])
    nothing = np.full(votes.raters, np.nan)
    return RaterModelFit(
        *t_means(unbiased),
        bias=nan_unless(bias, counts > 0),
        inconsistency=nothing,
        inconsistency_low=nothing,
        inconsistency_high=nothing,
        is_rejected=np.zeros(votes.raters, dtype=bool),
        component=component,
        iterations=iterations,
    )


def least_squares(votes: RaterVotes) -> tuple[Floats, int]:
    """Return qualities for which qualities and biases fit the votes best, and the steps it took.

    One pass of means is not that where raters saw different stimuli; conjugate gradients are, in any design.
    """
    counts, cast = votes.sum_by_rater(), votes.sum_by_stimulus()
    mean = ratio(votes.sum_by_stimulus(votes.value), cast)
    if not len(votes.value):
        return mean, 0
    counts_by_rater = vote_counts(votes)
    counts_by_stimulus = counts_by_rater.T.tocsr()
    beyond = votes.value - mean[votes.stimulus]
    target = votes.sum_by_stimulus(beyond) - counts_by_stimulus @ ratio(votes.sum_by_rater(beyond), counts)
    steps: list[int] = []
    system = LinearOperator(
        (votes.stimuli, votes.stimuli),
        lambda x: cast * x - counts_by_stimulus @ ratio(counts_by_rater @ x, counts),
        dtype=float,
    )
    scaled = LinearOperator((votes.stimuli, votes.stimuli), lambda x: ratio(x, cast), dtype=float)
    smallest = 1e-12 * float(np.ptp(votes.value))
    correction, _ = cg(
        system, target, rtol=1e-12, atol=smallest, maxiter=1000, M=scaled, callback=lambda _: steps.append(1)
    )
    return mean + correction, len(steps)


# P.910 Annex E (P.913 12.6): quality, bias and inconsistency by alternating projection (reference: statistics 3.4)


_STOP = 1e-8
_MIN_ITERATIONS, _MAX_ITERATIONS = 50, 1000
_MAX_STEPS = 20_000_000
"""Votes times iterations: with few votes of each rater convergence is very slow."""
_MIN_VARIANCE = 1e-8
"""Added to every rater's variance; without it one who fits exactly would weigh infinitely."""


def p910(votes: RaterVotes) -> RaterModelFit:
    """Return quality, bias and inconsistency as the standard has them, also where they cannot be trusted."""
    counts, cast = votes.sum_by_rater(), votes.sum_by_stimulus()
    quality = ratio(votes.sum_by_stimulus(votes.value), cast)
    beyond = votes.value - quality[votes.stimulus]
    bias = ratio(votes.sum_by_rater(beyond), counts)
    most = min(_MAX_ITERATIONS, max(_MIN_ITERATIONS, _MAX_STEPS // max(1, len(votes.value))))
    iterations, has_converged = 0, False
    while not has_converged and iterations < most:
        iterations += 1
        offset = bias[votes.rater]
        # The bias is the mean of what is beyond quality, so that residuals are already about their own mean.
        variance = ratio(votes.sum_by_rater((beyond - offset) ** 2), counts)
        weight = (1 / (variance + _MIN_VARIANCE))[votes.rater]
        before, quality = (
            quality,
            ratio(votes.sum_by_stimulus(weight * (votes.value - offset)), votes.sum_by_stimulus(weight)),
        )
        beyond = votes.value - quality[votes.stimulus]
        bias = ratio(votes.sum_by_rater(beyond), counts)
        has_converged = bool(np.max(np.abs(quality - before), initial=0.0) < _STOP)
    residual = beyond - bias[votes.rater]
    inconsistency = np.sqrt(ratio(votes.sum_by_rater(residual**2), counts))
    off_mean = residual - ratio(votes.sum_by_stimulus(residual), cast)[votes.stimulus]
    is_rater, is_stimulus = counts > 0, cast > 0
    component = stimulus_components(votes)
    part = rater_components(votes, component)
    centre = component_means(bias, part, is_rater.astype(float), int(component.max(initial=-1)) + 1)
    quality = nan_unless(quality + centre[component], is_stimulus)
    # Each stimulus' own spread (AP2 of the standard's program); one vote has none.
    se = nan_unless(np.sqrt(ratio(votes.sum_by_stimulus(off_mean**2), cast**2)), cast > 1)
    low, high = (
        inconsistency * np.sqrt(counts / scipy.stats.chi2.ppf(at, np.maximum(counts, 1))) for at in (0.975, 0.025)
    )
    return RaterModelFit(
        quality=quality,
        se=se,
        low=quality - NORMAL_QUANTILE * se,
        high=quality + NORMAL_QUANTILE * se,
        bias=nan_unless(bias - centre[part], is_rater),
        inconsistency=nan_unless(inconsistency, is_rater),
        inconsistency_low=nan_unless(low, is_rater),
        inconsistency_high=nan_unless(high, is_rater),
        is_rejected=np.zeros(votes.raters, dtype=bool),
        component=component,
        iterations=iterations,
        has_converged=has_converged,
    )


# Connected components of a design: stimuli that share no rater cannot be compared


def stimulus_components(votes: RaterVotes) -> Codes:
    """Return the part of every stimulus, counted from 0 in the order of the stimuli."""
    nodes = votes.stimuli + votes.raters
    ones = np.ones(len(votes.value), dtype=np.int8)
    graph = coo_array((ones, (votes.stimulus, votes.stimuli + votes.rater)), shape=(nodes, nodes)).tocsr()
    labels: Codes = connected_components(graph, directed=False)[1].astype(np.intp)
    return labels[: votes.stimuli]


def vote_counts(votes: RaterVotes) -> csr_array:
    """Return a matrix of raters and stimuli with how often each voted on each."""
    ones = np.ones(len(votes.value))
    return coo_array((ones, (votes.rater, votes.stimulus)), (votes.raters, votes.stimuli)).tocsr()


def rater_components(votes: RaterVotes, component: Codes) -> Codes:
    """Return the part of every rater; 0 for one without votes."""
    components = np.zeros(votes.raters, dtype=np.intp)
    components[votes.rater] = component[votes.stimulus]
    return components


def component_means(bias: Floats, part: Codes, has_votes: Floats, parts: int = 0) -> Floats:
    """Return the mean bias of each part, every rater who voted counting alike."""
    return ratio(np.bincount(part, bias * has_votes, parts), np.bincount(part, has_votes, parts))
