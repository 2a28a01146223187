"""The SOS hypothesis: the variance of the votes on a thing follows from its mean and one number, a (Hossfeld 2011)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from beholder.stats.rater_models.votes import Floats, Votes


class Sos(NamedTuple):
    """What each thing with two votes or more adds to the fit SD² = a (mean - lowest) (highest - mean)."""

    above: Floats
    below: Floats


def sos_terms(votes: Votes, low: float, high: float) -> Sos:
    """Return the terms of the fit through the origin, variances over n - 1."""
    counts = np.bincount(votes.stimulus, minlength=votes.stimuli)
    paired = counts > 1
    means = np.bincount(votes.stimulus, votes.value, minlength=votes.stimuli) / np.maximum(counts, 1)
    squares = np.bincount(votes.stimulus, (votes.value - means[votes.stimulus]) ** 2, minlength=votes.stimuli)
    room = ((means - low) * (high - means))[paired]
    variance = squares[paired] / (counts[paired] - 1)
    return Sos(room * variance, room**2)


def sos(terms: Sos, drawn: Floats | None = None) -> Floats:
    """Return a for each row of `drawn`, which says how often each thing counts; NaN where all are at the ends."""
    times = np.ones((1, len(terms.above))) if drawn is None else drawn
    below = times @ terms.below
    return np.where(below > 0, (times @ terms.above) / np.where(below > 0, below, 1.0), np.nan)
