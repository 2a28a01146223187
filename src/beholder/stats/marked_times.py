"""Marked times: their density over a clip, its peaks, and how far people mark the same places beyond chance.

Agreement: every mark claims the time up to a tolerance before and after it. The clip is cut into short steps, each of
which a person has claimed or not; chance-corrected agreement on the steps is the exact kappa for many raters (Conger
1980, Psychological Bulletin 88, 322-328), whose chance lets each person keep their own share of claimed time. Steps of
time with a tolerance are how time-unit kappa compares observers who note the same event at slightly different times
(Bakeman, Quera and Gnisci 2009, Behavior Research Methods 41, 137-147).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.intp]
STEP_S = 0.05
"""The length of a step, in seconds."""
AGREEMENT_CITATION = (
    "Conger (1980), Psychological Bulletin 88; Bakeman, Quera and Gnisci (2009), Behavior Research Methods 41"
)
DENSITY_CITATION = "Silverman (1986), Density Estimation for Statistics and Data Analysis"


def step_centres(length_s: float, step_s: float = STEP_S) -> Floats:
    """Return the middles of the steps of a clip, at least one."""
    count = max(1, round(length_s / step_s))
    return np.asarray((np.arange(count) + 0.5) * (length_s / count), np.float64)


def mark_density(times_s: Floats, viewers: int, at_s: Floats, length_s: float, bandwidth_s: float) -> Floats:
    """Return how many marks a viewer sets per second at these times: a Gaussian kernel, reflected at both ends.

    Over the whole clip it adds up to the marks per viewer.
    """
    if not len(times_s) or not viewers:
        return np.zeros(len(at_s))
    mirrored = np.concatenate([times_s, -times_s, 2 * length_s - times_s])
    away = (at_s[:, np.newaxis] - mirrored[np.newaxis]) / bandwidth_s
    return np.asarray(np.exp(-0.5 * away**2).sum(axis=1) / (bandwidth_s * math.sqrt(2 * math.pi) * viewers))


def density_peaks(density: Floats) -> list[int]:
    """Return the places of the local maxima of a density, the highest first; of a level top, its first place."""
    padded = np.concatenate([[-math.inf], density, [-math.inf]])
    tops = np.flatnonzero((padded[1:-1] > padded[:-2]) & (padded[1:-1] >= padded[2:]) & (density > 0))
    return [int(place) for place in sorted(tops, key=lambda place: (-density[place], place))]


def claimed_steps(times_s: Floats, person: Ints, persons: int, at_s: Floats, tolerance_s: float) -> Bools:
    """Return which steps each person has claimed: a row for each person, a column for each step."""
    # Every mark opens a stretch and closes it: a study can have a million.
    open_now = np.zeros((persons, len(at_s) + 1), np.intp)
    np.add.at(open_now, (person, np.searchsorted(at_s, times_s - tolerance_s, "left")), 1)
    np.add.at(open_now, (person, np.searchsorted(at_s, times_s + tolerance_s, "right")), -1)
    return np.asarray(open_now.cumsum(axis=1)[:, :-1] > 0)


class Disagreement(NamedTuple):
    """How far pairs of people disagree on the steps of one clip, and how far they would by chance."""

    observed: float
    expected: float


def disagreement(claimed: Bools) -> Disagreement:
    """Return the disagreement of all pairs of people, added up; by chance, each claims as much, but anywhere."""
    persons, steps = claimed.shape
    if persons < 2 or not steps:
        return Disagreement(0.0, 0.0)
    by_step = claimed.sum(axis=0).astype(float)
    share = claimed.mean(axis=1)
    whole = float(share.sum())
    observed = float((by_step * (persons - by_step)).mean())
    # Sum over pairs of p(1 - q) + q(1 - p).
    expected = (persons - 1) * whole - (whole**2 - float((share**2).sum()))
    return Disagreement(observed, expected)


def kappa_of(observed: Floats | float, expected: Floats | float) -> Floats:
    """Return 1 - observed / expected; NaN where nobody could have disagreed."""
    below = np.atleast_1d(np.asarray(expected, float))
    is_known = below > 1e-12
    return np.where(is_known, 1 - np.atleast_1d(np.asarray(observed, float)) / np.where(is_known, below, 1.0), math.nan)
