"""Which conditions each trial shows."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from beholder.plan.dealing.flow import Floats, Groups, Ints, Mask, families, pick


def deal_conditions(dealt: Ints, present: Mask, per_trial: int, rng: Generator, *, chain: int = 1) -> Mask:
    """Return a mask of conditions by trial (trials of list 1 first), `per_trial` in each.

    `dealt` holds contents by list and position, `present` which content has which condition. Even within one:
    conditions overall, within each content, within each content at each position, and within each list; trials of
    one content in one list, or in one chain of lists, share no condition. Conditions that some content lacks are as
    even as that allows.
    """
    lists, trials = dealt.shape
    contents, conditions = present.shape
    content = dealt.ravel()
    of_list = np.repeat(np.arange(lists), trials)
    position = np.tile(np.arange(trials), lists)
    left = [Groups(content * trials + position, contents * trials), Groups(content, contents)]
    right = _right(of_list, content, lists, chain)
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
    if chain > 1:
        _level_lists(chosen, dealt, chain, rng)
    return chosen


def _level_lists(chosen: Mask, dealt: Ints, chain: int, rng: Generator) -> None:
    """Make every list of a chain hold every condition as often as its other lists, as near as its contents allow.

    What a content shows in two lists of one chain is exchanged, which changes neither what the chain shows nor what the
    content does: picks by whole chains leave it to chance in which of their lists a condition stands.
    """
    lists, trials = dealt.shape
    for first in range(0, lists, chain):
        contents = dealt[first : first + chain].ravel()
        shown = chosen[first * trials : first * trials + len(contents)]
        of_list = np.arange(len(contents)) // trials
        one, two = np.nonzero(
            np.triu(contents[:, None] == contents[None, :], 1) & (of_list[:, None] != of_list[None, :])
        )
        if not len(one):
            continue
        order = rng.permutation(len(one))
        one, two = one[order], two[order]
        counts = shown.reshape(-1, trials, shown.shape[1]).sum(axis=1)
        while True:
            moved = shown[two].astype(np.int64) - shown[one]
            gain = (moved * (counts[of_list[one]] - counts[of_list[two]] + moved)).sum(axis=1)
            best = int(gain.argmin())
            if gain[best] >= 0:
                break
            a, b = one[best], two[best]
            counts[of_list[a]] += moved[best]
            counts[of_list[b]] -= moved[best]
            shown[[a, b]] = shown[[b, a]]


def _only(groups: Groups, items: Ints) -> Groups:
    return Groups(groups.of[items], groups.number)


def _right(of_list: Ints, content: Ints, lists: int, chain: int) -> list[Groups]:
    """Return what holds lists together: trials of one content in one chain where there are any, lists, runs of them."""
    of_chain, chains = of_list // chain, -(-lists // chain)
    _, hand = np.unique(of_chain * (int(content.max()) + 1) + content, return_inverse=True)
    if int(hand.max()) + 1 < len(content):
        return [Groups(hand, int(hand.max()) + 1), *families(of_chain, chains)]
    return [*([Groups(of_list, lists)] if chain > 1 else []), *families(of_chain, chains)]
