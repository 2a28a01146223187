"""Digits of our own strokes: where the pen went, so that one can ask how far a point is from it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]
Path = tuple[tuple[float, float], ...]

WIDTH = 0.56
"""How wide a digit is, where it is 1 high."""
GAP = 0.3


def _arc(x: float, y: float, across: float, down: float, begin: float, end: float) -> Path:
    """Return a piece of an ellipse, by degrees clockwise from the right."""
    steps = max(2, round(abs(end - begin) / 15))
    angles = [math.radians(begin + (end - begin) * step / steps) for step in range(steps + 1)]
    return tuple((x + across * math.cos(angle), y + down * math.sin(angle)) for angle in angles)


_DIGITS: Mapping[str, tuple[Path, ...]] = {
    "2": ((*_arc(0.28, 0.28, 0.28, 0.28, -165, 40), (0.0, 1.0), (0.56, 1.0)),),
    "3": (_arc(0.27, 0.25, 0.26, 0.25, -160, 90), _arc(0.27, 0.75, 0.29, 0.25, -90, 160)),
    "4": (((0.16, 0.0), (0.0, 0.62), (0.56, 0.62)), ((0.42, 0.24), (0.42, 1.0))),
    "5": (((0.5, 0.0), (0.06, 0.0), (0.04, 0.44), *_arc(0.25, 0.68, 0.31, 0.32, -115, 150)),),
    "7": (((0.0, 0.0), (0.56, 0.0), (0.2, 1.0)),),
    "8": (_arc(0.28, 0.24, 0.24, 0.24, 0, 360), _arc(0.28, 0.74, 0.28, 0.26, 0, 360)),
}
DIGITS = tuple(_DIGITS)
"""What can be drawn. 0, 1, 6 and 9 are left out: among dots each of them is taken for another digit."""


def away(points: Points, digits: str) -> Points:
    """Return how far points, as (x, y) rows, are from the strokes of a number 1 high with its middle at 0, 0."""
    nearest = np.full(len(points), np.inf)
    for begin, end in _segments(digits):
        along = end - begin
        share = np.clip((points - begin) @ along / (along @ along), 0, 1)
        nearest = np.minimum(nearest, np.linalg.norm(points - begin - share[:, None] * along, axis=1))
    return nearest


def _segments(digits: str) -> Iterator[tuple[Points, Points]]:
    left = -(len(digits) * WIDTH + (len(digits) - 1) * GAP) / 2
    for place, digit in enumerate(digits):
        corner = np.array((left + place * (WIDTH + GAP), -0.5))
        for path in _DIGITS[digit]:
            for begin, end in pairwise(path):
                yield corner + begin, corner + end
