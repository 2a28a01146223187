"""BT.500 A1-2.3.1: who is far from the others too often, on both sides, is left out (reference: statistics 3.2)."""

from __future__ import annotations

import numpy as np

from beholder.stats.rater_models.components import components
from beholder.stats.rater_models.means import t_means
from beholder.stats.rater_models.votes import Fitted, Votes, ratio

LEAST_VOTES = 4
MOST_OUTLIERS = 0.05
MOST_ONE_SIDED = 0.3
_NO_SPREAD = 1e-12


def bt500(votes: Votes) -> Fitted:
    """Return the means of the raters who are kept, and of each rater how many votes lie far above and far below."""
    cast, counts = votes.of_stimulus(), votes.of_rater()
    mean = ratio(votes.of_stimulus(votes.value), cast)
    off = votes.value - mean[votes.stimulus]
    second, fourth = (ratio(votes.of_stimulus(off**power), cast) for power in (2, 4))
    widest = float(np.ptp(votes.value)) if len(votes.value) else 0.0
    can_tell = (cast >= LEAST_VOTES) & (second > _NO_SPREAD * widest**2)
    kurtosis = ratio(fourth, np.where(can_tell, second**2, 0.0))
    factor = np.where((kurtosis >= 2) & (kurtosis <= 4), 2.0, np.sqrt(20))
    limit = factor * np.sqrt(ratio(second * cast, np.maximum(cast - 1, 0)))
    is_judged, limits = can_tell[votes.stimulus], limit[votes.stimulus]
    above = votes.of_rater((is_judged & (off >= limits)).astype(float))
    below = votes.of_rater((is_judged & (off <= -limits)).astype(float))
    is_far = ratio(above + below, counts) > MOST_OUTLIERS
    is_rejected = is_far & (ratio(np.abs(above - below), above + below) < MOST_ONE_SIDED)
    nothing = np.full(votes.raters, np.nan)
    return Fitted(
        *t_means(votes, (~is_rejected[votes.rater]).astype(float)),
        bias=nothing,
        inconsistency=nothing,
        inconsistency_low=nothing,
        inconsistency_high=nothing,
        is_rejected=is_rejected,
        component=components(votes),
        above=above,
        below=below,
    )
