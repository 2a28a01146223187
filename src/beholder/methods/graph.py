"""Which two of many are compared, where not all are: graphs over conditions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from math import log2

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Edge = tuple[int, int]

_DRAWN = 12
"""Graphs of which the one with the shortest ways is taken."""
_SWITCHES = 8
"""How often each edge is switched with another one, on average: by then nothing is left of the ring."""


def usual_degree(conditions: int) -> int:
    """Return how many others each condition meets when nobody says it: about 2 log2 of their number."""
    return round(2 * log2(conditions)) if conditions > 1 else 0


def sparse_edges(conditions: int, degree: int, rng: Generator) -> list[Edge]:
    """Return a connected graph in which everybody meets `degree` others, one of them one more where that is odd.

    A ring with chords is switched edge by edge, which keeps every degree; of several such graphs the one with the
    shortest way between the two that are furthest apart, then between all, is taken.
    """
    if degree >= conditions - 1:
        return list(combinations(range(conditions), 2))
    labels = rng.permutation(conditions)
    ring = [(int(labels[a]), int(labels[b])) for a, b in _ring(conditions, degree)]
    drawn = [_switched(ring, rng) for _ in range(_DRAWN)]
    # The ring itself is connected, should none of the others be.
    best = min((*drawn, ring), key=lambda edges: _ways(conditions, edges))
    return sorted((min(edge), max(edge)) for edge in best)


def parts(nodes: Sequence[str], edges: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Return which nodes can be reached from each other, every part in the order of the nodes."""
    part = {node: [node] for node in nodes}
    for one, two in edges:
        if part[one] is not part[two]:
            part[one] += part[two]
            for node in part[two]:
                part[node] = part[one]
    place = {node: number for number, node in enumerate(nodes)}
    return [sorted(one, key=place.__getitem__) for one in {id(one): one for one in part.values()}.values()]


def _ring(nodes: int, degree: int) -> list[Edge]:
    """Return a ring with chords: everybody meets the nearest on both sides, and of an odd number the one opposite."""
    edges = [(node, (node + step) % nodes) for step in range(1, degree // 2 + 1) for node in range(nodes)]
    if degree % 2:
        half = nodes // 2
        edges += [(node, node + half) for node in range(half)]
        if nodes % 2:
            edges.append((nodes - 1, half - 1))
    return edges


def _switched(edges: Sequence[Edge], rng: Generator) -> list[Edge]:
    """Return the graph with ends of edges exchanged, two edges at a time."""
    made = list(edges)
    there = {frozenset(edge) for edge in made}
    for one, two in rng.integers(len(made), size=(_SWITCHES * len(made), 2)).tolist():
        (a, b), (c, d) = made[one], made[two]
        if len({a, b, c, d}) < 4 or frozenset((a, d)) in there or frozenset((c, b)) in there:
            continue
        there -= {frozenset((a, b)), frozenset((c, d))}
        there |= {frozenset((a, d)), frozenset((c, b))}
        # Turned round every second time, so that either end can go either way.
        made[one], made[two] = (a, d), (b, c)
    return made


def _ways(nodes: int, edges: Sequence[Edge]) -> tuple[int, int]:
    """Return how far the furthest two are from each other, and all together; further than any where some never meet."""
    near: NDArray[np.bool_] = np.eye(nodes, dtype=np.bool_)
    one, two = np.array(edges).T
    near[one, two] = near[two, one] = True
    reached, far, whole = near, 1, int(near.sum())
    while not reached.all():
        further = (reached.astype(np.int64) @ near.astype(np.int64)) > 0
        if (further == reached).all():
            return nodes, nodes**3
        far += 1
        whole += far * int((further & ~reached).sum())
        reached = further
    return far, whole
