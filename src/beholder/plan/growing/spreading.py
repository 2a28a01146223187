"""What is to come so many times, spread over as few lists as it takes, nothing twice in one of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TypeVar

from numpy.random import Generator

T = TypeVar("T", bound=Hashable)


def spread(
    wanted: Mapping[T, int], content: Callable[[T], str], most: int, rng: Generator, *, once: bool
) -> list[list[T]]:
    """Return lists of at most so many, each thing as often as it is wanted; sizes differ by one at most.

    Things go round the lists, those of one content one after the other: so none comes twice in a list, a content
    comes twice only where there are more of it than lists, and with `once` never.
    """
    drawn = [list(wanted)[place] for place in rng.permutation(len(wanted))]
    totals: Counter[str] = Counter()
    for thing in drawn:
        totals[content(thing)] += wanted[thing]
    drawn.sort(key=lambda thing: -totals[content(thing)])
    by_content: dict[str, list[T]] = {}
    for thing in drawn:
        by_content.setdefault(content(thing), []).extend([thing] * wanted[thing])
    number = max(-(-sum(totals.values()) // most), max(wanted.values()), max(totals.values()) if once else 1)
    lists: list[list[T]] = [[] for _ in range(number)]
    for place, thing in enumerate(thing for things in by_content.values() for thing in things):
        lists[place % number].append(thing)
    return lists


def pull_apart(things: Sequence[T], content: Callable[[T], str], rng: Generator) -> list[T]:
    """Return things in a drawn order in which no two of one content are neighbours, where that can be."""
    waiting: dict[str, list[T]] = {}
    for place in rng.permutation(len(things)):
        waiting.setdefault(content(things[place]), []).append(things[place])
    order: list[T] = []
    last = ""
    for left in range(len(things), 0, -1):
        others = [name for name in waiting if name != last] or list(waiting)
        # Of what is more than half of the rest the next one has to be; else any, by chance.
        pressing = [name for name in others if 2 * len(waiting[name]) > left]
        weights = [float(len(waiting[name])) for name in others]
        last = pressing[0] if pressing else others[int(rng.choice(len(others), p=[w / sum(weights) for w in weights]))]
        order.append(waiting[last].pop())
        if not waiting[last]:
            del waiting[last]
    return order
