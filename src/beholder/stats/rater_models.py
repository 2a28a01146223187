"""P.910 Annex E (P.913 12.6): quality, bias and inconsistency by alternating projection (reference: statistics 3.4)."""

from __future__ import annotations

import numpy as np
from scipy.stats import chi2

from beholder.stats.rater_models.components import components, part_means, rater_components
from beholder.stats.rater_models.votes import Fitted, Votes, Z, known, ratio

_STOP = 1e-8
_FEWEST_ITERATIONS, _MOST_ITERATIONS = 50, 1000
_MOST_STEPS = 20_000_000
"""Votes times iterations: with few votes of each rater it creeps on for ever, towards nothing."""
_LEAST_VARIANCE = 1e-8
"""Added to every rater's variance; without it one who fits exactly would weigh infinitely."""


def p910(votes: Votes) -> Fitted:
    """Return quality, bias and inconsistency as the standard has them, also where they cannot be trusted."""
    counts, cast = votes.of_rater(), votes.of_stimulus()
    quality = ratio(votes.of_stimulus(votes.value), cast)
    beyond = votes.value - quality[votes.stimulus]
    bias = ratio(votes.of_rater(beyond), counts)
    most = min(_MOST_ITERATIONS, max(_FEWEST_ITERATIONS, _MOST_STEPS // max(1, len(votes.value))))
    iterations, is_settled = 0, False
    while not is_settled and iterations < most:
        iterations += 1
        offset = bias[votes.rater]
        # The bias is the mean of what is beyond quality, so that residuals are already about their own mean.
        variance = ratio(votes.of_rater((beyond - offset) ** 2), counts)
        weight = (1 / (variance + _LEAST_VARIANCE))[votes.rater]
        before, quality = quality, ratio(votes.of_stimulus(weight * (votes.value - offset)), votes.of_stimulus(weight))
        beyond = votes.value - quality[votes.stimulus]
        bias = ratio(votes.of_rater(beyond), counts)
        is_settled = bool(np.max(np.abs(quality - before), initial=0.0) < _STOP)
    residual = beyond - bias[votes.rater]
    inconsistency = np.sqrt(ratio(votes.of_rater(residual**2), counts))
    off_mean = residual - ratio(votes.of_stimulus(residual), cast)[votes.stimulus]
    is_rater, is_stimulus = counts > 0, cast > 0
    component = components(votes)
    part = rater_components(votes, component)
    centre = part_means(bias, part, is_rater.astype(float), int(component.max(initial=-1)) + 1)
    quality = known(quality + centre[component], is_stimulus)
    # Each stimulus' own spread (AP2 of the standard's program); one vote has none.
    se = known(np.sqrt(ratio(votes.of_stimulus(off_mean**2), cast**2)), cast > 1)
    low, high = (inconsistency * np.sqrt(counts / chi2.ppf(at, np.maximum(counts, 1))) for at in (0.975, 0.025))
    return Fitted(
        quality=quality,
        se=se,
        low=quality - Z * se,
        high=quality + Z * se,
        bias=known(bias - centre[part], is_rater),
        inconsistency=known(inconsistency, is_rater),
        inconsistency_low=known(low, is_rater),
        inconsistency_high=known(high, is_rater),
        is_rejected=np.zeros(votes.raters, dtype=bool),
        component=component,
        iterations=iterations,
        is_settled=is_settled,
    )
