"""Variance components by moments, for more votes than a likelihood can be climbed with in a moment."""

from __future__ import annotations

import math

import numpy as np

from beholder.stats.rater_models.bias import least_squares
from beholder.stats.rater_models.components import components
from beholder.stats.rater_models.votes import Votes


def moments(votes: Votes) -> tuple[float, float, float]:
    """Return the variances of things, of raters and of the rest; NaN where the votes cannot tell them apart.

    The rest is what a fit of both leaves (Henderson's third method, 1953), raters are what the votes on one thing
    differ by beyond it, and things what their means do, each counting alike (Yates 1934): weighed by their votes, as
    in Henderson's first method, a few with many votes would speak for all. Nobody votes twice on a thing, and each has
    a vote. What comes out below zero is zero.
    """
    n, things, raters = len(votes.value), votes.stimuli, votes.raters
    parts = int(components(votes).max()) + 1
    left = n - things - raters + parts
    if left <= 0 or min(things, raters) <= parts:
        return math.nan, math.nan, math.nan
    value = votes.value - votes.value.mean()
    each, own = votes.of_stimulus(), votes.of_rater()
    residual = value - least_squares(votes._replace(value=value))[0][votes.stimulus]
    residual -= (votes.of_rater(residual) / own)[votes.rater]
    rest = float(residual @ residual) / left
    means = votes.of_stimulus(value) / each
    within = value - means[votes.stimulus]
    of_raters = max(0.0, float(within @ within) / (n - things) - rest)
    # Means share the raters that two things have in common.
    alone = float((1 / each).sum())
    common = float((votes.of_rater((1 / each)[votes.stimulus]) ** 2).sum()) / things
    noise = of_raters * (alone - common) + rest * alone * (1 - 1 / things)
    of_things = max(0.0, float(np.var(means, ddof=1)) - noise / (things - 1))
    return of_things, of_raters, rest
