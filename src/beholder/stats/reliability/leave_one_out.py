"""Leave-one-out agreement: each rater against the mean of all others on the same things."""

from __future__ import annotations

import numpy as np

from beholder.stats.rater_models.votes import Codes, Floats, Votes


def leave_one_out(votes: Votes, fewest: int) -> Floats:
    """Return each rater's Spearman correlation with the mean of the others.

    NaN where a rater shares fewer things than that with anybody, or one side does not vary.
    """
    counts = np.bincount(votes.stimulus, minlength=votes.stimuli)[votes.stimulus]
    is_shared = counts > 1
    rater, value = votes.rater[is_shared], votes.value[is_shared]
    sums = np.bincount(votes.stimulus, votes.value, minlength=votes.stimuli)[votes.stimulus]
    others = (sums[is_shared] - value) / (counts[is_shared] - 1)
    shared = np.bincount(rater, minlength=votes.raters)
    one, other = (_centred_ranks(rater, side, shared) for side in (value, others))
    both, own, theirs = (
        np.bincount(rater, product, minlength=votes.raters) for product in (one * other, one**2, other**2)
    )
    is_known = (shared >= fewest) & (own > 0) & (theirs > 0)
    return np.where(is_known, both / np.sqrt(np.where(is_known, own * theirs, 1.0)), np.nan)


def _centred_ranks(rater: Codes, value: Floats, shared: Codes) -> Floats:
    """Return the rank of each value among its rater's, ties in the middle, less the mean rank.

    Ranks are halves of whole numbers, and so is their mean: who does not vary has exactly zero.
    """
    order = np.lexsort((value, rater))
    rater, value = rater[order], value[order]
    is_new = np.ones(len(rater), bool)
    is_new[1:] = (rater[1:] != rater[:-1]) | (value[1:] != value[:-1])
    run = np.cumsum(is_new) - 1
    first = np.flatnonzero(is_new)
    last = np.append(first[1:], len(rater)) - 1
    start = np.cumsum(shared) - shared
    middle = (first + last)[run] / 2 - start[rater] - (shared[rater] - 1) / 2
    found = np.empty(len(rater))
    found[order] = middle
    return found
