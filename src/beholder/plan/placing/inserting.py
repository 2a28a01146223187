"""Trials of their own between those that are rated: in all places equally often over all lists."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from numpy.random import Generator

from beholder.methods.contract import Trial
from beholder.plan.placing.lots import Lot
from beholder.plan.placing.repeating import Repeater
from beholder.types import Role


class Maker(Protocol):
    """Makes trials of a role, one after the other."""

    def make(self, shown: Collection[str], beside: Collection[str]) -> Trial: ...


class Inserter:
    """Puts trials into lists of up to so many, one at most between two: never first, last, or beside another."""

    def __init__(
        self, trials: int, makers: Mapping[Role, Maker], counts: Mapping[Role, int], repeats: int, rng: Generator
    ) -> None:
        self._makers, self._counts, self._repeats = makers, counts, repeats
        # Each kind comes in each place equally often.
        self._gaps = {role: Lot(range(trials - 1), rng) for role in makers}
        self._repeater = Repeater(trials, rng)

    def put(self, before: Sequence[Trial], trials: Sequence[Trial]) -> list[Trial]:
        """Return a list with everything in it; trials come again as they were `before` any stimulus gave way."""
        # What comes again has fewer places to choose from.
        found = self._repeater.make(before, trials, self._repeats)
        last = len(trials) - 2
        shown = {slot.stimulus for trial in trials for slot in trial.slots}
        for role, maker in self._makers.items():
            for _ in range(self._counts[role]):
                gap = self._gaps[role].draw(lambda one: None if one in found or one > last else 0)
                assert gap is not None, "a list is only promised what it has room for"
                made = maker.make(shown, {trials[gap].content, trials[gap + 1].content})
                shown.update(slot.stimulus for slot in made.slots)
                found[gap] = made
        return [one for gap, trial in enumerate(trials) for one in (trial, *([found[gap]] if gap in found else []))]
