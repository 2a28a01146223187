"""P.913 12.4: votes without the bias of those who gave them (reference: statistics 3.3)."""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg

from beholder.stats.rater_models.components import components, part_means, rater_components, seen_by
from beholder.stats.rater_models.means import t_means
from beholder.stats.rater_models.votes import Fitted, Floats, Votes, known, ratio


def p913(votes: Votes) -> Fitted:
    """Return the means of votes from which each rater's bias, by least squares over all votes, is taken."""
    counts = votes.of_rater()
    component = components(votes)
    part = rater_components(votes, component)
    quality, iterations = least_squares(votes)
    bias = ratio(votes.of_rater(votes.value - quality[votes.stimulus]), counts)
    bias -= part_means(bias, part, (counts > 0).astype(float))[part]
    unbiased = votes._replace(value=votes.value - bias[votes.rater])
    nothing = np.full(votes.raters, np.nan)
    return Fitted(
        *t_means(unbiased),
        bias=known(bias, counts > 0),
        inconsistency=nothing,
        inconsistency_low=nothing,
        inconsistency_high=nothing,
        is_rejected=np.zeros(votes.raters, dtype=bool),
        component=component,
        iterations=iterations,
    )


def least_squares(votes: Votes) -> tuple[Floats, int]:
    """Return qualities for which qualities and biases fit the votes best, and the steps it took.

    One pass of means is not that where raters saw different stimuli; conjugate gradients are, in any design.
    """
    counts, cast = votes.of_rater(), votes.of_stimulus()
    mean = ratio(votes.of_stimulus(votes.value), cast)
    if not len(votes.value):
        return mean, 0
    seen = seen_by(votes)
    shown = seen.T.tocsr()
    beyond = votes.value - mean[votes.stimulus]
    target = votes.of_stimulus(beyond) - shown @ ratio(votes.of_rater(beyond), counts)
    steps: list[int] = []
    system = LinearOperator(
        (votes.stimuli, votes.stimuli), lambda x: cast * x - shown @ ratio(seen @ x, counts), dtype=float
    )
    scaled = LinearOperator((votes.stimuli, votes.stimuli), lambda x: ratio(x, cast), dtype=float)
    smallest = 1e-12 * float(np.ptp(votes.value))
    found, _ = cg(system, target, rtol=1e-12, atol=smallest, maxiter=1000, M=scaled, callback=lambda _: steps.append(1))
    return mean + found, len(steps)
