"""Outlines of the sample figure, in units of a 480 x 270 picture; the head is told from the foot of the neck."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TypeAlias

Point: TypeAlias = tuple[float, float]


def ring(x: float, y: float, across: float, down: float, count: int = 28) -> list[Point]:
    """Return an ellipse as a polygon."""
    turns = (2 * math.pi * k / count for k in range(count))
    return [(x + across * math.cos(t), y + down * math.sin(t)) for t in turns]


def smooth(points: Sequence[Point], parts: int = 6) -> list[Point]:
    """Return a closed curve through the points (Catmull-Rom)."""
    curve = []
    count = len(points)
    for place in range(count):
        a, b, c, d = (points[(place + k) % count] for k in (-1, 0, 1, 2))
        for part in range(parts):
            t = part / parts
            w = (-t + 2 * t**2 - t**3, 2 - 5 * t**2 + 3 * t**3, t + 4 * t**2 - 3 * t**3, t**3 - t**2)
            x = sum(weight * point[0] for weight, point in zip(w, (a, b, c, d), strict=True)) / 2
            y = sum(weight * point[1] for weight, point in zip(w, (a, b, c, d), strict=True)) / 2
            curve.append((x, y))
    return curve


TORSO = smooth((
    (-15, 118), (-36, 126), (-53, 136), (-59, 156), (-52, 196), (-47, 236), (-49, 284),
    (49, 284), (47, 236), (52, 196), (59, 156), (53, 136), (36, 126), (15, 118),
))  # fmt: skip
SIDE = smooth((
    (34, 150), (26, 196), (24, 240), (26, 284), (49, 284), (47, 236), (52, 196), (57, 160), (47, 142),
))  # fmt: skip
BOB_BACK = smooth((
    (-36, -60), (-42, -30), (-43, 0), (-34, 12), (-14, 8), (14, 8), (34, 12), (43, 0), (42, -30), (36, -60), (0, -92),
))  # fmt: skip
FRINGES: Mapping[str, list[Point]] = {
    "short": smooth((
        (-34, -46), (-37, -66), (-30, -84), (-10, -94), (14, -93), (32, -83), (37, -64), (34, -46), (29, -60),
        (16, -70), (-4, -68), (-22, -66), (-30, -58),
    )),
    "bob": smooth((
        (-37, -28), (-41, -56), (-33, -82), (-10, -93), (14, -93), (34, -81), (41, -55), (37, -28), (31, -44),
        (27, -62), (10, -72), (-8, -74), (-24, -62), (-31, -44),
    )),
    "bun": smooth((
        (-34, -46), (-37, -64), (-28, -84), (0, -92), (28, -84), (37, -64), (34, -46), (30, -60), (18, -74),
        (0, -70), (-18, -74), (-30, -60),
    )),
    "curly": smooth((
        (-33, -46), (-36, -64), (-28, -82), (0, -90), (28, -82), (36, -64), (33, -46), (28, -62), (0, -70), (-28, -62),
    )),
}  # fmt: skip
CURLS: tuple[tuple[float, float, float], ...] = (
    (-34, -50, 9), (-37, -62, 10), (-33, -76, 11), (-23, -87, 12), (-9, -93, 12), (7, -94, 12), (22, -88, 12),
    (32, -77, 11), (37, -63, 10), (34, -50, 9), (-18, -74, 9), (-4, -77, 10), (11, -76, 9), (23, -71, 8),
)  # fmt: skip


def face(nod: float) -> list[Point]:
    """Return the outline of the face, the chin moved by a nod."""
    return smooth([
        (-33, -52), (-31, -36), (-25, -21 + nod), (-14, -10 + nod), (0, -6 + nod), (14, -10 + nod), (25, -21 + nod),
        (31, -36), (33, -52), (29, -72), (16, -84), (0, -87), (-16, -84), (-29, -72),
    ])  # fmt: skip
