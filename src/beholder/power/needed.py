"""How many participants a chance takes, between the numbers that were tried."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import special

GOALS = (0.8, 0.9)
"""Chances that are asked for: four in five is usual, nine in ten careful."""


class Needed(NamedTuple):
    """How many participants a chance takes; NaN with a note where none of those tried is near."""

    participants: float
    note: str


def needed_for(sizes: Sequence[int], power: Sequence[float], goal: float, repetitions: int) -> Needed:
    """Return the number at which the chance reaches the goal.

    The chance of a test is nearly normal in the root of the number, so between two numbers its probit is taken as
    straight over the root. What chance of the repetitions has put below a smaller number counts as equal.
    """
    known = [(size, chance) for size, chance in zip(sizes, power, strict=True) if not math.isnan(chance)]
    if not known:
        return Needed(math.nan, "not tested")
    rising = np.maximum.accumulate([chance for _, chance in known])
    reached = np.flatnonzero(rising >= goal)
    if not len(reached):
        return Needed(math.nan, f"more than {known[-1][0]}")
    place = int(reached[0])
    if place == 0:
        return Needed(float(known[0][0]), f"{known[0][0]} or fewer")
    edge = 0.5 / repetitions
    below, above = (float(special.ndtri(np.clip(rising[at], edge, 1 - edge))) for at in (place - 1, place))
    low, high = (math.sqrt(known[at][0]) for at in (place - 1, place))
    share = (float(special.ndtri(goal)) - below) / (above - below)
    return Needed(float(math.ceil((low + share * (high - low)) ** 2 - 1e-9)), "")
