"""Colour plates: a number of dots among dots, in colours that some eyes confuse (reference: checks 4).

Both classes of dots have the same luminance, the same spread of lightness and the same sizes, so that they differ in
nothing but colour; each keeps its chromaticity at every lightness, so that both stay on their confusion line.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from beholder.checks.pictures import LUMINANCE, Light, decode, encode, lightness, luminance
from beholder.types import Json

Kind = Literal["control", "protan", "deutan"]
KINDS: tuple[Kind, ...] = ("control", "protan", "deutan")
PAIRS: Mapping[Kind, tuple[tuple[int, int, int], tuple[int, int, int]]] = {
    # One chromaticity, two lightnesses: any eye reads it.
    "control": ((98, 90, 78), (205, 191, 168)),
    # On a line through the copunctal point of each eye, xy (0.747, 0.253) and (1.40, -0.40), at one luminance.
    "protan": ((196, 134, 114), (126, 157, 124)),
    "deutan": ((199, 132, 124), (127, 157, 116)),
}
JITTER = 10
"""Largest difference of the lightness of a dot from that of its class, in L*."""
PAPER = 225
"""The grey between the dots."""
SURROUND = 128
RADII = (0.035, 0.026, 0.017)
"""Of the dots, where the plate has radius 1."""
_SHARES = (0.26, 0.20, 0.16)
"""Largest share of the plate that the dots of each size cover."""
_ROUNDS, _TRIED = 36, 300
"""Rounds, and places tried in each, for the dots of one size."""
_APART = 0.003
_EDGE = 0.97
_SCALE = 1.02
_PEN = 0.094
_TURN, _SHIFT = 6.0, 0.06


class DrawnPlate(NamedTuple):
    """The random choices of a plate."""

    kind: Kind
    number: str
    is_swapped: bool
    """Whether number and ground have changed colours."""
    turn: float
    x: float
    y: float
    seed: int
    """Of the dots."""


class Dots(NamedTuple):
    """The dots of a plate of radius 1."""

    centres: NDArray[np.float64]
    radii: NDArray[np.float64]
    is_number: NDArray[np.bool_]
    light: Light
    """Red, green and blue."""


def draw_plate(kind: Kind, rng: Generator) -> DrawnPlate:
    """Return a new plate with a random number of two digits."""
    number = "".join(DIGITS[place] for place in rng.integers(0, len(DIGITS), 2))
    turn, x, y = (rng.uniform(-1, 1, 3) * (_TURN, _SHIFT, _SHIFT)).round(4)
    return DrawnPlate(kind, number, bool(rng.integers(2)), float(turn), float(x), float(y), int(rng.integers(2**32)))


def plate_dots(plate: DrawnPlate) -> Dots:
    """Return the dots of a plate, always the same for the same plate."""
    rng = np.random.default_rng(plate.seed)
    centres, radii = _packed(rng)
    turn = np.deg2rad(plate.turn)
    upright = (centres - (plate.x, plate.y)) @ np.array(((np.cos(turn), -np.sin(turn)), (np.sin(turn), np.cos(turn))))
    is_number = stroke_distance(upright / _SCALE, plate.number) <= _PEN / _SCALE
    number, ground = (decode(colour) for colour in PAIRS[plate.kind][:: -1 if plate.is_swapped else 1])
    light = np.where(is_number[:, None], number, ground)
    level = light @ LUMINANCE
    jittered = luminance(lightness(level) + _jitter(is_number, radii, rng))
    return Dots(centres, radii, is_number, light * (jittered / level)[:, None])


def plate_picture(plate: DrawnPlate, side: int) -> NDArray[np.uint8]:
    """Return the picture of a plate, `side` pixels wide and high."""
    light = np.full((side, side, 3), decode(SURROUND))
    _draw_disc(light, (0.0, 0.0), 1.0, np.full(3, decode(PAPER)))
    drawn = plate_dots(plate)
    for centre, radius, colour in zip(drawn.centres, drawn.radii, drawn.light, strict=True):
        _draw_disc(light, centre, radius, colour)
    return encode(light)


def _packed(rng: Generator) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return centres and radii of dots that do not touch: large ones first, small ones in the gaps."""
    centres, radii = np.empty((0, 2)), np.empty(0)
    for radius, share in zip(RADII, _SHARES, strict=True):
        left = round(share / radius**2)
        for _ in range(_ROUNDS):
            angle, out = rng.random(_TRIED) * 2 * np.pi, np.sqrt(rng.random(_TRIED)) * (_EDGE - radius)
            tried = np.stack((out * np.cos(angle), out * np.sin(angle)), 1)
            tried = tried[(_squares(tried, centres) > (radii + radius + _APART) ** 2).all(1)]
            kept = _spread(tried, 2 * radius + _APART)[:left]
            centres, radii = np.concatenate((centres, kept)), np.append(radii, np.full(len(kept), radius))
            left -= len(kept)
            if left <= 0:
                break
    return centres, radii


def _spread(points: NDArray[np.float64], apart: float) -> NDArray[np.float64]:
    """Return the points, in their order, that are far enough from all points before them."""
    is_near = _squares(points, points) < apart**2
    kept: list[int] = []
    for place in range(len(points)):
        if not is_near[place, kept].any():
            kept.append(place)
    return points[kept]


def _squares(points: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the squared distance of every point from every other."""
    across, down = (points[:, None, axis] - others[None, :, axis] for axis in (0, 1))
    squares: NDArray[np.float64] = across**2 + down**2
    return squares


def _jitter(is_number: NDArray[np.bool_], radii: NDArray[np.float64], rng: Generator) -> Light:
    """Return the change of lightness of each dot: the same spread for each class and size, in random order."""
    change = np.zeros(len(radii))
    for radius in RADII:
        for side in (False, True):
            group = np.flatnonzero((radii == radius) & (is_number == side))
            order = np.argsort(rng.random(len(group)))
            change[group[order]] = JITTER * ((np.arange(len(group)) + 0.5) / max(len(group), 1) * 2 - 1)
    return change


def _draw_disc(light: Light, centre: Any, radius: float, colour: Light) -> None:
    """Draw a disc on a picture; its edge is mixed as light."""
    side = len(light)
    x, y = ((place + 1) / 2 * side for place in centre)
    size = radius / 2 * side
    left, top = max(int(x - size - 1), 0), max(int(y - size - 1), 0)
    right, bottom = (min(int(place + size + 2), side) for place in (x, y))
    down, across = np.mgrid[top:bottom, left:right] + 0.5
    cover = np.clip(size - np.hypot(across - x, down - y) + 0.5, 0, 1)[..., None]
    patch = light[top:bottom, left:right]
    patch += cover * (colour - patch)


def plate_json(plate: DrawnPlate) -> Json:
    """Return a plate as JSON."""
    return dict(plate._asdict())


def read_plate(value: Json) -> DrawnPlate:
    """Return a plate from JSON."""
    fields: Any = value
    return DrawnPlate(**{name: fields[name] for name in DrawnPlate._fields})


# Digits as strokes

Points = NDArray[np.float64]
Path = tuple[tuple[float, float], ...]

WIDTH = 0.56
"""Width of a digit of height 1."""
GAP = 0.3


def _arc(x: float, y: float, across: float, down: float, begin: float, end: float) -> Path:
    """Return an arc of an ellipse, in degrees clockwise from the right."""
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
"""The digits of plates. 0, 1, 6 and 9 are left out: among dots they look like other digits."""


def stroke_distance(points: Points, digits: str) -> Points:
    """Return the distance of points, as (x, y) rows, from the strokes of a number of height 1 centred at 0, 0."""
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
