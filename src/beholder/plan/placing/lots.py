"""Drawing lots that come out even over all lists."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Generic, TypeVar

from numpy.random import Generator

_Item = TypeVar("_Item", bound=Hashable)


class Lot(Generic[_Item]):
    """Things of which one is drawn again and again, all equally often.

    What suits a place better is preferred as long as nothing that can be drawn falls more than one draw behind it.
    """

    def __init__(self, items: Sequence[_Item], rng: Generator) -> None:
        self._drawn = dict.fromkeys(items, 0)
        self._rng = rng

    def draw(self, faults: Callable[[_Item], int | None]) -> _Item | None:
        """Return one of the things with the fewest faults; those of which `faults` is None cannot be drawn."""
        found = [(item, count) for item in self._drawn if (count := faults(item)) is not None]
        if not found:
            return None
        least = min(self._drawn[item] for item, _ in found)
        near = [(count, self._drawn[item], item) for item, count in found if self._drawn[item] <= least + 1]
        best = min(one[:2] for one in near)
        fit = [item for *rank, item in near if tuple(rank) == best]
        drawn = fit[int(self._rng.integers(len(fit)))]
        self._drawn[drawn] += 1
        return drawn
