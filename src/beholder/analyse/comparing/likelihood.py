"""The likelihood of comparisons, and where it is greatest: Fisher's scoring, a Newton method."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from beholder.analyse.comparing.outcomes import Model
from beholder.analyse.comparing.tally import Tally, sums
from beholder.stats.clustered import Floats

_MOST_STEPS = 60
_SMALLEST_STEP = 1e-11
_IMPOSSIBLE = 1e-12
"""A win that is less likely than this stands for one that never was."""


class Free(NamedTuple):
    """What else is estimated beside strengths; what is not is held at a value."""

    position: bool
    ties: bool
    held_position: float = 0.0
    held_ties: float | None = None


class Slopes(NamedTuple):
    """The log likelihood, its slopes by row of the tally, and the expected squares of these."""

    height: float
    difference: Floats
    ties: Floats
    difference_squared: Floats
    both: Floats
    ties_squared: Floats


class Surface(NamedTuple):
    """The log likelihood at a place, its slope, and the expected information."""

    height: float
    slope: Floats
    information: Floats


class Peak(NamedTuple):
    """Where the likelihood is greatest; `is_reached` is false where it grows without end."""

    place: Floats
    information: Floats
    is_reached: bool


class Likelihood(NamedTuple):
    """Counts under a model. Places are strengths, then the position effect, then the tie parameter."""

    tally: Tally
    model: Model
    free: Free

    @property
    def size(self) -> int:
        """How many numbers a place has."""
        return len(self.tally.names) + self.free.position + self.free.ties

    def difference(self, place: Floats) -> Floats:
        """Return how far apart the two of each row are, their order included."""
        position = place[len(self.tally.names)] if self.free.position else self.free.held_position
        return np.asarray(place[self.tally.one] - place[self.tally.other] + position * self.tally.order, np.float64)

    def slopes(self, place: Floats) -> Slopes:
        """Return how the log likelihood of each row changes at a place."""
        ties = float(place[-1]) if self.free.ties else self.free.held_ties
        found = self.model.likely(self.difference(place), ties)
        counts = np.stack([self.tally.wins, self.tally.ties, self.tally.losses])
        expected = self.tally.n * found.p
        return Slopes(
            float((counts * found.log_p).sum()),
            (counts * found.slope).sum(0),
            (counts * found.tie_slope).sum(0),
            (expected * found.slope**2).sum(0),
            (expected * found.slope * found.tie_slope).sum(0),
            (expected * found.tie_slope**2).sum(0),
        )

    def at(self, place: Floats) -> Surface:
        """Return the likelihood at a place."""
        tally, size, found = self.tally, len(self.tally.names), self.slopes(place)
        weight = found.difference_squared
        between = sums(tally.one * size + tally.other, weight, size * size).reshape(size, size)
        between = between + between.T
        slope = np.zeros(self.size)
        information = np.zeros((self.size, self.size))
        slope[:size] = self._spread(found.difference)
        information[:size, :size] = np.diag(between.sum(0)) - between
        columns = []
        if self.free.position:
            order = tally.order
            columns.append((self._spread(weight * order), float(found.difference @ order), float(weight @ order**2)))
        if self.free.ties:
            columns.append((self._spread(found.both), float(found.ties.sum()), float(found.ties_squared.sum())))
        for place_of, (beside, along, squared) in enumerate(columns, size):
            information[:size, place_of] = information[place_of, :size] = beside
            slope[place_of], information[place_of, place_of] = along, squared
        if self.free.position and self.free.ties:
            information[size, size + 1] = information[size + 1, size] = float(found.both @ tally.order)
        return Surface(found.height, slope, information)

    def meat(self, place: Floats) -> Floats:
        """Return the sum over people of the squares of their slopes at a place, each less the mean."""
        tally, size, found = self.tally, len(self.tally.names), self.slopes(place)
        present, person = np.unique(tally.person, return_inverse=True)
        people = len(present)
        slopes = sums(person * size + tally.one, found.difference, people * size)
        slopes -= sums(person * size + tally.other, found.difference, people * size)
        columns = [slopes.reshape(people, size)]
        if self.free.position:
            columns.append(sums(person, found.difference * tally.order)[:, None])
        if self.free.ties:
            columns.append(sums(person, found.ties)[:, None])
        by_person = np.hstack(columns)
        by_person -= by_person.mean(0)
        return np.asarray(by_person.T @ by_person, np.float64)

    def _spread(self, value: Floats) -> Floats:
        """Return the sum over rows by name: with its sign for one, with the other sign for the other."""
        size = len(self.tally.names)
        return sums(self.tally.one, value, size) - sums(self.tally.other, value, size)


def climb(likelihood: Likelihood, start: Floats, prior: Floats, flat: Floats) -> Peak:
    """Return the greatest posterior: the likelihood times a Gaussian of precision `prior` around zero.

    Along the columns of `flat` the likelihood does not change, and the climb does not move.
    """
    pooled = likelihood._replace(tally=likelihood.tally.everybody())
    place = start

    def seen(at: Floats) -> tuple[float, Surface]:
        found = pooled.at(at)
        return found.height - 0.5 * float(prior @ at**2), found

    height, here = seen(place)
    for _ in range(_MOST_STEPS):
        try:
            step = np.linalg.solve(ridged(here.information, prior, flat), here.slope - prior * place)
        except np.linalg.LinAlgError:
            break
        if np.abs(step).max() < _SMALLEST_STEP * max(1.0, float(np.abs(place).max())):
            return Peak(place, here.information, True)
        for _ in range(30):
            next_height, there = seen(place + step)
            if next_height >= height - 1e-9 * abs(height):
                break
            step = step / 2
        place, height, here = place + step, next_height, there
        if pooled.model.win(-np.abs(pooled.difference(place))).min() < _IMPOSSIBLE:
            break
    return Peak(place, here.information, False)


def ridged(information: Floats, prior: Floats, flat: Floats) -> Floats:
    """Return information and prior, made invertible along the flat directions."""
    scale = max(float(np.diag(information).mean()), np.finfo(float).tiny)
    return np.asarray(information + np.diag(prior) + scale * (flat @ flat.T), np.float64)
