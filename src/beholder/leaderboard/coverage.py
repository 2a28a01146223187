"""Coverage of the graph of comparisons: what a rank rests on, and warnings where that is little."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from beholder.formats import count, first_names, join_names, percent, plural
from beholder.leaderboard.ranks import Standings
from beholder.leaderboard.robustness import DrawWeights
from beholder.stats.clustered import Codes, Floats

_FEW_VOTES = 30
_FEW_ACROSS = 20
"""Votes that hold two parts of the arena together."""
_LARGE_SHARE = 0.25
"""Of the votes of a condition, given by one person."""
_FEW_EFFECTIVE = 0.5
"""Share of the votes that is left when those of rare pairs weigh more."""
_SHOWN = 5


class Coverage(NamedTuple):
    """How well the comparisons cover the arena."""

    pairs: int
    """Pairs of conditions that were compared at least once."""
    of: int
    across: int
    """Votes across the weakest cut: those that hold two parts together."""
    opponents: Codes
    """With how many others each was compared."""
    warnings: tuple[str, ...]


def coverage(stand: Standings, drawn: DrawWeights | None) -> Coverage:
    """Return how well the comparisons cover the arena, and what rests on little, in sentences."""
    votes = stand.fit.votes
    met = votes.met()
    size = len(votes.conditions)
    opponents = np.asarray((met > 0).sum(axis=1), np.intp)
    pairs = int((met > 0).sum()) // 2
    across, part = _weakest_cut(met)
    warnings = tuple(_warnings(stand, met, opponents, across, part, drawn))
    return Coverage(pairs, size * (size - 1) // 2, across, opponents, warnings)


def _weakest_cut(met: Floats) -> tuple[int, Codes]:
    """Return how many votes hold the two parts together that are joined worst, and who is in the smaller of them.

    The parts are the sides of the second eigenvector of the graph's Laplacian, or one condition by itself.
    """
    there = np.flatnonzero(met.sum(axis=1) > 0)
    if len(there) < 3:
        return int(met.sum() // 2), np.zeros(0, np.intp)
    inner = met[np.ix_(there, there)]
    own = inner.sum(axis=1)
    vectors = np.linalg.eigh(np.diag(own) - inner)[1]
    side = vectors[:, 1] > 0
    across = float(inner[np.ix_(side, ~side)].sum())
    if not 0 < side.sum() < len(side) or own.min() <= across:
        return int(own.min()), there[[int(own.argmin())]]
    smaller = side if side.sum() * 2 <= len(side) else ~side
    return int(across), there[smaller]


def _warnings(
    stand: Standings, met: Floats, opponents: Codes, across: int, part: Codes, drawn: DrawWeights | None
) -> Iterator[str]:
    votes, names = stand.fit.votes, stand.fit.votes.name
    there = met.sum(axis=1) > 0
    silent = [name for name, is_there in zip(names, there, strict=True) if not is_there]
    if silent:
        yield f"{_who(silent)} {plural(len(silent), 'has', 'have')} no votes yet."
    number, group = connected_components(csr_array(met), directed=False)
    largest = np.bincount(group[there], minlength=number).argmax() if there.any() else 0
    apart = [names[at] for at in np.flatnonzero(there & (group != largest))]
    if apart:
        yield (
            f"{_who(apart)} {plural(len(apart), 'was', 'were')} never compared with the others, not even through "
            f"others, and {plural(len(apart), 'has', 'have')} no rank."
        )
    own = votes.votes_of()
    few = [f"{names[at]} ({own[at]})" for at in np.flatnonzero(there & (own < _FEW_VOTES))]
    if few:
        yield f"Few votes: {_who(few)}. Below {_FEW_VOTES} votes a strength says little."
    alone = [at for at in np.flatnonzero(there & (opponents == 1)) if there.sum() > 2]
    for at in alone[:_SHOWN]:
        other = names[int(np.flatnonzero(met[at])[0])]
        yield f"{names[at]} was compared with {other} only: its place rests on that one pair."
    if 0 < across < _FEW_ACROSS and there.sum() > 2 and len(part) > 1:
        some = _who([names[at] for at in part])
        yield f"{count(across, 'vote')} alone {plural(across, 'holds', 'hold')} {some} together with the others."
    yield from _heavy_voters(stand)
    if drawn is not None and drawn.effective < _FEW_EFFECTIVE * votes.size:
        yield (
            f"Pairs were drawn very unevenly: weighed as if all had been drawn equally often, {votes.size:,} votes "
            f"tell as much as {drawn.effective:,.0f}."
        )


def _heavy_voters(stand: Standings) -> Iterator[str]:
    """Yield whose votes come from one person to a large share."""
    votes = stand.fit.votes
    if len(votes.people) < 2:
        return
    size, people = len(votes.conditions), len(votes.people)
    both = np.concatenate([votes.one, votes.other]) * people + np.tile(votes.person, 2)
    cells, counts = np.unique(both, return_counts=True)
    most = np.zeros(size)
    np.maximum.at(most, cells // people, counts)
    share = most / np.maximum(votes.votes_of(), 1)
    heavy = [
        at
        for at in np.argsort(-share, kind="stable")
        if share[at] > _LARGE_SHARE and votes.votes_of()[at] >= _FEW_VOTES
    ]
    if heavy:
        words = [f"{votes.name[at]} ({percent(share[at])})" for at in heavy]
        yield f"One person gave a large share of the votes of {_who(words)}."


def _who(names: list[str]) -> str:
    return first_names(names, _SHOWN) if len(names) > _SHOWN else join_names(names)
