"""How likely a win, a tie and a loss are, given how far apart two strengths are."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.special import expit, log_ndtr, ndtr, ndtri

from beholder.stats.clustered import Floats


class Outcomes(NamedTuple):
    """Of win, tie and loss (rows): probability, its logarithm, and the slopes of the logarithm."""

    p: Floats
    log_p: Floats
    slope: Floats
    """By the difference of the strengths."""
    tie_slope: Floats
    """By the logarithm of the tie parameter."""


Likely: TypeAlias = Callable[[Floats, float | None], Outcomes]
"""From differences and the logarithm of the tie parameter (None where there are no ties)."""


def davidson(difference: Floats, ties: float | None) -> Outcomes:
    """Return Bradley and Terry's outcomes with Davidson's ties: e^(d/2), ν and e^(-d/2) to one another."""
    half = difference / 2
    whole = np.logaddexp(half, -half)
    if ties is None:
        log_p = np.stack([half - whole, np.zeros_like(half), -half - whole])
        p = np.exp(log_p) * np.array([[1.0], [0.0], [1.0]])
    else:
        whole = np.logaddexp(whole, ties)
        log_p = np.stack([half - whole, ties - whole, -half - whole])
        p = np.exp(log_p)
    mean = (p[0] - p[2]) / 2
    return Outcomes(p, log_p, np.stack([0.5 - mean, -mean, -0.5 - mean]), np.stack([-p[1], 1 - p[1], -p[1]]))


def glenn_david(difference: Floats, ties: float | None) -> Outcomes:
    """Return Thurstone's outcomes (case V) with Glenn and David's ties: no difference is felt within ±τ."""
    tau = 0.0 if ties is None else math.exp(ties)
    win, loss = difference - tau, -difference - tau
    log_win, log_loss = log_ndtr(win), log_ndtr(loss)
    if ties is None:
        log_tie = up = down = np.zeros_like(difference)
    else:
        # In the tail on the side of zero, so that nothing is lost to rounding.
        upper, lower = log_ndtr(tau - np.abs(difference)), log_ndtr(-tau - np.abs(difference))
        log_tie = upper + np.log1p(-np.exp(lower - upper))
        up, down = np.exp(_log_density(difference + tau) - log_tie), np.exp(_log_density(win) - log_tie)
    by_win, by_loss = np.exp(_log_density(win) - log_win), np.exp(_log_density(loss) - log_loss)
    log_p = np.stack([log_win, log_tie, log_loss])
    p = np.exp(log_p) * np.array([[1.0], [float(ties is not None)], [1.0]])
    return Outcomes(p, log_p, np.stack([by_win, up - down, -by_loss]), tau * np.stack([-by_win, up + down, -by_loss]))


def _log_density(z: Floats) -> Floats:
    return np.asarray(-0.5 * z * z - 0.5 * math.log(2 * math.pi), np.float64)


class Model(NamedTuple):
    """A model of comparisons."""

    name: str
    title: str
    unit: str
    """What strengths are measured in."""
    likely: Likely
    ties_at: Callable[[float], float]
    """The logarithm of the tie parameter at which equals tie in this share of comparisons."""
    win: Callable[[Floats], Floats]
    """How likely a win is at a difference, ties and order aside."""
    prior_sd: float
    """Of a strength, where the comparisons alone do not fix it."""
    citation: str
    ties_citation: str


BRADLEY_TERRY = Model(
    "bradley-terry",
    "Bradley-Terry",
    "logits",
    davidson,
    lambda share: math.log(2 * share / (1 - share)),
    lambda d: np.asarray(expit(d), np.float64),
    2.0,
    "Bradley and Terry (1952), Biometrika 39",
    "Davidson (1970), Journal of the American Statistical Association 65",
)
THURSTONE = Model(
    "thurstone",
    "Thurstone (case V)",
    "standard deviations of the felt difference",
    glenn_david,
    lambda share: math.log(float(ndtri((1 + share) / 2))),
    lambda d: np.asarray(ndtr(d), np.float64),
    1.2,
    "Thurstone (1927), Psychological Review 34",
    "Glenn and David (1960), Biometrics 16",
)
MODELS = {model.name: model for model in (BRADLEY_TERRY, THURSTONE)}
