"""What to compare next: comparisons that tell most about the strengths of conditions, drawn with known probabilities.

The strengths of the Bradley-Terry model have a normal prior, and their posterior is approximated by a normal one at its
mode. The information of a comparison is by how much its answer is expected to narrow that posterior; it depends on the
two conditions alone, so that it is one integral for each pair. Active sampling by expected information, in batches that
are spanning trees: Mikhailiuk, Wilmot, Perez-Ortiz, Yue and Mantiuk (2020), ICPR, who take the tree with the most
information. Here the tree is drawn, so that every pair has a probability, and that is known: that of a tree is in
proportion to the product of the weights of its pairs, and then a pair is in it with the probability of its weight
times the effective resistance between its two conditions (Kirchhoff's theorem). Trees are drawn by Wilson's algorithm
(1996, STOC).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy import special

CITATION = "Mikhailiuk, Wilmot, Perez-Ortiz, Yue and Mantiuk (2020), ICPR"
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

PRIOR_SD = 2.0
"""Logits by which strengths differ before anything is known."""
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(9)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()
_SHARPNESS = 8
"""The power of the information that is the weight of a pair: the larger, the more often the best pairs are drawn."""
_LEAST_WEIGHT = 1e-3
"""The weight of a pair that tells nothing, beside 1 of the one that tells most.

A walk leaves two conditions that tell much only about each other after so many steps.
"""
_STEPS = 50


class Posterior(NamedTuple):
    """The strengths of conditions, in logits, and their covariance."""

    strengths: Floats
    covariance: Floats


class Draw(NamedTuple):
    """Conditions that were drawn to be compared, by number, and the probability with which they were."""

    conditions: tuple[int, ...]
    probability: float


@dataclass(frozen=True)
class Sampling:
    """From what is drawn: which pairs may be, how much each tells, and which share is drawn without regard to that."""

    allowed: Bools
    """By condition and condition, symmetric, false on the diagonal."""
    weights: Floats
    uniform: float


def posterior(wins: Floats) -> Posterior:
    """Return the strengths after comparisons, `wins[i, j]` of which i won over j; of a tie each has half.

    The mode of the posterior by Newton's method, which converges: the logarithm of the posterior is concave.
    """
    count = len(wins)
    total, strengths = wins + wins.T, np.zeros(count)
    prior = np.eye(count) / PRIOR_SD**2
    for _ in range(_STEPS):
        expected = special.expit(strengths[:, None] - strengths[None, :])
        gradient = (wins - total * expected).sum(axis=1) - strengths / PRIOR_SD**2
        step = np.linalg.solve(_curvature(total, expected) + prior, gradient)
        # Far from the mode a whole step would overshoot.
        strengths = strengths + step * min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-9))
        if np.abs(step).max() < 1e-3:
            break
    expected = special.expit(strengths[:, None] - strengths[None, :])
    return Posterior(strengths, np.asarray(np.linalg.inv(_curvature(total, expected) + prior), np.float64))


def _curvature(total: Floats, expected: Floats) -> Floats:
    weights = total * expected * (1 - expected)
    return np.asarray(np.diag(weights.sum(axis=1)) - weights, np.float64)


def expected_information(known: Posterior) -> Floats:
    """Return how much the answer to each comparison is expected to tell of the strengths, in nats."""
    count = len(known.strengths)
    one, two = np.triu_indices(count, 1)
    spread = np.diag(known.covariance)
    variance = spread[one] + spread[two] - 2 * known.covariance[one, two]
    middle = known.strengths[one] - known.strengths[two]
    chances = special.expit(middle[:, None] + np.sqrt(np.maximum(variance, 1e-12))[:, None] * _NODES)
    gains = np.zeros((count, count))
    gains[one, two] = np.maximum(_entropy(chances @ _WEIGHTS) - _entropy(chances) @ _WEIGHTS, 0.0)
    return gains + gains.T


def _entropy(chances: Floats) -> Floats:
    inside = np.clip(chances, 1e-12, 1 - 1e-12)
    return np.asarray(-inside * np.log(inside) - (1 - inside) * np.log1p(-inside), np.float64)


def sampling_of(wins: Floats, allowed: Bools, uniform: float) -> Sampling:
    """Return from what to draw after comparisons; where there were none, every pair that may be is as likely."""
    weights = np.ones_like(wins)
    if wins.any():
        gains = np.where(allowed, expected_information(posterior(wins)), 0.0)
        weights = np.maximum((gains / max(float(gains.max()), 1e-300)) ** _SHARPNESS, _LEAST_WEIGHT)
    return Sampling(allowed, weights, uniform)


# Pairs, in trees


def draw_pairs(sampling: Sampling, number: int, rng: Generator) -> list[Draw]:
    """Return this many pairs, tree after tree, none twice as long as there are others; fewer if there is none at all.

    Each tree is drawn uniformly with the probability `uniform`, else by its weights. The last one is cut at random.
    Probabilities are those of each tree, given the trees before it.
    """
    draws: list[Draw] = []
    free = sampling.allowed.copy()
    while len(draws) < number and sampling.allowed.any():
        if not free.any():
            free = sampling.allowed.copy()
        plain, weighted = free.astype(np.float64), np.where(free, sampling.weights, 0.0)
        drawn = draw_forest(plain if rng.random() < sampling.uniform else weighted, rng)
        chances = sampling.uniform * inclusion(plain) + (1 - sampling.uniform) * inclusion(weighted)
        kept = rng.permutation(len(drawn))[: number - len(draws)]
        share = len(kept) / len(drawn)
        for one, two in (drawn[place] for place in kept):
            draws.append(Draw((one, two), min(1.0, float(share * chances[one, two]))))
            free[one, two] = free[two, one] = False
    return draws


def draw_forest(weights: Floats, rng: Generator) -> list[tuple[int, int]]:
    """Return a random spanning tree of each connected part, by the product of its weights, earlier condition first.

    Wilson's algorithm: walks from condition to condition, by weight, with their loops taken out.
    """
    edges: list[tuple[int, int]] = []
    for part in (one for one in _parts(weights) if len(one) > 1):
        sums = np.cumsum(weights[np.ix_(part, part)], axis=1)
        following = _walks((sums / sums[:, -1:]).tolist(), rng)
        edges += [
            (min(part[node], part[after]), max(part[node], part[after]))
            for node, after in enumerate(following)
            if after >= 0
        ]
    return edges


def _walks(steps: Sequence[Sequence[float]], rng: Generator) -> list[int]:
    """Return where each node of a tree leads, towards its root, which leads to -1."""
    count = len(steps)
    order = rng.permutation(count).tolist()
    following, is_reached = [-1] * count, [False] * count
    is_reached[order[0]] = True
    chances = iter(rng.random(8 * count).tolist())
    for start in order[1:]:
        node = start
        while not is_reached[node]:
            chance = next(chances, None)
            if chance is None:
                chances = iter(rng.random(64 * count).tolist())
                chance = next(chances)
            # Rounding may leave the last sum below a chance next to 1.
            following[node] = min(bisect_left(steps[node], chance), count - 1)
            if following[node] == node:  # only where rounding led there
                continue
            node = following[node]
        node = start
        while not is_reached[node]:
            is_reached[node] = True
            node = following[node]
    following[order[0]] = -1
    return following


def inclusion(weights: Floats) -> Floats:
    """Return the probability of each pair to be in a tree that is drawn by these weights: weight times resistance."""
    chances = np.zeros_like(weights)
    for part in (one for one in _parts(weights) if len(one) > 1):
        within = weights[np.ix_(part, part)]
        grounded = np.zeros_like(within)
        grounded[1:, 1:] = np.linalg.inv((np.diag(within.sum(axis=1)) - within)[1:, 1:])
        own = np.diag(grounded)
        chances[np.ix_(part, part)] = within * (own[:, None] + own[None, :] - 2 * grounded)
    return np.clip(chances, 0.0, 1.0)


def _parts(weights: Floats) -> list[list[int]]:
    """Return the conditions of each connected part."""
    near, left, parts = weights > 0, np.ones(len(weights), np.bool_), []
    while left.any():
        reached = np.zeros(len(weights), np.bool_)
        reached[int(left.argmax())] = True
        while (wider := reached | near[reached].any(axis=0)).sum() > reached.sum():
            reached = wider
        left &= ~reached
        parts.append(np.flatnonzero(reached).tolist())
    return parts


# Sets, for pages with several


def draw_sets(sampling: Sampling, size: int, number: int, rng: Generator) -> list[Draw]:
    """Return this many sets of conditions for pages of several, no set twice as long as there are others.

    A set begins with one of the conditions that were drawn least often, and takes in one after the other: with the
    probability `uniform` any, else by the sum of its weights with those that are in. The probability is that of the
    set, in whatever order it came.
    """
    present = np.flatnonzero(sampling.allowed.any(axis=1))
    size = min(size, len(present))
    if size < 2:
        return []
    weights = np.where(sampling.allowed, sampling.weights, 0.0)[np.ix_(present, present)]
    times, draws, seen = np.zeros(len(present), np.int64), list[Draw](), set[tuple[int, ...]]()
    for _ in range(number):
        first = times == times.min()
        for _ in range(_STEPS):
            chosen = _grown(weights, first, size, sampling.uniform, rng)
            if chosen not in seen:
                break
        seen.add(chosen)
        times[list(chosen)] += 1
        chance = set_probability(weights, first, chosen, sampling.uniform)
        draws.append(Draw(tuple(int(present[place]) for place in chosen), chance))
    return draws


def _grown(weights: Floats, first: Bools, size: int, uniform: float, rng: Generator) -> tuple[int, ...]:
    chosen = [int(rng.choice(np.flatnonzero(first)))]
    while len(chosen) < size:
        chosen.append(int(rng.choice(len(weights), p=_next_chances(weights, chosen, uniform))))
    return tuple(sorted(chosen))


def _next_chances(weights: Floats, chosen: Sequence[int], uniform: float) -> Floats:
    """Return the probability of each condition to come next into a set."""
    free = np.ones(len(weights))
    free[list(chosen)] = 0.0
    sums = weights[list(chosen)].sum(axis=0) * free
    by_weight = sums / sums.sum() if sums.sum() > 0 else free / free.sum()
    chances = uniform * free / free.sum() + (1 - uniform) * by_weight
    return np.asarray(chances / chances.sum(), np.float64)


def set_probability(weights: Floats, first: Bools, chosen: Sequence[int], uniform: float) -> float:
    """Return the probability of a set, over all orders in which it could come together."""
    size = len(chosen)
    chances = [0.0] * (1 << size)
    for place, condition in enumerate(chosen):
        chances[1 << place] = float(first[condition]) / float(first.sum())
    for inside in range(1, (1 << size) - 1):
        if not chances[inside]:
            continue
        following = _next_chances(weights, [chosen[n] for n in range(size) if inside >> n & 1], uniform)
        for place in range(size):
            if not inside >> place & 1:
                chances[inside | 1 << place] += chances[inside] * float(following[chosen[place]])
    return min(1.0, chances[-1])
