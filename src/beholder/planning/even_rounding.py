"""Even picks: every item has a share, and picks round the sums of whole families of groups up or down.

Two nested families of groups over the same items make a totally unimodular system: if fractional shares exist, whole
picks exist that round the sum of every group up or down. One maximum flow computes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

_FAMILIES = (8, 64)  # runs of lists that are even on their own, so that the first lists are nearly even
_NEAR = 1e-6  # shares are ratios of small whole numbers, so no real share is this close to a whole number


class Partition(NamedTuple):
    """A partition of the items: the group of each item, and the number of possible groups."""

    of: Ints
    number: int


def families(of_list: Ints, lists: int) -> list[Partition]:
    """Return lists, runs of lists and runs of runs, as nested groups of the items in them."""
    return [Partition(of_list // size, -(-lists // size)) for size in (1, *_FAMILIES)]


class _Arcs(NamedTuple):
    tails: Ints
    heads: Ints
    least: Ints
    most: Ints


def pick(share: Floats, left: Sequence[Partition], right: Sequence[Partition], rng: Generator) -> Mask:
    """Return a mask of picked items: in every group, and overall, the sum of the shares rounded up or down.

    `left` and `right` each run from fine to coarse, every group inside one of the next partition. No two items may
    share both their finest left and their finest right group.
    """
    names = _node_names(left, right)
    top, bottom = names.top, names.bottom
    # Every item is a node between its two finest groups, so that the solver can be given an order of items.
    items = bottom + 1 + np.arange(len(share))
    arcs = [
        _bounded(names.left[0] + left[0].of, items, share),
        _bounded(items, names.right[0] + right[0].of, share),
    ]
    for level, groups in enumerate(left):
        heads = names.left[level] + np.arange(groups.number)
        tails = names.left[level + 1] + _parents(left, level) if level + 1 < len(left) else np.full(groups.number, top)
        arcs.append(_bounded(tails, heads, _sums(groups, share)))
    for level, groups in enumerate(right):
        tails = names.right[level] + np.arange(groups.number)
        heads = (
            names.right[level + 1] + _parents(right, level)
            if level + 1 < len(right)
            else np.full(groups.number, bottom)
        )
        arcs.append(_bounded(tails, heads, _sums(groups, share)))
    arcs.append(_bounded(np.array([bottom]), np.array([top]), np.array([share.sum()])))
    joined = _Arcs(*(np.concatenate(columns) for columns in zip(*arcs, strict=True)))
    # The solver visits nodes by number. Items are numbered as in a draw with probabilities in proportion to the
    # shares: so no set of conditions is preferred, and picks depend on the seed, not on names.
    keys = rng.exponential(size=len(share)) / np.maximum(share, _NEAR)
    number = np.concatenate([rng.permutation(bottom + 1), items])
    number[items[np.argsort(keys)]] = items
    return _circulate(joined, number, len(share)) > 0


class _Names(NamedTuple):
    left: list[int]
    right: list[int]
    top: int
    bottom: int


def _node_names(left: Sequence[Partition], right: Sequence[Partition]) -> _Names:
    starts = np.concatenate([[0], np.cumsum([groups.number for groups in (*left, *right)])]).tolist()
    return _Names(starts[: len(left)], starts[len(left) : -1], starts[-1], starts[-1] + 1)


def _parents(levels: Sequence[Partition], level: int) -> Ints:
    parents = np.zeros(levels[level].number, dtype=np.int64)
    parents[levels[level].of] = levels[level + 1].of
    return parents


def _sums(groups: Partition, share: Floats) -> Floats:
    return np.asarray(np.bincount(groups.of, weights=share, minlength=groups.number), dtype=np.float64)


def _bounded(tails: Ints, heads: Ints, sums: Floats) -> _Arcs:
    least = np.floor(sums + _NEAR).astype(np.int64)
    return _Arcs(tails, heads, least, np.maximum(least, np.ceil(sums - _NEAR).astype(np.int64)))


def _circulate(arcs: _Arcs, number: Ints, first: int) -> Ints:
    """Return the first arcs' part of an integer flow within the bounds of all arcs that is conserved at every node."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import maximum_flow

    nodes = len(number)
    arriving = np.bincount(arcs.heads, weights=arcs.least, minlength=nodes)
    leaving = np.bincount(arcs.tails, weights=arcs.least, minlength=nodes)
    surplus = np.rint(arriving - leaving).astype(np.int64)
    gain, loss = np.flatnonzero(surplus > 0), np.flatnonzero(surplus < 0)
    source, sink = nodes, nodes + 1
    tails = np.concatenate([arcs.tails, np.full(len(gain), source), loss])
    heads = np.concatenate([arcs.heads, gain, np.full(len(loss), sink)])
    capacity = np.concatenate([arcs.most - arcs.least, surplus[gain], -surplus[loss]])
    number = np.concatenate([number, [source, sink]])
    tails, heads = number[tails], number[heads]
    usable = capacity > 0
    graph = csr_matrix(
        (capacity[usable].astype(np.int32), (tails[usable], heads[usable])), shape=(nodes + 2, nodes + 2)
    )
    solved = maximum_flow(graph, source, sink)
    if solved.flow_value != surplus[gain].sum():
        raise AssertionError("shares that add up have no whole picks")
    flow: Ints = np.asarray(solved.flow[tails[:first], heads[:first]], dtype=np.int64).ravel()
    return arcs.least[:first] + np.maximum(flow, 0)
