"""Means of stimuli with Student t over their votes, for models that only change or leave out votes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from beholder.stats.rater_models.votes import Floats, Votes, known, ratio


class Means(NamedTuple):
    """Of each stimulus; NaN where it has no votes, and all but the mean where it has one."""

    quality: Floats
    se: Floats
    low: Floats
    high: Floats


def t_means(votes: Votes, counted: Floats | None = None) -> Means:
    """Return the mean of each stimulus with its 95 % interval, over votes that are counted (1) and not left out (0)."""
    weights = np.ones(len(votes.value)) if counted is None else counted
    counts = votes.of_stimulus(weights)
    quality = ratio(votes.of_stimulus(weights * votes.value), counts)
    squares = votes.of_stimulus(weights * (votes.value - quality[votes.stimulus]) ** 2)
    freedom = np.maximum(counts - 1, 1)
    quality = known(quality, counts > 0)
    se = known(np.sqrt(ratio(squares, freedom * counts)), counts > 1)
    half = stdtrit(freedom, 0.975) * se
    return Means(quality, se, quality - half, quality + half)
