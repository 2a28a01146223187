"""People who compare two by the Bradley-Terry model, asked at random, in random trees, or actively."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from beholder.stats.expected_information import Sampling, draw_pairs, posterior, sampling_of

How = Literal["random", "trees", "active"]
UNIFORM = 0.2


def spread_strengths(count: int, seed: int, spread: float = 2.0) -> NDArray[np.float64]:
    """Return strengths in logits."""
    return np.random.default_rng([seed, 1]).normal(0, spread, count)


class Crowd:
    """Votes on conditions of known strengths, one batch after the other."""

    def __init__(self, truth: NDArray[np.float64], seed: int, uniform: float = UNIFORM) -> None:
        self.truth, self._rng, self._uniform = truth, np.random.default_rng([seed, 2]), uniform
        self.wins = np.zeros((len(truth), len(truth)))
        self.allowed = ~np.eye(len(truth), dtype=bool)
        self.draws: list[tuple[int, int, float, int]] = []
        """First, second, probability of the draw, and whether the first won."""

    def ask(self, how: How) -> None:
        """Add the votes of a batch: one comparison less than there are conditions."""
        count = len(self.truth)
        if how == "random":
            pairs = np.argwhere(np.triu(self.allowed))
            drawn = [(int(one), int(two), 1.0) for one, two in pairs[self._rng.integers(len(pairs), size=count - 1)]]
        else:
            plain = Sampling(self.allowed, np.ones_like(self.wins), 1.0)
            sampling = plain if how == "trees" else sampling_of(self.wins, self.allowed, self._uniform)
            drawn = [(one, two, chance) for (one, two), chance in draw_pairs(sampling, count - 1, self._rng)]
        for one, two, chance in drawn:
            has_won = int(self._rng.random() < special.expit(self.truth[one] - self.truth[two]))
            self.wins[(one, two) if has_won else (two, one)] += 1
            self.draws.append((one, two, chance, has_won))

    @property
    def tau(self) -> float:
        """Kendall's rank correlation of the strengths that are estimated with the true ones."""
        return float(stats.kendalltau(posterior(self.wins).strengths, self.truth).statistic)

    def agreement(self, how: How, votes: int) -> float:
        """Return the agreement after so many votes, in whole batches."""
        for _ in range(votes // (len(self.truth) - 1)):
            self.ask(how)
        return self.tau
