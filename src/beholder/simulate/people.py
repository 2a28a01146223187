"""Simulated people by name: all chance of theirs hangs on it, never on the order in which they are asked."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from beholder.simulate.chance import keyed_rng
from beholder.simulate.population import Population
from beholder.simulate.raters import Number, Percepts, Person, felt, person_of, wavers
from beholder.simulate.truth import Truth

Ints = NDArray[np.int64]


def robot_name(seed: int, number: int, run: int = 1) -> str:
    """Return the name of the robot with this number, from 1: each run has robots of its own."""
    return f"{seed}-{number}" if run == 1 else f"{seed}-{number}-run-{run}"


class Look(NamedTuple):
    """What chance does to one look at a stimulus, or to each of many."""

    waver: Number
    shift: Number = 0.0
    """What somebody's taste adds."""
    lapse: Number = 1.0
    guess: Number = 0.0


def perceived(
    person: Person,
    people: Population,
    quality: Number,
    look: Look,
    *,
    carried: Number = 0.0,
    progress: Number = 0.0,
) -> Percepts:
    """Return what is perceived at a look; `carried` is what the trial before adds."""
    strength = felt(person, quality, look.waver, shift=look.shift + carried, progress=progress)
    strength = np.where(look.lapse < person.lapses, look.guess, strength)
    return np.asarray(np.clip(strength, people.ends, 1 - people.ends), dtype=np.float64)


class Someone:
    """One simulated person."""

    def __init__(self, kind: str, name: str, truth: Truth, people: Population, seed: int) -> None:
        self.kind, self.name, self.people = kind, name, people
        self._truth, self._seed = truth, seed
        self.person = person_of(kind, people, self._rng("rater"))

    def look(self, rows: int | Ints, columns: int | Ints, *, again: bool = False) -> Look:
        """Return what chance does when they look at these stimuli with these questions in mind, or look `again`."""
        waver = (self._again if again else self._once)[rows, columns]
        shift = self._shift[rows] if self.people.taste else 0.0
        if not self.people.lapse:
            return Look(waver, shift)
        lapse, guess = self._lapses
        return Look(waver, shift, lapse[rows, columns], guess[rows, columns])

    def answers(self, trials: int) -> int:
        """Return how many of so many trials they answer before they leave."""
        return stays(self.people.leaving, trials, self._rng("leaves")) if self.people.leaving else trials

    def _rng(self, what: str) -> Generator:
        return keyed_rng(self._seed, what, self.name)

    @cached_property
    def _once(self) -> Percepts:
        return wavers(self.kind, self._rng("once"), self._truth.quality.shape)

    @cached_property
    def _again(self) -> Percepts:
        return wavers(self.kind, self._rng("again"), self._truth.quality.shape)

    @cached_property
    def _shift(self) -> Percepts:
        rng = self._rng("tastes")
        places = {name: place for place, name in enumerate(self._truth.conditions)}
        tastes = np.append(rng.normal(0, self.people.taste, len(places)), 0.0)
        return tastes[[places.get(name, -1) for name in self._truth.condition_of]]

    @cached_property
    def _lapses(self) -> Percepts:
        return self._rng("lapses").random((2, *self._truth.quality.shape))


def stays(leaving: float, trials: int, rng: Generator) -> int:
    """Return how many of so many trials somebody answers who may leave before each of them."""
    return min(trials, int(rng.geometric(leaving)) - 1) if leaving else trials


def answering(seed: int, name: str, trial: str) -> Generator:
    """Return the chance with which somebody answers a trial."""
    return keyed_rng(seed, "answer", name, trial)
