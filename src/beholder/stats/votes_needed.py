"""Agreement of scores from few votes with others, by resampling votes (reference: statistics 6)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import scipy
from numpy.random import Generator
from scipy.sparse import csr_array

from beholder.stats.rater_models import Codes, Floats, RaterVotes

SamplingUnit: TypeAlias = Literal["participant", "rating"]
_Draw: TypeAlias = Callable[[int, Generator], tuple[Floats, Floats]]
"""Draws the scores of two sides, a number of draws at once: draws, sizes, stimuli."""
_MIN_STIMULI = 3
"""Things that a correlation needs."""
_VOTES_PER_BLOCK = 100_000
"""Votes that are drawn in one block: a balance of speed and memory."""
_MAX_RANKED = 2_000_000
"""Means that are ranked for Spearman's correlation; of more, the first draws have to do."""


class AgreementCurve(NamedTuple):
    """Agreement by the number of votes: means over draws, and the range of 95 % of them; NaN where undefined."""

    votes: Codes
    pearson: Floats
    pearson_low: Floats
    pearson_high: Floats
    rmse: Floats
    rmse_low: Floats
    rmse_high: Floats
    spearman: Floats
    replicates: int


def agreement_curve(
    votes: RaterVotes, by: SamplingUnit, target: Floats | None, sizes: Codes, replicates: int, rng: Generator
) -> AgreementCurve:
    """Return the agreement with the target (one score per stimulus) of scores from each number of votes.

    Without a target, with scores from as many other votes: no rater, or no rating, is on both sides. `sizes`
    ascend; within a draw the votes of a size are among those of the next.
    """
    at_once = max(1, _VOTES_PER_BLOCK // max(len(votes.value), len(sizes) * votes.stimuli))
    ranked = max(1, _MAX_RANKED // (len(sizes) * votes.stimuli))
    draw = _draw_halves(votes, by, sizes) if target is None else _draw_against_target(votes, by, target, sizes)
    pearson, rmse, spearman = [], [], []
    for first in range(0, replicates, at_once):
        one, other = draw(min(at_once, replicates - first), rng)
        pearson_rmse = _agreement(one, other)
        pearson.append(pearson_rmse[0])
        rmse.append(pearson_rmse[1])
        if first < ranked:
            spearman.append(_agreement(*_ranks(one, other))[0])
    spread = [_spread(np.concatenate(values)) for values in (pearson, rmse, spearman)]
    return AgreementCurve(sizes, *spread[0], *spread[1], spread[2][0], replicates)


def spearman_brown(r: float, votes: float, target_votes: float) -> float:
    """Return the correlation of two equal studies with `target_votes`, from that with `votes` (Spearman-Brown)."""
    if not 0 <= r <= 1:
        return r
    ratio = target_votes / votes
    return ratio * r / (1 + (ratio - 1) * r)


def votes_for_correlation(r: float, votes: float, target: float) -> float:
    """Return the number of votes at which two equal studies reach a correlation (Spearman-Brown); NaN if impossible."""
    if not 0 < r <= 1:
        return float("nan")
    return votes if r == 1 else votes * target * (1 - r) / (r * (1 - target))


def _draw_halves(votes: RaterVotes, by: SamplingUnit, sizes: Codes) -> _Draw:
    """Return a sampler of the scores of two disjoint halves, for each size."""
    steps, n = len(sizes), votes.stimuli
    per_stimulus = np.bincount(votes.stimulus, minlength=n)
    needed, most = (sizes, int(per_stimulus.max())) if by == "rating" else (_raters_for(votes, sizes), votes.raters)
    # Of a place in a half: the first size at which it is in use.
    enters = np.searchsorted(needed, np.arange(1, most // 2 + 2))
    cells = (2 * steps + 1) * n

    def draw(many: int, rng: Generator) -> tuple[Floats, Floats]:
        if by == "rating":
            place = _places(votes, per_stimulus, many, rng)
            step = np.where(place // 2 < (per_stimulus // 2)[votes.stimulus], enters[place // 2], steps)
        else:
            place = rng.permuted(np.tile(np.arange(votes.raters), (many, 1)), axis=1)
            step = enters[place // 2]
        begins = np.where(step < steps, place % 2 * steps + step, 2 * steps) * n + cells * np.arange(many)[:, None]
        cell = (begins if by == "rating" else begins[:, votes.rater]) + votes.stimulus
        weights = votes.value if many == 1 else np.tile(votes.value, many)
        sums = (np.bincount(cell.ravel(), each, many * cells) for each in (weights, None))
        totals, counts = (each.reshape(many, 2 * steps + 1, n)[:, : 2 * steps] for each in sums)
        means = _means(*(each.reshape(many, 2, steps, n).cumsum(axis=2) for each in (totals, counts)))
        return means[:, 0], means[:, 1]

    return draw


def _draw_against_target(votes: RaterVotes, by: SamplingUnit, target: Floats, sizes: Codes) -> _Draw:
    """Return a sampler of scores from votes or raters drawn with replacement, for each size, and the target."""
    score = _vote_sampler(votes, sizes) if by == "rating" else _rater_sampler(votes, sizes)

    def draw(many: int, rng: Generator) -> tuple[Floats, Floats]:
        scores = score(many, rng)
        return scores, np.broadcast_to(target, scores.shape)

    return draw


def _vote_sampler(votes: RaterVotes, sizes: Codes) -> Callable[[int, Generator], Floats]:
    order = np.argsort(votes.stimulus, kind="stable")
    value, per_stimulus = votes.value[order], np.bincount(votes.stimulus, minlength=votes.stimuli)
    first = np.cumsum(per_stimulus) - per_stimulus

    def score(many: int, rng: Generator) -> Floats:
        chance = rng.random((many, votes.stimuli, int(sizes[-1])))
        places = np.minimum((chance * per_stimulus[:, None]).astype(np.intp), per_stimulus[:, None] - 1)
        totals = value[first[:, None] + places].cumsum(axis=2)[:, :, sizes - 1]
        return np.asarray((totals / sizes).swapaxes(1, 2))

    return score


def _rater_sampler(votes: RaterVotes, sizes: Codes) -> Callable[[int, Generator], Floats]:
    shape, places = (votes.stimuli, votes.raters), (votes.stimulus, votes.rater)
    values, there = (csr_array((data, places), shape=shape) for data in (votes.value, np.ones(len(votes.value))))
    needed = _raters_for(votes, sizes)
    steps = len(sizes)
    enters = np.repeat(np.arange(steps), np.diff(needed, prepend=0))

    def score(many: int, rng: Generator) -> Floats:
        drawn = rng.integers(0, votes.raters, (many, int(needed[-1])))
        cell = (drawn * many + np.arange(many)[:, None]) * steps + enters
        times = np.bincount(cell.ravel(), minlength=votes.raters * many * steps)
        each = times.reshape(votes.raters, many, steps).cumsum(axis=2).reshape(votes.raters, -1).astype(float)
        scores = _means(values @ each, there @ each).reshape(votes.stimuli, many, steps)
        return np.moveaxis(scores, 0, 2)

    return score


def _raters_for(votes: RaterVotes, sizes: Codes) -> Codes:
    """Return the number of raters who give each number of votes per stimulus on average."""
    return np.maximum(1, np.rint(sizes * votes.raters / votes.per_stimulus)).astype(np.intp)


def _places(votes: RaterVotes, per_stimulus: Codes, many: int, rng: Generator) -> Codes:
    """Return the position of each vote among those on its stimulus, in `many` random orders."""
    order = np.argsort(votes.stimulus + rng.random((many, len(votes.value))), axis=1)
    places = np.empty(order.shape, dtype=np.intp)
    np.put_along_axis(
        places,
        order,
        np.arange(order.shape[1]) - np.repeat(np.cumsum(per_stimulus) - per_stimulus, per_stimulus)[None],
        axis=1,
    )
    return places


def _means(totals: Floats, counts: Floats) -> Floats:
    means: Floats = np.divide(totals, counts, out=np.full(totals.shape, np.nan), where=counts > 0)
    return means


def _agreement(one: Floats, other: Floats) -> tuple[Floats, Floats]:
    """Return Pearson's correlation and the root mean square difference over the last axis, of what both sides have."""
    both = np.isfinite(one) & np.isfinite(other)
    n = both.sum(axis=-1)
    is_known, some = n >= _MIN_STIMULI, np.maximum(n, 1)
    x, y = (np.where(both, values, 0.0) for values in (one, other))
    rmse = np.sqrt(((x - y) ** 2).sum(axis=-1) / some)
    x, y = (np.where(both, values - (values.sum(axis=-1) / some)[..., None], 0.0) for values in (x, y))
    spread = np.sqrt((x**2).sum(axis=-1) * (y**2).sum(axis=-1))
    # Rounding leaves a trace of spread where values are equal.
    has_spread = is_known & (spread > 1e-12 * some)
    pearson = np.divide((x * y).sum(axis=-1), spread, out=np.full(n.shape, np.nan), where=has_spread)
    return np.clip(pearson, -1, 1), np.where(is_known, rmse, np.nan)


def _ranks(one: Floats, other: Floats) -> tuple[Floats, Floats]:
    """Return the ranks along the last axis among what both sides have."""
    both = np.isfinite(one) & np.isfinite(other)
    # Sums of the same votes in another order differ in the last digit, but are ties.
    filled = (np.where(both, np.round(values, 10), np.inf) for values in (one, other))
    ranked = [np.where(both, scipy.stats.rankdata(values, axis=-1), np.nan) for values in filled]
    return ranked[0], ranked[1]


def _spread(values: Floats) -> tuple[Floats, Floats, Floats]:
    """Return mean, 2.5th and 97.5th percentile of each column over the rows that are known."""
    summary = np.full((3, values.shape[1]), np.nan)
    for column in range(values.shape[1]):
        known = values[np.isfinite(values[:, column]), column]
        if len(known):
            summary[:, column] = known.mean(), *np.quantile(known, (0.025, 0.975))
    return summary[0], summary[1], summary[2]
