"""Which conditions each trial shows."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from beholder.plan.flow import Floats, Groups, Ints, Mask, families, pick


def deal_conditions(dealt: Ints, present: Mask, per_trial: int, rng: Generator) -> Mask:
    """Return a mask of conditions by trial (trials of list 1 first), `per_trial` in each.

    `dealt` holds contents by list and position, `present` which content has which condition. Even within one:
    conditions overall, within each content, within each content at each position, and within each list; trials of
    one content in one list share no condition. Conditions that some content lacks are as even as that allows.
    """
    lists, trials = dealt.shape
    contents, conditions = present.shape
    content = dealt.ravel()
    of_list = np.repeat(np.arange(lists), trials)
    position = np.tile(np.arange(trials), lists)
    left = [Groups(content * trials + position, contents * trials), Groups(content, contents)]
    right = [*_hands(of_list, content, dealt), *families(of_list, lists)]
    chosen = np.zeros((len(content), conditions), dtype=np.bool_)
    need = np.full(len(content), per_trial)
    remaining = present.sum(axis=1)
    for condition in rng.permutation(conditions):
        items = np.flatnonzero(present[content, condition] & (need > 0))
        share: Floats = need[items] / remaining[content[items]]
        if len(items) and share.min() < 1:
            mask = pick(share, [_only(g, items) for g in left], [_only(g, items) for g in right], rng)
            items = items[mask]
        chosen[items, condition] = True
        need[items] -= 1
        remaining = remaining - present[:, condition]
    return chosen


def _only(groups: Groups, items: Ints) -> Groups:
    return Groups(groups.of[items], groups.number)


def _hands(of_list: Ints, content: Ints, dealt: Ints) -> list[Groups]:
    """Return the trials of one content in one list as groups, if any list holds a content twice."""
    ordered = np.sort(dealt, axis=1)
    if not (ordered[:, 1:] == ordered[:, :-1]).any():
        return []
    _, hand = np.unique(of_list * (int(content.max()) + 1) + content, return_inverse=True)
    return [Groups(hand, int(hand.max()) + 1)]
