"""Variances of contrasts moderated over all contrasts of a question: each is drawn towards what they have in common.

Empirical Bayes of Smyth (2004): how far is estimated from how much they differ. A contrast that stands out from those
of other conditions keeps its own variance, after Phipson, Lee, Majewski, Alexander and Smyth (2016).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy import special

from beholder.stats.clustered import Floats

Pair: TypeAlias = tuple[int, int]
"""Numbers of two conditions."""
CITATION = "Smyth (2004), Statistical Applications in Genetics and Molecular Biology 3"
_SHARED = 0.25
"""Correlation of the squares of two differences that share a condition."""
_STANDS_OUT = 0.05
_NEARLY_NOTHING, _SMALLEST = 1e-4, 1e-300
"""Of the mean variance: a contrast without any has no logarithm, and says nothing about how contrasts differ."""
_MAX_FREEDOM = 1e6


class Moderated(NamedTuple):
    """Variances and their degrees of freedom, a row for each data set."""

    variance: Floats
    df: Floats


class _Prior(NamedTuple):
    """What variances have in common, and how many degrees of freedom that is worth, for each data set."""

    variance: Floats
    df: Floats


def moderated(variance: Floats, df: Floats, pairs: Sequence[Pair], *, are_ratings_shared: bool = True) -> Moderated:
    """Return the variances, in units that make them comparable, drawn together over pairs of conditions.

    A row of `variance` is a data set, a column a pair; `df` has one number for each pair. `are_ratings_shared` tells
    whether pairs with a condition in common have ratings in common. With two conditions nothing changes.
    """
    own = np.broadcast_to(df, variance.shape)
    conditions = {name for pair in pairs for name in pair}
    if len(conditions) < 3 or len(pairs) < 2:
        return Moderated(variance, own)
    # All other pairs together know no more than this: what they have in common must not be worth more.
    most = (len(conditions) - 2 if are_ratings_shared else len(pairs) - 1) * df
    prior = _prior(variance, df, pairs, are_ratings_shared=are_ratings_shared)
    worth = np.minimum(prior.df[:, None], most)
    for name in conditions:
        has_it = np.array([name in pair for pair in pairs])
        rest = [pair for pair in pairs if name not in pair]
        if len({other for pair in rest for other in pair}) > 2:
            # A condition that stands out must not be drawn towards those that do not.
            without = _prior(variance[:, ~has_it], df[~has_it], rest, are_ratings_shared=are_ratings_shared)
            ratio = variance[:, has_it] / without.variance[:, None]
            tail = special.fdtrc(df[has_it], np.minimum(without.df[:, None], most[has_it]), ratio)
            worth[:, has_it] = np.where(tail < _STANDS_OUT, 0.0, worth[:, has_it])
    return Moderated((own * variance + worth * prior.variance[:, None]) / (own + worth), own + worth)


def _prior(variance: Floats, df: Floats, pairs: Sequence[Pair], *, are_ratings_shared: bool) -> _Prior:
    """Return the common variance and its worth by the moments of the logarithms."""
    floor = np.maximum(_NEARLY_NOTHING * variance.mean(axis=1, keepdims=True), _SMALLEST)
    logs = np.log(np.maximum(variance, floor)) - special.digamma(df / 2) + np.log(df / 2)
    alike = _SHARED * _share_of_relatives(pairs) if are_ratings_shared else 0.0
    by_chance = float(special.polygamma(1, df / 2).mean())
    beyond_chance = logs.var(axis=1, ddof=1) / (1 - alike) - by_chance
    is_more = beyond_chance > 2 / _MAX_FREEDOM
    worth = np.where(is_more, 2 * _trigamma_inverse(np.where(is_more, beyond_chance, 1.0)), _MAX_FREEDOM)
    return _Prior(np.exp(logs.mean(axis=1) + special.digamma(worth / 2) - np.log(worth / 2)), worth)


def _share_of_relatives(pairs: Sequence[Pair]) -> float:
    """Return which share of two pairs has a condition in common."""
    one, other = np.array(pairs).T
    related = (one[:, None] == one) | (one[:, None] == other) | (other[:, None] == one) | (other[:, None] == other)
    count = len(pairs)
    return float(related.sum() - count) / (count * (count - 1))


def _trigamma_inverse(value: Floats) -> Floats:
    """Return the numbers whose trigamma is `value`, by Newton's method on its reciprocal (Smyth 2004, appendix)."""
    guess = 0.5 + 1 / value
    for _ in range(50):
        trigamma = special.polygamma(1, guess)
        step = trigamma * (1 - trigamma / value) / special.polygamma(2, guess)
        guess = guess + step
        if np.max(-step / guess, initial=0.0) < 1e-8:
            break
    return np.asarray(guess, np.float64)
