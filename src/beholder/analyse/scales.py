"""The ends of the scale on which a question was answered."""

from __future__ import annotations

from typing import NamedTuple

from beholder.analyse.table import Ratings

_USUAL = ((1.0, 5.0), (1.0, 9.0), (0.0, 10.0), (0.0, 100.0))


class Ends(NamedTuple):
    """Lowest and highest value of a scale, and whether the ratings say so."""

    low: float
    high: float
    is_told: bool


def ends_of(ratings: Ratings, question: str) -> Ends:
    """Return the ends of a question's scale; where the table does not tell them, those of the nearest usual one."""
    mine = ratings.kept[ratings.kept["question"] == question]
    if {"scale_min", "scale_max"} <= set(mine.columns) and mine[["scale_min", "scale_max"]].notna().all(axis=None):
        return Ends(float(mine["scale_min"].min()), float(mine["scale_max"].max()), is_told=True)
    low, high = float(mine["value"].min()), float(mine["value"].max())
    usual = next((ends for ends in _USUAL if ends[0] <= low and high <= ends[1]), (low, high))
    return Ends(*usual, is_told=False)
