"""Which of those that were compared can be put on one scale, and why not the others."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from beholder.analyse.comparing.tally import Tally
from beholder.stats.clustered import Codes


class Graph(NamedTuple):
    """Which names were compared with each other, directly or through others."""

    component: Codes
    """For each name a number from 0, the same for those that were compared."""
    components: int
    """How many there are."""
    is_strong: tuple[bool, ...]
    """By component: whether everyone in it was preferred to everyone else, directly or through others.

    Only then has the likelihood a maximum.
    """
    why: tuple[str, ...]
    """By component: what keeps it from being so; empty where nothing does."""


def graph_of(tally: Tally) -> Graph:
    """Return how the comparisons hang together."""
    size = len(tally.names)
    pooled = tally.everybody()
    pairs = coo_matrix((pooled.n, (pooled.one, pooled.other)), (size, size))
    count, component = connected_components(pairs, directed=False)
    winner = np.concatenate([pooled.one[pooled.wins > 0], pooled.other[pooled.losses > 0]])
    loser = np.concatenate([pooled.other[pooled.wins > 0], pooled.one[pooled.losses > 0]])
    wins = coo_matrix((np.ones(len(winner)), (winner, loser)), (size, size))
    _, group = connected_components(wins, directed=True, connection="strong")
    strong, why = [], []
    for place in range(count):
        members = np.flatnonzero(component == place)
        strong.append(len(set(group[members].tolist())) == 1)
        why.append("" if strong[-1] else _why(tally.names, members, group, winner, loser))
    return Graph(component.astype(np.intp), int(count), tuple(strong), tuple(why))


def _why(names: tuple[str, ...], members: Codes, group: Codes, winner: Codes, loser: Codes) -> str:
    """Return who lost to none, and who won against none, of the others."""
    if not np.isin(members, winner).any():
        return "every comparison was a tie"
    crosses = group[winner] != group[loser]
    beaten, beating = set(group[loser[crosses]].tolist()), set(group[winner[crosses]].tolist())
    told = []
    for done, what in ((beaten, "never lost to any of the others"), (beating, "never won against any of the others")):
        groups = [one for one in dict.fromkeys(group[members].tolist()) if one not in done]
        told += [f"{listed([names[m] for m in members if group[m] == one])} {what}" for one in groups]
    return "; ".join(told)


def listed(names: list[str]) -> str:
    """Return names with commas and `and`."""
    return " and ".join([", ".join(names[:-1])] * (len(names) > 1) + names[-1:])
