"""Trials that come again: which ones, and where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from numpy.random import Generator

from beholder.methods.contract import Trial
from beholder.plan.placing.lots import Lot
from beholder.types import Role

APART = 4
"""A trial comes again so many trials later, or more."""
_ROLE: Role = "repeat"


def most_repeats(trials: int) -> int:
    """Return how many trials of a list can come again, each far enough from itself and none at the end."""
    return max(0, trials - APART)


class Repeater:
    """Lets trials come again, in all places equally often over all lists."""

    def __init__(self, trials: int, rng: Generator) -> None:
        self._gaps = Lot(range(APART - 1, trials - 1), rng)
        self._rng = rng

    def make(self, before: Sequence[Trial], trials: Sequence[Trial], count: int) -> dict[int, Trial]:
        """Return what comes again, by the trial that it follows; as it was `before` any stimulus on it gave way."""
        # A page with an attention stimulus would not be the same again.
        whole = [place for place, trial in enumerate(trials) if not trial.targets]
        gaps: list[int] = []
        last = len(trials) - 2
        for _ in range(count):
            gap = self._gaps.draw(lambda one: 0 if one <= last and _have_room([*gaps, one], whole) else None)
            if gap is None:
                gap = self._gaps.draw(lambda one: None if one in gaps or one > last else 0)
            assert gap is not None, "a list is only promised what it has room for"
            gaps.append(gap)
        made: dict[int, Trial] = {}
        taken: set[int] = set()
        # From the front, where there is least to choose from.
        for gap in sorted(gaps):
            beside = {trials[gap].content, trials[gap + 1].content}
            early = [place for place in range(gap - APART + 2) if place not in taken]
            faults = [2 * (place not in whole) + (trials[place].content in beside) for place in early]
            fit = [place for place, faulty in zip(early, faults, strict=True) if faulty == min(faults)]
            place = fit[int(self._rng.integers(len(fit)))]
            taken.add(place)
            slots = tuple(slot._replace(role=_ROLE) if slot.rated else slot for slot in before[place].slots)
            made[gap] = replace(before[place], slots=slots)
        return made


def _have_room(gaps: Sequence[int], whole: Sequence[int]) -> bool:
    """Return whether a trial of its own, far enough in front, can come again in each of these places."""
    early = [sum(place <= gap - APART + 1 for place in whole) for gap in sorted(gaps)]
    return len(set(gaps)) == len(gaps) and all(count > number for number, count in enumerate(early))
