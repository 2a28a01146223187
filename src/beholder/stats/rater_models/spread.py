"""Each rater's variance, shrunken towards that of all (reference: statistics 3.5)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import polygamma

from beholder.stats.rater_models.votes import Floats

_LEAST_NU, _MOST_NU = 1.0, 100.0
_LEAST_FREEDOM = 0.5
_NEARLY_NOTHING = 1e-4
"""Of the common variance: one who fits the others exactly has no logarithm, and tells nothing of how raters differ."""


class Spread(NamedTuple):
    """Variances of raters, and the degrees of freedom each rests on."""

    variance: Floats
    freedom: Floats
    is_known: bool
    """Whether the votes leave anything to estimate a variance from."""


def unknown_spread(raters: int) -> Spread:
    """Return equal variances, for where nothing is known yet."""
    return Spread(np.ones(raters), np.ones(raters), is_known=False)


def shrunken_spread(squares: Floats, freedom: Floats, least: float) -> Spread:
    """Return the variances from every rater's sum of squared residuals and degrees of freedom, none below `least`."""
    if freedom.sum() <= _LEAST_FREEDOM:
        return unknown_spread(len(squares))
    pooled = float(squares.sum() / freedom.sum())
    nu = _prior_freedom(squares, freedom, pooled)
    return Spread(np.maximum((squares + nu * pooled) / (freedom + nu), least), freedom + nu, is_known=True)


def _prior_freedom(squares: Floats, freedom: Floats, pooled: float) -> float:
    """Return how many votes the common variance is worth: few where raters differ, many where they are alike."""
    can_tell = (freedom >= 1) & (squares > _NEARLY_NOTHING * pooled * freedom)
    if can_tell.sum() < 2:
        return _MOST_NU
    logs = np.log(squares[can_tell] / freedom[can_tell])
    beyond_chance = float(logs.var() - polygamma(1, freedom[can_tell] / 2).mean())
    return float(np.clip(2 / beyond_chance, _LEAST_NU, _MOST_NU)) if beyond_chance > 0 else _MOST_NU
