"""Landolt rings: drawn at device pixels, from many smaller ones; nothing is ever scaled or turned as a picture."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from beholder.checks.drawing.light import encode

DIRECTIONS = 8
"""Where the gap can be: 0 is right, each next one an eighth of a turn anticlockwise."""
RING = 5
"""A ring is so many gaps wide; its stroke is as wide as the gap."""
_MARGIN = 2
_FINE = 16
"""Smaller pixels along each side of a pixel."""


def gap_mm(mar: float, distance_mm: float) -> float:
    """Return the gap that is seen under so many minutes of arc from a distance."""
    return 2 * distance_mm * math.tan(math.radians(mar / 60) / 2)


def mar_of(gap_mm: float, distance_mm: float) -> float:
    """Return under how many minutes of arc a gap is seen."""
    return math.degrees(2 * math.atan(gap_mm / (2 * distance_mm))) * 60


def picture_side(gap: float) -> int:
    """Return how many pixels the picture of a ring has along a side; even, so that the middle is between pixels."""
    return 2 * math.ceil(RING * gap / 2) + 2 * _MARGIN


def ring(gap: float, direction: int) -> NDArray[np.uint8]:
    """Return the picture of a black ring on white; `gap` in pixels. Edges are mixed as light, by their area."""
    side = picture_side(gap)
    down, across = (np.mgrid[: side * _FINE, : side * _FINE] + 0.5) / _FINE - side / 2
    angle = direction * 2 * math.pi / DIRECTIONS
    outwards = across * math.cos(angle) - down * math.sin(angle)
    beside = across * math.sin(angle) + down * math.cos(angle)
    radius = np.hypot(across, down)
    is_ring = (radius <= RING * gap / 2) & (radius >= (RING / 2 - 1) * gap)
    is_black = is_ring & ~((outwards > 0) & (np.abs(beside) <= gap / 2))
    cover = is_black.reshape(side, _FINE, side, _FINE).mean((1, 3))
    return encode(1 - cover)
