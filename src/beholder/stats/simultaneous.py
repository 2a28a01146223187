"""Many pairs at once: shares of one error rate, false discoveries by e-values, and sets of ranks.

e-BH: Wang and Ramdas (2022), Journal of the Royal Statistical Society B 84. Sets of ranks from simultaneous intervals
of all differences: Mogstad, Romano, Shaikh and Wilhelm (2024), Review of Economic Studies 91.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from beholder.stats.clustered import Codes, Floats

E_BH_CITATION = "Wang and Ramdas (2022), Journal of the Royal Statistical Society B 84"
RANK_CITATION = "Mogstad, Romano, Shaikh and Wilhelm (2024), Review of Economic Studies 91"


def pair_shares(place: Codes, founders: int) -> Floats:
    """Return which share of one error rate each pair gets, a row and a column for each condition.

    `place` says which is the how-manieth to come, from 0; the first `founders` share equally. As nobody knows how many
    will join, a pair of the k-th to come gets a share that falls with its cube: all together never spend more than 1,
    however many join, and what joins takes nothing from those who were there.
    """
    first = max(founders, 2)
    whole = (first - 1) / (2 * first**2) + special.zeta(2, first + 1) - special.zeta(3, first + 1)
    later = np.maximum(place[:, None], place[None, :]) + 1
    shares = np.asarray(1 / (np.maximum(later, first).astype(np.float64) ** 3 * whole), np.float64)
    np.fill_diagonal(shares, 0.0)
    return shares


def discoveries(log_e: Floats, rate: float) -> NDArray[np.bool_]:
    """Return which hypotheses e-BH rejects: false ones among them are at most this share, however they depend."""
    known = np.where(np.isnan(log_e), -np.inf, log_e)
    order = np.argsort(-known, kind="stable")
    needed = math.log(len(known) / rate) - np.log(np.arange(1, len(known) + 1)) if len(known) else np.zeros(0)
    passes = np.flatnonzero(known[order] >= needed)
    found = np.zeros(len(known), bool)
    if len(passes):
        found[order[: passes[-1] + 1]] = True
    return found


class RankSets(NamedTuple):
    """The best and the worst rank that each may have, from 1; zero where it has none."""

    best: Codes
    worst: Codes


def rank_sets(is_better: NDArray[np.bool_], is_ranked: NDArray[np.bool_]) -> RankSets:
    """Return the ranks that are left when `is_better[one, other]` says who surely is better, among those ranked."""
    among = is_better & is_ranked[:, None] & is_ranked[None, :]
    best, worst = 1 + among.sum(axis=0), int(is_ranked.sum()) - among.sum(axis=1)
    return RankSets(np.where(is_ranked, best, 0), np.where(is_ranked, worst, 0))
