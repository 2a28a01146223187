"""Strengths of conditions from votes: Bradley and Terry's model with ties, position effect and covariates, weighted.

The model is that of `strengths` (analysis.bradley_terry, reference: statistics 5). An arena needs more of it: weights
of votes, what stimuli differ in, what each person adds to a strength, and hundreds of fits within seconds. Zero is the
mean of the conditions that were there from the start, so that one that joins moves nobody else.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from beholder.analysis.bradley_terry import null_directions, regularised
from beholder.analysis.comparisons import BRADLEY_TERRY, ComparisonGraph, Outcomes, comparison_graph
from beholder.leaderboard.votes import Votes
from beholder.stats.clustered import Codes, Floats

_MAX_STEPS, _NEAR = 60, 1e-9
_EXTRA_SD = 5.0
"""Of further effects and the logarithm of the tie parameter: it only holds what votes say nothing about."""


class Fit(NamedTuple):
    """Strengths, and what every vote adds to them."""

    votes: Votes
    weight: Floats
    """Of each vote."""
    design: sparse.csr_array
    """A row for each vote, a column for each strength and each further effect but ties."""
    effects: tuple[str, ...]
    """What columns after the strengths are: `position`, then covariates by name."""
    place: Floats
    """Strengths, further effects and, where there are ties, the logarithm of the tie parameter."""
    has_ties: bool
    inverse: Floats
    """The covariance of all of them, were votes independent and all of weight 1."""
    graph: ComparisonGraph
    zero: Floats
    """The share that each strength has in the zero of its component, a row for each component."""
    outcomes: Outcomes

    @property
    def strength(self) -> Floats:
        """The strength of each condition; NaN where it has no votes."""
        has_votes = self.votes.votes_of() > 0
        return np.where(has_votes, self.place[: len(has_votes)], np.nan)

    @property
    def effect(self) -> Mapping[str, float]:
        """The position effect, and the effect of each covariate."""
        start = len(self.votes.conditions)
        return dict(zip(self.effects, self.place[start:].tolist(), strict=False))

    @property
    def tie_share(self) -> float:
        """How often two equals tie; zero where nobody did."""
        nu = math.exp(self.place[-1]) if self.has_ties else 0.0
        return nu / (2 + nu)

    def slopes(self) -> tuple[Floats, Floats]:
        """Return how each vote pulls at a difference, and at the tie parameter."""
        mine = (1 - self.votes.sign).astype(np.intp), np.arange(self.votes.size)
        return self.outcomes.slope[mine], self.outcomes.tie_slope[mine]

    def pulls(self, cluster: Codes, count: int) -> Floats:
        """Return how far each cluster of votes pulls every number of the place, a row for each: its influence."""
        slope, tie_slope = self.slopes()
        groups = sparse.csr_array((self.weight, (cluster, np.arange(len(cluster)))), shape=(count, len(cluster)))
        sums = (groups @ self.design.multiply(slope[:, None]).tocsr()).toarray()
        if self.has_ties:
            sums = np.column_stack([sums, groups @ tie_slope])
        return self._centred(sums @ self.inverse)

    def leverage(self) -> tuple[Floats, Floats]:
        """Return where each vote pulls, centred, and how much it informs: its weight times the expected square."""
        information = (self.outcomes.p * self.outcomes.slope**2).sum(axis=0)
        size = self.design.shape[1]
        return self._centred(self.design @ self.inverse[:size]), self.weight * information

    def _centred(self, pulls: Floats) -> Floats:
        size = self.zero.shape[1]
        moved = pulls[:, :size] - (pulls[:, :size] @ self.zero.T)[:, self.graph.component]
        return np.column_stack([moved, pulls[:, size:]])


def founders(votes: Votes, people: int) -> int:
    """Return how many conditions were there from the start: those that the first so many people compared."""
    first = votes.of_first(people)
    return len(np.unique(np.concatenate([first.one, first.other])))


def fit(
    votes: Votes,
    *,
    start: int,
    weight: Floats | None = None,
    covariates: Mapping[str, Floats] | None = None,
    near: Fit | None = None,
) -> Fit:
    """Return the strengths. The mean of the first `start` conditions is zero; `near` is a fit to begin from.

    Where the votes alone put a strength at infinity, as of one that never lost, a Gaussian prior holds its component.
    """
    size, covariates = len(votes.conditions), covariates or {}
    has_position = bool((votes.order == 1).any() and (votes.order == -1).any())
    extra = {**({"position": votes.order} if has_position else {}), **covariates}
    design, has_ties = _design(votes, extra), bool((votes.sign == 0).any())
    graph = comparison_graph(votes.tally())
    weight = np.ones(votes.size) if weight is None else weight
    count = size + len(extra) + has_ties
    flat = null_directions(graph, count)
    prior = np.full(count, 1 / _EXTRA_SD**2)
    is_held = np.array([not strong for strong in graph.is_strong])[graph.component]
    prior[:size] = is_held / BRADLEY_TERRY.prior_sd**2
    place = near.place.copy() if near is not None and len(near.place) == count else np.zeros(count)
    goal = 1 - votes.sign.astype(np.intp), np.arange(votes.size)

    def at(here: Floats) -> tuple[float, Outcomes]:
        outcomes = BRADLEY_TERRY.outcomes(design @ here[: design.shape[1]], float(here[-1]) if has_ties else None)
        return float(weight @ outcomes.log_p[goal]) - 0.5 * float(prior @ here**2), outcomes

    height, outcomes = at(place)
    for _ in range(_MAX_STEPS):
        slope = np.asarray(design.T @ (weight * outcomes.slope[goal]))
        if has_ties:
            slope = np.append(slope, weight @ outcomes.tie_slope[goal])
        information = _information(design, outcomes, weight, has_ties=has_ties)
        step = np.linalg.solve(regularised(information, prior, flat), slope - prior * place)
        for _ in range(30):
            next_height, there = at(place + step)
            if next_height >= height - 1e-9 * abs(height):
                break
            step = step / 2
        place, height, outcomes = place + step, next_height, there
        if np.abs(step).max() < _NEAR * max(1.0, float(np.abs(place).max())):
            break
    inverse = np.linalg.inv(regularised(_information(design, outcomes, weight, has_ties=has_ties), prior, flat))
    zero = _zero(graph, start, votes)
    place[:size] -= (zero @ place[:size])[graph.component]
    return Fit(
        votes, weight, design, tuple(extra), place, has_ties, np.asarray(inverse, np.float64), graph, zero, outcomes
    )


def _design(votes: Votes, extra: Mapping[str, Floats]) -> sparse.csr_array:
    size, row = len(votes.conditions), np.arange(votes.size)
    columns = [votes.one, votes.other, *(np.full(votes.size, size + place) for place in range(len(extra)))]
    values = [np.ones(votes.size), np.full(votes.size, -1.0), *extra.values()]
    entries = (np.concatenate(values), (np.tile(row, len(columns)), np.concatenate(columns)))
    return sparse.csr_array(entries, shape=(votes.size, size + len(extra)))


def _information(design: sparse.csr_array, outcomes: Outcomes, weight: Floats, *, has_ties: bool) -> Floats:
    """Return the expected information on all numbers of a place."""
    p, slope, tie_slope = outcomes.p, outcomes.slope, outcomes.tie_slope
    own = (design.T @ design.multiply((weight * (p * slope**2).sum(axis=0))[:, None]).tocsr()).toarray()
    if not has_ties:
        return np.asarray(own, np.float64)
    both = np.asarray(design.T @ (weight * (p * slope * tie_slope).sum(axis=0)))
    return np.block([[own, both[:, None]], [both[None, :], np.array([[weight @ (p * tie_slope**2).sum(axis=0)]])]])


def _zero(graph: ComparisonGraph, start: int, votes: Votes) -> Floats:
    """Return for each component the shares of its founders, or of all in it where it has none."""
    has_votes = votes.votes_of() > 0
    shares = np.zeros((graph.components, len(has_votes)))
    for part in range(graph.components):
        mine: NDArray[np.bool_] = graph.component == part
        first = mine & has_votes & (np.arange(len(mine)) < start)
        chosen = first if first.any() else mine
        shares[part, chosen] = 1 / chosen.sum()
    return shares
