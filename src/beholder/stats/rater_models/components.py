"""Parts of a design that share no rater: what is found in one cannot be held against what is found in another."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from beholder.stats.rater_models.votes import Codes, Floats, Votes, ratio


def components(votes: Votes) -> Codes:
    """Return the part of every stimulus, counted from 0 in the order of the stimuli."""
    nodes = votes.stimuli + votes.raters
    ones = np.ones(len(votes.value), dtype=np.int8)
    graph = coo_array((ones, (votes.stimulus, votes.stimuli + votes.rater)), shape=(nodes, nodes)).tocsr()
    labels: Codes = connected_components(graph, directed=False)[1].astype(np.intp)
    return labels[: votes.stimuli]


def seen_by(votes: Votes) -> csr_array:
    """Return a matrix of raters and stimuli with how often each voted on each."""
    ones = np.ones(len(votes.value))
    return coo_array((ones, (votes.rater, votes.stimulus)), (votes.raters, votes.stimuli)).tocsr()


def rater_components(votes: Votes, component: Codes) -> Codes:
    """Return the part of every rater; 0 for one without votes."""
    found = np.zeros(votes.raters, dtype=np.intp)
    found[votes.rater] = component[votes.stimulus]
    return found


def part_means(bias: Floats, part: Codes, has_votes: Floats, parts: int = 0) -> Floats:
    """Return the mean bias of each part, every rater who voted counting alike."""
    return ratio(np.bincount(part, bias * has_votes, parts), np.bincount(part, has_votes, parts))
