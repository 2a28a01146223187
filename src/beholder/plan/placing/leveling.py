"""One of several for each of many, so that each is taken equally often."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from numpy.random import Generator


class Level(NamedTuple):
    """What was taken of each, and how far that is from what the quotas say."""

    taken: list[str]
    over: int


def quotas(number: int, totals: Mapping[str, int], rng: Generator) -> dict[str, int]:
    """Return how often each name is to be taken, so many in all: equally often within one.

    Names with a larger total are taken once more than the others, so that what is left of all totals is as even.
    """
    each, more = divmod(number, max(1, len(totals)))
    lots = rng.random(len(totals))
    first = sorted(zip(totals, lots, strict=True), key=lambda one: (-totals[one[0]], one[1]))[:more]
    return dict.fromkeys(totals, each) | {name: each + 1 for name, _ in first}


def level(options: Sequence[Sequence[str]], quota: Mapping[str, int], rng: Generator) -> Level:
    """Return one of the options of each, every name as often as its quota says where the options allow it."""
    taken: list[str] = []
    excess = Counter({name: -number for name, number in quota.items()})
    for names in options:
        lots = rng.random(len(names))
        name = min(zip(names, lots, strict=True), key=lambda one: (excess[one[0]], one[1]))[0]
        excess[name] += 1
        taken.append(name)
    while path := _path(options, taken, excess):
        for place, name in path:
            excess[taken[place]] -= 1
            excess[name] += 1
            taken[place] = name
    return Level(taken, sum(number for number in excess.values() if number > 0))


def _path(options: Sequence[Sequence[str]], taken: Sequence[str], excess: Mapping[str, int]) -> list[tuple[int, str]]:
    """Return what to change so that a name taken too often is taken less, and one taken too rarely more."""
    if not any(over > 0 for over in excess.values()):
        return []
    holders: Mapping[str, list[int]] = defaultdict(list)
    for place, name in enumerate(taken):
        holders[name].append(place)
    for high in (name for name, over in excess.items() if over > 0):
        came: dict[str, tuple[str, int]] = {}
        queue = [high]
        for here in queue:
            if excess[here] < 0:
                path = []
                while here != high:
                    before, place = came[here]
                    path.append((place, here))
                    here = before
                return path
            for place in holders[here]:
                for there in options[place]:
                    if there != high and there not in came:
                        came[there] = (here, place)
                        queue.append(there)
    return []
